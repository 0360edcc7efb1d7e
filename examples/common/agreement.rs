//! Compares the GPU's results with those of the reference.

use wgpu_pooling::Tensor;

/// The number of elements, if all have the same bits on the GPU and on the CPU; otherwise the first difference.
pub fn same<T: Copy + std::fmt::Debug, B: PartialEq>(
    what: &str,
    on_gpu: &Tensor<T>,
    on_cpu: &Tensor<T>,
    bits: impl Fn(T) -> B,
) -> Result<usize, String> {
    let disagree = |difference: String| Err(format!("GPU and CPU disagree: {what}{difference}"));
    if on_gpu.shape() != on_cpu.shape() {
        return disagree(format!(": the shapes {:?} and {:?} differ", on_gpu.shape(), on_cpu.shape()));
    }
    match on_gpu.data().iter().zip(on_cpu.data()).position(|(&a, &b)| bits(a) != bits(b)) {
        None => Ok(on_gpu.data().len()),
        Some(at) => {
            disagree(format!(" {at} is {:?} on the GPU and {:?} on the CPU", on_gpu.data()[at], on_cpu.data()[at]))
        }
    }
}
