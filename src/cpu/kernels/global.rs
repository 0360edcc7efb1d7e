//! Pools of whole planes: the maximum of each plane, then a search for the first element that equals it. Windows that fill rows of X,
//! one behind the other, are planes too ([`View::of_windows`]).
//!
//! A plane is one run of memory, and the maximum of its elements does not depend on their order, so they are reduced with
//! as many running maxima as there are lanes, and read from several places at once: a processor reads ahead within a page
//! of memory, and one such stream does not use all of its bandwidth. Of the elements that equal the maximum the first one
//! wins, as the rule has it: -0 equals +0, and whichever comes first is found. A plane's first element stays if nothing is
//! greater, so also if it is NaN; where NaN wins, the last one is looked for.
//!
//! Small planes are reduced many at a time ([`small_planes`](super::small_planes)); the others in blocks, which are shared
//! among threads where there are few planes.

use std::ops::Range;

use bytemuck::{Zeroable, cast_slice, cast_slice_mut};

use super::lane::{
    Code, Lane, OfBf16, OfF16, OfF32, OfF64, OfI8, OfI16, OfI32, OfI64, OfU8, OfU16, OfU32, OfU64, any_nan,
    greatest_lane, with_code,
};
use super::parts::{Context, Part, cut, pieces, runs, wanted};
use super::scratch::Scratch;
use super::small_planes::{PLANES, SMALL, SmallPlanes, Winners};
use super::subnormals::takes_subnormals_for_zeros;
use super::view::{View, nan_wins};
use crate::activation::apply_to_all;
use crate::element::{DType, Element, Index};
use crate::error::ExecuteError;
use crate::options::NanPolicy;
use crate::plan::PoolPlan;

/// Bytes of a block: few enough to be in the first-level cache when they are looked at again.
const BLOCK_BYTES: usize = 16 << 10;
/// The running maxima of a block.
const LANES: usize = 64;

/// The fewest elements of planes for which this kernel is chosen: fewer do not fill the lanes of a plane.
pub(crate) fn fewest(dtype: DType) -> usize {
    match dtype.bytes() {
        1 => 16,
        8.. => 4,
        _ => 8,
    }
}

/// The reason why not, for plans that this kernel does not compute.
pub(crate) fn applies(plan: &PoolPlan, view: &View) -> Result<(), &'static str> {
    if plan.ignores_nan() {
        return Err("it is a part of a window");
    }
    if plan.has_empty_windows() {
        return Err("windows are empty");
    }
    let whole = view.axes.iter().all(|axis| {
        let taps = axis.taps(0);
        axis.output == 1 && taps.first == 0 && taps.count == axis.input as i64 && (taps.step == 1 || taps.count == 1)
    });
    if view.inner != 1 || !whole {
        return Err("its windows are not whole planes of neighbouring elements");
    }
    Ok(())
}

/// What the tasks of a call share.
struct Planes<'a, C: Code> {
    plan: &'a PoolPlan,
    view: &'a View,
    context: &'a Context<'a>,
    x: &'a [C::Element],
    plane: usize,
    /// The element that windows begin with instead of their first.
    seed: Option<C::Element>,
    nan_wins: bool,
    /// Whether neighbouring elements have neighbouring indices.
    counts_on: bool,
}

/// What some blocks of a plane have: the greatest lane, where the first block with it begins, and whether there is a NaN that
/// could win.
#[derive(Clone, Copy)]
struct Found<L> {
    best: L,
    block: usize,
    nan: bool,
}

/// What wins in a plane.
#[derive(Clone, Copy)]
enum Winner<L> {
    /// The element that windows begin with instead of their first.
    Seed,
    /// The element at this position of the plane.
    Place(usize),
    /// The first element with the greatest lane.
    Lane(Found<L>),
}

/// Computes a part by the general kernel.
type General<'a, I> = dyn Fn(&Part, &mut [u8], Option<&mut [I]>, &mut Scratch) -> Result<(), ExecuteError> + Sync + 'a;

/// Takes the indices of consecutive planes, and the number of the first one.
type WriteIndices<'a> = dyn FnMut(usize, &[i64]) + 'a;

/// Writes Y, and Indices, which lie in memory as Y does in every layout. The slices have the plan's element type. `general` is for
/// threads that compare floats otherwise than they are.
pub(crate) fn pool<I: Index>(
    (plan, view, context): (&PoolPlan, &View, &Context<'_>),
    x: &[u8],
    y: &mut [u8],
    mut indices: Option<&mut [I]>,
    general: &General<'_, I>,
) -> Result<(), ExecuteError> {
    let count = y.len() / plan.dtype().bytes();
    let wanted = wanted(plan.bytes(), rayon::current_num_threads);
    if count < wanted {
        let mut write = indices.as_deref_mut().map(writer);
        let write = write.as_mut().map(|write| write as &mut WriteIndices<'_>);
        if write_planes((plan, view, context), Share::Blocks(wanted.div_ceil(count)), x, y, write)? {
            return Ok(());
        }
    }
    let parts = cut(count, 1, wanted, 1);
    let lengths = || parts.iter().map(|part| part.outer.len());
    let mut indices = indices.map(|indices| pieces(indices, lengths()).into_iter());
    let tasks = parts.iter().zip(pieces(y, lengths().map(|length| length * plan.dtype().bytes())));
    let tasks: Vec<_> = tasks.map(|(part, y)| (part, y, indices.as_mut().and_then(Iterator::next))).collect();
    context.run(tasks, |(part, y, indices), scratch| {
        if is_inexact(plan) {
            return general(part, y, indices, scratch);
        }
        let mut write = indices.map(writer);
        let write = write.as_mut().map(|write| write as &mut WriteIndices<'_>);
        write_planes((plan, view, context), Share::Planes(part.outer.start), x, y, write).map(|_| ())
    })
}

fn writer<I: Index>(indices: &mut [I]) -> impl FnMut(usize, &[i64]) {
    move |first, found| {
        for (index, &found) in indices[first..].iter_mut().zip(found) {
            *index = I::from_i64(found);
        }
    }
}

/// Whether this thread compares the plan's elements otherwise than they are.
fn is_inexact(plan: &PoolPlan) -> bool {
    plan.dtype().is_float() && takes_subnormals_for_zeros()
}

/// Which planes are computed, and how.
enum Share {
    /// Consecutive planes from this number on, by this thread.
    Planes(usize),
    /// All planes, each in about as many runs of blocks, by all threads.
    Blocks(usize),
}

/// Writes outputs of planes. False, and nothing is written, if runs of blocks are asked for and planes are single blocks, or if a
/// thread compares floats otherwise.
fn write_planes(
    (plan, view, context): (&PoolPlan, &View, &Context<'_>),
    share: Share,
    x: &[u8],
    y: &mut [u8],
    write: Option<&mut WriteIndices<'_>>,
) -> Result<bool, ExecuteError> {
    macro_rules! run {
        ($code:ty) => {
            Planes::<$code>::of(plan, view, context, cast_slice(x)).run(share, cast_slice_mut(y), write)
        };
    }
    with_code!(plan.dtype(), run:
        F32 => OfF32, F64 => OfF64, F16 => OfF16, Bf16 => OfBf16,
        I32 => OfI32, U32 => OfU32, I64 => OfI64, U64 => OfU64,
        I8 => OfI8, U8 => OfU8, I16 => OfI16, U16 => OfU16,
    );
    Ok(false)
}

impl<'a, C: Code<Lane: SmallPlanes>> Planes<'a, C> {
    /// Elements of a block.
    const BLOCK: usize = BLOCK_BYTES / size_of::<C::Element>();

    fn of(plan: &'a PoolPlan, view: &'a View, context: &'a Context<'a>, x: &'a [C::Element]) -> Self {
        let mut next = 1;
        let counts_on = view.axes.iter().rev().all(|axis| {
            let expected = next;
            next = expected * axis.input as i64;
            axis.index_stride == expected
        });
        let seeded = plan.nan_policy == NanPolicy::SeedLowest;
        let nan_wins = nan_wins(plan);
        let seed = seeded.then(|| plan.seed());
        Planes { plan, view, context, x, plane: view.plane(), seed, nan_wins, counts_on }
    }

    fn run(
        &self,
        share: Share,
        y: &mut [C::Element],
        write: Option<&mut WriteIndices<'_>>,
    ) -> Result<bool, ExecuteError> {
        let blocks = self.plane.div_ceil(Self::BLOCK);
        match share {
            Share::Planes(first) if self.plane <= SMALL => self.small(first, y, write),
            Share::Planes(first) => self.write(first, y, write, |outer| {
                let found = self.blocks(outer, &(0..blocks));
                self.winner(outer, &[found])
            }),
            Share::Blocks(_) if blocks <= 1 || is_inexact(self.plan) => return Ok(false),
            Share::Blocks(wanted) => {
                let runs = runs(blocks, wanted);
                let Some(found) = self.found(y.len(), &runs)? else { return Ok(false) };
                self.write(0, y, write, |outer| self.winner(outer, &found[outer * runs.len()..][..runs.len()]));
            }
        }
        Ok(true)
    }

    /// Consecutive small planes.
    fn small(&self, first: usize, y: &mut [C::Element], mut write: Option<&mut WriteIndices<'_>>) {
        let mut winners = Winners::new();
        let mut of_plane = IndexOfPlane::of(self.view, first);
        for (batch, y) in y.chunks_mut(PLANES).enumerate() {
            let first = first + batch * PLANES;
            let x = &self.x[first * self.plane..][..y.len() * self.plane];
            let rule = (self.seed, self.nan_wins, write.is_some());
            C::Lane::winners::<C>(self.context.simd, x, self.plane, rule, &mut winners);
            y.copy_from_slice(&winners.values[..y.len()]);
            if let Some(write) = &mut write {
                let (mut indices, mut seeds) = ([0; PLANES], false);
                let places = winners.stays.iter().zip(&winners.places);
                for (index, (&stays, &place)) in indices.iter_mut().zip(places).take(y.len()) {
                    let of_plane = of_plane.next();
                    *index = self.index(of_plane, usize::from(place));
                    seeds |= stays;
                }
                if seeds && self.seed.is_some() {
                    for (number, index) in indices[..y.len()].iter_mut().enumerate() {
                        if winners.stays[number] {
                            *index = self.view.index_of_seed(first + number);
                        }
                    }
                }
                write(batch * PLANES, &indices[..y.len()]);
            }
            apply_to_all(self.plan.activation, y);
        }
    }

    /// The winners of consecutive planes.
    fn write(
        &self,
        first: usize,
        y: &mut [C::Element],
        mut write: Option<&mut WriteIndices<'_>>,
        winner: impl Fn(usize) -> Winner<C::Lane>,
    ) {
        // A lane does not say which of two zeros it was.
        let is_zero = |lane: C::Lane| C::Element::DTYPE.is_float() && lane == C::encode(C::Element::zeroed());
        for (number, y) in y.iter_mut().enumerate() {
            let outer = first + number;
            let place = match winner(outer) {
                Winner::Lane(found) if write.is_none() && !is_zero(found.best) => {
                    *y = C::decode(found.best);
                    continue;
                }
                Winner::Lane(found) => self.place(outer, found),
                Winner::Place(place) => Some(place),
                Winner::Seed => None,
            };
            *y = place.map_or_else(|| self.plan.seed(), |place| self.x[outer * self.plane + place]);
            if let Some(write) = &mut write {
                let index = match place {
                    Some(place) => self.index(self.view.index_of_plane(outer), place),
                    None => self.view.index_of_seed(outer),
                };
                write(number, &[index]);
            }
        }
        apply_to_all(self.plan.activation, y);
    }

    /// The index of a position in a plane, given what the plane adds.
    #[inline]
    fn index(&self, of_plane: i64, mut place: usize) -> i64 {
        let mut index = self.view.index_base.wrapping_add(of_plane);
        if self.counts_on {
            return index.wrapping_add(place as i64);
        }
        for axis in self.view.axes.iter().rev() {
            index = index.wrapping_add(((place % axis.input) as i64).wrapping_mul(axis.index_stride));
            place /= axis.input;
        }
        index
    }

    /// What the blocks of these planes have, in runs of blocks that threads share; `None` if one of them compares floats
    /// otherwise.
    fn found(&self, planes: usize, runs: &[Range<usize>]) -> Result<Option<Vec<Found<C::Lane>>>, ExecuteError> {
        let nothing = Found { best: C::Lane::LOWEST, block: 0, nan: false };
        let mut found: Vec<Option<Found<C::Lane>>> = vec![Some(nothing); planes * runs.len()];
        let of_planes = (0..planes).flat_map(|outer| runs.iter().map(move |run| (outer, run)));
        self.context.run(of_planes.zip(&mut found).collect(), |((outer, run), found), _: &mut Scratch| {
            *found = (!is_inexact(self.plan)).then(|| self.blocks(outer, run));
            Ok(())
        })?;
        Ok(found.into_iter().collect())
    }

    /// What a run of blocks of a plane has. Compiled once, and not for each type of indices.
    #[inline(never)]
    fn blocks(&self, outer: usize, run: &Range<usize>) -> Found<C::Lane> {
        let (plane, nan_wins) = (&self.x[outer * self.plane..][..self.plane], self.nan_wins);
        self.context.simd.run(
            #[inline(always)]
            || {
                let mut found = Found { best: C::Lane::LOWEST, block: run.start * Self::BLOCK, nan: false };
                for number in run.clone() {
                    let block = &plane[number * Self::BLOCK..];
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

    /// A plane's winner, given what its runs of blocks have, in their order.
    fn winner(&self, outer: usize, runs: &[Found<C::Lane>]) -> Winner<C::Lane> {
        let plane = &self.x[outer * self.plane..][..self.plane];
        if runs.iter().any(|run| run.nan) {
            return plane.iter().rposition(|element| element.is_nan()).map_or(Winner::Seed, Winner::Place);
        }
        let mut found = runs[0];
        for &run in &runs[1..] {
            found = if run.best > found.best { run } else { found };
        }
        let first = self.seed.unwrap_or(plane[0]);
        if first.is_nan() || found.best <= C::encode(first) {
            return if self.seed.is_none() { Winner::Place(0) } else { Winner::Seed };
        }
        Winner::Lane(found)
    }

    /// The position of the first element with the greatest lane of a plane.
    #[inline(never)]
    fn place(&self, outer: usize, found: Found<C::Lane>) -> Option<usize> {
        let plane = &self.x[outer * self.plane..][..self.plane];
        let block = &plane[found.block..];
        let at = self.context.simd.run(
            #[inline(always)]
            || position::<C>(block, found.best),
        );
        at.map(|at| found.block + at)
    }
}

/// What consecutive planes add to indices.
struct IndexOfPlane<'a> {
    view: &'a View,
    n: i64,
    c: usize,
    channels: usize,
}

impl IndexOfPlane<'_> {
    fn of(view: &View, outer: usize) -> IndexOfPlane<'_> {
        // A view of NHWC planes has a single channel here.
        let channels = view.channels.max(1);
        let n = ((outer / channels) as i64).wrapping_mul(view.index_n);
        IndexOfPlane { view, n, c: outer % channels, channels }
    }

    #[inline]
    fn next(&mut self) -> i64 {
        let index = self.n.wrapping_add((self.c as i64).wrapping_mul(self.view.index_c));
        self.c += 1;
        if self.c == self.channels {
            (self.n, self.c) = (self.n.wrapping_add(self.view.index_n), 0);
        }
        index
    }
}

/// The first element with this lane, which is above the lowest one.
#[inline(always)]
fn position<C: Code>(block: &[C::Element], best: C::Lane) -> Option<usize> {
    let number = block
        .chunks(LANES)
        .position(|chunk| chunk.iter().fold(false, |any, &element| any | (C::encode(element) == best)))?;
    let at = block[number * LANES..].iter().position(|&element| C::encode(element) == best)?;
    Some(number * LANES + at)
}

/// The greatest lane of a block. Four places of it are read at a time.
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
            // What is there is never NaN, so that no NaN takes the place of another element.
            for element in [a[i], b[i], c[i], d[i]] {
                *running = running.step(C::encode(element), 0);
            }
        }
    }
    // What remains, in chunks of which the last one may overlap others.
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
