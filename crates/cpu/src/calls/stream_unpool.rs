//! Streaming unpools on the CPU.

use bytemuck::cast_slice_mut;
use wgpu_pooling_plan::internal::{UnpoolRun, activate_all, count, largest_box, without_waiting};
use wgpu_pooling_plan::{
    AsyncStreamSink, AsyncStreamSource, Element, ExecuteError, Index, IndexFlattening, IndexSpace, Layout, OutOfBounds,
    OutsideWindow, Plan, PlanError, Region, StreamOptions, StreamReport, StreamSink, StreamSource, TensorMut,
    TensorView, UnpoolPlan,
};

use super::cpu::Cpu;
use super::prepared::PreparedCpu;

/// An unpool visits at most so many sources between two looks at the caller's request to stop.
const MOST_SOURCES: usize = 1 << 18;

/// The sizes of a run's boxes.
struct Sizes {
    /// The most elements of a tile of Y.
    y: usize,
    /// The most sources that are visited at a time.
    sources: usize,
    /// Whether tiles are whole planes, and the budget holds them with all their sources.
    planes: bool,
}

/// The vectors that all tiles of a run take in turn, and the preparation of the last tile of whole planes.
struct Held<T, I> {
    x: Vec<T>,
    indices: Vec<I>,
    prepared: Option<PreparedCpu>,
}

impl Sizes {
    /// The largest boxes that fit.
    fn new(plan: &UnpoolPlan, budget_bytes: u64) -> Result<Sizes, PlanError> {
        let largest = |elements: usize| Ok(peak(plan, elements as u64, elements.min(MOST_SOURCES) as u64));
        let y = largest_box(plan, u64::MAX, budget_bytes, largest)?;
        let sources = y.min(MOST_SOURCES);
        let (of_y, of_x) = (count(&plan.y_extents), count(&plan.x_extents));
        // Tiles of planes are no larger than the others: the indices, which nobody has looked at yet, may need those.
        let planes = (budget_bytes / peak(plan, of_y, of_x).max(1)).min(y as u64 / of_y.max(1));
        if planes == 0 || plan.layout() != Layout::Nchw || plan.space.layout != Layout::Nchw {
            return Ok(Sizes { y, sources, planes: false });
        }
        Ok(Sizes { y: planes.saturating_mul(of_y) as usize, sources, planes: true })
    }
}

/// The memory of a tile of Y and of a box of values and indices.
fn peak(plan: &UnpoolPlan, of_y: u64, sources: u64) -> u64 {
    let (value, index) = (plan.dtype().bytes() as u64, plan.index_type.bytes() as u64);
    of_y.saturating_mul(value).saturating_add(sources.saturating_mul(value.saturating_add(index)))
}

/// The plan of some planes whose indices stay in their planes, were checked, and count from their plane's first
/// element. Those that name nothing are -1.
fn of_planes(plan: &UnpoolPlan, batch: usize, channels: usize) -> UnpoolPlan {
    let outside_window = match plan.outside_window {
        // There are none.
        OutsideWindow::Error => OutsideWindow::Scatter,
        other => other,
    };
    let mut planes = UnpoolPlan {
        batch,
        channels,
        space: IndexSpace { batch, channels, flatten: IndexFlattening::Plane, ..plan.space.clone() },
        out_of_bounds: OutOfBounds::Skip,
        outside_window,
        ..plan.clone()
    };
    planes.derive_tensors(plan.dtype(), plan.layout());
    planes
}

/// Makes the indices of some planes count from their plane's first element. Those that name none of its elements become
/// -1.
fn count_from_planes<I: Index>(plan: &UnpoolPlan, tile: &Region, indices: &mut [I]) {
    let (strides, plane) = (plan.space.strides(), 0..count(&plan.space.extents) as i64);
    let planes = tile.batch.clone().flat_map(|n| tile.channels.clone().map(move |c| (n, c)));
    let of_x = count(&plan.x_extents).max(1) as usize;
    for ((n, c), indices) in planes.zip(indices.chunks_mut(of_x)) {
        let base = strides.flat(n, c, &[]);
        for index in indices {
            let inside = index.to_i64().wrapping_sub(base);
            *index = I::from_i64(if plane.contains(&inside) { inside } else { -1 });
        }
    }
}

impl Cpu {
    /// Reads values from `x` and indices from `indices`, and writes to `sink` the tensor with the values at the
    /// positions that the indices name, zeros elsewhere. None of the three has to be in memory. All indices are read
    /// and checked before anything is written, and read again with the values. Where every index stays in its own
    /// plane, as a pool's indices do, the values and indices of a plane are read once for each tile that holds a part
    /// of the plane; otherwise all values and indices are read once for every tile of Y.
    ///
    /// Where every index stays in its own plane and the budget holds planes of Y with their sources, in NCHW, all
    /// threads compute whole planes; otherwise a single one looks at the sources one by one.
    ///
    /// # Errors
    /// [`ExecuteError::IndexOutOfRange`] or [`ExecuteError::IndexOutsideWindow`] for bad indices, unless the plan skips
    /// them; otherwise as [`Cpu::stream_max_pool`].
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
        without_waiting(self.stream_max_unpool_async(plan, x, indices, sink, options))
    }

    /// [`Cpu::stream_max_unpool`] with sources and a sink that may wait.
    #[doc(hidden)]
    pub async fn stream_max_unpool_async<T: Element, I: Index>(
        &self,
        plan: &UnpoolPlan,
        x: &mut impl AsyncStreamSource<T>,
        indices: &mut impl AsyncStreamSource<I>,
        sink: &mut impl AsyncStreamSink<T>,
        options: StreamOptions<'_>,
    ) -> Result<StreamReport, ExecuteError> {
        plan.inputs[0].check_dtype("x", T::DTYPE)?;
        plan.inputs[1].check_dtype("indices", I::DTYPE)?;
        let sizes = Sizes::new(plan, options.budget_bytes)?;
        let mut unpool = UnpoolRun::new(plan, (sizes.y, sizes.sources), options);
        unpool.run.tell()?;
        let stay = unpool.look(indices, || self.unless_stopped()).await?;
        let mut held = Held { x: Vec::new(), indices: Vec::new(), prepared: None };
        let mut y = Vec::new();
        for number in 0..unpool.tiles.len() {
            let tile = unpool.tiles.region(number);
            let y = unpool.run.memory.first(&mut y, tile.elements())?;
            let sources = (&mut *x, &mut *indices);
            if stay && sizes.planes {
                self.unpool_planes(&mut unpool, &tile, sources, y, &mut held).await?;
            } else {
                self.unpool_tile(&mut unpool, (&tile, stay), sources, y).await?;
            }
            unpool.write(&tile, y, sink).await?;
            unpool.run.tell()?;
        }
        Ok(unpool.run.memory.report)
    }

    /// Computes whole planes whose indices stay in them.
    async fn unpool_planes<T: Element, I: Index>(
        &self,
        unpool: &mut UnpoolRun<'_>,
        tile: &Region,
        (x, indices): (&mut impl AsyncStreamSource<T>, &mut impl AsyncStreamSource<I>),
        y: &mut [T],
        held: &mut Held<T, I>,
    ) -> Result<(), ExecuteError> {
        self.unless_stopped()?;
        let plan = unpool.plan;
        let planes = of_planes(plan, tile.batch.len(), tile.channels.len());
        let computes = |prepared: &PreparedCpu| matches!(prepared.plan(), Plan::Unpool(plan) if *plan == planes);
        let prepared = match held.prepared.take().filter(computes) {
            Some(same) => same,
            None => Cpu { kernel: None, ..self.clone() }.prepare(planes)?,
        };
        let spatial = plan.x_extents.iter().map(|&extent| 0..extent).collect();
        let from = Region { batch: tile.batch.clone(), channels: tile.channels.clone(), spatial };
        let read_x = unpool.run.memory.first(&mut held.x, from.elements())?;
        let read_indices = unpool.run.memory.first(&mut held.indices, from.elements())?;
        unpool.read_into(&from, &plan.inputs[0], x, read_x).await?;
        unpool.read_into(&from, &plan.inputs[1], indices, read_indices).await?;
        count_from_planes(plan, tile, read_indices);
        let shape = from.shape(Layout::Nchw);
        let inputs = [TensorView::new(&shape, read_x)?.into(), TensorView::new(&shape, read_indices)?.into()];
        let y = TensorMut::new(T::DTYPE, &prepared.plan().outputs()[0].shape, cast_slice_mut(y))?.fresh();
        prepared.compute(&inputs, &mut [y])?;
        held.prepared = Some(prepared);
        Ok(())
    }

    /// Computes a tile of an unpool.
    async fn unpool_tile<T: Element, I: Index>(
        &self,
        unpool: &mut UnpoolRun<'_>,
        (tile, stay): (&Region, bool),
        (x, indices): (&mut impl AsyncStreamSource<T>, &mut impl AsyncStreamSource<I>),
        y: &mut [T],
    ) -> Result<(), ExecuteError> {
        y.fill(T::zeroed());
        for from in unpool.sources(tile, stay) {
            self.unless_stopped()?;
            // The last source that names an element wins.
            unpool.visit((tile, &from), (&mut *x, &mut *indices), |value, place| y[place] = value).await?;
        }
        activate_all(unpool.plan.activation, y);
        Ok(())
    }
}
