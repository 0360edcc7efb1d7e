//! The CPU backend as callers hold it, and one-shot calls from slices to vectors.

use std::fmt;
use std::sync::Arc;

use super::prepared::PreparedCpu;
use crate::cpu::kernels::choose::CpuKernel;
use crate::cpu::kernels::simd::SimdLevel;
use crate::element::{Element, Index};
use crate::error::ExecuteError;
use crate::ops::{ConvertIndices, MaxUnpool, Pooling};
use crate::plan::Plan;
use crate::tensor::{Tensor, TensorView};
use crate::untyped::{TensorMut, TensorRef};

/// The CPU backend: every operator on the processors of the host, with the same calls as `Gpu` has and with the bits of the
/// [`mod@crate::reference`].
///
/// Work is shared among the threads of the rayon pool from which a call is made (`rayon::ThreadPool::install`), or of rayon's
/// global one. Small calls stay on the caller's thread. No setting changes a bit of any result.
///
/// ```
/// use wgpu_pooling::{Cpu, MaxPool, MaxUnpool, Tensor};
///
/// let cpu = Cpu::new();
/// let x = Tensor::new([1, 1, 2, 4], vec![1.0f32, 5.0, 2.0, 0.0, 4.0, 3.0, 7.0, 6.0])?;
/// let pool = MaxPool::new([2, 2]).strides([2, 2]);
/// let (y, indices) = cpu.max_pool_with_indices::<f32, i64>(&pool, &x)?;
/// assert_eq!((y.data(), indices.data()), (&[5.0, 7.0][..], &[1, 6][..]));
/// let back = cpu.max_unpool(&MaxUnpool::inverse_of(&pool, x.shape()), &y, &indices)?;
/// assert_eq!(back.data(), &[0.0, 5.0, 0.0, 0.0, 0.0, 0.0, 7.0, 0.0]);
/// # Ok::<(), wgpu_pooling::ExecuteError>(())
/// ```
#[derive(Clone)]
#[must_use]
pub struct Cpu {
    pub(super) simd: SimdLevel,
    pub(super) kernel: Option<CpuKernel>,
    pub(super) stop: Option<Stop>,
}

/// What a caller is asked between parts of the work.
pub(super) type Stop = Arc<dyn Fn() -> bool + Send + Sync>;

impl Default for Cpu {
    fn default() -> Self {
        Cpu::new()
    }
}

impl fmt::Debug for Cpu {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Cpu { simd, kernel, stop } = self;
        formatter
            .debug_struct("Cpu")
            .field("simd", simd)
            .field("kernel", kernel)
            .field("stops", &stop.is_some())
            .finish()
    }
}

impl Cpu {
    /// The backend with the best vector instructions of this processor, and with the best kernel for each plan.
    ///
    /// ```
    /// use wgpu_pooling::{Cpu, SimdLevel};
    /// assert_eq!(Cpu::new().simd(), SimdLevel::best());
    /// ```
    pub fn new() -> Cpu {
        Cpu { simd: SimdLevel::best(), kernel: None, stop: None }
    }

    /// The same with other vector instructions.
    ///
    /// # Errors
    /// [`ExecuteError::SimdMissing`] if this processor does not have them.
    ///
    /// ```
    /// use wgpu_pooling::{Cpu, SimdLevel};
    /// let plain = Cpu::new().with_simd(SimdLevel::Baseline)?;
    /// assert_eq!(plain.simd(), SimdLevel::Baseline);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn with_simd(self, level: SimdLevel) -> Result<Cpu, ExecuteError> {
        if !SimdLevel::available().contains(&level) {
            return Err(ExecuteError::SimdMissing { level: level.name() });
        }
        Ok(Cpu { simd: level, ..self })
    }

    /// The same with one kernel for all plans. Plans that it does not compute are refused with
    /// [`PlanError::CpuKernelDoesNotApply`](crate::PlanError::CpuKernelDoesNotApply).
    ///
    /// ```
    /// use wgpu_pooling::{Cpu, CpuKernel, MaxPool, Tensor};
    /// let x = Tensor::new([1, 1, 3], vec![3u8, 1, 2])?;
    /// let y = Cpu::new().with_kernel(CpuKernel::General).max_pool(&MaxPool::new([2]), &x)?;
    /// assert_eq!(y.data(), &[3, 2]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn with_kernel(self, kernel: CpuKernel) -> Cpu {
        Cpu { kernel: Some(kernel), ..self }
    }

    /// The same, asking `stop` every few milliseconds, on any of its threads, whether to stop. A call that is stopped
    /// returns [`ExecuteError::Interrupted`], and slices that it was to write have been written in part.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicBool, Ordering};
    /// use std::sync::Arc;
    /// use wgpu_pooling::{Cpu, ExecuteError, MaxPool, Tensor};
    ///
    /// let flag = Arc::new(AtomicBool::new(false));
    /// let asked = flag.clone();
    /// let cpu = Cpu::new().stop_when(move || asked.load(Ordering::Relaxed));
    /// let x = Tensor::new([1, 1, 3], vec![3u8, 1, 2])?;
    /// assert!(cpu.max_pool(&MaxPool::new([2]), &x).is_ok());
    /// flag.store(true, Ordering::Relaxed);
    /// assert_eq!(cpu.max_pool(&MaxPool::new([2]), &x), Err(ExecuteError::Interrupted));
    /// # Ok::<(), ExecuteError>(())
    /// ```
    pub fn stop_when(self, stop: impl Fn() -> bool + Send + Sync + 'static) -> Cpu {
        Cpu { stop: Some(Arc::new(stop)), ..self }
    }

    /// The vector instructions that kernels use.
    pub fn simd(&self) -> SimdLevel {
        self.simd
    }

    /// A plan with its kernel chosen, for calls that are made more than once or that write the caller's memory.
    ///
    /// # Errors
    /// [`PlanError::CpuKernelDoesNotApply`](crate::PlanError::CpuKernelDoesNotApply) where a kernel was asked for; [`PlanError::ShapeOverflow`](crate::PlanError::ShapeOverflow) for tensors that no
    /// memory of this machine could hold.
    ///
    /// ```
    /// use wgpu_pooling::{Cpu, DType, MaxPool, TensorView};
    /// let prepared = Cpu::new().prepare(MaxPool::new([2]).plan(&[1, 1, 3], DType::F32, None)?)?;
    /// let y = prepared.max_pool(TensorView::new([1, 1, 3], &[3.0f32, 1.0, 2.0])?)?;
    /// assert_eq!(y.data(), &[3.0, 2.0]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn prepare(&self, plan: impl Into<Plan>) -> Result<PreparedCpu, ExecuteError> {
        PreparedCpu::new(self.clone(), plan.into())
    }

    /// The maxima.
    ///
    /// # Errors
    /// As the pool's `plan()` and [`PreparedCpu::max_pool`].
    ///
    /// ```
    /// use wgpu_pooling::{Cpu, GlobalMaxPool, Tensor};
    /// let x = Tensor::new([1, 2, 3], vec![3.0f32, 1.0, 2.0, 4.0, 6.0, 5.0])?;
    /// assert_eq!(Cpu::new().max_pool(&GlobalMaxPool::new(), &x)?.data(), &[3.0, 6.0]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn max_pool<'a, T: Element>(
        &self,
        pool: &(impl Pooling + ?Sized),
        x: impl Into<TensorView<'a, T>>,
    ) -> Result<Tensor<T>, ExecuteError> {
        let x = x.into();
        self.prepare(pool.plan(x.shape(), T::DTYPE, None)?)?.max_pool(x)
    }

    /// The maxima and where they were found.
    ///
    /// # Errors
    /// As the pool's `plan()` and [`PreparedCpu::max_pool_with_indices`].
    ///
    /// ```
    /// use wgpu_pooling::{AdaptiveMaxPool, Cpu, Tensor};
    /// let x = Tensor::new([1, 1, 5], vec![3u8, 1, 2, 4, 6])?;
    /// let (y, indices) = Cpu::new().max_pool_with_indices::<u8, i32>(&AdaptiveMaxPool::new([2]), &x)?;
    /// assert_eq!((y.data(), indices.data()), (&[3, 6][..], &[0, 4][..]));
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn max_pool_with_indices<'a, T: Element, I: Index>(
        &self,
        pool: &(impl Pooling + ?Sized),
        x: impl Into<TensorView<'a, T>>,
    ) -> Result<(Tensor<T>, Tensor<I>), ExecuteError> {
        let x = x.into();
        self.prepare(pool.plan(x.shape(), T::DTYPE, Some(I::INDEX_TYPE))?)?.max_pool_with_indices(x)
    }

    /// The values of X at the positions that the indices name, zeros elsewhere.
    ///
    /// # Errors
    /// As [`MaxUnpool::plan`] and [`PreparedCpu::max_unpool`].
    ///
    /// ```
    /// use wgpu_pooling::{Cpu, MaxUnpool, TensorView};
    /// let (x, indices) = (TensorView::new([1, 1, 2], &[3.0f32, 2.0])?, TensorView::new([1, 1, 2], &[0i64, 2])?);
    /// assert_eq!(Cpu::new().max_unpool(&MaxUnpool::new([2]), x, indices)?.data(), &[3.0, 0.0, 2.0]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn max_unpool<'a, T: Element, I: Index>(
        &self,
        unpool: &MaxUnpool,
        x: impl Into<TensorView<'a, T>>,
        indices: impl Into<TensorView<'a, I>>,
    ) -> Result<Tensor<T>, ExecuteError> {
        let x = x.into();
        self.prepare(unpool.plan(x.shape(), T::DTYPE, I::INDEX_TYPE)?)?.max_unpool(x, indices)
    }

    /// The indices in the second convention.
    ///
    /// # Errors
    /// As [`ConvertIndices::plan`] and [`PreparedCpu::convert_indices`].
    ///
    /// ```
    /// use wgpu_pooling::{ConvertIndices, Cpu, IndexFlattening, IndexSpace, TensorView};
    /// let onnx = IndexSpace::new(1, 2, [4]);
    /// let convert = ConvertIndices::new(onnx.clone(), onnx.with_flatten(IndexFlattening::Plane));
    /// let indices = Cpu::new().convert_indices::<i64, i32>(&convert, TensorView::new([1, 2, 1], &[1, 7])?)?;
    /// assert_eq!(indices.data(), &[1, 3]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn convert_indices<'a, F: Index, T: Index>(
        &self,
        conversion: &ConvertIndices,
        indices: impl Into<TensorView<'a, F>>,
    ) -> Result<Tensor<T>, ExecuteError> {
        let indices = indices.into();
        self.prepare(conversion.plan(indices.shape(), F::INDEX_TYPE, T::INDEX_TYPE)?)?.convert_indices(indices)
    }

    /// Computes a plan on tensors whose element type is known at run time only: reads those of [`Plan::inputs`] and writes
    /// those of [`Plan::outputs`]. If there is an error other than [`ExecuteError::Interrupted`], nothing is written.
    ///
    /// # Errors
    /// As [`Cpu::prepare`] and [`PreparedCpu::execute`].
    ///
    /// ```
    /// use wgpu_pooling::{Cpu, DType, MaxPool, Plan, TensorMut, TensorRef};
    /// let x = TensorRef::new(DType::U8, [1, 1, 4], &[3, 1, 2, 9])?;
    /// let plan: Plan = MaxPool::new([2]).strides([2]).plan(x.shape(), x.dtype(), None)?.into();
    /// let mut y = [0; 2];
    /// Cpu::new().execute(&plan, &[x], &mut [TensorMut::new(DType::U8, [1, 1, 2], &mut y)?])?;
    /// assert_eq!(y, [3, 9]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn execute(
        &self,
        plan: &Plan,
        inputs: &[TensorRef<'_>],
        outputs: &mut [TensorMut<'_>],
    ) -> Result<(), ExecuteError> {
        self.prepare(plan.clone())?.execute(inputs, outputs)
    }
}
