//! One-shot calls on slices that return vectors: upload, compute and read back, in one submit unless a driver's
//! watchdog could stop it.

use wgpu_pooling_plan::{
    ConvertIndices, ConvertPlan, Element, ExecuteError, Index, MaxUnpool, Plan, PlanError, PoolPlan, Pooling, Tensor,
    TensorSpec, TensorView, UnpoolPlan,
};

use super::chain::Chain;
use super::gpu::Gpu;
use super::prepare::Prepared;
use super::results::Results;
use crate::report::Report;
use crate::schedule::refuses_the_kernel;

impl Prepared {
    /// The maxima.
    ///
    /// # Errors
    /// [`ExecuteError::OperatorMismatch`], [`ExecuteError::IndicesMismatch`], [`ExecuteError::TypeMismatch`] and
    /// [`ExecuteError::ShapeMismatch`] if the call does not fit the plan; otherwise the errors of the device.
    ///
    /// ```no_run
    /// # async fn f(gpu: wgpu_pooling::Gpu) -> Result<(), wgpu_pooling::ExecuteError> {
    /// use wgpu_pooling::{DType, MaxPool, TensorView};
    /// let prepared = gpu.prepare(MaxPool::new([2]).plan(&[1, 1, 3], DType::F32, None)?).await?;
    /// let y = prepared.max_pool(TensorView::new([1, 1, 3], &[3.0f32, 1.0, 2.0])?).await?;
    /// assert_eq!(y.data(), &[3.0, 2.0]);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn max_pool<'a, T: Element>(&self, x: impl Into<TensorView<'a, T>>) -> Result<Tensor<T>, ExecuteError> {
        let x = x.into();
        self.values_plan()?.inputs[0].check_host("x", &x)?;
        let [y] = self.outputs()?;
        if self.schedule().dispatches.is_empty() {
            return Ok(nothing(y));
        }
        let mut chain = self.gpu.chain().one_shot();
        let x = chain.upload(x, y.layout)?;
        let [y] = chain.step(self, [&x])?;
        let y = chain.read_back(&y)?;
        only_step(chain).await?.take(y)
    }

    /// The maxima and where they were found.
    ///
    /// # Errors
    /// As [`Prepared::max_pool`].
    ///
    /// ```no_run
    /// # async fn f(gpu: wgpu_pooling::Gpu) -> Result<(), wgpu_pooling::ExecuteError> {
    /// use wgpu_pooling::{DType, IndexType, MaxPool, TensorView};
    /// let prepared = gpu.prepare(MaxPool::new([2]).plan(&[1, 1, 3], DType::F32, Some(IndexType::I64))?).await?;
    /// let x = TensorView::new([1, 1, 3], &[3.0f32, 1.0, 2.0])?;
    /// let (y, indices) = prepared.max_pool_with_indices::<f32, i64>(x).await?;
    /// assert_eq!((y.data(), indices.data()), (&[3.0, 2.0][..], &[0, 2][..]));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn max_pool_with_indices<'a, T: Element, I: Index>(
        &self,
        x: impl Into<TensorView<'a, T>>,
    ) -> Result<(Tensor<T>, Tensor<I>), ExecuteError> {
        let x = x.into();
        self.indices_plan()?.inputs[0].check_host("x", &x)?;
        let [y, indices] = self.outputs()?;
        indices.check_dtype("indices", I::DTYPE)?;
        if self.schedule().dispatches.is_empty() {
            return Ok((nothing(y), nothing(indices)));
        }
        let mut chain = self.gpu.chain().one_shot();
        let x = chain.upload(x, y.layout)?;
        let [y, indices] = chain.step(self, [&x])?;
        let (y, indices) = (chain.read_back(&y)?, chain.read_back(&indices)?);
        let results = only_step(chain).await?;
        Ok((results.take(y)?, results.take(indices)?))
    }

    /// The values of X at the positions that the indices name, zeros elsewhere.
    ///
    /// # Errors
    /// As [`Prepared::max_pool`], and [`ExecuteError::IndexOutOfRange`] for indices outside the index space, unless the
    /// plan skips them.
    /// Likewise [`ExecuteError::IndexOutsideWindow`], if the plan asks for it.
    ///
    /// ```no_run
    /// # async fn f(gpu: wgpu_pooling::Gpu) -> Result<(), wgpu_pooling::ExecuteError> {
    /// use wgpu_pooling::{DType, IndexType, MaxUnpool, TensorView};
    /// let prepared = gpu.prepare(MaxUnpool::new([2]).plan(&[1, 1, 2], DType::F32, IndexType::I64)?).await?;
    /// let (x, indices) = (TensorView::new([1, 1, 2], &[3.0f32, 2.0])?, TensorView::new([1, 1, 2], &[0i64, 2])?);
    /// assert_eq!(prepared.max_unpool(x, indices).await?.data(), &[3.0, 0.0, 2.0]);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn max_unpool<'a, T: Element, I: Index>(
        &self,
        x: impl Into<TensorView<'a, T>>,
        indices: impl Into<TensorView<'a, I>>,
    ) -> Result<Tensor<T>, ExecuteError> {
        let (x, indices) = (x.into(), indices.into());
        let plan = self.unpool_plan()?;
        plan.inputs[0].check_host("x", &x)?;
        plan.inputs[1].check_host("indices", &indices)?;
        if self.schedule().dispatches.is_empty() {
            return Ok(nothing(&plan.outputs[0]));
        }
        let mut chain = self.gpu.chain().one_shot();
        let inputs = [chain.upload(x, plan.inputs[0].layout)?, chain.upload(indices, plan.inputs[1].layout)?];
        let [y] = chain.step(self, inputs.each_ref())?;
        let y = chain.read_back(&y)?;
        only_step(chain).await?.take(y)
    }

    /// The indices in the second convention.
    ///
    /// # Errors
    /// As [`Prepared::max_pool`], and [`ExecuteError::IndexOutOfRange`] or [`ExecuteError::IndexNotInPlane`] for
    /// indices that cannot be converted.
    ///
    /// ```no_run
    /// # async fn f(gpu: wgpu_pooling::Gpu) -> Result<(), wgpu_pooling::ExecuteError> {
    /// use wgpu_pooling::{ConvertIndices, IndexFlattening, IndexSpace, IndexType, TensorView};
    /// let onnx = IndexSpace::new(1, 2, [4]);
    /// let convert = ConvertIndices::new(onnx.clone(), onnx.with_flatten(IndexFlattening::Plane));
    /// let prepared = gpu.prepare(convert.plan(&[1, 2, 1], IndexType::I64, IndexType::I32)?).await?;
    /// let indices = prepared.convert_indices::<i64, i32>(TensorView::new([1, 2, 1], &[1, 7])?).await?;
    /// assert_eq!(indices.data(), &[1, 3]);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn convert_indices<'a, F: Index, T: Index>(
        &self,
        indices: impl Into<TensorView<'a, F>>,
    ) -> Result<Tensor<T>, ExecuteError> {
        let indices = indices.into();
        let plan = self.convert_plan()?;
        plan.inputs[0].check_host("indices", &indices)?;
        plan.outputs[0].check_dtype("converted", T::DTYPE)?;
        if self.schedule().dispatches.is_empty() {
            return Ok(nothing(&plan.outputs[0]));
        }
        let mut chain = self.gpu.chain().one_shot();
        let indices = chain.upload(indices, plan.inputs[0].layout)?;
        let [converted] = chain.step(self, [&indices])?;
        let converted = chain.read_back(&converted)?;
        only_step(chain).await?.take(converted)
    }

    /// The plan of a pool without indices.
    pub(super) fn values_plan(&self) -> Result<&PoolPlan, ExecuteError> {
        let plan = self.pool_plan()?;
        plan.check_indices(false).map(|()| plan)
    }

    /// The plan of a pool with indices.
    pub(super) fn indices_plan(&self) -> Result<&PoolPlan, ExecuteError> {
        let plan = self.pool_plan()?;
        plan.check_indices(true).map(|()| plan)
    }

    /// The plan's outputs, if there are as many as the call expects.
    fn outputs<const O: usize>(&self) -> Result<&[TensorSpec; O], ExecuteError> {
        self.schedule().plan().outputs().try_into().map_err(|_| ExecuteError::BufferMissing { what: "an output" })
    }

    fn pool_plan(&self) -> Result<&PoolPlan, ExecuteError> {
        match self.schedule().plan() {
            Plan::Pool(plan) => Ok(plan),
            other => Err(mismatch(other, "pool")),
        }
    }

    pub(super) fn unpool_plan(&self) -> Result<&UnpoolPlan, ExecuteError> {
        match self.schedule().plan() {
            Plan::Unpool(plan) => Ok(plan),
            other => Err(mismatch(other, "unpool")),
        }
    }

    pub(super) fn convert_plan(&self) -> Result<&ConvertPlan, ExecuteError> {
        match self.schedule().plan() {
            Plan::Convert(plan) => Ok(plan),
            other => Err(mismatch(other, "conversion")),
        }
    }

    /// Checks the report in [`Buffers::status`](crate::Buffers::status), which the caller has read back:
    /// [`Report::check`] with the plan of this preparation. If there were bad indices, Y still has the values of the
    /// good indices, and a conversion has written -1 for the bad ones.
    ///
    /// # Errors
    /// [`ExecuteError::IndexOutOfRange`], [`ExecuteError::IndexOutsideWindow`] or [`ExecuteError::IndexNotInPlane`] if
    /// there were bad indices; [`ExecuteError::OperatorMismatch`] if this is a pool, which has no report.
    ///
    /// ```no_run
    /// # use wgpu_pooling::{ExecuteError, Prepared, Report};
    /// # fn f(unpool: Prepared, read_back: &[u8]) -> Result<(), ExecuteError> {
    /// let report = Report::from_bytes(read_back).expect("32 bytes");
    /// unpool.read_report(report)?;
    /// println!("every index was good");
    /// # Ok(())
    /// # }
    /// ```
    pub fn read_report(&self, report: impl Into<Report>) -> Result<(), ExecuteError> {
        report.into().check(self.schedule().plan())
    }
}

/// Runs a chain of one step, whose error is returned without the step's number.
pub(super) async fn only_step(chain: Chain) -> Result<Results, ExecuteError> {
    let results = chain.submit()?.finished().await?;
    match results.first_report()? {
        None => Ok(results),
        Some((_, error)) => Err(error),
    }
}

/// Whether a plan failed because a tensor is too large for one schedule on this device.
pub(super) fn exceeds_limits(error: &ExecuteError) -> bool {
    matches!(error, ExecuteError::Plan(error @ PlanError::ExceedsLimit { .. }) if !refuses_the_kernel(error))
}

/// A tensor without elements.
fn nothing<T>(spec: &TensorSpec) -> Tensor<T> {
    Tensor::from_parts(spec.shape.clone(), Vec::new())
}

/// The error of a call that does not fit the plan.
fn mismatch(plan: &Plan, called: &'static str) -> ExecuteError {
    ExecuteError::OperatorMismatch { planned: plan.kind(), called }
}

/// One-shot calls. They need no runtime: the crate's polling thread wakes them. That thread must not block, so a waker
/// must not make a blocking call. A bounded number of buffers and preparations is kept for later calls; [`Gpu::trim`]
/// frees them. A plan runs in generic kernels at first, and in its own ones when it comes again often enough
/// ([`Gpu::prepare_cached`]).
impl Gpu {
    /// The maxima of `x` (MaxPool, GlobalMaxPool or AdaptiveMaxPool). Tensors beyond the device's limits are computed
    /// in tiles, as in [`Gpu::stream_max_pool`].
    ///
    /// # Errors
    /// [`ExecuteError::Plan`] for attributes and shapes without a plan; otherwise the errors of the device.
    ///
    /// ```no_run
    /// # async fn f(gpu: wgpu_pooling::Gpu) -> Result<(), wgpu_pooling::ExecuteError> {
    /// use wgpu_pooling::{GlobalMaxPool, TensorView};
    /// let y = gpu.max_pool(&GlobalMaxPool::new(), TensorView::new([1, 2, 2], &[3.0f32, 1.0, 2.0, 4.0])?).await?;
    /// assert_eq!((y.shape(), y.data()), (&[1, 2, 1][..], &[3.0, 4.0][..]));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn max_pool<'a, T: Element>(
        &self,
        pool: &(impl Pooling + ?Sized),
        x: impl Into<TensorView<'a, T>>,
    ) -> Result<Tensor<T>, ExecuteError> {
        let x = x.into();
        let plan = pool.plan(x.shape(), T::DTYPE, None)?;
        let whole = async { self.prepare_cached(plan.clone()).await?.max_pool(x.clone()).await };
        match whole.await {
            Err(error) if exceeds_limits(&error) => self.max_pool_in_tiles(&plan, x).await,
            other => other,
        }
    }

    /// The maxima of `x` and their indices (MaxPool, GlobalMaxPool or AdaptiveMaxPool). Tensors beyond the device's
    /// limits are computed in tiles.
    ///
    /// # Errors
    /// As [`Gpu::max_pool`].
    ///
    /// ```no_run
    /// # async fn f(gpu: wgpu_pooling::Gpu) -> Result<(), wgpu_pooling::ExecuteError> {
    /// use wgpu_pooling::{MaxPool, TensorView};
    /// let x = TensorView::new([1, 1, 3], &[3.0f32, 1.0, 2.0])?;
    /// let (y, indices) = gpu.max_pool_with_indices::<f32, i32>(&MaxPool::new([2]), x).await?;
    /// assert_eq!((y.data(), indices.data()), (&[3.0, 2.0][..], &[0, 2][..]));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn max_pool_with_indices<'a, T: Element, I: Index>(
        &self,
        pool: &(impl Pooling + ?Sized),
        x: impl Into<TensorView<'a, T>>,
    ) -> Result<(Tensor<T>, Tensor<I>), ExecuteError> {
        let x = x.into();
        let plan = pool.plan(x.shape(), T::DTYPE, Some(I::INDEX_TYPE))?;
        let whole = async { self.prepare_cached(plan.clone()).await?.max_pool_with_indices(x.clone()).await };
        match whole.await {
            Err(error) if exceeds_limits(&error) => self.max_pool_with_indices_in_tiles(&plan, x).await,
            other => other,
        }
    }

    /// The values of `x` at the positions that `indices` name, zeros elsewhere. Tensors beyond the device's limits are
    /// computed in tiles.
    ///
    /// # Errors
    /// As [`Gpu::max_pool`], and [`ExecuteError::IndexOutOfRange`] for indices outside the index space, or
    /// [`ExecuteError::IndexOutsideWindow`], as the options say.
    ///
    /// ```no_run
    /// # async fn f(gpu: wgpu_pooling::Gpu) -> Result<(), wgpu_pooling::ExecuteError> {
    /// use wgpu_pooling::{MaxUnpool, TensorView};
    /// let (x, indices) = (TensorView::new([1, 1, 2], &[3.0f32, 2.0])?, TensorView::new([1, 1, 2], &[0i64, 2])?);
    /// assert_eq!(gpu.max_unpool(&MaxUnpool::new([2]), x, indices).await?.data(), &[3.0, 0.0, 2.0]);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn max_unpool<'a, T: Element, I: Index>(
        &self,
        unpool: &MaxUnpool,
        x: impl Into<TensorView<'a, T>>,
        indices: impl Into<TensorView<'a, I>>,
    ) -> Result<Tensor<T>, ExecuteError> {
        let (x, indices) = (x.into(), indices.into());
        let plan = unpool.plan(x.shape(), T::DTYPE, I::INDEX_TYPE)?;
        let whole = async { self.prepare_cached(plan.clone()).await?.max_unpool(x.clone(), indices.clone()).await };
        match whole.await {
            Err(error) if exceeds_limits(&error) => self.max_unpool_in_tiles(&plan, x, indices).await,
            other => other,
        }
    }

    /// The indices in another convention.
    ///
    /// # Errors
    /// [`ExecuteError::Plan`] for conventions and shapes without a plan, [`ExecuteError::IndexOutOfRange`] or
    /// [`ExecuteError::IndexNotInPlane`] for indices that cannot be converted; otherwise the errors of the device.
    ///
    /// ```no_run
    /// # async fn f(gpu: wgpu_pooling::Gpu) -> Result<(), wgpu_pooling::ExecuteError> {
    /// use wgpu_pooling::{ConvertIndices, IndexFlattening, IndexSpace, TensorView};
    /// let onnx = IndexSpace::new(1, 2, [4]);
    /// let convert = ConvertIndices::new(onnx.clone(), onnx.with_flatten(IndexFlattening::Plane));
    /// let indices = gpu.convert_indices::<i64, i32>(&convert, TensorView::new([1, 2, 1], &[1, 7])?).await?;
    /// assert_eq!(indices.data(), &[1, 3]);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn convert_indices<'a, F: Index, T: Index>(
        &self,
        conversion: &ConvertIndices,
        indices: impl Into<TensorView<'a, F>>,
    ) -> Result<Tensor<T>, ExecuteError> {
        let indices = indices.into();
        let plan = conversion.plan(indices.shape(), F::INDEX_TYPE, T::INDEX_TYPE)?;
        self.prepare_cached(plan).await?.convert_indices(indices).await
    }
}

/// The blocking twins, outside wasm.
#[cfg(not(target_arch = "wasm32"))]
mod blocking {
    use super::*;

    impl Prepared {
        /// The blocking twin of [`Prepared::max_pool`].
        ///
        /// # Errors
        /// As [`Prepared::max_pool`].
        ///
        /// ```no_run
        /// # fn f(pool: wgpu_pooling::Prepared) -> Result<(), wgpu_pooling::ExecuteError> {
        /// let y = pool.max_pool_blocking(wgpu_pooling::TensorView::new([1, 1, 3], &[3.0f32, 1.0, 2.0])?)?;
        /// # Ok(())
        /// # }
        /// ```
        pub fn max_pool_blocking<'a, T: Element>(
            &self,
            x: impl Into<TensorView<'a, T>>,
        ) -> Result<Tensor<T>, ExecuteError> {
            pollster::block_on(self.polling().max_pool(x))
        }

        /// The blocking twin of [`Prepared::max_pool_with_indices`].
        ///
        /// # Errors
        /// As [`Prepared::max_pool`].
        ///
        /// ```no_run
        /// # use wgpu_pooling::{ExecuteError, Prepared, Tensor};
        /// # fn f(pool: Prepared, x: Tensor<f32>) -> Result<(), ExecuteError> {
        /// let (y, indices) = pool.max_pool_with_indices_blocking::<f32, i64>(x.view())?;
        /// # Ok(())
        /// # }
        /// ```
        pub fn max_pool_with_indices_blocking<'a, T: Element, I: Index>(
            &self,
            x: impl Into<TensorView<'a, T>>,
        ) -> Result<(Tensor<T>, Tensor<I>), ExecuteError> {
            pollster::block_on(self.polling().max_pool_with_indices(x))
        }

        /// The blocking twin of [`Prepared::max_unpool`].
        ///
        /// # Errors
        /// As [`Prepared::max_unpool`].
        ///
        /// ```no_run
        /// # use wgpu_pooling::{ExecuteError, Prepared, Tensor};
        /// # fn f(unpool: Prepared, x: Tensor<f32>, indices: Tensor<i64>) -> Result<(), ExecuteError> {
        /// let y = unpool.max_unpool_blocking(x.view(), indices.view())?;
        /// # Ok(())
        /// # }
        /// ```
        pub fn max_unpool_blocking<'a, T: Element, I: Index>(
            &self,
            x: impl Into<TensorView<'a, T>>,
            indices: impl Into<TensorView<'a, I>>,
        ) -> Result<Tensor<T>, ExecuteError> {
            pollster::block_on(self.polling().max_unpool(x, indices))
        }

        /// The blocking twin of [`Prepared::convert_indices`].
        ///
        /// # Errors
        /// As [`Prepared::convert_indices`].
        ///
        /// ```no_run
        /// # use wgpu_pooling::{ExecuteError, Prepared, Tensor};
        /// # fn f(conversion: Prepared, indices: Tensor<i64>) -> Result<(), ExecuteError> {
        /// let indices = conversion.convert_indices_blocking::<i64, i32>(indices.view())?;
        /// # Ok(())
        /// # }
        /// ```
        pub fn convert_indices_blocking<'a, F: Index, T: Index>(
            &self,
            indices: impl Into<TensorView<'a, F>>,
        ) -> Result<Tensor<T>, ExecuteError> {
            pollster::block_on(self.polling().convert_indices(indices))
        }
    }

    impl Gpu {
        /// The blocking twin of [`Gpu::max_pool`].
        ///
        /// # Errors
        /// As [`Gpu::max_pool`].
        ///
        /// ```no_run
        /// use wgpu_pooling::{Gpu, MaxPool, TensorView};
        /// let gpu = Gpu::new_blocking()?;
        /// let y = gpu.max_pool_blocking(&MaxPool::new([2]), TensorView::new([1, 1, 3], &[3.0f32, 1.0, 2.0])?)?;
        /// assert_eq!(y.data(), &[3.0, 2.0]);
        /// # Ok::<(), wgpu_pooling::ExecuteError>(())
        /// ```
        pub fn max_pool_blocking<'a, T: Element>(
            &self,
            pool: &(impl Pooling + ?Sized),
            x: impl Into<TensorView<'a, T>>,
        ) -> Result<Tensor<T>, ExecuteError> {
            pollster::block_on(self.polling().max_pool(pool, x))
        }

        /// The blocking twin of [`Gpu::max_pool_with_indices`].
        ///
        /// # Errors
        /// As [`Gpu::max_pool`].
        ///
        /// ```no_run
        /// use wgpu_pooling::{Gpu, MaxPool, TensorView};
        /// let gpu = Gpu::new_blocking()?;
        /// let x = TensorView::new([1, 1, 3], &[3.0f32, 1.0, 2.0])?;
        /// let (_, indices) = gpu.max_pool_with_indices_blocking::<f32, i64>(&MaxPool::new([2]), x)?;
        /// assert_eq!(indices.data(), &[0, 2]);
        /// # Ok::<(), wgpu_pooling::ExecuteError>(())
        /// ```
        pub fn max_pool_with_indices_blocking<'a, T: Element, I: Index>(
            &self,
            pool: &(impl Pooling + ?Sized),
            x: impl Into<TensorView<'a, T>>,
        ) -> Result<(Tensor<T>, Tensor<I>), ExecuteError> {
            pollster::block_on(self.polling().max_pool_with_indices(pool, x))
        }

        /// The blocking twin of [`Gpu::max_unpool`].
        ///
        /// # Errors
        /// As [`Gpu::max_unpool`].
        ///
        /// ```no_run
        /// use wgpu_pooling::{Gpu, MaxUnpool, TensorView};
        /// let gpu = Gpu::new_blocking()?;
        /// let (x, indices) = (TensorView::new([1, 1, 2], &[3.0f32, 2.0])?, TensorView::new([1, 1, 2], &[0i64, 2])?);
        /// let y = gpu.max_unpool_blocking(&MaxUnpool::new([2]), x, indices)?;
        /// assert_eq!(y.data(), &[3.0, 0.0, 2.0]);
        /// # Ok::<(), wgpu_pooling::ExecuteError>(())
        /// ```
        pub fn max_unpool_blocking<'a, T: Element, I: Index>(
            &self,
            unpool: &MaxUnpool,
            x: impl Into<TensorView<'a, T>>,
            indices: impl Into<TensorView<'a, I>>,
        ) -> Result<Tensor<T>, ExecuteError> {
            pollster::block_on(self.polling().max_unpool(unpool, x, indices))
        }

        /// The blocking twin of [`Gpu::convert_indices`].
        ///
        /// # Errors
        /// As [`Gpu::convert_indices`].
        ///
        /// ```no_run
        /// use wgpu_pooling::{ConvertIndices, Gpu, IndexFlattening, IndexSpace, TensorView};
        /// let gpu = Gpu::new_blocking()?;
        /// let onnx = IndexSpace::new(1, 2, [4]);
        /// let convert = ConvertIndices::new(onnx.clone(), onnx.with_flatten(IndexFlattening::Plane));
        /// let indices = gpu.convert_indices_blocking::<i64, i32>(&convert, TensorView::new([1, 2, 1], &[1, 7])?)?;
        /// assert_eq!(indices.data(), &[1, 3]);
        /// # Ok::<(), wgpu_pooling::ExecuteError>(())
        /// ```
        pub fn convert_indices_blocking<'a, F: Index, T: Index>(
            &self,
            conversion: &ConvertIndices,
            indices: impl Into<TensorView<'a, F>>,
        ) -> Result<Tensor<T>, ExecuteError> {
            pollster::block_on(self.polling().convert_indices(conversion, indices))
        }
    }
}
