//! A GPU or the CPU behind one type.

use std::sync::Arc;

use wgpu_pooling_plan::{Backend, BoxFuture, ExecuteError, Plan, PlanError, PreparedPlan, TensorMut, TensorRef};

#[cfg(feature = "gpu")]
use crate::gpu::{GpuOptions, calls::gpu::Gpu};
use wgpu_pooling_cpu::Cpu;

/// A GPU or the CPU, for programs that decide at run time. They `match` on it to use what only one of them has. Bits
/// and errors are the same.
///
/// `Device::open` takes a GPU where there is one, or else the CPU, hence there is no `Device::new`; a `Gpu` or a `Cpu`
/// becomes a device by `Device::from`. From then on neither falls back to the other. On the CPU an asynchronous call
/// computes at once and never waits, so it blocks its thread.
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
    /// Opens a GPU that is hardware, or takes the CPU where there is none: with the CPU comes the error that says why.
    /// Adapters of software, such as Mesa's llvmpipe, count as none, unless they are named ([`GpuOptions::hardware`]).
    ///
    /// ```no_run
    /// # async fn open() {
    /// use wgpu_pooling::{Backend, Device, GpuOptions};
    ///
    /// let (device, why_no_gpu) = Device::open(&GpuOptions::new()).await;
    /// println!("{}", device.name());
    /// if let Some(error) = why_no_gpu {
    ///     println!("computes on the CPU: {error}");
    /// }
    /// # }
    /// ```
    #[cfg(feature = "gpu")]
    pub async fn open(options: &GpuOptions) -> (Device, Option<ExecuteError>) {
        match Gpu::open(&options.clone().hardware()).await {
            Ok(gpu) => (Device::Gpu(gpu), None),
            Err(error) => (Device::Cpu(Cpu::new()), Some(error)),
        }
    }

    /// Opens a GPU that is hardware, or takes the CPU: the blocking twin of [`Device::open`].
    ///
    /// ```no_run
    /// use wgpu_pooling::{Device, GpuOptions, MaxPool};
    ///
    /// let (device, _) = Device::open_blocking(&GpuOptions::new());
    /// let y = MaxPool::new([2]).on((&[1, 1, 3], &[1.0f32, 3.0, 2.0])).run_blocking(&device)?;
    /// assert_eq!(y.data(), [3.0, 3.0]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    #[cfg(feature = "gpu")]
    #[cfg(not(target_arch = "wasm32"))]
    pub fn open_blocking(options: &GpuOptions) -> (Device, Option<ExecuteError>) {
        pollster::block_on(Device::open(options))
    }

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

    fn prepare(&self, plan: Plan) -> BoxFuture<'_, Arc<dyn PreparedPlan>> {
        self.backend().prepare(plan)
    }

    fn run<'a>(
        &'a self,
        plan: &'a Plan,
        inputs: &'a [TensorRef<'a>],
        outputs: &'a mut [TensorMut<'_>],
    ) -> BoxFuture<'a, ()> {
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

    fn check_alive(&self) -> Result<(), ExecuteError> {
        self.backend().check_alive()
    }

    fn stream_bytes(&self, tile: &Plan) -> Result<u64, PlanError> {
        self.backend().stream_bytes(tile)
    }

    fn prepare_tile(&self, plan: Plan) -> BoxFuture<'_, Arc<dyn PreparedPlan>> {
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
