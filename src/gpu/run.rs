//! Slices in, vectors out: upload, compute and read back, one submit a call.

use super::context::Gpu;
use super::encode::{Prepared, RunBuffers};
use super::transfer::Readback;
use crate::element::Element;
use crate::error::ExecuteError;
use crate::index::Index;
use crate::ops::{MaxUnpool, Pooling};
use crate::plan::{Plan, PoolPlan, UnpoolPlan, count};
use crate::reference::{check_shape, check_type};
use crate::select::device_bytes;
use crate::tensor::{Tensor, TensorView};

/// What an unpool reports (shaders/core/status.wgsl).
const STATUS_BYTES: u64 = 32;

/// The readbacks of a submitted run.
struct Submitted {
    y: Readback,
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
        let outputs = count(plan.output_shape());
        if outputs == 0 {
            return Ok(Tensor::from_parts(plan.output_shape().to_vec(), Vec::new()));
        }
        let submitted = self.submit(bytemuck::cast_slice(x.data()), None).await?;
        let y = self.gpu.inner.receive(&submitted.y, outputs).await?;
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
        let outputs = count(plan.output_shape());
        let (mut y, mut indices) = (Vec::new(), Vec::new());
        if outputs > 0 {
            let submitted = self.submit(bytemuck::cast_slice(x.data()), None).await?;
            y = self.gpu.inner.receive(&submitted.y, outputs).await?;
            if let Some(readback) = &submitted.indices {
                indices = self.gpu.inner.receive(readback, outputs).await?;
            }
        }
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
        let outputs = count(plan.output_shape());
        if self.schedule.dispatches.is_empty() {
            return Ok(Tensor::from_parts(plan.output_shape().to_vec(), Vec::new()));
        }
        let submitted = self.submit(bytemuck::cast_slice(x.data()), Some(bytemuck::cast_slice(indices.data()))).await?;
        if let Some(readback) = &submitted.status {
            let status: Vec<u32> = self.gpu.inner.receive(readback, STATUS_BYTES / 4).await?;
            check_status(&status, plan.space().unit())?;
        }
        let y = self.gpu.inner.receive(&submitted.y, outputs).await?;
        Ok(Tensor::from_parts(plan.output_shape().to_vec(), y))
    }

    fn pool_plan(&self) -> Result<&PoolPlan, ExecuteError> {
        match self.schedule.plan() {
            Plan::Pool(plan) => Ok(plan),
            Plan::Unpool(_) => Err(ExecuteError::OperatorMismatch { planned: "unpool", called: "pool" }),
        }
    }

    fn unpool_plan(&self) -> Result<&UnpoolPlan, ExecuteError> {
        match self.schedule.plan() {
            Plan::Unpool(plan) => Ok(plan),
            Plan::Pool(_) => Err(ExecuteError::OperatorMismatch { planned: "pool", called: "unpool" }),
        }
    }

    /// Uploads the inputs, runs the schedule and starts the readbacks: one submit.
    async fn submit(&self, x: &[u8], indices: Option<&[u8]>) -> Result<Submitted, ExecuteError> {
        let inner = &self.gpu.inner;
        inner.check_alive()?;
        let outputs = count(self.schedule.output_shape());
        let (dtype, index_bytes) = match self.schedule.plan() {
            Plan::Pool(plan) => (plan.dtype(), plan.indices().map(|indices| indices.index_type.bytes())),
            Plan::Unpool(plan) => (plan.dtype(), None),
        };
        let (submitted, submission) = inner
            .scoped(|| {
                let x = inner.filled_buffer("wgpu-pooling x", wgpu::BufferUsages::STORAGE, x);
                let y = inner.output_buffer("wgpu-pooling y", device_bytes(outputs, dtype.bytes()));
                let input = indices
                    .map(|bytes| inner.filled_buffer("wgpu-pooling indices", wgpu::BufferUsages::STORAGE, bytes));
                let output =
                    index_bytes.map(|bytes| inner.output_buffer("wgpu-pooling indices", device_bytes(outputs, bytes)));
                let status = input.as_ref().map(|_| inner.output_buffer("wgpu-pooling status", STATUS_BYTES));
                let mut encoder = inner
                    .device
                    .create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("wgpu-pooling") });
                let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                    label: Some(&self.schedule.kernel()),
                    timestamp_writes: None,
                });
                let buffers =
                    RunBuffers { x: &x, y: &y, indices: input.as_ref().or(output.as_ref()), status: status.as_ref() };
                self.encode(&mut pass, &buffers);
                drop(pass);
                let submitted = Submitted {
                    y: inner.read_back(&mut encoder, &y),
                    indices: output.as_ref().map(|buffer| inner.read_back(&mut encoder, buffer)),
                    status: status.as_ref().map(|buffer| inner.read_back(&mut encoder, buffer)),
                };
                (submitted, inner.queue.submit([encoder.finish()]))
            })
            .await?;
        #[cfg(not(target_arch = "wasm32"))]
        inner.poller.watch(submission)?;
        #[cfg(target_arch = "wasm32")]
        let _ = submission;
        Ok(submitted)
    }
}

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
    }
}

fn check_x<T: Element>(dtype: &'static str, shape: &[usize], x: &TensorView<'_, T>) -> Result<(), ExecuteError> {
    check_type("x", dtype, T::DTYPE.name())?;
    check_shape("x", shape, x.shape())
}

/// Turns the report of an unpool into its error.
fn check_status(status: &[u32], unit: u64) -> Result<(), ExecuteError> {
    match *status {
        [count, first, low, high, ..] if count > 0 => Err(ExecuteError::IndexOutOfRange {
            // The first offender is stored complemented, so that zero says that there is none.
            position: u64::from(!first),
            value: (u64::from(high) << 32 | u64::from(low)) as i64,
            unit,
            count: count.into(),
        }),
        _ => Ok(()),
    }
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
