//! A plan made ready on a GPU or on the CPU.

use wgpu_pooling_plan::{Element, ExecuteError, Index, Plan, Tensor, TensorMut, TensorRef, TensorView};

#[cfg(feature = "gpu")]
use crate::gpu::calls::prepare::Prepared;
use wgpu_pooling_cpu::PreparedCpu;

/// A plan made ready on a [`Device`](crate::Device), for any number of calls.
///
/// The calls that end in `_into` write the caller's memory. Fresh memory costs more time than most kernels of the CPU
/// take.
///
/// ```
/// use wgpu_pooling::{Cpu, DType, Device, IndexType, MaxPool, TensorView};
///
/// let device = Device::from(Cpu::new());
/// let plan = MaxPool::new([2]).strides([2]).plan(&[1, 1, 4], DType::U8, Some(IndexType::I64))?;
/// let prepared = device.prepare_blocking(plan)?;
/// let (mut y, mut indices) = ([0u8; 2], [0i64; 2]);
/// let x = TensorView::new(&[1, 1, 4], &[3, 1, 2, 9])?;
/// prepared.max_pool_with_indices_into_blocking(x, &mut y, &mut indices)?;
/// assert_eq!((y, indices), ([3, 9], [0, 3]));
/// # Ok::<(), wgpu_pooling::ExecuteError>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
#[allow(clippy::large_enum_variant, reason = "few are made, and they stay where they are")]
pub enum PreparedOn {
    /// On the processors of the host.
    Cpu(PreparedCpu),
    /// On a GPU.
    #[cfg(feature = "gpu")]
    Gpu(Prepared),
}

impl PreparedOn {
    /// The plan.
    pub fn plan(&self) -> &Plan {
        match self {
            PreparedOn::Cpu(cpu) => cpu.plan(),
            #[cfg(feature = "gpu")]
            PreparedOn::Gpu(gpu) => gpu.schedule().plan(),
        }
    }

    /// The kernels that compute the plan, in words.
    pub fn kernel(&self) -> String {
        match self {
            PreparedOn::Cpu(cpu) => format!("{} {}", cpu.plan().operator(), cpu.kernel().name()),
            #[cfg(feature = "gpu")]
            PreparedOn::Gpu(gpu) => gpu.schedule().kernel(),
        }
    }

    /// The maxima.
    ///
    /// # Errors
    /// As [`PreparedCpu::max_pool`], or as `Prepared::max_pool`.
    ///
    /// ```no_run
    /// # async fn f(prepared: wgpu_pooling::PreparedOn) -> Result<(), wgpu_pooling::ExecuteError> {
    /// use wgpu_pooling::TensorView;
    /// let y = prepared.max_pool(TensorView::new(&[1, 1, 3], &[3.0f32, 1.0, 2.0])?).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn max_pool<'a, T: Element>(&self, x: impl Into<TensorView<'a, T>>) -> Result<Tensor<T>, ExecuteError> {
        match self {
            PreparedOn::Cpu(cpu) => cpu.max_pool(x),
            #[cfg(feature = "gpu")]
            PreparedOn::Gpu(gpu) => gpu.max_pool(x).await,
        }
    }

    /// The maxima, written to `y`, which has the elements of the plan's output. If there is an error other than
    /// [`ExecuteError::Interrupted`] and, on the CPU, [`ExecuteError::OutOfMemory`], nothing is written.
    ///
    /// # Errors
    /// As [`PreparedOn::max_pool`], and [`PlanError::DataLength`](crate::PlanError::DataLength) if the slice is shorter
    /// or longer.
    ///
    /// ```no_run
    /// # async fn f(prepared: wgpu_pooling::PreparedOn) -> Result<(), wgpu_pooling::ExecuteError> {
    /// use wgpu_pooling::TensorView;
    /// let mut y = [0.0; 2];
    /// prepared.max_pool_into(TensorView::new(&[1, 1, 3], &[3.0f32, 1.0, 2.0])?, &mut y).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn max_pool_into<'a, T: Element>(
        &self,
        x: impl Into<TensorView<'a, T>>,
        y: &mut [T],
    ) -> Result<(), ExecuteError> {
        match self {
            PreparedOn::Cpu(cpu) => cpu.max_pool_into(x.into(), y),
            #[cfg(feature = "gpu")]
            PreparedOn::Gpu(gpu) => gpu.max_pool_into(x.into(), y).await,
        }
    }

    /// The maxima and where they were found.
    ///
    /// # Errors
    /// As [`PreparedOn::max_pool`].
    ///
    /// ```no_run
    /// # async fn f(prepared: wgpu_pooling::PreparedOn) -> Result<(), wgpu_pooling::ExecuteError> {
    /// use wgpu_pooling::TensorView;
    /// let x = TensorView::new(&[1, 1, 3], &[3.0f32, 1.0, 2.0])?;
    /// let (y, indices) = prepared.max_pool_with_indices::<f32, i64>(x).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn max_pool_with_indices<'a, T: Element, I: Index>(
        &self,
        x: impl Into<TensorView<'a, T>>,
    ) -> Result<(Tensor<T>, Tensor<I>), ExecuteError> {
        match self {
            PreparedOn::Cpu(cpu) => cpu.max_pool_with_indices(x),
            #[cfg(feature = "gpu")]
            PreparedOn::Gpu(gpu) => gpu.max_pool_with_indices(x).await,
        }
    }

    /// The maxima and where they were found, written to `y` and `indices`.
    ///
    /// # Errors
    /// As [`PreparedOn::max_pool_into`].
    ///
    /// ```no_run
    /// # async fn f(prepared: wgpu_pooling::PreparedOn) -> Result<(), wgpu_pooling::ExecuteError> {
    /// use wgpu_pooling::TensorView;
    /// let (mut y, mut indices) = ([0.0; 2], [0i64; 2]);
    /// prepared.max_pool_with_indices_into(TensorView::new(&[1, 1, 3], &[3.0f32, 1.0, 2.0])?, &mut y, &mut indices).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn max_pool_with_indices_into<'a, T: Element, I: Index>(
        &self,
        x: impl Into<TensorView<'a, T>>,
        y: &mut [T],
        indices: &mut [I],
    ) -> Result<(), ExecuteError> {
        match self {
            PreparedOn::Cpu(cpu) => cpu.max_pool_with_indices_into(x.into(), y, indices),
            #[cfg(feature = "gpu")]
            PreparedOn::Gpu(gpu) => gpu.max_pool_with_indices_into(x.into(), y, indices).await,
        }
    }

    /// The values of X at the positions that the indices name, zeros elsewhere.
    ///
    /// # Errors
    /// As [`PreparedCpu::max_unpool`], or as `Prepared::max_unpool`.
    ///
    /// ```no_run
    /// # async fn f(prepared: wgpu_pooling::PreparedOn) -> Result<(), wgpu_pooling::ExecuteError> {
    /// use wgpu_pooling::TensorView;
    /// let (x, indices) = (TensorView::new(&[1, 1, 2], &[3.0f32, 2.0])?, TensorView::new(&[1, 1, 2], &[0i64, 2])?);
    /// let y = prepared.max_unpool(x, indices).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn max_unpool<'a, T: Element, I: Index>(
        &self,
        x: impl Into<TensorView<'a, T>>,
        indices: impl Into<TensorView<'a, I>>,
    ) -> Result<Tensor<T>, ExecuteError> {
        match self {
            PreparedOn::Cpu(cpu) => cpu.max_unpool(x, indices),
            #[cfg(feature = "gpu")]
            PreparedOn::Gpu(gpu) => gpu.max_unpool(x, indices).await,
        }
    }

    /// The values of X at the positions that the indices name, zeros elsewhere, written to `y`. Bad indices are found
    /// before anything is written.
    ///
    /// # Errors
    /// As [`PreparedOn::max_unpool`] and [`PreparedOn::max_pool_into`].
    ///
    /// ```no_run
    /// # async fn f(prepared: wgpu_pooling::PreparedOn) -> Result<(), wgpu_pooling::ExecuteError> {
    /// use wgpu_pooling::TensorView;
    /// let (x, indices) = (TensorView::new(&[1, 1, 2], &[3.0f32, 2.0])?, TensorView::new(&[1, 1, 2], &[0i64, 2])?);
    /// let mut y = [0.0; 3];
    /// prepared.max_unpool_into(x, indices, &mut y).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn max_unpool_into<'a, T: Element, I: Index>(
        &self,
        x: impl Into<TensorView<'a, T>>,
        indices: impl Into<TensorView<'a, I>>,
        y: &mut [T],
    ) -> Result<(), ExecuteError> {
        match self {
            PreparedOn::Cpu(cpu) => cpu.max_unpool_into(x.into(), indices.into(), y),
            #[cfg(feature = "gpu")]
            PreparedOn::Gpu(gpu) => gpu.max_unpool_into(x.into(), indices.into(), y).await,
        }
    }

    /// The indices in the second convention.
    ///
    /// # Errors
    /// As [`PreparedCpu::convert_indices`], or as `Prepared::convert_indices`.
    ///
    /// ```no_run
    /// # async fn f(prepared: wgpu_pooling::PreparedOn) -> Result<(), wgpu_pooling::ExecuteError> {
    /// use wgpu_pooling::TensorView;
    /// let indices = TensorView::new(&[1, 2, 1], &[1i64, 7])?;
    /// let converted = prepared.convert_indices::<i64, i32>(indices).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn convert_indices<'a, F: Index, T: Index>(
        &self,
        indices: impl Into<TensorView<'a, F>>,
    ) -> Result<Tensor<T>, ExecuteError> {
        match self {
            PreparedOn::Cpu(cpu) => cpu.convert_indices(indices),
            #[cfg(feature = "gpu")]
            PreparedOn::Gpu(gpu) => gpu.convert_indices(indices).await,
        }
    }

    /// The indices in the second convention, written to `converted`. Bad indices are found before anything is written.
    ///
    /// # Errors
    /// As [`PreparedOn::convert_indices`] and [`PreparedOn::max_pool_into`].
    ///
    /// ```no_run
    /// # async fn f(prepared: wgpu_pooling::PreparedOn) -> Result<(), wgpu_pooling::ExecuteError> {
    /// use wgpu_pooling::TensorView;
    /// let indices = TensorView::new(&[1, 2, 1], &[1i64, 7])?;
    /// let mut converted = [0i32; 2];
    /// prepared.convert_indices_into(indices, &mut converted).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn convert_indices_into<'a, F: Index, T: Index>(
        &self,
        indices: impl Into<TensorView<'a, F>>,
        converted: &mut [T],
    ) -> Result<(), ExecuteError> {
        match self {
            PreparedOn::Cpu(cpu) => cpu.convert_indices_into(indices.into(), converted),
            #[cfg(feature = "gpu")]
            PreparedOn::Gpu(gpu) => gpu.convert_indices_into(indices.into(), converted).await,
        }
    }

    /// Computes the plan: reads the tensors of [`Plan::inputs`] and writes those of [`Plan::outputs`], whose element
    /// types are known at run time only. If there is an error other than [`ExecuteError::Interrupted`] and, on the CPU,
    /// [`ExecuteError::OutOfMemory`], nothing is written, unless `Cpu::with_fresh_outputs` says that this does not
    /// matter.
    ///
    /// # Errors
    /// As [`PreparedCpu::execute`], or as `Prepared::execute`.
    ///
    /// ```no_run
    /// # async fn f(prepared: wgpu_pooling::PreparedOn) -> Result<(), wgpu_pooling::ExecuteError> {
    /// use wgpu_pooling::{DType, TensorMut, TensorRef};
    /// let mut y = [0; 2];
    /// let x = TensorRef::new(DType::U8, &[1, 1, 4], &[3, 1, 2, 9])?;
    /// prepared.execute(&[x], &mut [TensorMut::new(DType::U8, &[1, 1, 2], &mut y)?]).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn execute(&self, inputs: &[TensorRef<'_>], outputs: &mut [TensorMut<'_>]) -> Result<(), ExecuteError> {
        match self {
            PreparedOn::Cpu(cpu) => cpu.execute(inputs, outputs),
            #[cfg(feature = "gpu")]
            PreparedOn::Gpu(gpu) => gpu.execute(inputs, outputs).await,
        }
    }
}

/// The blocking twins, outside wasm.
#[cfg(not(target_arch = "wasm32"))]
impl PreparedOn {
    /// The blocking twin of [`PreparedOn::max_pool`].
    ///
    /// # Errors
    /// As [`PreparedOn::max_pool`].
    ///
    /// ```
    /// use wgpu_pooling::{Cpu, DType, Device, MaxPool, TensorView};
    /// let prepared = Device::from(Cpu::new()).prepare_blocking(MaxPool::new([2]).plan(&[1, 1, 3], DType::F32, None)?)?;
    /// let y = prepared.max_pool_blocking(TensorView::new(&[1, 1, 3], &[3.0f32, 1.0, 2.0])?)?;
    /// assert_eq!(y.data(), &[3.0, 2.0]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn max_pool_blocking<'a, T: Element>(
        &self,
        x: impl Into<TensorView<'a, T>>,
    ) -> Result<Tensor<T>, ExecuteError> {
        match self {
            PreparedOn::Cpu(cpu) => cpu.max_pool(x),
            #[cfg(feature = "gpu")]
            PreparedOn::Gpu(gpu) => gpu.max_pool_blocking(x),
        }
    }

    /// The blocking twin of [`PreparedOn::max_pool_into`].
    ///
    /// # Errors
    /// As [`PreparedOn::max_pool_into`].
    ///
    /// ```
    /// use wgpu_pooling::{Cpu, DType, Device, MaxPool, TensorView};
    /// let plan = MaxPool::new([2]).plan(&[1, 1, 3], DType::F32, None)?;
    /// let prepared = Device::from(Cpu::new()).prepare_blocking(plan)?;
    /// let mut y = [0.0; 2];
    /// prepared.max_pool_into_blocking(TensorView::new(&[1, 1, 3], &[3.0f32, 1.0, 2.0])?, &mut y)?;
    /// assert_eq!(y, [3.0, 2.0]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn max_pool_into_blocking<'a, T: Element>(
        &self,
        x: impl Into<TensorView<'a, T>>,
        y: &mut [T],
    ) -> Result<(), ExecuteError> {
        match self {
            PreparedOn::Cpu(cpu) => cpu.max_pool_into(x.into(), y),
            #[cfg(feature = "gpu")]
            PreparedOn::Gpu(gpu) => gpu.max_pool_into_blocking(x.into(), y),
        }
    }

    /// The blocking twin of [`PreparedOn::max_pool_with_indices`].
    ///
    /// # Errors
    /// As [`PreparedOn::max_pool_with_indices`].
    ///
    /// ```
    /// use wgpu_pooling::{Cpu, DType, Device, IndexType, MaxPool, TensorView};
    /// let prepared = Device::from(Cpu::new()).prepare_blocking(MaxPool::new([2]).plan(&[1, 1, 3], DType::F32, Some(IndexType::I64))?)?;
    /// let x = TensorView::new(&[1, 1, 3], &[3.0f32, 1.0, 2.0])?;
    /// let (_, indices) = prepared.max_pool_with_indices_blocking::<f32, i64>(x)?;
    /// assert_eq!(indices.data(), &[0, 2]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn max_pool_with_indices_blocking<'a, T: Element, I: Index>(
        &self,
        x: impl Into<TensorView<'a, T>>,
    ) -> Result<(Tensor<T>, Tensor<I>), ExecuteError> {
        match self {
            PreparedOn::Cpu(cpu) => cpu.max_pool_with_indices(x),
            #[cfg(feature = "gpu")]
            PreparedOn::Gpu(gpu) => gpu.max_pool_with_indices_blocking(x),
        }
    }

    /// The blocking twin of [`PreparedOn::max_pool_with_indices_into`].
    ///
    /// # Errors
    /// As [`PreparedOn::max_pool_with_indices_into`].
    ///
    /// ```
    /// use wgpu_pooling::{Cpu, DType, Device, IndexType, MaxPool, TensorView};
    /// let plan = MaxPool::new([2]).plan(&[1, 1, 3], DType::F32, Some(IndexType::I64))?;
    /// let prepared = Device::from(Cpu::new()).prepare_blocking(plan)?;
    /// let (mut y, mut indices) = ([0.0; 2], [0i64; 2]);
    /// prepared.max_pool_with_indices_into_blocking(TensorView::new(&[1, 1, 3], &[3.0f32, 1.0, 2.0])?, &mut y, &mut indices)?;
    /// assert_eq!(indices, [0, 2]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn max_pool_with_indices_into_blocking<'a, T: Element, I: Index>(
        &self,
        x: impl Into<TensorView<'a, T>>,
        y: &mut [T],
        indices: &mut [I],
    ) -> Result<(), ExecuteError> {
        match self {
            PreparedOn::Cpu(cpu) => cpu.max_pool_with_indices_into(x.into(), y, indices),
            #[cfg(feature = "gpu")]
            PreparedOn::Gpu(gpu) => gpu.max_pool_with_indices_into_blocking(x.into(), y, indices),
        }
    }

    /// The blocking twin of [`PreparedOn::max_unpool`].
    ///
    /// # Errors
    /// As [`PreparedOn::max_unpool`].
    ///
    /// ```
    /// use wgpu_pooling::{Cpu, DType, Device, IndexType, MaxUnpool, TensorView};
    /// let prepared = Device::from(Cpu::new()).prepare_blocking(MaxUnpool::new([2]).plan(&[1, 1, 2], DType::F32, IndexType::I64)?)?;
    /// let (x, indices) = (TensorView::new(&[1, 1, 2], &[3.0f32, 2.0])?, TensorView::new(&[1, 1, 2], &[0i64, 2])?);
    /// assert_eq!(prepared.max_unpool_blocking(x, indices)?.data(), &[3.0, 0.0, 2.0]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn max_unpool_blocking<'a, T: Element, I: Index>(
        &self,
        x: impl Into<TensorView<'a, T>>,
        indices: impl Into<TensorView<'a, I>>,
    ) -> Result<Tensor<T>, ExecuteError> {
        match self {
            PreparedOn::Cpu(cpu) => cpu.max_unpool(x, indices),
            #[cfg(feature = "gpu")]
            PreparedOn::Gpu(gpu) => gpu.max_unpool_blocking(x, indices),
        }
    }

    /// The blocking twin of [`PreparedOn::max_unpool_into`].
    ///
    /// # Errors
    /// As [`PreparedOn::max_unpool_into`].
    ///
    /// ```
    /// use wgpu_pooling::{Cpu, DType, Device, IndexType, MaxUnpool, TensorView};
    /// let prepared = Device::from(Cpu::new()).prepare_blocking(MaxUnpool::new([2]).plan(&[1, 1, 2], DType::F32, IndexType::I64)?)?;
    /// let (x, indices) = (TensorView::new(&[1, 1, 2], &[3.0f32, 2.0])?, TensorView::new(&[1, 1, 2], &[0i64, 2])?);
    /// let mut y = [7.0; 3];
    /// prepared.max_unpool_into_blocking(x, indices, &mut y)?;
    /// assert_eq!(y, [3.0, 0.0, 2.0]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn max_unpool_into_blocking<'a, T: Element, I: Index>(
        &self,
        x: impl Into<TensorView<'a, T>>,
        indices: impl Into<TensorView<'a, I>>,
        y: &mut [T],
    ) -> Result<(), ExecuteError> {
        match self {
            PreparedOn::Cpu(cpu) => cpu.max_unpool_into(x.into(), indices.into(), y),
            #[cfg(feature = "gpu")]
            PreparedOn::Gpu(gpu) => gpu.max_unpool_into_blocking(x.into(), indices.into(), y),
        }
    }

    /// The blocking twin of [`PreparedOn::convert_indices`].
    ///
    /// # Errors
    /// As [`PreparedOn::convert_indices`].
    ///
    /// ```
    /// use wgpu_pooling::{ConvertIndices, Cpu, Device, IndexFlattening, IndexSpace, IndexType, TensorView};
    /// let onnx = IndexSpace::new(1, 2, [4]);
    /// let convert = ConvertIndices::new(onnx.clone(), onnx.with_flatten(IndexFlattening::Plane));
    /// let plan = convert.plan(&[1, 2, 1], IndexType::I64, IndexType::I32)?;
    /// let indices = TensorView::new(&[1, 2, 1], &[1i64, 7])?;
    /// let prepared = Device::from(Cpu::new()).prepare_blocking(plan)?;
    /// assert_eq!(prepared.convert_indices_blocking::<i64, i32>(indices)?.data(), &[1, 3]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn convert_indices_blocking<'a, F: Index, T: Index>(
        &self,
        indices: impl Into<TensorView<'a, F>>,
    ) -> Result<Tensor<T>, ExecuteError> {
        match self {
            PreparedOn::Cpu(cpu) => cpu.convert_indices(indices),
            #[cfg(feature = "gpu")]
            PreparedOn::Gpu(gpu) => gpu.convert_indices_blocking(indices),
        }
    }

    /// The blocking twin of [`PreparedOn::convert_indices_into`].
    ///
    /// # Errors
    /// As [`PreparedOn::convert_indices_into`].
    ///
    /// ```
    /// use wgpu_pooling::{ConvertIndices, Cpu, Device, IndexFlattening, IndexSpace, IndexType, TensorView};
    /// let onnx = IndexSpace::new(1, 2, [4]);
    /// let convert = ConvertIndices::new(onnx.clone(), onnx.with_flatten(IndexFlattening::Plane));
    /// let plan = convert.plan(&[1, 2, 1], IndexType::I64, IndexType::I32)?;
    /// let indices = TensorView::new(&[1, 2, 1], &[1i64, 7])?;
    /// let mut converted = [0i32; 2];
    /// Device::from(Cpu::new()).prepare_blocking(plan)?.convert_indices_into_blocking(indices, &mut converted)?;
    /// assert_eq!(converted, [1, 3]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn convert_indices_into_blocking<'a, F: Index, T: Index>(
        &self,
        indices: impl Into<TensorView<'a, F>>,
        converted: &mut [T],
    ) -> Result<(), ExecuteError> {
        match self {
            PreparedOn::Cpu(cpu) => cpu.convert_indices_into(indices.into(), converted),
            #[cfg(feature = "gpu")]
            PreparedOn::Gpu(gpu) => gpu.convert_indices_into_blocking(indices.into(), converted),
        }
    }

    /// The blocking twin of [`PreparedOn::execute`].
    ///
    /// # Errors
    /// As [`PreparedOn::execute`].
    ///
    /// ```
    /// use wgpu_pooling::{Cpu, DType, Device, MaxPool, TensorMut, TensorRef};
    /// let plan = MaxPool::new([2]).strides([2]).plan(&[1, 1, 4], DType::U8, None)?;
    /// let prepared = Device::from(Cpu::new()).prepare_blocking(plan)?;
    /// let mut y = [0; 2];
    /// let x = TensorRef::new(DType::U8, &[1, 1, 4], &[3, 1, 2, 9])?;
    /// prepared.execute_blocking(&[x], &mut [TensorMut::new(DType::U8, &[1, 1, 2], &mut y)?])?;
    /// assert_eq!(y, [3, 9]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn execute_blocking(
        &self,
        inputs: &[TensorRef<'_>],
        outputs: &mut [TensorMut<'_>],
    ) -> Result<(), ExecuteError> {
        match self {
            PreparedOn::Cpu(cpu) => cpu.execute(inputs, outputs),
            #[cfg(feature = "gpu")]
            PreparedOn::Gpu(gpu) => gpu.execute_blocking(inputs, outputs),
        }
    }
}
