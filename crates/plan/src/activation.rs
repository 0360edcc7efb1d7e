//! Activations on the host: in f32 for f16, bf16 and f32, in f64 for f64, one rounding at the end.

use crate::attributes::Activation;
use crate::element::{Element, Number};

impl Activation {
    /// The activation of one element. A value that the activation does not change keeps its bits, NaN and -0 included.
    #[doc(hidden)]
    pub fn apply<T: Element>(self, x: T) -> T {
        if self == Activation::Identity || x.is_nan() {
            return x;
        }
        let changed = match x.number() {
            Number::Single(x) => float(self, x).map(T::of_f32),
            Number::Double(x) => double(self, x).map(T::of_f64),
            Number::Integer => integer(self, x),
        };
        changed.unwrap_or(x)
    }

    /// The activation of each element.
    #[doc(hidden)]
    pub fn apply_all<T: Element>(self, elements: &mut [T]) {
        if self != Activation::Identity {
            elements.iter_mut().for_each(|element| *element = self.apply(*element));
        }
    }
}

macro_rules! float_activation {
    ($name:ident, $type:ty, $of:expr) => {
        /// The new value, or `None` where the activation does not change x.
        fn $name(activation: Activation, x: $type) -> Option<$type> {
            match activation {
                Activation::Identity => None,
                Activation::Relu => (0.0).greater(x).then_some(0.0),
                Activation::LeakyRelu { alpha } => (0.0).greater(x).then_some($of(alpha) * x),
                Activation::Clip { min, max } => {
                    let (min, max) = ($of(min), $of(max));
                    if min.greater(x) { Some(min) } else { x.greater(max).then_some(max) }
                }
                Activation::HardSigmoid { alpha, beta } => {
                    let z = $of(alpha) * x + $of(beta);
                    Some(if z < 0.0 {
                        0.0
                    } else if z > 1.0 {
                        1.0
                    } else {
                        z
                    })
                }
                Activation::Tanh => Some(x.tanh()),
                Activation::Sigmoid => Some(1.0 / (1.0 + (-x).exp())),
            }
        }
    };
}

float_activation!(float, f32, std::convert::identity::<f32>);
float_activation!(double, f64, exact);

/// A parameter as a double. Subnormals are converted without float arithmetic on them, since a processor may take them
/// for zeros.
fn exact(parameter: f32) -> f64 {
    if !parameter.is_subnormal() {
        return parameter.into();
    }
    let steps = f64::from(parameter.to_bits() & 0x007F_FFFF);
    (steps * f64::from_bits((1023 - 149) << 52)).copysign(if parameter.is_sign_negative() { -1.0 } else { 1.0 })
}

/// Relu and Clip on integers compare exactly; bounds are rounded inwards, the minimum up and the maximum down. Plans
/// refuse the other activations.
fn integer<T: Element>(activation: Activation, x: T) -> Option<T> {
    let zero = T::of_f64(0.0);
    match activation {
        Activation::Relu => zero.greater(x).then_some(zero),
        Activation::Clip { min, max } => {
            // A bound outside the range of the type is the end of the range.
            let (min, max) = (T::of_f64(exact(min).ceil()), T::of_f64(exact(max).floor()));
            if min.greater(x) { Some(min) } else { x.greater(max).then_some(max) }
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_of_integers_are_taken_into_the_range_of_the_type_before_anything_is_compared() {
        // The lower bound is 127 of an i8, which is not below itself, and the upper bound wins.
        assert_eq!(Activation::Clip { min: 65_520.0, max: 0.0 }.apply(127i8), 0);
        assert_eq!(Activation::Clip { min: 65_520.0, max: 0.0 }.apply(126i8), 127);
        assert_eq!(Activation::Clip { min: 0.0, max: -1.0 }.apply(0u8), 0);
        assert_eq!(Activation::Clip { min: f32::INFINITY, max: f32::NEG_INFINITY }.apply(u64::MAX), 0);
    }

    #[test]
    fn parameters_become_doubles_exactly() {
        for parameter in
            [0.0, -0.0, 1.5, f32::MIN_POSITIVE, f32::from_bits(1), -f32::from_bits(0x7F_FFFF), f32::NEG_INFINITY]
        {
            assert_eq!(exact(parameter).to_bits(), f64::from(parameter).to_bits(), "{parameter:e}");
        }
    }
}
