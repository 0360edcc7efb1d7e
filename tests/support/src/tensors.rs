//! Input tensors with few levels in no order, so that maxima lie anywhere and some tie.

use wgpu_pooling::{Element, Tensor};

use crate::draw::elements::mixed;

/// Integers from -11 to 11.
pub fn tensor(shape: &[usize]) -> Tensor<f32> {
    filled(shape, |i| ((i * 7919) % 23) as f32 - 11.0)
}

/// Integers from -120 to 130, different ones for each seed.
pub fn seeded(shape: &[usize], seed: usize) -> Tensor<f32> {
    filled(shape, |i| (((i + seed) * 7919) % 251) as f32 - 120.0)
}

fn filled(shape: &[usize], value: impl Fn(usize) -> f32) -> Tensor<f32> {
    Tensor::new(shape, (0..shape.iter().product()).map(value).collect()).unwrap()
}

/// Elements of all styles.
pub fn of_all_styles<T: Element>(shape: &[usize]) -> Tensor<T> {
    let bytes = mixed(T::DTYPE, shape.iter().product(), 7);
    Tensor::new(shape, bytemuck::pod_collect_to_vec(&bytes)).unwrap()
}

/// The bits of elements, by which floats are compared.
pub fn bits<T: Element>(elements: &[T]) -> Vec<u64> {
    elements.iter().map(|element| element.to_bits64()).collect()
}
