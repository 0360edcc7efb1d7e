//! Slices in, vectors out: upload, compute and read back, one submit a call.

use super::context::Gpu;
use super::encode::{Buffers, Prepared};
use super::transfer::Readback;
use crate::element::Element;
use crate::error::ExecuteError;
use crate::index::Index;
use crate::ops::{ConvertIndices, MaxUnpool, Pooling};
use crate::plan::{Plan, PoolPlan, UnpoolPlan, count};
use crate::reference::{check_shape, check_type};
use crate::schedule::STATUS_WORDS;
use crate::tensor::{Tensor, TensorView};

/// The readbacks of a submitted run.
struct Submitted {
    y: Option<Readback>,
    indices: Option<Readback>,
    status: Option<Readback>,
}

impl Prepared {
    /// The maxima.
    ///
    /// # Errors
    /// [`ExecuteError::OperatorMismatch`], [`ExecuteError::IndicesMismatch`], [`ExecuteError::TypeMismatch`] and
    /// [`ExecuteError::ShapeMismatch`] if the call does not fit the plan; otherwise what the device gives.
    pub async fn max_pool<T: Element>(&self, x: TensorView<'_, T>) -> Result<Tensor<T>, ExecuteError> {
        let plan = self.pool_plan()?;
        if plan.indices().is_some() {
            return Err(ExecuteError::IndicesMismatch { planned: "with", called: "without" });
        }
        check_x(plan.dtype().name(), plan.input_shape(), &x)?;
        let submitted = self.submit(Some(bytemuck::cast_slice(x.data())), None).await?;
        let y = self.receive(&submitted.y, plan.output_shape()).await?;
        Ok(Tensor::from_parts(plan.output_shape().to_vec(), y))
    }

    /// The maxima and where they were found.
    ///
    /// # Errors
    /// As [`Prepared::max_pool`].
    pub async fn max_pool_with_indices<T: Element, I: Index>(
        &self,
        x: TensorView<'_, T>,
    ) -> Result<(Tensor<T>, Tensor<I>), ExecuteError> {
        let plan = self.pool_plan()?;
        let Some(index_plan) = plan.indices() else {
            return Err(ExecuteError::IndicesMismatch { planned: "without", called: "with" });
        };
        check_type("indices", index_plan.index_type.name(), I::INDEX_TYPE.name())?;
        check_x(plan.dtype().name(), plan.input_shape(), &x)?;
        let submitted = self.submit(Some(bytemuck::cast_slice(x.data())), None).await?;
        let y = self.receive(&submitted.y, plan.output_shape()).await?;
        let indices = self.receive(&submitted.indices, plan.indices_shape()).await?;
        Ok((
            Tensor::from_parts(plan.output_shape().to_vec(), y),
            Tensor::from_parts(plan.indices_shape().to_vec(), indices),
        ))
    }

    /// The values of X at the positions that the indices name, zeros elsewhere.
    ///
    /// # Errors
    /// As [`Prepared::max_pool`], and [`ExecuteError::IndexOutOfRange`] for indices outside the index space, unless they
    /// are to be skipped.
    pub async fn max_unpool<T: Element, I: Index>(
        &self,
        x: TensorView<'_, T>,
        indices: TensorView<'_, I>,
    ) -> Result<Tensor<T>, ExecuteError> {
        let plan = self.unpool_plan()?;
        check_type("indices", plan.index_type().name(), I::INDEX_TYPE.name())?;
        check_x(plan.dtype().name(), plan.input_shape(), &x)?;
        check_shape("indices", plan.indices_shape(), indices.shape())?;
        let x = bytemuck::cast_slice(x.data());
        let submitted = self.submit(Some(x), Some(bytemuck::cast_slice(indices.data()))).await?;
        self.report(&submitted).await?;
        let y = self.receive(&submitted.y, plan.output_shape()).await?;
        Ok(Tensor::from_parts(plan.output_shape().to_vec(), y))
    }

    /// The indices in the second convention.
    ///
    /// # Errors
    /// As [`Prepared::max_pool`], and [`ExecuteError::IndexOutOfRange`] or [`ExecuteError::IndexNotInPlane`] for indices
    /// that cannot be converted.
    pub async fn convert_indices<F: Index, T: Index>(
        &self,
        indices: TensorView<'_, F>,
    ) -> Result<Tensor<T>, ExecuteError> {
        let plan = match self.schedule.plan() {
            Plan::Convert(plan) => plan,
            other => return Err(mismatch(other, "conversion")),
        };
        check_type("indices", plan.from_type.name(), F::INDEX_TYPE.name())?;
        check_type("the converted indices", plan.to_type.name(), T::INDEX_TYPE.name())?;
        check_shape("indices", plan.input_shape(), indices.shape())?;
        let submitted = self.submit(None, Some(bytemuck::cast_slice(indices.data()))).await?;
        self.report(&submitted).await?;
        let converted = self.receive(&submitted.indices, plan.output_shape()).await?;
        Ok(Tensor::from_parts(plan.output_shape().to_vec(), converted))
    }

    fn pool_plan(&self) -> Result<&PoolPlan, ExecuteError> {
        match self.schedule.plan() {
            Plan::Pool(plan) => Ok(plan),
            other => Err(mismatch(other, "pool")),
        }
    }

    fn unpool_plan(&self) -> Result<&UnpoolPlan, ExecuteError> {
        match self.schedule.plan() {
            Plan::Unpool(plan) => Ok(plan),
            other => Err(mismatch(other, "unpool")),
        }
    }

    /// The elements of a readback; none where nothing was submitted, because the output has none.
    async fn receive<T: bytemuck::Pod>(
        &self,
        readback: &Option<Readback>,
        shape: &[usize],
    ) -> Result<Vec<T>, ExecuteError> {
        match readback {
            Some(readback) => self.gpu.inner.receive(readback, count(shape)).await,
            None => Ok(Vec::new()),
        }
    }

    /// What the device says of bad indices.
    async fn report(&self, submitted: &Submitted) -> Result<(), ExecuteError> {
        let Some(readback) = &submitted.status else {
            return Ok(());
        };
        let status: Vec<u32> = self.gpu.inner.receive(readback, STATUS_WORDS).await?;
        self.read_report(&status)
    }

    /// Turns the words of [`Buffers::status`], read back by the caller, into what they say. Y has the values of the good
    /// indices all the same, and converted indices are -1 where they were bad.
    ///
    /// # Errors
    /// [`ExecuteError::IndexOutOfRange`] or [`ExecuteError::IndexNotInPlane`] if there were bad indices.
    pub fn read_report(&self, words: &[u32]) -> Result<(), ExecuteError> {
        let [count, first, low, high, ..] = *words else {
            return Ok(());
        };
        if count == 0 {
            return Ok(());
        }
        // The first offender is stored complemented, so that zero says that there is none.
        let (position, count) = (u64::from(!first), u64::from(count));
        let value = (u64::from(high) << 32 | u64::from(low)) as i64;
        match self.schedule.plan() {
            Plan::Pool(_) => Ok(()),
            Plan::Unpool(plan) => {
                Err(ExecuteError::IndexOutOfRange { position, value, unit: plan.space().unit(), count })
            }
            Plan::Convert(plan) => Err(plan.offence(position, value, count)),
        }
    }

    /// Uploads the inputs, runs the schedule and starts the readbacks: one submit, or none if there is nothing to compute.
    async fn submit(&self, x: Option<&[u8]>, indices: Option<&[u8]>) -> Result<Submitted, ExecuteError> {
        let inner = &self.gpu.inner;
        inner.check_alive()?;
        if self.schedule.dispatches.is_empty() {
            return Ok(Submitted { y: None, indices: None, status: None });
        }
        let (submitted, submission) = inner
            .scoped(|| {
                let input = |label: &str, bytes: Option<&[u8]>| {
                    bytes.map(|bytes| inner.filled_buffer(label, wgpu::BufferUsages::STORAGE, bytes))
                };
                let output = |label: &str, bytes: Option<u64>| bytes.map(|bytes| inner.output_buffer(label, bytes));
                let x = input("wgpu-pooling x", x);
                let indices = input("wgpu-pooling indices", indices);
                let y = output("wgpu-pooling y", self.schedule.y_bytes());
                let indices_out = output("wgpu-pooling indices", self.schedule.indices_out_bytes());
                let status = output("wgpu-pooling status", self.schedule.status_bytes());
                let mut encoder = inner
                    .device
                    .create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("wgpu-pooling") });
                let buffers = Buffers {
                    x: whole(&x),
                    y: whole(&y),
                    indices: whole(&indices),
                    indices_out: whole(&indices_out),
                    status: whole(&status),
                };
                self.encode(&mut encoder, buffers)?;
                let mut read_back =
                    |buffer: &Option<wgpu::Buffer>| buffer.as_ref().map(|buffer| inner.read_back(&mut encoder, buffer));
                let submitted =
                    Submitted { y: read_back(&y), indices: read_back(&indices_out), status: read_back(&status) };
                Ok::<_, ExecuteError>((submitted, inner.queue.submit([encoder.finish()])))
            })
            .await??;
        #[cfg(not(target_arch = "wasm32"))]
        inner.poller.watch(submission)?;
        #[cfg(target_arch = "wasm32")]
        let _ = submission;
        Ok(submitted)
    }
}

fn whole(buffer: &Option<wgpu::Buffer>) -> Option<wgpu::BufferSlice<'_>> {
    buffer.as_ref().map(|buffer| buffer.slice(..))
}

/// The error of a call that does not fit the plan.
fn mismatch(plan: &Plan, called: &'static str) -> ExecuteError {
    let planned = match plan {
        Plan::Pool(_) => "pool",
        Plan::Unpool(_) => "unpool",
        Plan::Convert(_) => "conversion",
    };
    ExecuteError::OperatorMismatch { planned, called }
}

/// One-shot calls. They wait without a runtime: a thread of the crate's own wakes them. That thread must not be made to wait
/// in turn, so a waker may not make a blocking call.
impl Gpu {
    /// The maxima of `x` (MaxPool, GlobalMaxPool or AdaptiveMaxPool).
    ///
    /// # Errors
    /// [`ExecuteError::Plan`] for what attributes, shape and limits do not allow; otherwise what the device gives.
    pub async fn max_pool<T: Element>(
        &self,
        pool: &(impl Pooling + ?Sized),
        x: TensorView<'_, T>,
    ) -> Result<Tensor<T>, ExecuteError> {
        let plan = pool.plan(x.shape(), T::DTYPE, None)?;
        self.prepare(plan).await?.max_pool(x).await
    }

    /// The maxima of `x` and where they were found (MaxPool, GlobalMaxPool or AdaptiveMaxPool).
    ///
    /// # Errors
    /// As [`Gpu::max_pool`].
    pub async fn max_pool_with_indices<T: Element, I: Index>(
        &self,
        pool: &(impl Pooling + ?Sized),
        x: TensorView<'_, T>,
    ) -> Result<(Tensor<T>, Tensor<I>), ExecuteError> {
        let plan = pool.plan(x.shape(), T::DTYPE, Some(I::INDEX_TYPE))?;
        self.prepare(plan).await?.max_pool_with_indices(x).await
    }

    /// The values of `x` at the positions that `indices` name, zeros elsewhere.
    ///
    /// # Errors
    /// As [`Gpu::max_pool`], and [`ExecuteError::IndexOutOfRange`] for indices outside the index space.
    pub async fn max_unpool<T: Element, I: Index>(
        &self,
        unpool: &MaxUnpool,
        x: TensorView<'_, T>,
        indices: TensorView<'_, I>,
    ) -> Result<Tensor<T>, ExecuteError> {
        let plan = unpool.plan(x.shape(), T::DTYPE, I::INDEX_TYPE)?;
        self.prepare(plan).await?.max_unpool(x, indices).await
    }

    /// The indices in another convention.
    ///
    /// # Errors
    /// [`ExecuteError::Plan`] for what conventions and shape do not allow, [`ExecuteError::IndexOutOfRange`] or
    /// [`ExecuteError::IndexNotInPlane`] for indices that cannot be converted; otherwise what the device gives.
    pub async fn convert_indices<F: Index, T: Index>(
        &self,
        conversion: &ConvertIndices,
        indices: TensorView<'_, F>,
    ) -> Result<Tensor<T>, ExecuteError> {
        let plan = conversion.plan(indices.shape(), F::INDEX_TYPE, T::INDEX_TYPE)?;
        self.prepare(plan).await?.convert_indices(indices).await
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
        pub fn max_pool_blocking<T: Element>(&self, x: TensorView<'_, T>) -> Result<Tensor<T>, ExecuteError> {
            pollster::block_on(self.max_pool(x))
        }

        /// The blocking twin of [`Prepared::max_pool_with_indices`].
        ///
        /// # Errors
        /// As [`Prepared::max_pool`].
        pub fn max_pool_with_indices_blocking<T: Element, I: Index>(
            &self,
            x: TensorView<'_, T>,
        ) -> Result<(Tensor<T>, Tensor<I>), ExecuteError> {
            pollster::block_on(self.max_pool_with_indices(x))
        }

        /// The blocking twin of [`Prepared::max_unpool`].
        ///
        /// # Errors
        /// As [`Prepared::max_unpool`].
        pub fn max_unpool_blocking<T: Element, I: Index>(
            &self,
            x: TensorView<'_, T>,
            indices: TensorView<'_, I>,
        ) -> Result<Tensor<T>, ExecuteError> {
            pollster::block_on(self.max_unpool(x, indices))
        }

        /// The blocking twin of [`Prepared::convert_indices`].
        ///
        /// # Errors
        /// As [`Prepared::convert_indices`].
        pub fn convert_indices_blocking<F: Index, T: Index>(
            &self,
            indices: TensorView<'_, F>,
        ) -> Result<Tensor<T>, ExecuteError> {
            pollster::block_on(self.convert_indices(indices))
        }
    }

    impl Gpu {
        /// The blocking twin of [`Gpu::max_pool`].
        ///
        /// # Errors
        /// As [`Gpu::max_pool`].
        pub fn max_pool_blocking<T: Element>(
            &self,
            pool: &(impl Pooling + ?Sized),
            x: TensorView<'_, T>,
        ) -> Result<Tensor<T>, ExecuteError> {
            pollster::block_on(self.max_pool(pool, x))
        }

        /// The blocking twin of [`Gpu::max_pool_with_indices`].
        ///
        /// # Errors
        /// As [`Gpu::max_pool`].
        pub fn max_pool_with_indices_blocking<T: Element, I: Index>(
            &self,
            pool: &(impl Pooling + ?Sized),
            x: TensorView<'_, T>,
        ) -> Result<(Tensor<T>, Tensor<I>), ExecuteError> {
            pollster::block_on(self.max_pool_with_indices(pool, x))
        }

        /// The blocking twin of [`Gpu::max_unpool`].
        ///
        /// # Errors
        /// As [`Gpu::max_unpool`].
        pub fn max_unpool_blocking<T: Element, I: Index>(
            &self,
            unpool: &MaxUnpool,
            x: TensorView<'_, T>,
            indices: TensorView<'_, I>,
        ) -> Result<Tensor<T>, ExecuteError> {
            pollster::block_on(self.max_unpool(unpool, x, indices))
        }

        /// The blocking twin of [`Gpu::convert_indices`].
        ///
        /// # Errors
        /// As [`Gpu::convert_indices`].
        pub fn convert_indices_blocking<F: Index, T: Index>(
            &self,
            conversion: &ConvertIndices,
            indices: TensorView<'_, F>,
        ) -> Result<Tensor<T>, ExecuteError> {
            pollster::block_on(self.convert_indices(conversion, indices))
        }
    }
}

fn check_x<T: Element>(dtype: &'static str, shape: &[usize], x: &TensorView<'_, T>) -> Result<(), ExecuteError> {
    check_type("x", dtype, T::DTYPE.name())?;
    check_shape("x", shape, x.shape())
}

// Futures can be spawned on any runtime, and what they need can be shared between threads.
#[cfg(not(target_arch = "wasm32"))]
const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<Gpu>();
    shared::<Prepared>();
    const fn spawnable<T: Send>(_: &T) {}
    #[expect(dead_code, reason = "it only has to compile")]
    fn futures(gpu: &Gpu, pool: &crate::MaxPool, unpool: &MaxUnpool, x: TensorView<'_, f32>, i: TensorView<'_, i64>) {
        spawnable(&Gpu::new());
        spawnable(&gpu.max_pool(pool, x.clone()));
        spawnable(&gpu.max_pool_with_indices::<f32, i64>(pool, x.clone()));
        spawnable(&gpu.max_unpool(unpool, x, i));
    }
};
