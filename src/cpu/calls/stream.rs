//! Streaming pools on the CPU: tensors of any size, tile after tile, in the memory that the caller allows.

use super::cpu::Cpu;
use super::prepared::PreparedCpu;
use crate::element::{Element, Index};
use crate::error::ExecuteError;
use crate::plan::{Plan, PoolPlan};
use crate::stream::{Nowhere, PoolRun, Sinks, StreamOptions, StreamReport, StreamSink, StreamSource};
use crate::tensor::TensorView;
use crate::tile::{Tile, Tiling};

/// Streaming runs: tensors of any size, within the caller's memory budget.
impl Cpu {
    /// Reads a tensor from `source` and writes its maxima to `sink`; neither has to be in memory. The tensor is cut into tiles
    /// that fit the budget, and all threads compute one tile after the other. Tiles choose their kernels by themselves. The
    /// result has the same bits as that of [`Cpu::max_pool`].
    ///
    /// # Errors
    /// [`ExecuteError::Plan`] if the budget is too small for the smallest tile; [`ExecuteError::Source`],
    /// [`ExecuteError::Sink`], [`ExecuteError::Stopped`], [`ExecuteError::Interrupted`]; [`ExecuteError::IndicesMismatch`] and
    /// [`ExecuteError::TypeMismatch`] if the call does not fit the plan; [`ExecuteError::OutOfMemory`]. Tiles that were written
    /// before an error stay written.
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
        if plan.indices().is_some() {
            return Err(ExecuteError::IndicesMismatch { planned: "with", called: "without" });
        }
        self.stream::<T, i64>(plan, source, sink, &mut Nowhere, options)
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
        let Some(spec) = plan.outputs.get(1) else {
            return Err(ExecuteError::IndicesMismatch { planned: "without", called: "with" });
        };
        spec.check_dtype("indices", I::DTYPE)?;
        self.stream(plan, source, sink, indices, options)
    }

    fn stream<T: Element, I: Index>(
        &self,
        plan: &PoolPlan,
        source: &mut impl StreamSource<T>,
        sink: &mut impl StreamSink<T>,
        indices_sink: &mut impl StreamSink<I>,
        options: StreamOptions<'_>,
    ) -> Result<StreamReport, ExecuteError> {
        plan.inputs[0].check_dtype("x", T::DTYPE)?;
        let tiling = Tiling::on_cpu(plan, options.budget_bytes)?;
        let whole_windows = !tiling.cuts_windows();
        let mut pool = PoolRun::new(plan, tiling, options);
        let mut sinks = Sinks::<T, I, _, _>::new(plan, sink, indices_sink);
        if whole_windows {
            self.tiles(&mut pool, source, |tile, y, indices| sinks.whole(tile.output(), y, indices))?;
        } else {
            // Every tile is one window or a part of one.
            self.tiles(&mut pool, source, |tile, y, positions| sinks.part(tile, y, positions))?;
        }
        Ok(pool.run.memory.report)
    }

    /// Reads and computes the tiles; `emit` writes the results of each and returns the bytes written.
    fn tiles<T: Element, J: Index>(
        &self,
        pool: &mut PoolRun<'_>,
        source: &mut impl StreamSource<T>,
        mut emit: impl FnMut(&Tile, &[T], Option<&[J]>) -> Result<u64, ExecuteError>,
    ) -> Result<(), ExecuteError> {
        pool.run.tell()?;
        let cpu = Cpu { kernel: None, ..self.clone() };
        // All tiles are computed in the same vectors. The preparation of a tile fits the next one if their plans are equal,
        // which most plans without indices are.
        let (mut x, mut y, mut indices) = (Vec::new(), Vec::new(), Vec::new());
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
            pool.read(&tile, source, x)?;
            let x = TensorView::new(tile.plan().input_shape(), x)?;
            pool.run.progress.bytes_written += match indices {
                Some(indices) => {
                    prepared.max_pool_with_indices_into(x, y, indices)?;
                    emit(&tile, y, Some(indices))?
                }
                None => {
                    prepared.max_pool_into(x, y)?;
                    emit(&tile, y, None)?
                }
            };
            pool.run.memory.report.tiles += 1;
            pool.run.progress.done += 1;
            pool.run.tell()?;
        }
        Ok(())
    }

    /// An error if the caller asks to stop.
    pub(super) fn unless_stopped(&self) -> Result<(), ExecuteError> {
        match &self.stop {
            Some(stop) if stop() => Err(ExecuteError::Interrupted),
            _ => Ok(()),
        }
    }
}
