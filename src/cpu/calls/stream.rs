//! Streams on the CPU: tensors of any size, tile after tile, in the memory that the caller allows.

use super::cpu::Cpu;
use super::prepared::PreparedCpu;
use crate::activation;
use crate::element::{Element, Index};
use crate::error::ExecuteError;
use crate::plan::{Plan, PoolPlan, UnpoolPlan};
use crate::stream::{
    Nowhere, PoolRun, Sinks, StreamOptions, StreamReport, StreamSink, StreamSource, UnpoolRun, largest_box,
};
use crate::tensor::TensorView;
use crate::tile::{Region, Tile, Tiling};

/// An unpool visits at most so many sources between two looks at the caller's request to stop.
const MOST_SOURCES: usize = 1 << 18;

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

    /// Reads values from `x` and indices from `indices`, and writes to `sink` the tensor with the values at the positions that
    /// the indices name, zeros elsewhere. None of the three has to be in memory. All indices are read and checked before
    /// anything is written, and read again with the values. Where every index stays in its own plane, as a pool's indices do,
    /// the values and indices of a plane are read once for each tile that holds a part of the plane; otherwise all values and
    /// indices are read once for every tile of Y.
    ///
    /// # Errors
    /// [`ExecuteError::IndexOutOfRange`] or [`ExecuteError::IndexOutsideWindow`] for bad indices, unless the plan skips them;
    /// otherwise as [`Cpu::stream_max_pool`].
    ///
    /// ```
    /// use wgpu_pooling::{Cpu, DType, IndexType, MaxUnpool, StreamOptions};
    /// let plan = MaxUnpool::new([2]).plan(&[1, 1, 2], DType::F32, IndexType::I64)?;
    /// let (mut x, mut indices, mut y) = (&[3.0f32, 2.0][..], &[0i64, 2][..], vec![0.0; 3]);
    /// Cpu::new().stream_max_unpool(&plan, &mut x, &mut indices, &mut y, StreamOptions::new(1 << 20))?;
    /// assert_eq!(y, [3.0, 0.0, 2.0]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn stream_max_unpool<T: Element, I: Index>(
        &self,
        plan: &UnpoolPlan,
        x: &mut impl StreamSource<T>,
        indices: &mut impl StreamSource<I>,
        sink: &mut impl StreamSink<T>,
        options: StreamOptions<'_>,
    ) -> Result<StreamReport, ExecuteError> {
        plan.inputs[0].check_dtype("x", T::DTYPE)?;
        plan.inputs[1].check_dtype("indices", I::DTYPE)?;
        let most = largest_box(plan, u64::MAX, options.budget_bytes, |elements| Ok(unpool_peak(plan, elements)))?;
        let mut unpool = UnpoolRun::new(plan, (most, most.min(MOST_SOURCES)), options);
        unpool.run.tell()?;
        let stay = unpool.look(indices, || self.unless_stopped())?;
        let mut y = Vec::new();
        for number in 0..unpool.tiles.len() {
            let tile = unpool.tiles.region(number);
            let y = unpool.run.memory.first(&mut y, tile.elements())?;
            self.unpool_tile(&mut unpool, (&tile, stay), (&mut *x, &mut *indices), y)?;
            unpool.write(&tile, y, sink)?;
            unpool.run.tell()?;
        }
        Ok(unpool.run.memory.report)
    }

    /// Computes a tile of an unpool.
    fn unpool_tile<T: Element, I: Index>(
        &self,
        unpool: &mut UnpoolRun<'_>,
        (tile, stay): (&Region, bool),
        (x, indices): (&mut impl StreamSource<T>, &mut impl StreamSource<I>),
        y: &mut [T],
    ) -> Result<(), ExecuteError> {
        y.fill(T::zeroed());
        for from in unpool.sources(tile, stay) {
            self.unless_stopped()?;
            // The last source that names an element wins.
            unpool.visit((tile, &from), (&mut *x, &mut *indices), |value, place| y[place] = value)?;
        }
        let activation = unpool.plan.activation;
        y.iter_mut().for_each(|value| *value = activation::apply(activation, *value));
        Ok(())
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
    fn unless_stopped(&self) -> Result<(), ExecuteError> {
        match &self.stop {
            Some(stop) if stop() => Err(ExecuteError::Interrupted),
            _ => Ok(()),
        }
    }
}

/// The peak memory of an unpool's run with tiles of at most so many elements: a tile of Y, and a box of values and indices.
fn unpool_peak(plan: &UnpoolPlan, elements: usize) -> u64 {
    let (value, index) = (plan.dtype().bytes() as u64, plan.index_type.bytes() as u64);
    let sources = elements.min(MOST_SOURCES) as u64;
    (elements as u64).saturating_mul(value).saturating_add(sources.saturating_mul(value.saturating_add(index)))
}
