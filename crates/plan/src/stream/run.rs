//! A plan with its sources and its sinks: what callers make, and run on a backend.

use std::fmt;
use std::ops::ControlFlow;

use super::ends::{AsyncSink, AsyncSource, Ends};
use super::progress::{Callback, MOST_READS, StreamProgress, StreamReport};
use super::{pool, unpool};
use crate::backend::Backend;
use crate::error::{ExecuteError, PlanError};
use crate::plan::Plan;
use crate::tile::Tiling;

/// A pool, an unpool or a composition of tensors that need not be in memory: it reads boxes of its sources, computes
/// them on a backend and writes boxes of its sinks, within a memory budget. The result has the bits of a
/// [request](crate::Request).
///
/// While a device computes one tile, the next is read and the previous one is written.
///
/// * A pool is cut into boxes of Y along its axes in memory order, the outermost first: whole batch items where those
///   fit, otherwise channels, slabs along the outermost spatial axis, or boxes. A window that exceeds the budget is
///   computed in parts.
/// * A composition is cut in the same way. For a tile of Y, the box that each step reads is found, from the last step
///   back to X, so an opening's halo is that of both its pools; no intermediate tensor is whole in memory. Windows are
///   not cut: if the budget is too small, the error names the least that is enough.
/// * An unpool reads all indices and checks them before it writes anything, and reads them again with the values. If X,
///   Y and indices are NCHW, every index stays in its own plane, as a pool's indices do, and the budget holds planes of
///   Y with their sources, the backend computes whole planes. Otherwise the host puts each value in its place, whatever
///   the backend is: it has to read every index anyway, to know the tile of its value. Where indices stay in their
///   planes, the values and indices of a plane are read once for each tile that holds a part of the plane; otherwise
///   all values and indices are read once for every tile of Y.
///
/// ```
/// use wgpu_pooling::{DType, IndexType, MaxPool, Reference, Stream};
///
/// let plan = MaxPool::new([2]).strides([2]).plan(&[1, 1, 4], DType::F32, Some(IndexType::I64))?;
/// let (mut x, mut y, mut indices) = (&[3.0f32, 1.0, 2.0, 9.0][..], vec![0.0f32; 2], vec![0i64; 2]);
/// let stream = Stream::new(plan, 1 << 20).source(&mut x).sink(&mut y).sink(&mut indices);
/// let report = stream.run_blocking(&Reference)?;
/// assert_eq!((y, indices, report.tiles), (vec![3.0, 9.0], vec![0, 3], 1));
/// # Ok::<(), wgpu_pooling::ExecuteError>(())
/// ```
#[must_use]
pub struct Stream<'a> {
    plan: Plan,
    budget_bytes: u64,
    ends: Ends<'a>,
    progress: Option<Callback<'a>>,
}

impl fmt::Debug for Stream<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Stream { plan, budget_bytes, .. } = self;
        formatter.debug_struct("Stream").field("plan", plan).field("budget_bytes", budget_bytes).finish_non_exhaustive()
    }
}

impl<'a> Stream<'a> {
    /// A stream without its ends. The budget is the most bytes that it may hold at a time, on the host and on the
    /// device together, in vectors, buffers and staging memory. Memory of the device object, the driver and pipelines
    /// is not counted, nor the memory that the CPU's kernels take, at most some 3 MiB for each thread.
    ///
    /// The smaller the budget, the more tiles there are, and the more of them read the same elements. With a budget
    /// just above the least one each output is a tile or several, which takes a thousand times as long or more. A run
    /// whose tiles read its sources more than four times over logs a warning with that factor;
    /// [`Stream::proposed_budget`] names a budget that avoids it.
    ///
    /// ```
    /// use wgpu_pooling::{DType, MaxPool, Stream};
    /// // At most 256 MiB.
    /// let stream = Stream::new(MaxPool::new([2]).plan(&[1, 1, 1 << 40], DType::F32, None)?, 256 << 20);
    /// # let _ = stream;
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn new(plan: Plan, budget_bytes: u64) -> Self {
        Stream { plan, budget_bytes, ends: Ends::default(), progress: None }
    }

    /// A budget for a stream of this plan on a backend: the least of 64 MiB, 128 MiB and so on up to 1 TiB with which
    /// the tiles read no source more than four times over. If no budget does that, as where a device cannot hold a
    /// window, it is the one with the fewest reads. Of an unpool it holds for indices that stay in their planes, as a
    /// pool's do. A run takes no more of it than it needs.
    ///
    /// # Errors
    /// [`PlanError::ExceedsLimit`] if the smallest tile exceeds the device's limits.
    ///
    /// ```
    /// use wgpu_pooling::{DType, MaxPool, Reference, Stream};
    /// let plan = MaxPool::new([3, 3]).plan(&[1, 1, 102, 102], DType::F32, None)?;
    /// let (mut x, mut y) = (&vec![1.0f32; 102 * 102][..], vec![0.0f32; 10_000]);
    /// let budget = Stream::proposed_budget(&plan, &Reference)?;
    /// let report = Stream::new(plan, budget).source(&mut x).sink(&mut y).run_blocking(&Reference)?;
    /// assert_eq!((budget, report.tiles), (64 << 20, 1));
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn proposed_budget(plan: &Plan, backend: &dyn Backend) -> Result<u64, PlanError> {
        let mut proposed = (f64::INFINITY, 0);
        for budget_bytes in (26..=40).map(|bits| 1 << bits) {
            let reads = match plan {
                Plan::Unpool(plan) => unpool::reads(plan, backend, budget_bytes)?,
                _ => Tiling::new(plan, budget_bytes, |tile| backend.stream_bytes(tile))?.reads(),
            };
            proposed = if reads < proposed.0 { (reads, budget_bytes) } else { proposed };
            if reads <= MOST_READS {
                break;
            }
        }
        Ok(proposed.1)
    }

    /// Adds the source of the next input: a [`Source`](crate::Source) or one that may wait.
    ///
    /// ```
    /// use wgpu_pooling::{DType, IndexType, MaxUnpool, Reference, Stream};
    /// let plan = MaxUnpool::new([2]).plan(&[1, 1, 2], DType::F32, IndexType::I64)?;
    /// let (mut x, mut indices, mut y) = (&[3.0f32, 2.0][..], &[0i64, 2][..], vec![0.0f32; 3]);
    /// Stream::new(plan, 1 << 20).source(&mut x).source(&mut indices).sink(&mut y).run_blocking(&Reference)?;
    /// assert_eq!(y, [3.0, 0.0, 2.0]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn source(mut self, source: &'a mut dyn AsyncSource) -> Self {
        self.ends.sources.push(source);
        self
    }

    /// Adds the sink of the next output: a [`Sink`](crate::Sink) or one that may wait.
    ///
    /// ```
    /// use wgpu_pooling::{DType, MaxPool, Reference, Stream};
    /// let plan = MaxPool::new([2]).plan(&[1, 1, 3], DType::U8, None)?;
    /// let (mut x, mut y) = (&[3u8, 1, 2][..], vec![0u8; 2]);
    /// Stream::new(plan, 1 << 20).source(&mut x).sink(&mut y).run_blocking(&Reference)?;
    /// assert_eq!(y, [3, 2]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn sink(mut self, sink: &'a mut dyn AsyncSink) -> Self {
        self.ends.sinks.push(sink);
        self
    }

    /// Sets a callback that is called before the first tile and after each written tile. If it returns
    /// `ControlFlow::Break`, the run ends with [`ExecuteError::Stopped`]. On the web it need not be `Send`.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    /// use wgpu_pooling::{DType, MaxPool, Stream};
    ///
    /// let plan = MaxPool::new([2]).plan(&[1, 1, 1 << 40], DType::F32, None)?;
    /// let stream = Stream::new(plan, 1 << 30).progress(|progress| match progress.bytes_read {
    ///     0..1_000_000_000 => ControlFlow::Continue(()),
    ///     _ => ControlFlow::Break(()),
    /// });
    /// # let _ = stream;
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    #[cfg(not(target_arch = "wasm32"))]
    pub fn progress(mut self, callback: impl FnMut(&StreamProgress) -> ControlFlow<()> + Send + 'a) -> Self {
        self.progress = Some(Box::new(callback));
        self
    }

    /// Sets a callback that is called before the first tile and after each written tile. If it returns
    /// `ControlFlow::Break`, the run ends with [`ExecuteError::Stopped`].
    ///
    /// ```
    /// use std::{cell::Cell, ops::ControlFlow, rc::Rc};
    /// use wgpu_pooling::{DType, MaxPool, Stream};
    ///
    /// let tiles = Rc::new(Cell::new(0));
    /// let shown = Rc::clone(&tiles);
    /// let plan = MaxPool::new([2]).plan(&[1, 1, 1 << 40], DType::F32, None)?;
    /// let stream = Stream::new(plan, 1 << 30).progress(move |progress| {
    ///     shown.set(progress.done);
    ///     ControlFlow::Continue(())
    /// });
    /// # let _ = stream;
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    #[cfg(target_arch = "wasm32")]
    pub fn progress(mut self, callback: impl FnMut(&StreamProgress) -> ControlFlow<()> + 'a) -> Self {
        self.progress = Some(Box::new(callback));
        self
    }

    /// Reads, computes and writes. Kernels are selected for each tile, and a choice of the backend's is ignored. On a
    /// backend that does not wait, such as the CPU, tiles are computed one after the other in the thread that polls.
    ///
    /// # Errors
    /// [`PlanError::OperandCount`](crate::PlanError::OperandCount) and [`ExecuteError::TypeMismatch`] if sources and
    /// sinks do not match the plan; [`PlanError::ExceedsLimit`](crate::PlanError::ExceedsLimit) if the budget is too
    /// small for the smallest tile; [`ExecuteError::Source`], [`ExecuteError::Sink`], [`ExecuteError::Stopped`],
    /// [`ExecuteError::Interrupted`] and [`ExecuteError::OutOfMemory`]; for bad indices the errors of
    /// [`PreparedPlan::run`](crate::PreparedPlan::run), before anything is written; errors of a device. Tiles that were
    /// written before an error stay written.
    ///
    /// ```
    /// # async fn f(backend: &dyn wgpu_pooling::Backend) -> Result<(), wgpu_pooling::ExecuteError> {
    /// use wgpu_pooling::{DType, MaxPool, Stream};
    /// let plan = MaxPool::new([2]).strides([2]).plan(&[1, 1, 4], DType::F32, None)?;
    /// let (mut x, mut y) = (&[3.0f32, 1.0, 2.0, 9.0][..], vec![0.0f32; 2]);
    /// let report = Stream::new(plan, 64 << 20).source(&mut x).sink(&mut y).run(backend).await?;
    /// assert_eq!((y, report.tiles), (vec![3.0, 9.0], 1));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn run(self, backend: &dyn Backend) -> Result<StreamReport, ExecuteError> {
        self.check_ends()?;
        backend.check_alive()?;
        let Stream { plan, budget_bytes, ends, progress } = self;
        match plan {
            Plan::Unpool(plan) => unpool::run(&plan, ends, backend, (budget_bytes, progress)).await,
            plan => pool::run(&plan, ends, backend, (budget_bytes, progress)).await,
        }
    }

    /// [`Stream::run`], waiting for the result in this thread. Outside the web.
    ///
    /// # Errors
    /// As [`Stream::run`].
    ///
    /// ```
    /// use wgpu_pooling::{DType, MaxPool, Reference, Stream};
    /// let plan = MaxPool::new([2]).strides([2]).plan(&[1, 1, 4], DType::F32, None)?;
    /// let (mut x, mut y) = (&[3.0f32, 1.0, 2.0, 9.0][..], vec![0.0f32; 2]);
    /// let report = Stream::new(plan, 16).source(&mut x).sink(&mut y).run_blocking(&Reference)?;
    /// assert_eq!((y, report.tiles), (vec![3.0, 9.0], 2));
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    #[cfg(not(target_arch = "wasm32"))]
    pub fn run_blocking(self, backend: &dyn Backend) -> Result<StreamReport, ExecuteError> {
        pollster::block_on(self.run(backend))
    }

    /// Refuses sources and sinks that do not match the plan.
    fn check_ends(&self) -> Result<(), ExecuteError> {
        self.plan.check_count("sources", self.plan.inputs(), self.ends.sources.len())?;
        self.plan.check_count("sinks", self.plan.outputs(), self.ends.sinks.len())?;
        let [read, written] = Plan::OPERAND_NAMES;
        let sources = self.ends.sources.iter().map(|source| source.dtype()).zip(self.plan.inputs()).zip(read);
        let sinks = self.ends.sinks.iter().map(|sink| sink.dtype()).zip(self.plan.outputs()).zip(written);
        for ((dtype, spec), what) in sources.chain(sinks) {
            dtype.map_or(Ok(()), |dtype| spec.check_dtype(what, dtype))?;
        }
        Ok(())
    }
}
