//! Activations for kernels: the thresholds are elements, so that comparing keys is exact.

use half::{bf16, f16};

use crate::attributes::Activation;
use crate::element::DType;
use crate::error::PlanError;
use crate::kernel::ActivationKind;
use crate::uniform::{self, pair};

/// The shader part of an activation, and its parameters.
pub(super) fn activation(
    activation: Activation,
    dtype: DType,
) -> Result<(ActivationKind, uniform::Activation), PlanError> {
    let in_f32 = |kind, alpha: f32, beta: f32| match dtype {
        DType::F32 | DType::F16 | DType::Bf16 => {
            let parameters =
                uniform::Activation { alpha: alpha.to_bits(), beta: beta.to_bits(), ..bytemuck::Zeroable::zeroed() };
            Ok((kind, parameters))
        }
        // Shaders have no f64 arithmetic without an optional feature, and f32 would be a guess.
        _ => Err(PlanError::NotOnGpu { what: "f64 LeakyRelu, HardSigmoid, Tanh and Sigmoid" }),
    };
    let (min, max) = match activation {
        Activation::Identity => return Ok((ActivationKind::Identity, bytemuck::Zeroable::zeroed())),
        Activation::Relu => (0.0, f32::INFINITY),
        Activation::Clip { min, max } => (min, max),
        Activation::LeakyRelu { alpha } => return in_f32(ActivationKind::LeakyRelu, alpha, 0.0),
        Activation::HardSigmoid { alpha, beta } => return in_f32(ActivationKind::HardSigmoid, alpha, beta),
        Activation::Tanh => return in_f32(ActivationKind::Tanh, 0.0, 0.0),
        Activation::Sigmoid => return in_f32(ActivationKind::Sigmoid, 0.0, 0.0),
    };
    let [low_threshold, low_value] = low_bound(min, dtype);
    let [high_threshold, high_value] = high_bound(max, dtype);
    Ok((
        ActivationKind::Clip,
        uniform::Activation {
            low_threshold: pair(low_threshold),
            low_value: pair(low_value),
            high_threshold: pair(high_threshold),
            high_value: pair(high_value),
            ..bytemuck::Zeroable::zeroed()
        },
    ))
}

/// The smallest element that is not below `min`, and the element that `min` rounds to.
fn low_bound(min: f32, dtype: DType) -> [u64; 2] {
    match dtype {
        DType::F32 => [u64::from(min.to_bits()); 2],
        DType::F64 => [f64::from(min).to_bits(); 2],
        DType::F16 => {
            let rounded = f16::from_f32(min);
            let threshold = if rounded.to_f32() < min { up(rounded.to_bits()) } else { rounded.to_bits() };
            [threshold.into(), rounded.to_bits().into()]
        }
        DType::Bf16 => {
            let rounded = bf16::from_f32(min);
            let threshold = if rounded.to_f32() < min { up(rounded.to_bits()) } else { rounded.to_bits() };
            [threshold.into(), rounded.to_bits().into()]
        }
        integer => [integer_bits(f64::from(min).ceil(), integer); 2],
    }
}

/// The largest element that is not above `max`, and the element that `max` rounds to.
fn high_bound(max: f32, dtype: DType) -> [u64; 2] {
    match dtype {
        DType::F32 | DType::F64 => low_bound(max, dtype),
        DType::F16 => {
            let rounded = f16::from_f32(max);
            let threshold = if rounded.to_f32() > max { down(rounded.to_bits()) } else { rounded.to_bits() };
            [threshold.into(), rounded.to_bits().into()]
        }
        DType::Bf16 => {
            let rounded = bf16::from_f32(max);
            let threshold = if rounded.to_f32() > max { down(rounded.to_bits()) } else { rounded.to_bits() };
            [threshold.into(), rounded.to_bits().into()]
        }
        integer => [integer_bits(f64::from(max).floor(), integer); 2],
    }
}

/// The next larger 16-bit float, by its bits. The argument is smaller than some number, so it is not plus infinity.
fn up(bits: u16) -> u16 {
    match bits {
        0x8000 => 1,
        negative if negative > 0x8000 => negative.saturating_sub(1),
        positive => positive.saturating_add(1),
    }
}

/// The next smaller 16-bit float, by its bits. The argument is larger than some number, so it is not minus infinity.
fn down(bits: u16) -> u16 {
    up(bits ^ 0x8000) ^ 0x8000
}

/// An integral bound as an element, saturated.
fn integer_bits(bound: f64, dtype: DType) -> u64 {
    match dtype {
        DType::I8 => u64::from(bound as i8 as u8),
        DType::I16 => u64::from(bound as i16 as u16),
        DType::I32 => u64::from(bound as i32 as u32),
        DType::I64 => bound as i64 as u64,
        DType::U8 => u64::from(bound as u8),
        DType::U16 => u64::from(bound as u16),
        DType::U32 => u64::from(bound as u32),
        _ => bound as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixteen_bit_thresholds_split_exactly_where_the_f32_bound_does() {
        let bounds = [-1e10f32, -70000.0, -1.000_1, -0.0, 0.0, 1e-9, 0.1, 1.000_1, 65_519.9, 65_520.0, 1e10];
        for bound in bounds {
            let low = f16::from_bits(low_bound(bound, DType::F16)[0] as u16);
            let high = f16::from_bits(high_bound(bound, DType::F16)[0] as u16);
            for bits in 0..=u16::MAX {
                let x = f16::from_bits(bits);
                if !x.is_nan() {
                    assert_eq!(x < low, x.to_f32() < bound, "{x} below {bound}");
                    assert_eq!(x > high, x.to_f32() > bound, "{x} above {bound}");
                }
            }
        }
    }

    #[test]
    fn integer_bounds_saturate() {
        assert_eq!(low_bound(f32::NEG_INFINITY, DType::I8)[0], 0x80);
        assert_eq!(high_bound(2.9, DType::U8)[0], 2);
        assert_eq!(low_bound(-1.5, DType::I16)[0], u64::from(-1i16 as u16));
        assert_eq!(high_bound(1e30, DType::U64)[0], u64::MAX);
    }
}
