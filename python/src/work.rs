//! A plan, or several.

use wgpu_pooling::{Backend, ExecuteError, Later, Plan, Steps, TensorMut, TensorRef, TensorSpec};

/// What is computed.
pub(crate) enum Work {
    Plan(Plan),
    Steps(Steps),
}

impl Work {
    /// The plans, of which some may take long.
    pub fn plans(&self) -> Vec<&Plan> {
        match self {
            Work::Plan(plan) => vec![plan],
            Work::Steps(steps) => steps.each().map(|(plan, _)| plan).collect(),
        }
    }

    /// The tensors that are written.
    pub fn outputs(&self) -> &[TensorSpec] {
        match self {
            Work::Plan(plan) => plan.outputs(),
            Work::Steps(steps) => steps.first().outputs(),
        }
    }

    /// Computes it on a backend.
    pub fn run<'a>(
        &'a self,
        backend: &'a dyn Backend,
        inputs: &'a [TensorRef<'a>],
        outputs: &'a mut [TensorMut<'_>],
    ) -> Later<'a, ()> {
        match self {
            Work::Plan(plan) => backend.run(plan, inputs, outputs),
            Work::Steps(steps) => backend.run_steps(steps, inputs, outputs),
        }
    }

    /// Computes it on a backend, waiting for the result.
    pub fn run_blocking(
        &self,
        backend: &dyn Backend,
        inputs: &[TensorRef<'_>],
        outputs: &mut [TensorMut<'_>],
    ) -> Result<(), ExecuteError> {
        match self {
            Work::Plan(plan) => backend.run_blocking(plan, inputs, outputs),
            Work::Steps(steps) => backend.run_steps_blocking(steps, inputs, outputs),
        }
    }
}
