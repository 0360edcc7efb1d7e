//! The loops for small windows with stride 2, without indices: outputs of a row take the taps of one row of X, then
//! those of the next one.
//!
//! ```text
//! row 0 of X    y[i] = max(x[2i], x[2i + 1], x[2i + 2])            the outputs of a chunk stay
//! row 1         y[i] = max(y[i], x[2i], x[2i + 1], x[2i + 2])      in the first-level cache
//! ```
//!
//! Each pass reads one run of memory in order, which processors prefetch. The loops are plain code that the compiler
//! vectorises: it needs few instructions to sort neighbours, so that more loads of X are in flight.
//!
//! Taps are taken in row-major order, each only if it is greater than the current value. This is the operator's own
//! rule.

use wgpu_pooling_plan::Element;

use super::simd::SimdLevel;
use super::taps::InsideRows;
use super::vector::VectorCode;

/// The bytes of outputs that stay in the first-level cache from one pass to the next.
const CHUNK_BYTES: usize = 4 << 10;
/// The fewest outputs of a row for which vector loops pay off.
const FEW: usize = 16;
/// The stride of the outputs.
const STRIDE: usize = 2;

/// Whether passes are faster than loops that take all taps of some vectors of outputs. They are not if windows have one
/// tap in a row, or if a comparison takes more than one instruction. For three taps in a row and more, the other loops
/// were measured to be faster with AVX-512, and to take a third of the time for elements of 8 bits with AVX2.
pub(crate) fn are_worth_it<C: VectorCode>(simd: SimdLevel, run: &InsideRows<'_>) -> bool {
    let narrow = size_of::<C::Element>() < 4;
    let kernels = if narrow || simd == SimdLevel::Avx512 { 2..=2 } else { 2..=usize::MAX };
    C::IS_CHEAP && run.shape.stride == STRIDE && kernels.contains(&run.shape.kernel) && run.length >= FEW
}

/// Computes rows of outputs with stride 2 whose windows lie inside X and are not dilated along the rows.
pub(crate) fn passes<C: VectorCode>(
    simd: SimdLevel,
    run: &InsideRows<'_>,
    x: &[C::Element],
    y: &mut [C::Element],
    seed: Option<C::Element>,
    nan_wins: bool,
) {
    simd.run(
        #[inline(always)]
        || match C::HAS_NAN && nan_wins {
            false => rows::<C, false>(run, x, y, seed),
            true => rows::<C, true>(run, x, y, seed),
        },
    );
}

#[inline(always)]
fn rows<C: VectorCode, const NAN_WINS: bool>(
    run: &InsideRows<'_>,
    x: &[C::Element],
    y: &mut [C::Element],
    seed: Option<C::Element>,
) {
    let chunk = CHUNK_BYTES / size_of::<C::Element>();
    for row in 0..run.count {
        let y = &mut y[row * run.y_step..][..run.length];
        let x = &x[row * run.x_step..];
        for (number, y) in y.chunks_mut(chunk).enumerate() {
            let x = &x[number * chunk * STRIDE..];
            let mut begun = seed.is_some();
            if let Some(seed) = seed {
                y.fill(seed);
            }
            for place in run.places {
                taps::<C, NAN_WINS>(run.shape.kernel, &x[*place..], y, begun);
                begun = true;
            }
        }
    }
}

/// Takes the taps of a row of X, up to three at a time.
#[inline(always)]
fn taps<C: VectorCode, const NAN_WINS: bool>(kernel: usize, x: &[C::Element], y: &mut [C::Element], mut begun: bool) {
    for first in (0..kernel).step_by(3) {
        let x = &x[first..];
        match ((kernel - first).min(3), begun) {
            (1, false) => pass::<C, 1, NAN_WINS, false>(x, y),
            (2, false) => pass::<C, 2, NAN_WINS, false>(x, y),
            (_, false) => pass::<C, 3, NAN_WINS, false>(x, y),
            (1, true) => pass::<C, 1, NAN_WINS, true>(x, y),
            (2, true) => pass::<C, 2, NAN_WINS, true>(x, y),
            (_, true) => pass::<C, 3, NAN_WINS, true>(x, y),
        }
        begun = true;
    }
}

/// Writes the greatest of `TAPS` taps and, if `MORE`, of the current value.
#[inline(always)]
fn pass<C: VectorCode, const TAPS: usize, const NAN_WINS: bool, const MORE: bool>(
    x: &[C::Element],
    y: &mut [C::Element],
) {
    let length = y.len();
    let x = &x[..(length - 1) * STRIDE + TAPS];
    for i in 0..length {
        let mut best = if MORE { step::<C, NAN_WINS>(y[i], x[i * STRIDE]) } else { x[i * STRIDE] };
        if TAPS > 1 {
            best = step::<C, NAN_WINS>(best, x[i * STRIDE + 1]);
        }
        if TAPS > 2 {
            best = step::<C, NAN_WINS>(best, x[i * STRIDE + 2]);
        }
        y[i] = best;
    }
}

/// `next` if it is greater, or if it is NaN and NaN wins; else `best`.
#[inline(always)]
fn step<C: VectorCode, const NAN_WINS: bool>(best: C::Element, next: C::Element) -> C::Element {
    if C::above(next, best) || NAN_WINS && next.is_nan() { next } else { best }
}
