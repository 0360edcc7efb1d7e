//! Activations for kernels: the thresholds are elements, so that comparing keys is exact.

use wgpu_pooling_plan::internal::Number;
use wgpu_pooling_plan::with_element;
use wgpu_pooling_plan::{Activation, DType, Element, PlanError};

use crate::kernel::ActivationKind;
use crate::uniform::{self, pair};

/// The shader part of an activation, and its parameters.
pub(super) fn activation(
    activation: Activation,
    dtype: DType,
) -> Result<(ActivationKind, uniform::Activation), PlanError> {
    let in_f32 = |kind, alpha: f32, beta: f32| {
        // Shaders have no f64 arithmetic without an optional feature, and f32 arithmetic would not be accurate enough.
        if dtype.bytes() > 4 {
            return Err(PlanError::NotOnGpu { what: "f64 LeakyRelu, HardSigmoid, Tanh and Sigmoid" });
        }
        let parameters =
            uniform::Activation { alpha: alpha.to_bits(), beta: beta.to_bits(), ..bytemuck::Zeroable::zeroed() };
        Ok((kind, parameters))
    };
    let (min, max) = match activation {
        Activation::Identity => return Ok((ActivationKind::Identity, bytemuck::Zeroable::zeroed())),
        Activation::Relu => (0.0, f32::INFINITY),
        Activation::Clip { min, max } => (min, max),
        Activation::LeakyRelu { alpha } => return in_f32(ActivationKind::LeakyRelu, alpha, 0.0),
        Activation::HardSigmoid { alpha, beta } => return in_f32(ActivationKind::HardSigmoid, alpha, beta),
        Activation::Tanh => return in_f32(ActivationKind::Tanh, 0.0, 0.0),
        Activation::Sigmoid => return in_f32(ActivationKind::Sigmoid, 0.0, 0.0),
        _ => return Err(PlanError::NotOnGpu { what: "this activation" }),
    };
    let [low_threshold, low_value] = with_element!(dtype, T => low_bound::<T>(min));
    let [high_threshold, high_value] = with_element!(dtype, T => high_bound::<T>(max));
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
fn low_bound<T: Element>(min: f32) -> [u64; 2] {
    if !T::DTYPE.is_float() {
        return [T::of_f64(f64::from(min).ceil()).to_bits64(); 2];
    }
    let rounded = T::of_f32(min);
    let is_below = matches!(rounded.number(), Number::Single(value) if value < min);
    [if is_below { next_up::<T>(rounded.to_bits64()) } else { rounded.to_bits64() }, rounded.to_bits64()]
}

/// The largest element that is not above `max`, and the element that `max` rounds to.
fn high_bound<T: Element>(max: f32) -> [u64; 2] {
    if !T::DTYPE.is_float() {
        return [T::of_f64(f64::from(max).floor()).to_bits64(); 2];
    }
    let rounded = T::of_f32(max);
    let is_above = matches!(rounded.number(), Number::Single(value) if value > max);
    [if is_above { next_down::<T>(rounded.to_bits64()) } else { rounded.to_bits64() }, rounded.to_bits64()]
}

/// The sign bit of a float.
fn sign<T: Element>() -> u64 {
    1 << T::DTYPE.bytes().saturating_mul(8).saturating_sub(1)
}

/// The bits of the next float above. The argument is below some number, so it is not plus infinity.
fn next_up<T: Element>(bits: u64) -> u64 {
    match bits {
        zero if zero == sign::<T>() => 1,
        negative if negative > sign::<T>() => negative.saturating_sub(1),
        positive => positive.saturating_add(1),
    }
}

/// The bits of the next float below. The argument is above some number, so it is not minus infinity.
fn next_down<T: Element>(bits: u64) -> u64 {
    next_up::<T>(bits ^ sign::<T>()) ^ sign::<T>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use half::f16;

    #[test]
    fn sixteen_bit_thresholds_split_exactly_where_the_f32_bound_does() {
        let bounds = [-1e10f32, -70000.0, -1.000_1, -0.0, 0.0, 1e-9, 0.1, 1.000_1, 65_519.9, 65_520.0, 1e10];
        for bound in bounds {
            let low = f16::from_bits(low_bound::<f16>(bound)[0] as u16);
            let high = f16::from_bits(high_bound::<f16>(bound)[0] as u16);
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
        assert_eq!(low_bound::<i8>(f32::NEG_INFINITY)[0], 0x80);
        assert_eq!(high_bound::<u8>(2.9)[0], 2);
        assert_eq!(low_bound::<i16>(-1.5)[0], u64::from(-1i16 as u16));
        assert_eq!(high_bound::<u64>(1e30)[0], u64::MAX);
    }
}
