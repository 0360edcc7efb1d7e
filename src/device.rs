//! A GPU or the CPU behind one type.

use std::sync::Arc;

use wgpu_pooling_plan::{Backend, ExecuteError, Later, Plan, PlanError, Run, Steps, TensorMut, TensorRef};

#[cfg(feature = "gpu")]
use crate::gpu::calls::gpu::Gpu;
use wgpu_pooling_cpu::Cpu;

/// A GPU or the CPU, for programs that decide at run time. They `match` on it to use what only one of them has. Bits
/// and errors are the same.
///
/// On the CPU an asynchronous call computes at once and never waits, so it blocks its thread. The program decides which
/// of the two to use, hence there is no `Device::new`: a [`Gpu`] or a [`Cpu`] becomes a device by `Device::from`, and
/// neither falls back to the other.
///
/// ```
/// use wgpu_pooling::{Cpu, Device, MaxPool, MaxUnpool, Tensor};
///
/// let device = Device::from(Cpu::new());
/// let x = Tensor::new([1, 1, 2, 4], vec![1.0f32, 5.0, 2.0, 0.0, 4.0, 3.0, 7.0, 6.0])?;
/// let pool = MaxPool::new([2, 2]).strides([2, 2]);
/// let (y, indices) = pool.on(&x).with_indices::<i64>().run_blocking(&device)?;
/// let back = MaxUnpool::inverse_of(&pool, x.shape()).on(&y, &indices).run_blocking(&device)?;
/// assert_eq!(back.data(), &[0.0, 5.0, 0.0, 0.0, 0.0, 0.0, 7.0, 0.0]);
/// # Ok::<(), wgpu_pooling::ExecuteError>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Device {
    /// The processors of the host.
    Cpu(Cpu),
    /// A GPU.
    #[cfg(feature = "gpu")]
    Gpu(Gpu),
}

impl Device {
    fn backend(&self) -> &dyn Backend {
        match self {
            Device::Cpu(cpu) => cpu,
            #[cfg(feature = "gpu")]
            Device::Gpu(gpu) => gpu,
        }
    }
}

impl Backend for Device {
    fn name(&self) -> String {
        self.backend().name()
    }

    fn prepare(&self, plan: Plan) -> Later<'_, Arc<dyn Run>> {
        self.backend().prepare(plan)
    }

    fn run<'a>(
        &'a self,
        plan: &'a Plan,
        inputs: &'a [TensorRef<'a>],
        outputs: &'a mut [TensorMut<'_>],
    ) -> Later<'a, ()> {
        self.backend().run(plan, inputs, outputs)
    }

    #[cfg(not(target_arch = "wasm32"))]
    fn run_blocking(
        &self,
        plan: &Plan,
        inputs: &[TensorRef<'_>],
        outputs: &mut [TensorMut<'_>],
    ) -> Result<(), ExecuteError> {
        self.backend().run_blocking(plan, inputs, outputs)
    }

    fn run_steps<'a>(
        &'a self,
        steps: &'a Steps,
        inputs: &'a [TensorRef<'a>],
        outputs: &'a mut [TensorMut<'_>],
    ) -> Later<'a, ()> {
        self.backend().run_steps(steps, inputs, outputs)
    }

    #[cfg(not(target_arch = "wasm32"))]
    fn run_steps_blocking(
        &self,
        steps: &Steps,
        inputs: &[TensorRef<'_>],
        outputs: &mut [TensorMut<'_>],
    ) -> Result<(), ExecuteError> {
        self.backend().run_steps_blocking(steps, inputs, outputs)
    }

    fn check_alive(&self) -> Result<(), ExecuteError> {
        self.backend().check_alive()
    }

    fn stream_bytes(&self, tile: &Plan) -> Result<u64, PlanError> {
        self.backend().stream_bytes(tile)
    }

    fn prepare_tile(&self, plan: Plan) -> Later<'_, Arc<dyn Run>> {
        self.backend().prepare_tile(plan)
    }
}

impl From<Cpu> for Device {
    fn from(cpu: Cpu) -> Device {
        Device::Cpu(cpu)
    }
}

#[cfg(feature = "gpu")]
impl From<Gpu> for Device {
    fn from(gpu: Gpu) -> Device {
        Device::Gpu(gpu)
    }
}
