//! Compares results with those of the reference, whose plain loops define what plans mean.

use wgpu_pooling::{Backend, ExecuteError, Outputs, Plan, PreparedPlan, Reference, Tensor, TensorRef};

/// What the reference computes.
pub fn expected<O: Outputs>(plan: Plan, inputs: &[TensorRef<'_>]) -> Result<O, ExecuteError> {
    pollster::block_on(Reference.prepare(plan))?.call_blocking(inputs)
}

/// The number of elements, if all have the bits of the reference; otherwise the first difference.
pub fn same<T: Copy + std::fmt::Debug, B: PartialEq>(
    what: &str,
    computed: &Tensor<T>,
    expected: &Tensor<T>,
    bits: impl Fn(T) -> B,
) -> Result<usize, String> {
    let disagree = |difference: String| Err(format!("the results are not the reference's: {what}{difference}"));
    if computed.shape() != expected.shape() {
        return disagree(format!(": the shapes {:?} and {:?} differ", computed.shape(), expected.shape()));
    }
    match computed.data().iter().zip(expected.data()).position(|(&a, &b)| bits(a) != bits(b)) {
        None => Ok(computed.data().len()),
        Some(at) => {
            disagree(format!(" {at} is {:?} and the reference's {:?}", computed.data()[at], expected.data()[at]))
        }
    }
}

/// Says how many values and indices have the bits of the reference.
pub fn agreement([values, indices]: [usize; 2]) -> String {
    format!("with the reference: {values} values and {indices} indices, bit for bit")
}
