//! What a wave executes: the most costly path through the control flow, with each loop's body as often as it runs.
//!
//! Where lanes diverge, the wave executes both sides of a branch. At a uniform branch it executes one side, and the
//! more costly one counts. The driver's own estimate is not used: it halves the cost under a uniform branch and takes a
//! fixed number of trips for every loop.

use std::collections::HashSet;

use crate::aco::Block;
use crate::cost::Cost;

/// A loop of the compiled kernel: its header and its last block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    pub header: usize,
    pub last: usize,
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

/// What a wave executes if each loop's body runs as often as `trips` says, each time that the loop is reached.
pub fn executed(blocks: &[Block], loops: &[Span], trips: &[f64]) -> Cost {
    // The cost of all trips of each loop.
    let mut ran = vec![Cost::default(); loops.len()];
    // Inner loops first.
    for (number, it) in loops.iter().enumerate().rev() {
        let costs = forward(blocks, loops, &ran, *it);
        let latches = blocks[it.header].before.iter().filter(|&&before| before >= it.header);
        ran[number] = heaviest(latches.filter_map(|&latch| costs[latch])) * trips[number];
    }
    let all = Span { header: 0, last: blocks.len().saturating_sub(1) };
    let costs = forward(blocks, loops, &ran, all);
    // The wave ends where no block follows.
    let followed: HashSet<usize> = blocks.iter().flat_map(|block| block.before.iter().copied()).collect();
    let ends = (0..blocks.len()).filter(|number| !followed.contains(number));
    heaviest(ends.filter_map(|end| costs[end]))
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

    fn block(operations: f64, before: &[usize], loop_header: bool) -> Block {
        let cost = Cost { instructions: 1.0, operations, ..Cost::default() };
        Block { before: before.to_vec(), loop_header, cost, ..Block::default() }
    }

    fn operations(blocks: &[Block], trips: &[f64]) -> f64 {
        executed(blocks, &loops(blocks), trips).operations
    }

    #[test]
    fn of_two_sides_the_more_costly_one_counts() {
        let blocks =
            [block(1.0, &[], false), block(5.0, &[0], false), block(3.0, &[0], false), block(1.0, &[1, 2], false)];
        assert_eq!(operations(&blocks, &[]), 7.0);
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
        assert_eq!(operations(&blocks, &[]), 10.0);
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
    fn loops_run_as_often_as_was_seen() {
        assert_eq!(loops(&nest()), [Span { header: 1, last: 4 }, Span { header: 2, last: 3 }]);
        let inner = 3.0 * 1100.0 + 100.0;
        let expected = 1.0 + 2.0 * (10.0 + inner + 10_000.0) + 10.0 + 100_000.0;
        assert_eq!(operations(&nest(), &[2.0, 3.0]), expected);
    }

    #[test]
    fn the_last_partial_trip_of_a_loop_is_not_a_whole_one() {
        // The loop is left from its header, and little follows it.
        let blocks =
            [block(1.0, &[], false), block(1.0, &[0, 2], true), block(50.0, &[1], false), block(1.0, &[1], false)];
        assert_eq!(operations(&blocks, &[4.0]), 1.0 + 4.0 * 51.0 + 1.0 + 1.0);
    }
}
