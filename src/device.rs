//! A GPU or the CPU behind one type, with one-shot calls from slices to vectors.

pub(crate) mod prepared;
#[cfg(not(target_arch = "wasm32"))]
mod spawnable;
mod streams;

use std::sync::Arc;

use wgpu_pooling_plan::{
    Backend, ConvertIndices, Element, ExecuteError, Index, Later, MaxUnpool, Plan, Pooling, Run, Tensor, TensorMut,
    TensorRef, TensorView,
};

#[cfg(feature = "gpu")]
use crate::gpu::calls::gpu::Gpu;
use prepared::PreparedOn;
use wgpu_pooling_cpu::Cpu;

/// What computes, a GPU or the CPU: for programs that decide at run time. It has the calls that both have, with the
/// same bits, and the same errors of plans and of calls that do not fit them.
///
/// Calls are asynchronous, with blocking twins outside wasm, as those of `Gpu` are. On the CPU an asynchronous call
/// computes at once and never waits, so it blocks its thread; the blocking twins do the same. Which of both to take is
/// the program's decision: nothing here falls back from one to the other.
///
/// ```
/// use wgpu_pooling::{Cpu, Device, MaxPool, MaxUnpool, Tensor};
///
/// let device = Device::from(Cpu::new());
/// let x = Tensor::new([1, 1, 2, 4], vec![1.0f32, 5.0, 2.0, 0.0, 4.0, 3.0, 7.0, 6.0])?;
/// let pool = MaxPool::new([2, 2]).strides([2, 2]);
/// let (y, indices) = device.max_pool_with_indices_blocking::<f32, i64>(&pool, &x)?;
/// let back = device.max_unpool_blocking(&MaxUnpool::inverse_of(&pool, x.shape()), &y, &indices)?;
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

impl Device {
    /// A plan made ready, for calls that are made more than once or that write the caller's memory: its kernel is chosen, and on
    /// a GPU compiled.
    ///
    /// # Errors
    /// As [`Cpu::prepare`], or as `Gpu::prepare`.
    ///
    /// ```no_run
    /// # async fn f(device: wgpu_pooling::Device) -> Result<(), wgpu_pooling::ExecuteError> {
    /// use wgpu_pooling::{DType, MaxPool};
    /// let prepared = device.prepare(MaxPool::new([2]).plan(&[1, 1, 4], DType::F32, None)?).await?;
    /// assert_eq!(prepared.plan().operator(), "max_pool");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn prepare(&self, plan: impl Into<Plan>) -> Result<PreparedOn, ExecuteError> {
        match self {
            Device::Cpu(cpu) => cpu.prepare(plan).map(PreparedOn::Cpu),
            #[cfg(feature = "gpu")]
            Device::Gpu(gpu) => gpu.prepare(plan.into()).await.map(PreparedOn::Gpu),
        }
    }

    /// The maxima of `x` (MaxPool, GlobalMaxPool or AdaptiveMaxPool).
    ///
    /// # Errors
    /// As [`Cpu::max_pool`], or as `Gpu::max_pool`.
    ///
    /// ```no_run
    /// # async fn f(device: wgpu_pooling::Device) -> Result<(), wgpu_pooling::ExecuteError> {
    /// use wgpu_pooling::{GlobalMaxPool, TensorView};
    /// let x = TensorView::new(&[1, 2, 2], &[3.0f32, 1.0, 2.0, 4.0])?;
    /// assert_eq!(device.max_pool(&GlobalMaxPool::new(), x).await?.data(), &[3.0, 4.0]);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn max_pool<'a, T: Element>(
        &self,
        pool: &(impl Pooling + ?Sized),
        x: impl Into<TensorView<'a, T>>,
    ) -> Result<Tensor<T>, ExecuteError> {
        match self {
            Device::Cpu(cpu) => cpu.max_pool(pool, x),
            #[cfg(feature = "gpu")]
            Device::Gpu(gpu) => gpu.max_pool(pool, x).await,
        }
    }

    /// The maxima of `x` and their indices.
    ///
    /// # Errors
    /// As [`Device::max_pool`].
    ///
    /// ```no_run
    /// # async fn f(device: wgpu_pooling::Device) -> Result<(), wgpu_pooling::ExecuteError> {
    /// use wgpu_pooling::{MaxPool, TensorView};
    /// let x = TensorView::new(&[1, 1, 3], &[3.0f32, 1.0, 2.0])?;
    /// let (y, indices) = device.max_pool_with_indices::<f32, i32>(&MaxPool::new([2]), x).await?;
    /// assert_eq!((y.data(), indices.data()), (&[3.0, 2.0][..], &[0, 2][..]));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn max_pool_with_indices<'a, T: Element, I: Index>(
        &self,
        pool: &(impl Pooling + ?Sized),
        x: impl Into<TensorView<'a, T>>,
    ) -> Result<(Tensor<T>, Tensor<I>), ExecuteError> {
        match self {
            Device::Cpu(cpu) => cpu.max_pool_with_indices(pool, x),
            #[cfg(feature = "gpu")]
            Device::Gpu(gpu) => gpu.max_pool_with_indices(pool, x).await,
        }
    }

    /// The values of `x` at the positions that `indices` name, zeros elsewhere.
    ///
    /// # Errors
    /// As [`Cpu::max_unpool`], or as `Gpu::max_unpool`.
    ///
    /// ```no_run
    /// # async fn f(device: wgpu_pooling::Device) -> Result<(), wgpu_pooling::ExecuteError> {
    /// use wgpu_pooling::{MaxUnpool, TensorView};
    /// let (x, indices) = (TensorView::new(&[1, 1, 2], &[3.0f32, 2.0])?, TensorView::new(&[1, 1, 2], &[0i64, 2])?);
    /// assert_eq!(device.max_unpool(&MaxUnpool::new([2]), x, indices).await?.data(), &[3.0, 0.0, 2.0]);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn max_unpool<'a, T: Element, I: Index>(
        &self,
        unpool: &MaxUnpool,
        x: impl Into<TensorView<'a, T>>,
        indices: impl Into<TensorView<'a, I>>,
    ) -> Result<Tensor<T>, ExecuteError> {
        match self {
            Device::Cpu(cpu) => cpu.max_unpool(unpool, x, indices),
            #[cfg(feature = "gpu")]
            Device::Gpu(gpu) => gpu.max_unpool(unpool, x, indices).await,
        }
    }

    /// The indices in another convention.
    ///
    /// # Errors
    /// As [`Cpu::convert_indices`], or as `Gpu::convert_indices`.
    ///
    /// ```no_run
    /// # async fn f(device: wgpu_pooling::Device) -> Result<(), wgpu_pooling::ExecuteError> {
    /// use wgpu_pooling::{ConvertIndices, IndexFlattening, IndexSpace, TensorView};
    /// let onnx = IndexSpace::new(1, 2, [4]);
    /// let convert = ConvertIndices::new(onnx.clone(), onnx.with_flatten(IndexFlattening::Plane));
    /// let indices = TensorView::new(&[1, 2, 1], &[1, 7])?;
    /// assert_eq!(device.convert_indices::<i64, i32>(&convert, indices).await?.data(), &[1, 3]);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn convert_indices<'a, F: Index, T: Index>(
        &self,
        conversion: &ConvertIndices,
        indices: impl Into<TensorView<'a, F>>,
    ) -> Result<Tensor<T>, ExecuteError> {
        match self {
            Device::Cpu(cpu) => cpu.convert_indices(conversion, indices),
            #[cfg(feature = "gpu")]
            Device::Gpu(gpu) => gpu.convert_indices(conversion, indices).await,
        }
    }

    /// Computes a plan: reads the tensors of [`Plan::inputs`] and writes those of [`Plan::outputs`], whose element
    /// types are known at run time only. If there is an error other than [`ExecuteError::Interrupted`] and, on the CPU,
    /// [`ExecuteError::OutOfMemory`], nothing is written, unless `Cpu::with_fresh_outputs` says that this does not
    /// matter.
    ///
    /// # Errors
    /// As [`Cpu::execute`], or as `Gpu::execute`.
    ///
    /// ```no_run
    /// # async fn f(device: wgpu_pooling::Device) -> Result<(), wgpu_pooling::ExecuteError> {
    /// use wgpu_pooling::{DType, MaxPool, Plan, TensorMut, TensorRef};
    /// let x = TensorRef::new(DType::U8, &[1, 1, 4], &[3, 1, 2, 9])?;
    /// let plan: Plan = MaxPool::new([2]).strides([2]).plan(x.shape(), x.dtype(), None)?.into();
    /// let mut y = [0; 2];
    /// device.execute(&plan, &[x], &mut [TensorMut::new(DType::U8, &[1, 1, 2], &mut y)?]).await?;
    /// assert_eq!(y, [3, 9]);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn execute(
        &self,
        plan: &Plan,
        inputs: &[TensorRef<'_>],
        outputs: &mut [TensorMut<'_>],
    ) -> Result<(), ExecuteError> {
        match self {
            Device::Cpu(cpu) => cpu.execute(plan, inputs, outputs),
            #[cfg(feature = "gpu")]
            Device::Gpu(gpu) => gpu.execute(plan, inputs, outputs).await,
        }
    }
}

/// The blocking twins, outside wasm.
#[cfg(not(target_arch = "wasm32"))]
impl Device {
    /// The blocking twin of [`Device::prepare`].
    ///
    /// # Errors
    /// As [`Device::prepare`].
    ///
    /// ```
    /// use wgpu_pooling::{Cpu, Device, DType, MaxPool, TensorView};
    /// let device = Device::from(Cpu::new());
    /// let prepared = device.prepare_blocking(MaxPool::new([2]).plan(&[1, 1, 3], DType::F32, None)?)?;
    /// let y = prepared.max_pool_blocking(TensorView::new(&[1, 1, 3], &[3.0f32, 1.0, 2.0])?)?;
    /// assert_eq!(y.data(), &[3.0, 2.0]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn prepare_blocking(&self, plan: impl Into<Plan>) -> Result<PreparedOn, ExecuteError> {
        match self {
            Device::Cpu(cpu) => cpu.prepare(plan).map(PreparedOn::Cpu),
            #[cfg(feature = "gpu")]
            Device::Gpu(gpu) => gpu.prepare_blocking(plan.into()).map(PreparedOn::Gpu),
        }
    }

    /// The blocking twin of [`Device::max_pool`].
    ///
    /// # Errors
    /// As [`Device::max_pool`].
    ///
    /// ```
    /// use wgpu_pooling::{Cpu, Device, GlobalMaxPool, TensorView};
    /// let x = TensorView::new(&[1, 2, 2], &[3.0f32, 1.0, 2.0, 4.0])?;
    /// let y = Device::from(Cpu::new()).max_pool_blocking(&GlobalMaxPool::new(), x)?;
    /// assert_eq!(y.data(), &[3.0, 4.0]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn max_pool_blocking<'a, T: Element>(
        &self,
        pool: &(impl Pooling + ?Sized),
        x: impl Into<TensorView<'a, T>>,
    ) -> Result<Tensor<T>, ExecuteError> {
        match self {
            Device::Cpu(cpu) => cpu.max_pool(pool, x),
            #[cfg(feature = "gpu")]
            Device::Gpu(gpu) => gpu.max_pool_blocking(pool, x),
        }
    }

    /// The blocking twin of [`Device::max_pool_with_indices`].
    ///
    /// # Errors
    /// As [`Device::max_pool_with_indices`].
    ///
    /// ```
    /// use wgpu_pooling::{Cpu, Device, MaxPool, TensorView};
    /// let x = TensorView::new(&[1, 1, 3], &[3.0f32, 1.0, 2.0])?;
    /// let device = Device::from(Cpu::new());
    /// let (_, indices) = device.max_pool_with_indices_blocking::<f32, i32>(&MaxPool::new([2]), x)?;
    /// assert_eq!(indices.data(), &[0, 2]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn max_pool_with_indices_blocking<'a, T: Element, I: Index>(
        &self,
        pool: &(impl Pooling + ?Sized),
        x: impl Into<TensorView<'a, T>>,
    ) -> Result<(Tensor<T>, Tensor<I>), ExecuteError> {
        match self {
            Device::Cpu(cpu) => cpu.max_pool_with_indices(pool, x),
            #[cfg(feature = "gpu")]
            Device::Gpu(gpu) => gpu.max_pool_with_indices_blocking(pool, x),
        }
    }

    /// The blocking twin of [`Device::max_unpool`].
    ///
    /// # Errors
    /// As [`Device::max_unpool`].
    ///
    /// ```
    /// use wgpu_pooling::{Cpu, Device, MaxUnpool, TensorView};
    /// let (x, indices) = (TensorView::new(&[1, 1, 2], &[3.0f32, 2.0])?, TensorView::new(&[1, 1, 2], &[0i64, 2])?);
    /// let y = Device::from(Cpu::new()).max_unpool_blocking(&MaxUnpool::new([2]), x, indices)?;
    /// assert_eq!(y.data(), &[3.0, 0.0, 2.0]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn max_unpool_blocking<'a, T: Element, I: Index>(
        &self,
        unpool: &MaxUnpool,
        x: impl Into<TensorView<'a, T>>,
        indices: impl Into<TensorView<'a, I>>,
    ) -> Result<Tensor<T>, ExecuteError> {
        match self {
            Device::Cpu(cpu) => cpu.max_unpool(unpool, x, indices),
            #[cfg(feature = "gpu")]
            Device::Gpu(gpu) => gpu.max_unpool_blocking(unpool, x, indices),
        }
    }

    /// The blocking twin of [`Device::convert_indices`].
    ///
    /// # Errors
    /// As [`Device::convert_indices`].
    ///
    /// ```
    /// use wgpu_pooling::{ConvertIndices, Cpu, Device, IndexFlattening, IndexSpace, TensorView};
    /// let onnx = IndexSpace::new(1, 2, [4]);
    /// let convert = ConvertIndices::new(onnx.clone(), onnx.with_flatten(IndexFlattening::Plane));
    /// let (device, indices) = (Device::from(Cpu::new()), TensorView::new(&[1, 2, 1], &[1, 7])?);
    /// assert_eq!(device.convert_indices_blocking::<i64, i32>(&convert, indices)?.data(), &[1, 3]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn convert_indices_blocking<'a, F: Index, T: Index>(
        &self,
        conversion: &ConvertIndices,
        indices: impl Into<TensorView<'a, F>>,
    ) -> Result<Tensor<T>, ExecuteError> {
        match self {
            Device::Cpu(cpu) => cpu.convert_indices(conversion, indices),
            #[cfg(feature = "gpu")]
            Device::Gpu(gpu) => gpu.convert_indices_blocking(conversion, indices),
        }
    }

    /// The blocking twin of [`Device::execute`].
    ///
    /// # Errors
    /// As [`Device::execute`].
    ///
    /// ```
    /// use wgpu_pooling::{Cpu, DType, Device, MaxPool, Plan, TensorMut, TensorRef};
    /// let x = TensorRef::new(DType::U8, &[1, 1, 4], &[3, 1, 2, 9])?;
    /// let plan: Plan = MaxPool::new([2]).strides([2]).plan(x.shape(), x.dtype(), None)?.into();
    /// let mut y = [0; 2];
    /// let outputs = &mut [TensorMut::new(DType::U8, &[1, 1, 2], &mut y)?];
    /// Device::from(Cpu::new()).execute_blocking(&plan, &[x], outputs)?;
    /// assert_eq!(y, [3, 9]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn execute_blocking(
        &self,
        plan: &Plan,
        inputs: &[TensorRef<'_>],
        outputs: &mut [TensorMut<'_>],
    ) -> Result<(), ExecuteError> {
        match self {
            Device::Cpu(cpu) => cpu.execute(plan, inputs, outputs),
            #[cfg(feature = "gpu")]
            Device::Gpu(gpu) => gpu.execute_blocking(plan, inputs, outputs),
        }
    }
}
