//! One-shot calls from slices to vectors.

use wgpu_pooling_plan::{
    ConvertIndices, Element, ExecuteError, Index, MaxUnpool, Plan, Pooling, Tensor, TensorMut, TensorRef, TensorView,
};

use super::cpu::Cpu;
use super::prepared::PreparedCpu;

impl Cpu {
    /// A plan with its kernel chosen, for calls that are made more than once or that write the caller's memory.
    ///
    /// # Errors
    /// [`PlanError::KernelDoesNotApply`](wgpu_pooling_plan::PlanError::KernelDoesNotApply) where a kernel was asked
    /// for; [`PlanError::ShapeOverflow`](wgpu_pooling_plan::PlanError::ShapeOverflow) for tensors that no memory of
    /// this machine could hold.
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

    /// Computes a plan on tensors whose element type is known at run time only: reads those of [`Plan::inputs`] and
    /// writes those of [`Plan::outputs`]. If there is an error other than [`ExecuteError::Interrupted`] and
    /// [`ExecuteError::OutOfMemory`], nothing is written, unless [`Cpu::with_fresh_outputs`] says that this does not
    /// matter.
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
