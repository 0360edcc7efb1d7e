//! Streaming pools on the CPU: tensors of any size, tile after tile, in the memory that the caller allows.

use bytemuck::cast_slice_mut;
use wgpu_pooling_plan::internal::{Nowhere, PoolRun, Sinks, without_waiting};
use wgpu_pooling_plan::{
    AsyncStreamSink, AsyncStreamSource, Element, ExecuteError, Index, Plan, PoolPlan, StreamOptions, StreamReport,
    StreamSink, StreamSource, TensorMut, TensorView, Tiling,
};

use super::cpu::Cpu;
use super::prepared::PreparedCpu;

/// Streaming runs: tensors of any size, within the caller's memory budget.
impl Cpu {
    /// Reads a tensor from `source` and writes its maxima to `sink`; neither has to be in memory. The tensor is cut
    /// into tiles that fit the budget, and all threads compute one tile after the other. Tiles choose their kernels by
    /// themselves. The result has the same bits as that of a [request](wgpu_pooling_plan::Request).
    ///
    /// # Errors
    /// [`ExecuteError::Plan`] if the budget is too small for the smallest tile; [`ExecuteError::Source`],
    /// [`ExecuteError::Sink`], [`ExecuteError::Stopped`], [`ExecuteError::Interrupted`];
    /// [`ExecuteError::IndicesMismatch`] and [`ExecuteError::TypeMismatch`] if the call does not fit the plan;
    /// [`ExecuteError::OutOfMemory`]. Tiles that were written before an error stay written.
    ///
    /// ```
    /// use wgpu_pooling::{Cpu, DType, MaxPool, StreamOptions};
    /// let plan = MaxPool::new([2]).strides([2]).plan(&[1, 1, 4], DType::F32, None)?;
    /// let mut y = vec![0.0; 2];
    /// let mut x = &[3.0f32, 1.0, 2.0, 9.0][..];
    /// let report = Cpu::new().stream_max_pool(&plan, &mut x, &mut y, StreamOptions::new(16))?;
    /// assert_eq!((y, report.tiles), (vec![3.0, 9.0], 2));
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn stream_max_pool<T: Element>(
        &self,
        plan: &PoolPlan,
        source: &mut impl StreamSource<T>,
        sink: &mut impl StreamSink<T>,
        options: StreamOptions<'_>,
    ) -> Result<StreamReport, ExecuteError> {
        without_waiting(self.stream_max_pool_async(plan, source, sink, options))
    }

    /// The maxima of a tensor and their indices, as in [`Cpu::stream_max_pool`]. Indices are those of the whole tensor.
    ///
    /// # Errors
    /// As [`Cpu::stream_max_pool`].
    ///
    /// ```
    /// use wgpu_pooling::{Cpu, DType, IndexType, MaxPool, StreamOptions};
    /// let plan = MaxPool::new([2]).strides([2]).plan(&[1, 1, 4], DType::F32, Some(IndexType::I64))?;
    /// let (mut y, mut indices) = (vec![0.0; 2], vec![0i64; 2]);
    /// let mut x = &[3.0f32, 1.0, 2.0, 9.0][..];
    /// let options = StreamOptions::new(1 << 20);
    /// Cpu::new().stream_max_pool_with_indices(&plan, &mut x, &mut y, &mut indices, options)?;
    /// assert_eq!(indices, [0, 3]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn stream_max_pool_with_indices<T: Element, I: Index>(
        &self,
        plan: &PoolPlan,
        source: &mut impl StreamSource<T>,
        sink: &mut impl StreamSink<T>,
        indices: &mut impl StreamSink<I>,
        options: StreamOptions<'_>,
    ) -> Result<StreamReport, ExecuteError> {
        without_waiting(self.stream_max_pool_with_indices_async(plan, source, sink, indices, options))
    }

    /// [`Cpu::stream_max_pool`] with a source and a sink that may wait.
    #[doc(hidden)]
    pub async fn stream_max_pool_async<T: Element>(
        &self,
        plan: &PoolPlan,
        source: &mut impl AsyncStreamSource<T>,
        sink: &mut impl AsyncStreamSink<T>,
        options: StreamOptions<'_>,
    ) -> Result<StreamReport, ExecuteError> {
        plan.check_indices(false)?;
        self.stream::<T, i64>(plan, source, sink, &mut Nowhere, options).await
    }

    /// [`Cpu::stream_max_pool_with_indices`] with a source and sinks that may wait.
    #[doc(hidden)]
    pub async fn stream_max_pool_with_indices_async<T: Element, I: Index>(
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

    async fn stream<T: Element, I: Index>(
        &self,
        plan: &PoolPlan,
        source: &mut impl AsyncStreamSource<T>,
        sink: &mut impl AsyncStreamSink<T>,
        indices_sink: &mut impl AsyncStreamSink<I>,
        options: StreamOptions<'_>,
    ) -> Result<StreamReport, ExecuteError> {
        plan.inputs[0].check_dtype("x", T::DTYPE)?;
        let tiling = Tiling::on_cpu(plan, options.budget_bytes)?;
        let whole_windows = !tiling.cuts_windows();
        let mut pool = PoolRun::new(plan, tiling, options);
        let mut sinks = Sinks::<T, I, _, _>::new(plan, sink, indices_sink);
        if whole_windows {
            self.tiles::<I, _, _, _, _>(&mut pool, source, &mut sinks).await?;
        } else {
            // Every tile is one window or a part of one, and its indices are positions in the plane.
            self.tiles::<i64, _, _, _, _>(&mut pool, source, &mut sinks).await?;
        }
        Ok(pool.run.memory.report)
    }

    /// Reads, computes and writes the tiles, whose indices have type `J`.
    async fn tiles<J: Index, T: Element, I: Index, Y: AsyncStreamSink<T>, P: AsyncStreamSink<I>>(
        &self,
        pool: &mut PoolRun<'_>,
        source: &mut impl AsyncStreamSource<T>,
        sinks: &mut Sinks<'_, T, I, Y, P>,
    ) -> Result<(), ExecuteError> {
        pool.run.tell()?;
        let cpu = Cpu { kernel: None, ..self.clone() };
        // All tiles are computed in the same vectors. The preparation of a tile fits the next one if their plans are
        // equal, which most plans without indices are.
        let (mut x, mut y, mut indices) = (Vec::new(), Vec::new(), Vec::<J>::new());
        let mut prepared: Option<PreparedCpu> = None;
        for number in 0..pool.run.progress.tiles {
            let Some(tile) = pool.tiling.tile(number) else {
                pool.run.progress.done += 1;
                continue;
            };
            self.unless_stopped()?;
            let computes = |prepared: &PreparedCpu| matches!(prepared.plan(), Plan::Pool(plan) if plan == tile.plan());
            let prepared = match prepared.take().filter(computes) {
                Some(same) => prepared.insert(same),
                None => prepared.insert(cpu.prepare(tile.plan().clone())?),
            };
            let memory = &mut pool.run.memory;
            let (x, y) =
                (memory.first(&mut x, tile.input().elements())?, memory.first(&mut y, tile.output().elements())?);
            let indices = match tile.plan().indices() {
                Some(_) => Some(memory.first(&mut indices, tile.output().elements())?),
                None => None,
            };
            pool.read(&tile, source, x).await?;
            let x = TensorView::new(tile.plan().input_shape(), x)?.into();
            let to_y = TensorMut::new(T::DTYPE, tile.plan().output_shape(), cast_slice_mut(y))?;
            pool.run.progress.bytes_written += match indices {
                Some(indices) => {
                    let shape = &tile.plan().outputs()[1].shape;
                    let to_indices = TensorMut::new(J::DTYPE, shape, cast_slice_mut(indices))?;
                    prepared.compute(&[x], &mut [to_y, to_indices])?;
                    sinks.take(&tile, y, Some(indices)).await?
                }
                None => {
                    prepared.compute(&[x], &mut [to_y])?;
                    sinks.take::<J>(&tile, y, None).await?
                }
            };
            pool.run.memory.report.tiles += 1;
            pool.run.progress.done += 1;
            pool.run.tell()?;
        }
        pool.run.finish()
    }

    /// An error if the caller asks to stop.
    pub(super) fn unless_stopped(&self) -> Result<(), ExecuteError> {
        match &self.stop {
            Some(stop) if stop() => Err(ExecuteError::Interrupted),
            _ => Ok(()),
        }
    }
}
