//! Pools whose windows are runs of neighbouring elements ([`Runs`]), such as whole planes: computes the maximum of each
//! window, then searches for the first element that equals it.
//!
//! The maximum of a run does not depend on the order of its elements. So it is reduced with one running maximum per
//! lane, and four places are read at the same time: a processor prefetches within a page of memory, and one stream of
//! reads does not use its full bandwidth. Of the elements that equal the maximum the first one wins, as the rule says:
//! -0 equals +0, and the search finds whichever comes first. A window's first element stays if no element is greater,
//! also if it is NaN. Where NaN wins, the search is for the last NaN.
//!
//! Small windows are reduced many at a time ([`small_planes`](super::small_planes)), the others in blocks, which
//! threads share if there are few windows.

use std::ops::Range;

use bytemuck::{Zeroable, cast_slice, cast_slice_mut};
use wgpu_pooling_plan::{Element, ExecuteError, PoolPlan, with_element};

use super::elements::LaneElement;
use super::indices::IndicesMut;
use super::kernel::{Offer, OfferedPool, Operands, PoolKernel};
use super::lane::{Code, Lane, any_nan, greatest_lane};
use super::parts::{Context, OutputPart, PartOf, runs};
use super::runs::{Runs, Stretch};
use super::scratch::ThreadMemory;
use super::simd::SimdLevel;
use super::small_planes::{PLANES, PlaneBatch, SMALL, SmallPlanes, Winners};
use super::subnormals::takes_subnormals_for_zeros;
use super::tuning::global::{AGAIN, ALONE, BATCH, BLOCK_BYTES, BYTE, FEW, IN_BATCH, TAKEN};
use super::view::{View, nan_wins};

/// The number of running maxima of a block.
const LANES: usize = 64;

/// `Err` says why the kernel does not apply.
pub(crate) fn offer<'a>(pool: &'a OfferedPool<'a>) -> Result<Offer<'a>, &'static str> {
    let runs = Runs::new(pool.plan, pool.view)?;
    Ok(Offer::new(cost(pool, &runs), || runs))
}

/// The time for batches of small windows, and for all other windows one by one.
fn cost(pool: &OfferedPool<'_>, runs: &Runs) -> f64 {
    let (stretches, whole) = runs.stretches();
    let small = runs.longest <= SMALL;
    let batches = small && whole >= FEW;
    let in_batches = if batches { stretches * whole as f64 } else { 0.0 };
    let taken = pool.outputs() * pool.vectors_of_row(runs.longest as f64);
    // Long windows that have elements in common read them again, from the cache.
    let again = (taken - pool.vectors(pool.inputs(), pool.plan.dtype().bytes())).max(0.0);
    pool.cost(&[
        (BYTE, pool.bytes()),
        (BATCH, if batches { stretches * whole.div_ceil(PLANES) as f64 } else { 0.0 }),
        (IN_BATCH, in_batches),
        (ALONE, pool.outputs() - in_batches),
        (TAKEN, if small { taken } else { 0.0 }),
        (AGAIN, if small { 0.0 } else { again }),
    ])
}

impl PoolKernel for Runs {
    fn run(
        &self,
        part: &PartOf<'_>,
        (x, y, mut indices): Operands<'_>,
        _: &mut ThreadMemory,
    ) -> Result<(), ExecuteError> {
        let OutputPart { outer, rows } = part.part;
        let row = part.view.row();
        let first = (outer.start * part.view.axes[0].output + rows.start) * row;
        let share = Share::Windows(first);
        write_windows((self, part.plan, part.view, part.context.simd), share, x, y, indices.as_mut()).map(|_| ())
    }

    /// Lets all threads compute the blocks of each window if there are fewer windows than parts of the work. It returns
    /// false and writes nothing if there are enough windows for the parts, if windows are single blocks, or if a thread
    /// does not compare floats exactly.
    fn run_in_blocks(
        &self,
        (plan, view, context): (&PoolPlan, &View, &Context<'_>),
        x: &[u8],
        y: &mut [u8],
        indices: Option<&mut IndicesMut<'_>>,
    ) -> Result<bool, ExecuteError> {
        let count = y.len() / plan.dtype().bytes();
        let wanted = context.wanted(plan.bytes());
        if count >= wanted {
            return Ok(false);
        }
        let share = Share::Blocks(context, wanted.div_ceil(count));
        write_windows((self, plan, view, context.simd), share, x, y, indices)
    }
}

/// The computation of a pool's windows.
struct RunWindows<'a, C: Code> {
    plan: &'a PoolPlan,
    view: &'a View,
    runs: &'a Runs,
    simd: SimdLevel,
    x: &'a [C::Element],
    /// The element that windows begin with instead of their first element.
    seed: Option<C::Element>,
    nan_wins: bool,
    /// Whether neighbouring elements have neighbouring indices.
    counts_on: bool,
}

/// The result of some blocks of a window: the greatest lane, the start of the first block that contains it, and whether
/// there is a NaN that could win.
#[derive(Clone, Copy)]
struct BlockMaximum<L> {
    best: L,
    block: usize,
    nan: bool,
}

/// The winner of a window.
#[derive(Clone, Copy)]
enum Winner<L> {
    /// The seed that windows begin with instead of their first element.
    Seed,
    /// The element at this place in the window.
    Place(usize),
    /// The first element whose lane is the greatest.
    Lane(BlockMaximum<L>),
}

/// Whether this thread treats subnormal floats as zeros, so that it does not compare the plan's elements exactly.
fn is_inexact(plan: &PoolPlan) -> bool {
    plan.dtype().is_float() && takes_subnormals_for_zeros()
}

/// Which windows are computed, and by which threads.
#[derive(Clone, Copy)]
enum Share<'a> {
    /// Consecutive windows from this number on, by this thread.
    Windows(usize),
    /// All windows, each in about this many runs of blocks, by all threads.
    Blocks(&'a Context<'a>, usize),
}

/// Writes outputs. Returns false and writes nothing if threads were to share blocks but windows are single blocks, or
/// if a thread does not compare floats exactly.
fn write_windows(
    (runs, plan, view, simd): (&Runs, &PoolPlan, &View, SimdLevel),
    share: Share<'_>,
    x: &[u8],
    y: &mut [u8],
    indices: Option<&mut IndicesMut<'_>>,
) -> Result<bool, ExecuteError> {
    with_element!(plan.dtype(), T => {
        type Windows<'a> = RunWindows<'a, <T as LaneElement>::Values>;
        Windows::new((runs, plan, view, simd), cast_slice(x)).run(share, cast_slice_mut(y), indices)
    })
}

impl<'a, C: Code<Lane: SmallPlanes>> RunWindows<'a, C> {
    /// The elements of a block.
    const BLOCK: usize = BLOCK_BYTES / size_of::<C::Element>();

    fn new(
        (runs, plan, view, simd): (&'a Runs, &'a PoolPlan, &'a View, SimdLevel),
        x: &'a [C::Element],
    ) -> RunWindows<'a, C> {
        let mut next = 1;
        let counts_on = view.axes[runs.axis..].iter().rev().all(|axis| {
            let expected = next;
            next = expected * axis.input as i64;
            axis.index_stride == expected
        });
        let seed = plan.starts_from_value().then(|| plan.seed());
        RunWindows { plan, view, runs, simd, x, seed, nan_wins: nan_wins(plan), counts_on }
    }

    fn run(
        &self,
        share: Share<'_>,
        y: &mut [C::Element],
        indices: Option<&mut IndicesMut<'_>>,
    ) -> Result<bool, ExecuteError> {
        let blocks = self.runs.longest.div_ceil(Self::BLOCK);
        match share {
            Share::Windows(first) => self.windows(first, y, indices, |_, window| {
                self.winner(window, &[self.blocks(window, &(0..window.len().div_ceil(Self::BLOCK)))])
            }),
            Share::Blocks(..) if blocks <= 1 || is_inexact(self.plan) => return Ok(false),
            Share::Blocks(context, wanted) => {
                let shares = runs(blocks, wanted);
                let Some(found) = self.found(context, y.len(), &shares)? else { return Ok(false) };
                self.windows(0, y, indices, |number, window| {
                    self.winner(window, &found[number * shares.len()..][..shares.len()])
                });
            }
        }
        Ok(true)
    }

    /// Computes consecutive windows. `winner` finds the winner of a window that is not small.
    fn windows(
        &self,
        first: usize,
        y: &mut [C::Element],
        mut indices: Option<&mut IndicesMut<'_>>,
        winner: impl Fn(usize, &[C::Element]) -> Winner<C::Lane>,
    ) {
        let mut done = 0;
        while done < y.len() {
            let stretch = self.runs.stretch(first + done, y.len() - done);
            let own = &mut y[done..][..stretch.count];
            let indices = indices.as_deref_mut();
            if stretch.length <= SMALL && stretch.count >= FEW {
                self.small(&stretch, (first + done, done), own, indices);
            } else {
                self.each(&stretch, (first + done, done), own, indices, &winner);
            }
            done += stretch.count;
        }
        self.plan.activation.apply_all(y);
    }

    /// Computes a stretch of small windows. `first` is the number of its first output in Y, `place` in the slice that
    /// is written.
    fn small(
        &self,
        stretch: &Stretch,
        (first, place): (usize, usize),
        y: &mut [C::Element],
        mut indices: Option<&mut IndicesMut<'_>>,
    ) {
        let mut winners = Winners::new();
        for (batch, y) in y.chunks_mut(PLANES).enumerate() {
            let before = batch * PLANES;
            let stretch = stretch.from(before);
            let planes = PlaneBatch { count: y.len(), plane: stretch.length, step: stretch.step };
            let x = &self.x[stretch.first..][..(y.len() - 1) * stretch.step + stretch.length];
            let rule = (self.seed, self.nan_wins, indices.is_some());
            C::Lane::winners::<C>(self.simd, x, planes, rule, &mut winners);
            y.copy_from_slice(&winners.values[..y.len()]);
            if let Some(indices) = &mut indices {
                let (mut own, mut seeds) = ([0; PLANES], false);
                let places = winners.stays.iter().zip(&winners.places);
                let mut of_window = stretch.index;
                for (index, (&stays, &place)) in own.iter_mut().zip(places).take(y.len()) {
                    *index = self.index(of_window, usize::from(place));
                    of_window = of_window.wrapping_add(stretch.index_step);
                    seeds |= stays;
                }
                if seeds && self.seed.is_some() {
                    for (number, index) in own[..y.len()].iter_mut().enumerate() {
                        if winners.stays[number] {
                            *index = self.index_of_seed(first + before + number);
                        }
                    }
                }
                indices.write(place + before, &own[..y.len()]);
            }
        }
    }

    /// Computes a stretch of windows, one after the other.
    fn each(
        &self,
        stretch: &Stretch,
        (first, place): (usize, usize),
        y: &mut [C::Element],
        mut indices: Option<&mut IndicesMut<'_>>,
        winner: &impl Fn(usize, &[C::Element]) -> Winner<C::Lane>,
    ) {
        // A lane of a float does not tell -0 from +0.
        let is_zero = |lane: C::Lane| C::Element::DTYPE.is_float() && lane == C::encode(C::Element::zeroed());
        for (number, y) in y.iter_mut().enumerate() {
            let stretch = stretch.from(number);
            let window = &self.x[stretch.first..][..stretch.length];
            let at = match winner(place + number, window) {
                Winner::Lane(found) if indices.is_none() && !is_zero(found.best) => {
                    *y = C::decode(found.best);
                    continue;
                }
                Winner::Lane(found) => self.place(window, found),
                Winner::Place(at) => Some(at),
                Winner::Seed => None,
            };
            *y = at.map_or_else(|| self.plan.seed(), |at| window[at]);
            if let Some(indices) = &mut indices {
                let index = at.map_or_else(|| self.index_of_seed(first + number), |at| self.index(stretch.index, at));
                indices.set(place + number, index);
            }
        }
    }

    /// The index of a place in a window, given the index of the window's first element.
    #[inline]
    fn index(&self, mut index: i64, mut place: usize) -> i64 {
        if self.counts_on {
            return index.wrapping_add(place as i64);
        }
        for axis in self.view.axes[self.runs.axis..].iter().rev() {
            index = index.wrapping_add(((place % axis.input) as i64).wrapping_mul(axis.index_stride));
            place /= axis.input;
        }
        index
    }

    fn index_of_seed(&self, output: usize) -> i64 {
        let of_plane = self.view.axes[0].output * self.view.row();
        self.view.index_of_seed(output / of_plane.max(1))
    }

    /// Computes the blocks of these windows, in runs of blocks that threads share. `None` if a thread does not compare
    /// floats exactly.
    fn found(
        &self,
        context: &Context<'_>,
        windows: usize,
        shares: &[Range<usize>],
    ) -> Result<Option<Vec<BlockMaximum<C::Lane>>>, ExecuteError> {
        let nothing = BlockMaximum { best: C::Lane::LOWEST, block: 0, nan: false };
        let mut found: Vec<Option<BlockMaximum<C::Lane>>> = vec![Some(nothing); windows * shares.len()];
        let of_windows = (0..windows).flat_map(|number| shares.iter().map(move |share| (number, share)));
        context.run(of_windows.zip(&mut found).collect(), |((number, share), found), _: &mut ThreadMemory| {
            let window = self.runs.stretch(number, 1);
            let window = &self.x[window.first..][..window.length];
            *found = (!is_inexact(self.plan)).then(|| self.blocks(window, share));
            Ok(())
        })?;
        Ok(found.into_iter().collect())
    }

    /// Computes a run of blocks of a window.
    #[inline(never)]
    fn blocks(&self, window: &[C::Element], blocks: &Range<usize>) -> BlockMaximum<C::Lane> {
        let nan_wins = self.nan_wins;
        // A shorter window has fewer blocks.
        let end = blocks.end.min(window.len().div_ceil(Self::BLOCK));
        self.simd.run(
            #[inline(always)]
            || {
                let mut found = BlockMaximum { best: C::Lane::LOWEST, block: blocks.start * Self::BLOCK, nan: false };
                for number in blocks.start..end {
                    let block = &window[number * Self::BLOCK..];
                    let block = &block[..block.len().min(Self::BLOCK)];
                    let maximum = maximum::<C>(block);
                    if maximum > found.best {
                        (found.best, found.block) = (maximum, number * Self::BLOCK);
                    }
                    found.nan |= nan_wins && any_nan(block);
                }
                found
            },
        )
    }

    /// A window's winner, given the results of its runs of blocks in order.
    fn winner(&self, window: &[C::Element], blocks: &[BlockMaximum<C::Lane>]) -> Winner<C::Lane> {
        if blocks.iter().any(|run| run.nan) {
            return window.iter().rposition(|element| element.is_nan()).map_or(Winner::Seed, Winner::Place);
        }
        let mut found = blocks[0];
        for &run in &blocks[1..] {
            found = if run.best > found.best { run } else { found };
        }
        let first = self.seed.unwrap_or(window[0]);
        if first.is_nan() || found.best <= C::encode(first) {
            return if self.seed.is_none() { Winner::Place(0) } else { Winner::Seed };
        }
        Winner::Lane(found)
    }

    /// The place of the first element with the greatest lane of a window.
    #[inline(never)]
    fn place(&self, window: &[C::Element], found: BlockMaximum<C::Lane>) -> Option<usize> {
        let block = &window[found.block..];
        let at = self.simd.run(
            #[inline(always)]
            || position::<C>(block, found.best),
        );
        at.map(|at| found.block + at)
    }
}

/// The place of the first element with this lane, which is greater than the lowest lane.
#[inline(always)]
fn position<C: Code>(block: &[C::Element], best: C::Lane) -> Option<usize> {
    let number = block
        .chunks(LANES)
        .position(|chunk| chunk.iter().fold(false, |any, &element| any | (C::encode(element) == best)))?;
    let at = block[number * LANES..].iter().position(|&element| C::encode(element) == best)?;
    Some(number * LANES + at)
}

/// The greatest lane of a block. Four places of the block are read at a time. Planes of some hundred elements took 1.2
/// of the time where they were read from end to end, and the same time where 64 of them shared a loop.
///
/// ```text
/// block    a0 a1 a2 ..  b0 b1 b2 ..  c0 c1 c2 ..  d0 d1 d2 ..  rest
/// maxima   first a0 b0 c0 d0, then a1 b1 c1 d1 and so on, each of them LANES elements
/// ```
#[inline(always)]
fn maximum<C: Code>(block: &[C::Element]) -> C::Lane {
    let mut running = [C::Lane::LOWEST; LANES];
    let quarter = block.len() / (4 * LANES) * LANES;
    let (ab, cd) = block.split_at(2 * quarter);
    let ((a, b), (c, d)) = (ab.split_at(quarter), cd.split_at(quarter));
    let (d, rest) = d.split_at(quarter);
    let [a, b, c, d] = [a, b, c, d].map(|run| run.as_chunks::<LANES>().0);
    for (((a, b), c), d) in a.iter().zip(b).zip(c).zip(d) {
        for (i, running) in running.iter_mut().enumerate() {
            // Running maxima are never NaN, so no NaN replaces an element.
            for element in [a[i], b[i], c[i], d[i]] {
                *running = running.step(C::encode(element), 0);
            }
        }
    }
    // The rest in chunks, the last of which may overlap others.
    let (chunks, few) = rest.as_chunks::<LANES>();
    for chunk in chunks.iter().chain(block.last_chunk()) {
        for (running, &element) in running.iter_mut().zip(chunk) {
            *running = running.step(C::encode(element), 0);
        }
    }
    if block.len() < LANES {
        for (running, &element) in running.iter_mut().zip(few) {
            *running = running.step(C::encode(element), 0);
        }
    }
    greatest_lane(running)
}
