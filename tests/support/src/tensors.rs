//! Input tensors with few levels in no order, so that maxima lie anywhere and some tie.

use wgpu_pooling::Tensor;

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
