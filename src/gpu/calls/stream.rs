//! Streaming pools: tensors of any size are read, computed and written tile by tile, in bounded memory. The three steps
//! of neighbouring tiles overlap in time.

use std::collections::VecDeque;

use wgpu_pooling_plan::internal::{Nowhere, PoolRun, Sinks, zeros};
use wgpu_pooling_plan::{
    AsyncStreamSink, AsyncStreamSource, Element, ExecuteError, Index, Plan, PoolPlan, StreamOptions, StreamReport,
    Tensor, TensorView, Tile,
};

use super::gpu::Gpu;
use super::prepare::Prepared;
use super::results::{ReadBack, Submitted};
use crate::gpu::prepared::preparation::Scratch;
use crate::select::Choice;
use crate::tiles::{IN_FLIGHT, TileBytes, select_tiles};

/// A tile on the device.
struct Flight<T, J> {
    tile: Tile,
    bytes: TileBytes,
    submitted: Submitted,
    y: ReadBack<T>,
    indices: Option<ReadBack<J>>,
}

/// A pool's run on a GPU.
struct PoolFlights<'a> {
    gpu: &'a Gpu,
    pool: PoolRun<'a>,
    /// The preparation of the last tile. It fits the next tile if the tiles' plans are equal, which most plans without
    /// indices are.
    prepared: Option<Prepared>,
}

impl PoolFlights<'_> {
    /// Reads, computes and writes the tiles, whose indices have type `J`.
    async fn tiles<J: Index, T: Element, I: Index, Y: AsyncStreamSink<T>, P: AsyncStreamSink<I>>(
        &mut self,
        source: &mut impl AsyncStreamSource<T>,
        sinks: &mut Sinks<'_, T, I, Y, P>,
    ) -> Result<(), ExecuteError> {
        self.pool.run.tell()?;
        let mut flights = VecDeque::new();
        for number in 0..self.pool.run.progress.tiles {
            match self.pool.tiling.tile(number) {
                Some(tile) => flights.push_back(self.launch::<J, T>(tile, source).await?),
                None => self.pool.run.progress.done += 1,
            }
            if flights.len() as u64 == IN_FLIGHT {
                self.land(&mut flights, sinks).await?;
            }
        }
        while !flights.is_empty() {
            self.land(&mut flights, sinks).await?;
        }
        self.pool.run.finish()
    }

    /// Reads a tile and submits it.
    async fn launch<J: Index, T: Element>(
        &mut self,
        tile: Tile,
        source: &mut impl AsyncStreamSource<T>,
    ) -> Result<Flight<T, J>, ExecuteError> {
        if self.prepared.as_ref().is_none_or(|prepared| !prepared.computes(tile.plan())) {
            // The previous preparation is dropped before the next one is allocated.
            self.prepared = None;
            self.prepared =
                Some(self.gpu.prepare_chosen(tile.plan().clone().into(), &Choice::default(), Scratch::Own).await?);
        }
        let Some(prepared) = &self.prepared else {
            return Err(ExecuteError::BufferMissing { what: "a tile" });
        };
        let bytes = TileBytes::of(prepared.schedule());
        self.pool.run.memory.host(bytes.host_in, 0);
        let mut x: Vec<T> = zeros(tile.plan().input_shape())?;
        self.pool.run.memory.report.bytes_uploaded += self.pool.read(&tile, source, &mut x).await?;
        self.pool.run.memory.device(bytes.device, 0);
        let mut chain = self.gpu.chain().on_its_own();
        let on_device = chain.upload(TensorView::new(tile.plan().input_shape(), &x)?, self.pool.plan.layout())?;
        drop(x);
        self.pool.run.memory.host(0, bytes.host_in);
        let (y, indices) = if tile.plan().indices().is_some() {
            let [y, indices] = chain.step(prepared, &[&on_device])?;
            (y, Some(chain.read_back(&indices)?))
        } else {
            let [y] = chain.step(prepared, &[&on_device])?;
            (y, None)
        };
        let y = chain.read_back(&y)?;
        let submitted = chain.submit()?;
        self.pool.run.memory.report.tiles += 1;
        Ok(Flight { tile, bytes, submitted, y, indices })
    }

    /// Waits for the tile that was submitted first, and writes its results.
    async fn land<J: Index, T: Element, I: Index, Y: AsyncStreamSink<T>, P: AsyncStreamSink<I>>(
        &mut self,
        flights: &mut VecDeque<Flight<T, J>>,
        sinks: &mut Sinks<'_, T, I, Y, P>,
    ) -> Result<(), ExecuteError> {
        let Some(Flight { tile, bytes, submitted, y, indices }) = flights.pop_front() else {
            return Ok(());
        };
        let results = submitted.finished().await?;
        let run = &mut self.pool.run;
        run.memory.host(bytes.host_out, 0);
        run.memory.report.bytes_downloaded += results.bytes_read_back();
        let y = results.take(y)?;
        let indices = indices.map(|indices| results.take(indices)).transpose()?;
        drop(results);
        run.memory.device(0, bytes.device);
        run.progress.bytes_written += sinks.take(&tile, y.data(), indices.as_ref().map(Tensor::data)).await?;
        run.memory.host(0, bytes.host_out);
        run.progress.done += 1;
        run.tell()
    }
}

impl Prepared {
    fn computes(&self, plan: &PoolPlan) -> bool {
        matches!(self.schedule().plan(), Plan::Pool(own) if own == plan)
    }
}

/// Streaming runs: tensors of any size, within the caller's memory budget.
impl Gpu {
    /// Reads a tensor from `source` and writes its maxima to `sink`; neither has to be in memory. The tensor is cut
    /// into tiles that fit the budget; while the device computes one tile, the next is read and the last is written.
    /// Both ends may wait, as those of a page do. The result has the same bits as that of a [request](crate::Request).
    ///
    /// # Errors
    /// [`ExecuteError::Plan`] if the budget is too small for the smallest tile; [`ExecuteError::Source`],
    /// [`ExecuteError::Sink`], [`ExecuteError::Stopped`]; [`ExecuteError::IndicesMismatch`] and
    /// [`ExecuteError::TypeMismatch`] if the call does not fit the plan; otherwise the errors of the device. Tiles that
    /// were written before an error stay written.
    ///
    /// ```no_run
    /// # async fn f(gpu: wgpu_pooling::Gpu) -> Result<(), wgpu_pooling::ExecuteError> {
    /// use wgpu_pooling::{DType, MaxPool, StreamOptions};
    /// let plan = MaxPool::new([2]).strides([2]).plan(&[1, 1, 4], DType::F32, None)?;
    /// let mut y = vec![0.0; 2];
    /// let mut x = &[3.0f32, 1.0, 2.0, 9.0][..];
    /// let report = gpu.stream_max_pool(&plan, &mut x, &mut y, StreamOptions::new(64 << 20)).await?;
    /// assert_eq!((y, report.tiles), (vec![3.0, 9.0], 1));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn stream_max_pool<T: Element>(
        &self,
        plan: &PoolPlan,
        source: &mut impl AsyncStreamSource<T>,
        sink: &mut impl AsyncStreamSink<T>,
        options: StreamOptions<'_>,
    ) -> Result<StreamReport, ExecuteError> {
        plan.check_indices(false)?;
        self.stream::<T, i64>(plan, source, sink, &mut Nowhere, options).await
    }

    /// The maxima of a tensor and their indices, as in [`Gpu::stream_max_pool`]. Indices are those of the whole tensor.
    ///
    /// # Errors
    /// As [`Gpu::stream_max_pool`].
    ///
    /// ```no_run
    /// # async fn f(gpu: wgpu_pooling::Gpu) -> Result<(), wgpu_pooling::ExecuteError> {
    /// use wgpu_pooling::{DType, IndexType, MaxPool, StreamOptions};
    /// let plan = MaxPool::new([2]).strides([2]).plan(&[1, 1, 4], DType::F32, Some(IndexType::I64))?;
    /// let (mut y, mut indices) = (vec![0.0; 2], vec![0i64; 2]);
    /// let mut x = &[3.0f32, 1.0, 2.0, 9.0][..];
    /// let options = StreamOptions::new(64 << 20);
    /// gpu.stream_max_pool_with_indices(&plan, &mut x, &mut y, &mut indices, options).await?;
    /// assert_eq!(indices, [0, 3]);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn stream_max_pool_with_indices<T: Element, I: Index>(
        &self,
        plan: &PoolPlan,
        source: &mut impl AsyncStreamSource<T>,
        sink: &mut impl AsyncStreamSink<T>,
        indices: &mut impl AsyncStreamSink<I>,
        options: StreamOptions<'_>,
    ) -> Result<StreamReport, ExecuteError> {
        plan.check_indices(true)?;
        plan.outputs[1].check_dtype("indices", I::DTYPE)?;
        self.stream(plan, source, sink, indices, options).await
    }

    /// A one-shot call whose tensors exceed the device's limits.
    pub(super) async fn max_pool_in_tiles<T: Element>(
        &self,
        plan: &PoolPlan,
        mut x: TensorView<'_, T>,
    ) -> Result<Tensor<T>, ExecuteError> {
        let mut y: Vec<T> = zeros(plan.output_shape())?;
        self.stream_max_pool(plan, &mut x, &mut y, self.own_budget()).await?;
        Ok(Tensor::from_parts(plan.output_shape().to_vec(), y))
    }

    /// [`Gpu::max_pool_in_tiles`] with indices.
    pub(super) async fn max_pool_with_indices_in_tiles<T: Element, I: Index>(
        &self,
        plan: &PoolPlan,
        mut x: TensorView<'_, T>,
    ) -> Result<(Tensor<T>, Tensor<I>), ExecuteError> {
        let (mut y, mut indices): (Vec<T>, Vec<I>) = (zeros(plan.output_shape())?, zeros(&plan.outputs[1].shape)?);
        self.stream_max_pool_with_indices(plan, &mut x, &mut y, &mut indices, self.own_budget()).await?;
        let y = Tensor::from_parts(plan.output_shape().to_vec(), y);
        Ok((y, Tensor::from_parts(plan.outputs[1].shape.clone(), indices)))
    }

    /// The budget of a call that names none: four times the largest binding, and at most 1 GiB.
    pub(super) fn own_budget(&self) -> StreamOptions<'static> {
        let limits = &self.inner.device.limits;
        let binding = limits.max_binding_bytes.min(limits.max_buffer_bytes);
        StreamOptions::new(binding.saturating_mul(4).min(1 << 30))
    }

    async fn stream<T: Element, I: Index>(
        &self,
        plan: &PoolPlan,
        source: &mut impl AsyncStreamSource<T>,
        sink: &mut impl AsyncStreamSink<T>,
        indices_sink: &mut impl AsyncStreamSink<I>,
        options: StreamOptions<'_>,
    ) -> Result<StreamReport, ExecuteError> {
        plan.inputs[0].check_dtype("x", T::DTYPE)?;
        self.inner.device.check_alive()?;
        let tiling = select_tiles(plan, &self.inner.device.limits, options.budget_bytes)?;
        let whole_windows = !tiling.cuts_windows();
        let mut flights = PoolFlights { gpu: self, pool: PoolRun::new(plan, tiling, options), prepared: None };
        let mut sinks = Sinks::<T, I, _, _>::new(plan, sink, indices_sink);
        if whole_windows {
            flights.tiles::<I, _, _, _, _>(source, &mut sinks).await?;
        } else {
            // Every tile is one window or a part of one, and its indices are positions in the plane.
            flights.tiles::<i64, _, _, _, _>(source, &mut sinks).await?;
        }
        Ok(flights.pool.run.memory.report)
    }
}

/// The blocking twins, outside wasm.
#[cfg(not(target_arch = "wasm32"))]
mod blocking {
    use super::*;
    use wgpu_pooling_plan::{StreamSink, StreamSource};

    impl Gpu {
        /// The blocking twin of [`Gpu::stream_max_pool`].
        ///
        /// # Errors
        /// As [`Gpu::stream_max_pool`].
        ///
        /// ```no_run
        /// use wgpu_pooling::{DType, Gpu, MaxPool, StreamOptions};
        /// let gpu = Gpu::new_blocking()?;
        /// let plan = MaxPool::new([2]).strides([2]).plan(&[1, 1, 4], DType::F32, None)?;
        /// let mut y = vec![0.0; 2];
        /// let mut x = &[3.0f32, 1.0, 2.0, 9.0][..];
        /// gpu.stream_max_pool_blocking(&plan, &mut x, &mut y, StreamOptions::new(64 << 20))?;
        /// # Ok::<(), wgpu_pooling::ExecuteError>(())
        /// ```
        pub fn stream_max_pool_blocking<T: Element>(
            &self,
            plan: &PoolPlan,
            source: &mut impl StreamSource<T>,
            sink: &mut impl StreamSink<T>,
            options: StreamOptions<'_>,
        ) -> Result<StreamReport, ExecuteError> {
            pollster::block_on(self.polling().stream_max_pool(plan, source, sink, options))
        }

        /// The blocking twin of [`Gpu::stream_max_pool_with_indices`].
        ///
        /// # Errors
        /// As [`Gpu::stream_max_pool`].
        ///
        /// ```no_run
        /// # use wgpu_pooling::{ExecuteError, Gpu, PoolPlan, StreamOptions};
        /// # fn f(gpu: Gpu, plan: PoolPlan, x: Vec<f32>) -> Result<(), ExecuteError> {
        /// # let (mut y, mut indices) = (vec![0.0; 64], vec![0i64; 64]);
        /// let options = StreamOptions::new(64 << 20);
        /// gpu.stream_max_pool_with_indices_blocking(&plan, &mut &x[..], &mut y, &mut indices, options)?;
        /// # Ok(())
        /// # }
        /// ```
        pub fn stream_max_pool_with_indices_blocking<T: Element, I: Index>(
            &self,
            plan: &PoolPlan,
            source: &mut impl StreamSource<T>,
            sink: &mut impl StreamSink<T>,
            indices: &mut impl StreamSink<I>,
            options: StreamOptions<'_>,
        ) -> Result<StreamReport, ExecuteError> {
            pollster::block_on(self.polling().stream_max_pool_with_indices(plan, source, sink, indices, options))
        }
    }
}
