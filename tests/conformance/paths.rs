//! The ways to compute a plan: one interface, so that every check is written once.

use std::panic::{AssertUnwindSafe, catch_unwind};

use support::vectors::tensors::RawTensor;
pub use wgpu_pooling::Reference;
use wgpu_pooling::{Backend, ExecuteError, Plan, TensorMut, TensorRef};
#[cfg(feature = "cpu")]
use wgpu_pooling::{PreparedCpu, Run};

/// What came out.
#[derive(Debug)]
pub struct Output {
    pub y: RawTensor,
    /// Present if a pool was asked for them.
    pub indices: Option<RawTensor>,
}

/// Why nothing came out.
#[derive(Debug)]
pub enum Failure {
    /// The library's own error.
    Refused(ExecuteError),
    /// The library panicked, which it never may.
    Panicked(String),
}

/// A computation's result.
pub type Outcome = Result<Output, Failure>;

/// Calls the library; a panic becomes a [`Failure`].
pub fn guarded<R>(call: impl FnOnce() -> Result<R, ExecuteError>) -> Result<R, Failure> {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(result) => result.map_err(Failure::Refused),
        Err(payload) => {
            let text = payload.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
            Err(Failure::Panicked(text.unwrap_or("a payload that is not text").to_owned()))
        }
    }
}

/// A way to compute.
pub trait Path {
    fn execute(&self, plan: &Plan, inputs: &[TensorRef<'_>], outputs: &mut [TensorMut<'_>])
    -> Result<(), ExecuteError>;
}

/// The reference: plain loops on the CPU.
impl Path for Reference {
    fn execute(
        &self,
        plan: &Plan,
        inputs: &[TensorRef<'_>],
        outputs: &mut [TensorMut<'_>],
    ) -> Result<(), ExecuteError> {
        Reference.run_blocking(plan, inputs, outputs)
    }
}

/// The CPU backend, with a plan of its own.
#[cfg(feature = "cpu")]
impl Path for PreparedCpu {
    fn execute(&self, _: &Plan, inputs: &[TensorRef<'_>], outputs: &mut [TensorMut<'_>]) -> Result<(), ExecuteError> {
        self.run_blocking(inputs, outputs)
    }
}

/// Computes a plan on a path. `indices` are those that an unpool reads.
pub fn compute(path: &impl Path, plan: &Plan, x: &RawTensor, indices: Option<&RawTensor>) -> Outcome {
    guarded(|| {
        let indices = indices.filter(|_| plan.inputs().len() == 2);
        let inputs: Vec<TensorRef<'_>> = [x].into_iter().chain(indices).map(RawTensor::view).collect();
        let mut outputs: Vec<RawTensor> = plan.outputs().iter().map(RawTensor::garbage).collect();
        let mut views: Vec<TensorMut<'_>> = outputs.iter_mut().map(RawTensor::view_mut).collect();
        let result = path.execute(plan, &inputs, &mut views);
        if result.is_err() {
            assert!(outputs.iter().all(RawTensor::is_garbage), "an output was written in spite of the error");
        }
        result?;
        let mut outputs = outputs.into_iter();
        Ok(Output { y: outputs.next().expect("every plan has an output"), indices: outputs.next() })
    })
}
