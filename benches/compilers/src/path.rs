//! What a wave executes: the most costly path through the control flow, with each loop's body as often as it runs.
//!
//! Where lanes diverge, the wave executes both sides of a branch. At a uniform branch it executes one side, and the
//! more costly one counts. The driver's own estimate is not used: it halves the cost under a uniform branch and takes a
//! fixed number of trips for every loop.

use std::collections::HashSet;

use crate::aco::Block;
use crate::cycles::Cost;

/// A loop of the compiled kernel: its header and its last block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    pub header: usize,
    pub last: usize,
}

/// What a wave executes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Executed {
    pub cost: Cost,
    /// Whether the trips of some loop are only bounded, so that the cost is an upper bound.
    pub bounded: bool,
}

/// The loops; those inside another loop come after it.
pub fn loops(blocks: &[Block]) -> Vec<Span> {
    let headers = blocks.iter().enumerate().filter(|(_, block)| block.loop_header);
    let span = |(header, block): (usize, &Block)| {
        let last = block.before.iter().copied().filter(|&before| before >= header).max()?;
        Some(Span { header, last })
    };
    headers.filter_map(span).collect()
}

/// What bounds the loops that have no count of their own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rest {
    Nothing,
    /// The most iterations of all loops of an invocation together.
    Iterations(u64),
    /// The bytes that an invocation loads in all, none of them twice.
    Loaded(f64),
}

/// How often a loop's body runs each time that the loop is reached.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trips {
    pub all: f64,
    /// Whether the loop may run less often.
    pub at_most: bool,
}

impl Trips {
    pub fn of(all: u64) -> Trips {
        Trips { all: all as f64, at_most: false }
    }
}

/// What a wave executes if each loop runs as often as `trips` says, and the loops without a number run until the bound
/// `rest` is used up. `None` if there are such loops and `rest` is no bound.
pub fn executed(blocks: &[Block], loops: &[Span], trips: &[Option<Trips>], rest: Rest) -> Option<Executed> {
    let mut bodies = vec![Cost::default(); loops.len()];
    // The cost of all trips of each loop.
    let mut ran = vec![Cost::default(); loops.len()];
    // Inner loops first.
    for (number, it) in loops.iter().enumerate().rev() {
        let costs = forward(blocks, loops, &ran, *it);
        let latches = blocks[it.header].before.iter().filter(|&&before| before >= it.header);
        bodies[number] = heaviest(latches.filter_map(|&latch| costs[latch]));
        if let Some(trips) = trips[number] {
            ran[number] = bodies[number] * trips.all;
        }
    }
    let all = Span { header: 0, last: blocks.len().saturating_sub(1) };
    let costs = forward(blocks, loops, &ran, all);
    // The wave ends where no block follows.
    let followed: HashSet<usize> = blocks.iter().flat_map(|block| block.before.iter().copied()).collect();
    let ends = (0..blocks.len()).filter(|number| !followed.contains(number));
    let cost = heaviest(ends.filter_map(|end| costs[end]));
    let at_most = trips.iter().flatten().any(|trips| trips.at_most);
    let unknown = (0..loops.len()).filter(|&number| trips[number].is_none());
    let unknown: Vec<Cost> = unknown.map(|number| bodies[number]).collect();
    if unknown.is_empty() {
        return Some(Executed { cost, bounded: at_most });
    }
    match rest {
        Rest::Nothing => None,
        Rest::Iterations(most) => {
            let left = (most as f64 - known_trips(loops, trips)).max(0.0);
            Some(Executed { cost: cost + heaviest(unknown.into_iter()) * left, bounded: at_most || left > 0.0 })
        }
        Rest::Loaded(bytes) => Some(Executed { cost: cost + sharing(unknown, bytes), bounded: at_most }),
    }
}

/// The cost of loops that load some bytes together. The loop that loads most in a trip makes as many whole trips as
/// fit, then the next one does, and the last one rounds up.
fn sharing(mut bodies: Vec<Cost>, bytes: f64) -> Cost {
    bodies.retain(|body| body.loaded > 0.0);
    bodies.sort_by(|a, b| b.loaded.total_cmp(&a.loaded));
    let mut left = bytes;
    let mut cost = Cost::default();
    let last = bodies.len().saturating_sub(1);
    for (number, body) in bodies.into_iter().enumerate() {
        let trips = left / body.loaded;
        let trips = if number == last { trips.ceil() } else { trips.floor() };
        left -= trips * body.loaded;
        cost += body * trips;
    }
    cost
}

/// The iterations of the loops whose trips are known; those of an inner loop count as often as the loops around it run.
fn known_trips(loops: &[Span], trips: &[Option<Trips>]) -> f64 {
    let around = |inner: &Span| {
        let outer = loops.iter().zip(trips).filter(|(it, _)| it.header < inner.header && inner.header <= it.last);
        outer.filter_map(|(_, trips)| *trips).map(|trips| trips.all).product::<f64>()
    };
    loops.iter().zip(trips).filter_map(|(it, trips)| Some(trips.as_ref()?.all * around(it))).sum()
}

fn heaviest(costs: impl Iterator<Item = Cost>) -> Cost {
    costs.max_by(|a, b| a.weight().total_cmp(&b.weight())).unwrap_or_default()
}

/// For each block of a span, the heaviest cost of a path from the span's header up to and including the block, without
/// a return to the header. All trips of an inner loop are counted at its header, before the last, partial trip in which
/// the loop is left.
fn forward(blocks: &[Block], loops: &[Span], ran: &[Cost], span: Span) -> Vec<Option<Cost>> {
    let mut costs: Vec<Option<Cost>> = vec![None; blocks.len()];
    for number in span.header..=span.last {
        let block = &blocks[number];
        if number == span.header {
            costs[number] = Some(block.cost);
            continue;
        }
        let before = block.before.iter().filter(|&&before| span.header <= before && before < number);
        let mut reached = before.filter_map(|&before| costs[before]).peekable();
        if reached.peek().is_none() {
            continue;
        }
        let mut cost = heaviest(reached) + block.cost;
        if let Some(at) = loops.iter().position(|it| it.header == number) {
            cost += ran[at];
        }
        costs[number] = Some(cost);
    }
    costs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(vector: f64, before: &[usize], loop_header: bool) -> Block {
        let cost = Cost { instructions: 1.0, vector, ..Cost::default() };
        Block { before: before.to_vec(), loop_header, cost, ..Block::default() }
    }

    fn cycles(blocks: &[Block], trips: &[Option<u64>], rest: Rest) -> Option<f64> {
        let loops = loops(blocks);
        let trips: Vec<_> = trips.iter().map(|trips| trips.map(Trips::of)).collect();
        Some(executed(blocks, &loops, &trips, rest)?.cost.cycles())
    }

    #[test]
    fn of_two_sides_the_more_costly_one_counts() {
        let blocks =
            [block(1.0, &[], false), block(5.0, &[0], false), block(3.0, &[0], false), block(1.0, &[1, 2], false)];
        assert_eq!(cycles(&blocks, &[], Rest::Nothing), Some(7.0));
    }

    #[test]
    fn where_lanes_part_both_sides_count() {
        let blocks = [
            block(1.0, &[], false),
            block(5.0, &[0], false),
            block(0.0, &[0], false),
            block(0.0, &[1, 2], false),
            block(3.0, &[3], false),
            block(1.0, &[3, 4], false),
        ];
        assert_eq!(cycles(&blocks, &[], Rest::Nothing), Some(10.0));
    }

    /// A loop (header 1 and latch 4) around another (header 2, latch 3), left from their headers.
    fn nest() -> [Block; 6] {
        [
            block(1.0, &[], false),
            block(10.0, &[0, 4], true),
            block(100.0, &[1, 3], true),
            block(1000.0, &[2], false),
            block(10_000.0, &[2], false),
            block(100_000.0, &[1], false),
        ]
    }

    #[test]
    fn loops_run_as_often_as_is_known() {
        assert_eq!(loops(&nest()), [Span { header: 1, last: 4 }, Span { header: 2, last: 3 }]);
        let inner = 3.0 * 1100.0 + 100.0;
        let expected = 1.0 + 2.0 * (10.0 + inner + 10_000.0) + 10.0 + 100_000.0;
        assert_eq!(cycles(&nest(), &[Some(2), Some(3)], Rest::Nothing), Some(expected));
    }

    #[test]
    fn the_last_partial_trip_of_a_loop_is_not_a_whole_one() {
        // The loop is left from its header, and little follows it.
        let blocks =
            [block(1.0, &[], false), block(1.0, &[0, 2], true), block(50.0, &[1], false), block(1.0, &[1], false)];
        assert_eq!(cycles(&blocks, &[Some(4)], Rest::Nothing), Some(1.0 + 4.0 * 51.0 + 1.0 + 1.0));
    }

    #[test]
    fn unknown_loops_run_at_most_what_is_left_of_the_iterations() {
        assert_eq!(cycles(&nest(), &[Some(2), None], Rest::Nothing), None);
        let without = 1.0 + 2.0 * (10.0 + 100.0 + 10_000.0) + 10.0 + 100_000.0;
        assert_eq!(cycles(&nest(), &[Some(2), None], Rest::Iterations(8)), Some(without + 6.0 * 1100.0));
        let both = executed(&nest(), &loops(&nest()), &[None, None], Rest::Iterations(8)).unwrap();
        assert!(both.bounded);
    }

    #[test]
    fn loops_that_load_all_of_something_share_it() {
        let body = |vector: f64, loaded: f64| Cost { vector, loaded, ..Cost::default() };
        // Three trips load 64 bytes each, and two trips of 16 bytes load the last 20; a loop that loads nothing does
        // not count.
        let cost = sharing(vec![body(5.0, 16.0), body(1000.0, 0.0), body(100.0, 64.0)], 212.0);
        assert_eq!(cost.vector, 3.0 * 100.0 + 2.0 * 5.0);
    }
}
