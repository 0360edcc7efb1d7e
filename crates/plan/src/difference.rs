//! The difference of two tensors, element by element.

use crate::element::Element;

/// Writes `a - b` for each element. Integers stay in their range, as in OpenCV's `subtract`; floats are subtracted by
/// IEEE's rules, f16 and bf16 in f32, rounded once more; every NaN is the positive quiet one without a payload.
#[inline]
pub fn subtract<T: Element>(y: &mut [T], a: &[T], b: &[T]) {
    for (y, (&a, &b)) in y.iter_mut().zip(a.iter().zip(b)) {
        *y = a.minus(b);
    }
}
