//! Pools of whole planes: the maximum of each block of a plane, then a search for it in the block that has it first.
//!
//! A plane is one run of memory, and the maximum of its elements does not depend on their order, so blocks are reduced with as many
//! running maxima as there are lanes. Of equal blocks the first one stays; in it the first element that equals the maximum is the
//! winner, as the rule has it: -0 equals +0, and whichever comes first is found. A plane's first element stays if nothing is
//! greater, so also if it is NaN; where NaN wins, the last one is looked for.

use bytemuck::{cast_slice, cast_slice_mut};

use super::lane::{
    Code, Lane, OfBf16, OfF16, OfF32, OfF64, OfI8, OfI16, OfI32, OfI64, OfU8, OfU16, OfU32, OfU64, with_code,
};
use super::parts::PartOf;
use super::simd::SimdLevel;
use super::view::View;
use crate::activation::apply_to_all;
use crate::element::{DType, Element, Index};
use crate::options::NanPolicy;
use crate::plan::PoolPlan;

/// Elements of a block.
const BLOCK: usize = 4096;
/// Running maxima: of planes of at most this many elements fewer.
const SMALL: usize = 256;
const FEW: usize = 16;
const MANY: usize = 64;

/// The reason why not, for plans that this kernel does not compute.
pub(crate) fn applies(plan: &PoolPlan, view: &View) -> Result<(), &'static str> {
    if plan.ignores_nan() {
        return Err("it is a part of a window");
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

/// Computes a part of Y, and of Indices in the order of Y. The slices have the plan's element type.
pub(crate) fn pool<I: Index>(part: &PartOf<'_>, x: &[u8], y: &mut [u8], indices: Option<&mut [I]>) {
    macro_rules! run {
        ($code:ty) => {
            run::<$code, I>(part, cast_slice(x), cast_slice_mut(y), indices)
        };
    }
    with_code!(part.plan.dtype(), run:
        F32 => OfF32, F64 => OfF64, F16 => OfF16, Bf16 => OfBf16,
        I32 => OfI32, U32 => OfU32, I64 => OfI64, U64 => OfU64,
        I8 => OfI8, U8 => OfU8, I16 => OfI16, U16 => OfU16,
    );
}

fn run<C: Code, I: Index>(part: &PartOf<'_>, x: &[C::Element], y: &mut [C::Element], mut indices: Option<&mut [I]>) {
    let PartOf { plan, view, simd, .. } = *part;
    let seeded = plan.nan_policy == NanPolicy::SeedLowest;
    let nan_wins = plan.nan_policy == NanPolicy::PropagateLast && C::Element::DTYPE.is_float();
    for (place, (outer, y)) in part.part.outer.clone().zip(y.iter_mut()).enumerate() {
        let plane = &x[outer * view.plane()..][..view.plane()];
        let winner = winner::<C>(simd, plane, seeded.then(|| plan.seed()), nan_wins);
        *y = winner.map_or_else(|| plan.seed(), |place| plane[place]);
        if let Some(indices) = &mut indices {
            let index =
                winner.map_or(view.unit_base, |place| index(view, place)).wrapping_add(view.index_of_plane(outer));
            indices[place] = I::from_i64(index);
        }
    }
    apply_to_all(plan.activation, y);
}

/// The index of a position in the first plane.
fn index(view: &View, mut position: usize) -> i64 {
    let mut index = view.index_base;
    for axis in view.axes.iter().rev() {
        index = index.wrapping_add(((position % axis.input) as i64).wrapping_mul(axis.index_stride));
        position /= axis.input;
    }
    index
}

/// The position of the winner; `None` if nothing is greater than the element that windows begin with instead of their first.
fn winner<C: Code>(simd: SimdLevel, plane: &[C::Element], seed: Option<C::Element>, nan_wins: bool) -> Option<usize> {
    simd.run(
        #[inline(always)]
        || search::<C>(plane, seed, nan_wins),
    )
}

#[inline(always)]
fn search<C: Code>(plane: &[C::Element], seed: Option<C::Element>, nan_wins: bool) -> Option<usize> {
    let (mut best, mut first_of_best) = (C::Lane::LOWEST, 0);
    for (number, block) in plane.chunks(BLOCK).enumerate() {
        let maximum = if block.len() <= SMALL { maximum::<C, FEW>(block) } else { maximum::<C, MANY>(block) };
        if maximum > best {
            (best, first_of_best) = (maximum, number * BLOCK);
        }
    }
    if nan_wins && plane.iter().fold(false, |any, element| any | element.is_nan()) {
        return plane.iter().rposition(|element| element.is_nan());
    }
    let stays = |first: C::Element| first.is_nan() || best <= C::encode(first);
    match (seed, plane.first()) {
        (Some(seed), _) if stays(seed) => None,
        (None, Some(&first)) if stays(first) => Some(0),
        _ => {
            let block = &plane[first_of_best..];
            block
                .iter()
                .position(|&element| C::encode(element) == best && !element.is_nan())
                .map(|at| first_of_best + at)
        }
    }
}

/// The greatest lane, with `N` running maxima.
#[inline(always)]
fn maximum<C: Code, const N: usize>(block: &[C::Element]) -> C::Lane {
    let mut running = [C::Lane::LOWEST; N];
    let (chunks, rest) = block.as_chunks::<N>();
    for chunk in chunks {
        for (running, &element) in running.iter_mut().zip(chunk) {
            *running = running.step(C::encode(element), 0);
        }
    }
    for (running, &element) in running.iter_mut().zip(rest) {
        *running = running.step(C::encode(element), 0);
    }
    running.into_iter().fold(C::Lane::LOWEST, |best, lane| best.step(lane, 0))
}
