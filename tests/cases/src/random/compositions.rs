//! What compositions are by their definitions: every position is tried instead of computing the right ones, and numbers
//! are subtracted in a wider type.

use half::{bf16, f16};
use support::draw::compositions::CompositionCase;
use support::draw::elements::{Number, highest, is_nan, lowest, mask, number, quiet_nan};
use wgpu_pooling::{DType, EmptyValue, Layout, NanPolicy};

use super::definition::{coordinates, position};

/// The bits of Y, from those of X.
pub fn definition(case: &CompositionCase) -> Vec<u64> {
    let (dtype, x) = (case.dtype, &case.x);
    let dilated = |x: &[u64]| pooled(case, x, |a, b| a > b, lowest(dtype));
    let eroded = |x: &[u64]| pooled(case, x, |a, b| a < b, highest(dtype));
    let minus = |a: &[u64], b: &[u64]| a.iter().zip(b).map(|(&a, &b)| minus(dtype, a, b)).collect();
    match case.kind {
        0 => dilated(&eroded(x)),
        1 => eroded(&dilated(x)),
        2 => minus(&dilated(x), &eroded(x)),
        3 => minus(x, &dilated(&eroded(x))),
        _ => minus(&eroded(&dilated(x)), x),
    }
}

/// The first of the elements that wins over all others of each box. `furthest` is what every element wins over:
/// infinity, and the last finite value before it.
fn pooled(case: &CompositionCase, x: &[u64], wins: fn(Number, Number) -> bool, furthest: [u64; 2]) -> Vec<u64> {
    let (shape, dtype) = (&case.shape, case.dtype);
    let [infinity, finite] = furthest;
    let widened = if dtype.bytes() == 2 && dtype.is_float() { infinity } else { finite };
    let empty = match case.empty_value {
        EmptyValue::NegInf => infinity,
        EmptyValue::LowestFinite => finite,
        EmptyValue::LowestWidened => widened,
        _ => quiet_nan(dtype),
    };
    let (channels, extents) = match case.layout {
        Layout::Nchw => (shape[1], &shape[2..]),
        Layout::Nhwc => (shape[shape.len() - 1], &shape[1..shape.len() - 1]),
    };
    let inside = |axis: usize, from: usize, at: usize| {
        let extent = case.kernel_shape[axis];
        let anchor = case.anchor.as_ref().map_or(extent / 2, |anchor| anchor[axis]);
        let offset = at as i64 - from as i64;
        (-anchor * case.iterations..=(extent - 1 - anchor) * case.iterations).contains(&offset)
    };
    let mut y = vec![0; x.len()];
    for (n, c) in (0..shape[0]).flat_map(|n| (0..channels).map(move |c| (n, c))) {
        for from in coordinates(extents) {
            let mut taps = coordinates(extents);
            taps.retain(|at| (0..at.len()).all(|axis| inside(axis, from[axis], at[axis])));
            let taps = taps.iter().map(|at| x[position(case.layout, channels, extents, n, c, at)]);
            let (ignores, lasts) = (case.nan_policy == NanPolicy::Ignore, case.nan_policy == NanPolicy::PropagateLast);
            let seed = Some(widened).filter(|_| case.nan_policy == NanPolicy::SeedLowest);
            let taps = taps.filter(|&tap| !(ignores && is_nan(dtype, tap)));
            let better = |best, tap| wins(number(dtype, tap), number(dtype, best)) || lasts && is_nan(dtype, tap);
            let best = seed.into_iter().chain(taps).reduce(|best, tap| if better(best, tap) { tap } else { best });
            y[position(case.layout, channels, extents, n, c, &from)] = best.unwrap_or(empty);
        }
    }
    y
}

/// The bits of a difference. Every NaN is the quiet one without a sign.
pub fn minus(dtype: DType, a: u64, b: u64) -> u64 {
    let of_f32 = |value: f32| if value.is_nan() { f32::from_bits(0x7FC0_0000) } else { value };
    match (number(dtype, a), number(dtype, b)) {
        (Number::Integer(a), Number::Integer(b)) => {
            let (bits, signed) = (8 * dtype.bytes() as u32, dtype.name().starts_with('i'));
            let least = if signed { -(1i128 << (bits - 1)) } else { 0 };
            (a - b).clamp(least, least + (1i128 << bits) - 1) as u64 & mask(dtype)
        }
        (Number::Float(a), Number::Float(b)) => match dtype {
            // The double has more than twice as many bits, so that rounding it changes nothing more.
            DType::F32 => of_f32((a - b) as f32).to_bits().into(),
            DType::F16 => f16::from_f32(of_f32(a as f32 - b as f32)).to_bits().into(),
            DType::Bf16 => bf16::from_f32(of_f32(a as f32 - b as f32)).to_bits().into(),
            _ if (a - b).is_nan() => 0x7FF8_0000_0000_0000,
            _ => (a - b).to_bits(),
        },
        other => unreachable!("{other:?} of one type"),
    }
}
