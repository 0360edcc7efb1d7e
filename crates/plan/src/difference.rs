//! The difference of two tensors, element by element.

use std::hint::black_box;

use crate::element::{Element, Number};

/// Writes `a - b` for each element. Integers stay in their range, as in OpenCV's `subtract`; floats are subtracted by
/// IEEE's rules, f16 and bf16 in f32, rounded once more; every NaN is the positive quiet one without a payload.
///
/// A thread whose processor was told to flush subnormal floats to zero gets the same bits: it subtracts small floats as
/// integers, which takes longer.
#[inline]
pub fn subtract<T: Element>(y: &mut [T], a: &[T], b: &[T]) {
    let elements = y.iter_mut().zip(a.iter().zip(b));
    if T::DTYPE.is_float() && flushes_subnormals() {
        elements.for_each(|(y, (&a, &b))| *y = minus_in_integers(a, b));
    } else {
        elements.for_each(|(y, (&a, &b))| *y = a.minus(b));
    }
}

/// Whether this thread's arithmetic takes subnormal operands for zeros or makes zeros of subnormal results: two
/// settings of x86 (DAZ and FTZ), and one of ARM (FZ).
fn flushes_subnormals() -> bool {
    let of_operands = black_box(f32::from_bits(1)) + black_box(f32::MIN_POSITIVE);
    let of_results = black_box(f32::from_bits(0x0080_0001)) - black_box(f32::MIN_POSITIVE);
    [of_operands, of_results].map(f32::to_bits) != [0x0080_0001, 1]
}

/// The difference, whatever this thread's arithmetic makes of subnormals.
fn minus_in_integers<T: Element>(a: T, b: T) -> T {
    let small = match (a.number(), b.number()) {
        (Number::Single(a), Number::Single(b)) => {
            let bits = small_difference(a.to_bits().into(), b.to_bits().into(), 23, 32);
            bits.map(|bits| T::of_f32(f32::from_bits(bits as u32)))
        }
        (Number::Double(a), Number::Double(b)) => {
            small_difference(a.to_bits(), b.to_bits(), 52, 64).map(|bits| T::of_f64(f64::from_bits(bits)))
        }
        _ => None,
    };
    small.unwrap_or_else(|| a.minus(b))
}

/// The bits of `a - b`, of two floats given by their bits, whose fractions have `fraction` bits of the `width` of
/// the type. `None` unless both are so small that the difference is exact as a multiple of the smallest subnormal. In
/// all other cases no subnormal has a part in it: one of the operands is so large that the difference is normal, and
/// that it is rounded alike whether a subnormal is added or a zero.
fn small_difference(a: u64, b: u64, fraction: u32, width: u32) -> Option<u64> {
    let sign = 1 << (width - 1);
    let exponent = |x: u64| (x & !sign) >> fraction;
    // Beyond these exponents half a unit in the last place exceeds the largest subnormal.
    if exponent(a).max(exponent(b)) > u64::from(fraction) + 8 {
        return None;
    }
    let multiple = |x: u64| {
        let digits = x & ((1 << fraction) - 1);
        let magnitude = match exponent(x) {
            0 => i128::from(digits),
            exponent => i128::from(digits | 1 << fraction) << (exponent - 1),
        };
        if x & sign == 0 { magnitude } else { -magnitude }
    };
    let difference = multiple(a) - multiple(b);
    if difference == 0 {
        // Equal numbers give +0, and -0 minus +0 is -0.
        return Some(a & !b & sign);
    }
    let magnitude = difference.unsigned_abs();
    // The digits beyond those that a float keeps are rounded to nearest, of two to the even one. A carry moves into the
    // exponent. The exponent of a number without such digits is the digit before the fraction.
    let beyond = (u128::BITS - magnitude.leading_zeros()).saturating_sub(fraction + 1);
    let (kept, rest) = (magnitude >> beyond, magnitude & ((1 << beyond) - 1));
    let half = (1 << beyond) >> 1;
    let up = beyond > 0 && (rest > half || (rest == half && kept & 1 == 1));
    let bits = (u64::from(beyond) << fraction) + kept as u64 + u64::from(up);
    Some(bits | if difference < 0 { sign } else { 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Floats of every exponent up to some beyond the limit, of both signs, with few digits and many.
    fn floats(fraction: u32, width: u32) -> Vec<u64> {
        let all = (1u64 << fraction) - 1;
        let digits = [0, 1, 2, 3, all, all - 1, all >> 1, (all >> 1) + 1, (all >> 1) + 2, 0x5A5A_5A5A_5A5A & all];
        let exponents = (0..u64::from(fraction) + 12).filter(|exponent| exponent % 3 == 0 || *exponent < 4);
        let positive = exponents.flat_map(|exponent| digits.map(|digits| exponent << fraction | digits));
        positive.flat_map(|bits| [bits, bits | 1 << (width - 1)]).collect()
    }

    #[test]
    fn small_floats_are_subtracted_as_ieee_says() {
        assert!(!flushes_subnormals(), "what is expected is computed in the default mode");
        let (single, double) = (floats(23, 32), floats(52, 64));
        let mut small = 0;
        for (a, b) in single.iter().flat_map(|&a| single.iter().map(move |&b| (a, b))) {
            let expected = f32::from_bits(a as u32) - f32::from_bits(b as u32);
            let found = small_difference(a, b, 23, 32);
            assert!(found.is_none_or(|found| found == expected.to_bits().into()), "{a:#x} {b:#x}: {found:x?}");
            small += usize::from(found.is_some());
        }
        for (a, b) in double.iter().flat_map(|&a| double.iter().map(move |&b| (a, b))) {
            let found = small_difference(a, b, 52, 64);
            let expected = (f64::from_bits(a) - f64::from_bits(b)).to_bits();
            assert!(found.is_none_or(|found| found == expected), "{a:#x} {b:#x}: {found:x?}");
            small += usize::from(found.is_some());
        }
        assert!(small > 100_000, "{small}");
    }

    #[test]
    fn where_a_float_is_large_no_subnormal_changes_a_difference() {
        for (a, b) in floats(23, 32).iter().flat_map(|&a| floats(23, 32).into_iter().map(move |b| (a, b))) {
            if small_difference(a, b, 23, 32).is_none() {
                let flushed = |bits: u64| {
                    let x = f32::from_bits(bits as u32);
                    if x.is_subnormal() { 0.0f32.copysign(x) } else { x }
                };
                let difference = f32::from_bits(a as u32) - f32::from_bits(b as u32);
                assert!(difference == 0.0 || difference.is_normal(), "{a:#x} {b:#x}");
                assert_eq!(difference.to_bits(), (flushed(a) - flushed(b)).to_bits(), "{a:#x} {b:#x}");
            }
        }
    }
}
