//! Streaming unpools: all indices are checked first, then every tile of Y is computed from the sources whose indices
//! name its elements.

use super::gpu::Gpu;
use super::progress::{Run, StreamOptions, StreamReport};
use super::results::{ReadBack, Submitted};
use super::stream::{StreamSink, StreamSource, gather, scatter};
use crate::attributes::Activation;
use crate::element::{Element, Index, IndexType};
use crate::error::{ExecuteError, PlanError};
use crate::index::IndexSpace;
use crate::options::{Layout, OutOfBounds, OutsideWindow};
use crate::plan::{Named, Plan, UnpoolPlan};
use crate::schedule::{Limits, Schedule};
use crate::select::{Choice, select};
use crate::tensor::{Tensor, TensorView, for_each, position, zeros};
use crate::tile::{Boxes, IN_FLIGHT, Region};

/// The result of checking all indices.
struct Indices {
    /// Whether every index names an element of its own plane.
    stay: bool,
    /// The position and the value of the first bad index, and the number of bad indices.
    offender: Option<(u64, i64, u64)>,
}

/// The tile size of an unpool.
struct TileSizes {
    /// The most elements of a tile of Y. A submit takes up to twice as many sources: the tile's previous results, and
    /// as many new sources.
    elements: usize,
}

/// Sources of a tile, in order: their values, and their target positions in the tile.
struct Sources<T> {
    values: Vec<T>,
    targets: Vec<i32>,
}

/// A tile on the device.
struct Flight<T> {
    region: Region,
    device_bytes: u64,
    y_bytes: u64,
    submitted: Submitted,
    y: ReadBack<T>,
}

/// An unpool's run.
struct UnpoolRun<'a> {
    run: Run<'a>,
    plan: &'a UnpoolPlan,
}

impl TileSizes {
    /// The largest tiles that fit.
    fn new(plan: &UnpoolPlan, limits: &Limits, budget_bytes: u64) -> Result<TileSizes, PlanError> {
        let fits = |elements: usize| {
            let needed = TileSizes { elements }.peak(plan, limits)?;
            let exceeds =
                PlanError::ExceedsLimit { what: "bytes of tiles (budget_bytes)", needed, limit: budget_bytes };
            if needed > budget_bytes { Err(exceeds) } else { Ok(()) }
        };
        fits(1)?;
        let all = crate::tensor::count(plan.output_shape()).max(crate::tensor::count(plan.input_shape())).min(1 << 30);
        let (mut fitting, mut beyond) = (1, all as usize + 1);
        while beyond - fitting > 1 {
            let middle = fitting + (beyond - fitting) / 2;
            if fits(middle).is_ok() {
                fitting = middle;
            } else {
                beyond = middle;
            }
        }
        Ok(TileSizes { elements: fitting })
    }

    /// The peak memory of the run.
    fn peak(&self, plan: &UnpoolPlan, limits: &Limits) -> Result<u64, PlanError> {
        let (elements, value) = (self.elements as u64, plan.dtype().bytes() as u64);
        let schedule =
            select(&scattering(plan, 2 * self.elements, self.elements, false).into(), limits, &Choice::default())?;
        // The sources found so far, the sources being read, and the results, which may become sources of the next step.
        let host = 2 * elements * (value + 4) + elements * (value + plan.index_type.bytes() as u64) + elements * value;
        Ok(host + IN_FLIGHT * device_bytes(&schedule))
    }
}

/// The device memory of a scattering, staging included.
fn device_bytes(schedule: &Schedule) -> u64 {
    let bytes = |bytes: Option<u64>| bytes.unwrap_or(0);
    let (y, status) = (bytes(schedule.y_bytes()), bytes(schedule.status_bytes()));
    let uploaded = bytes(schedule.x_bytes()) + bytes(schedule.indices_bytes()) + schedule.constants_bytes();
    2 * uploaded + y + y.next_multiple_of(8) + 2 * status + schedule.scratch_bytes()
}

/// The plan that scatters `sources` sources into `places` elements.
fn scattering(plan: &UnpoolPlan, sources: usize, places: usize, last: bool) -> UnpoolPlan {
    let mut scattering = UnpoolPlan {
        batch: 1,
        channels: 1,
        x_extents: vec![sources],
        y_extents: vec![places],
        index_type: IndexType::I32,
        space: IndexSpace::new(1, 1, [places]),
        windows: None,
        skip_minus_one: false,
        out_of_bounds: OutOfBounds::Skip,
        outside_window: OutsideWindow::Scatter,
        activation: if last { plan.activation } else { Activation::Identity },
        ..plan.clone()
    };
    scattering.derive_tensors(plan.dtype(), Layout::Nchw);
    scattering
}

/// Visits the sources of a box in (n, c, spatial) order, with value, index and coordinates.
fn visit<T: Copy, I: Index>(
    plan: &UnpoolPlan,
    region: &Region,
    x: &[T],
    indices: &[I],
    mut each: impl FnMut(Option<T>, i64, usize, usize, &[usize]),
) {
    let extents: Vec<usize> = region.spatial.iter().map(ExactSizeIterator::len).collect();
    let channels = region.channels.len();
    let mut at = vec![0; extents.len()];
    for n in 0..region.batch.len() {
        for c in 0..channels {
            for_each(&extents, |inside| {
                let value = x.get(position(plan.layout(), channels, &extents, n, c, inside)).copied();
                let index = indices[position(plan.space.layout, channels, &extents, n, c, inside)].to_i64();
                for ((at, inside), range) in at.iter_mut().zip(inside).zip(&region.spatial) {
                    *at = range.start + inside;
                }
                each(value, index, region.batch.start + n, region.channels.start + c, &at);
            });
        }
    }
}

impl UnpoolRun<'_> {
    /// Reads and checks all indices, so that a run with bad ones writes nothing.
    fn look<I: Index>(
        &mut self,
        sizes: &TileSizes,
        indices: &mut impl StreamSource<I>,
    ) -> Result<Indices, ExecuteError> {
        let plan = self.plan;
        let mut found = Indices { stay: true, offender: None };
        let mut target = vec![0; plan.x_extents.len()];
        for region in
            Boxes::new(plan.batch, plan.channels, &plan.x_extents, plan.space.layout, sizes.elements as u64).iter()
        {
            let read: Vec<I> = self.read(&region, &plan.inputs[1].shape, plan.inputs[1].layout, indices)?;
            visit(plan, &region, &[] as &[u8], &read, |_, index, n, c, at| {
                match plan.named(index, n, c, at, &mut target) {
                    Named::Element(to_n, to_c) => found.stay &= (to_n, to_c) == (n, c),
                    Named::Nothing => {}
                    Named::OutOfRange | Named::Outside => {
                        let here = position(plan.space.layout, plan.channels, &plan.x_extents, n, c, at) as u64;
                        let (first, value, count) = found.offender.unwrap_or((u64::MAX, 0, 0));
                        let (first, value) = if here < first { (here, index) } else { (first, value) };
                        found.offender = Some((first, value, count + 1));
                    }
                }
            });
            self.run.memory.host(0, size_of_val(read.as_slice()) as u64);
            self.run.tell()?;
        }
        Ok(found)
    }

    /// Reads a box of a source; its bytes count towards the budget.
    fn read<T: Element>(
        &mut self,
        region: &Region,
        shape: &[usize],
        layout: Layout,
        source: &mut impl StreamSource<T>,
    ) -> Result<Vec<T>, ExecuteError> {
        let bytes = region.elements() * size_of::<T>() as u64;
        self.run.memory.host(bytes, 0);
        self.run.progress.bytes_read += bytes;
        gather(region, shape, layout, source)
    }

    /// Submits the sources found for a tile.
    async fn launch<T: Element>(
        &mut self,
        region: &Region,
        sources: &mut Sources<T>,
        last: bool,
    ) -> Result<Flight<T>, ExecuteError> {
        let scattering = scattering(self.plan, sources.values.len(), region.elements() as usize, last);
        let shape = scattering.inputs[0].shape.clone();
        let prepared = self.run.gpu.prepare_chosen(Plan::Unpool(scattering), &Choice::default()).await?;
        let device_bytes = device_bytes(prepared.schedule());
        self.run.memory.device(device_bytes, 0);
        let mut chain = self.run.gpu.chain().on_its_own();
        let x = chain.upload(TensorView::new(&shape, &sources.values)?, Layout::Nchw)?;
        let indices = chain.upload(TensorView::new(&shape, &sources.targets)?, Layout::Nchw)?;
        self.run.memory.report.bytes_uploaded += x.bytes() + indices.bytes();
        let y = chain.max_unpool(&prepared, &x, &indices)?;
        let y_bytes = region.elements() * size_of::<T>() as u64;
        let y = chain.read_back(&y)?;
        let submitted = chain.submit()?;
        sources.values.clear();
        sources.targets.clear();
        Ok(Flight { region: region.clone(), device_bytes, y_bytes, submitted, y })
    }

    /// Waits for a tile. Its results count towards the budget.
    async fn land<T: Element>(&mut self, flight: Flight<T>) -> Result<(Region, Tensor<T>), ExecuteError> {
        let results = flight.submitted.finished().await?;
        self.run.memory.host(flight.y_bytes, 0);
        self.run.memory.report.bytes_downloaded += results.bytes_read_back();
        let y = results.take(flight.y)?;
        drop(results);
        self.run.memory.device(0, flight.device_bytes);
        Ok((flight.region, y))
    }

    async fn finish<T: Element>(
        &mut self,
        flight: Option<Flight<T>>,
        sink: &mut impl StreamSink<T>,
    ) -> Result<(), ExecuteError> {
        let Some(flight) = flight else { return Ok(()) };
        let y_bytes = flight.y_bytes;
        let (region, y) = self.land(flight).await?;
        let place = (self.plan.output_shape(), self.plan.layout());
        self.run.progress.bytes_written += scatter("sink", &region, place, y.data(), sink)?;
        self.run.memory.host(0, y_bytes);
        self.run.progress.done += 1;
        self.run.memory.report.tiles += 1;
        self.run.tell()
    }

    /// Gathers the sources whose indices name elements of a tile and submits them, in several steps if they are many.
    /// Returns with the last step still on the device.
    async fn tile<T: Element, I: Index>(
        &mut self,
        region: &Region,
        (sizes, stay): (&TileSizes, bool),
        (x, indices): (&mut impl StreamSource<T>, &mut impl StreamSource<I>),
        (before, sink): (&mut Option<Flight<T>>, &mut impl StreamSink<T>),
    ) -> Result<Flight<T>, ExecuteError> {
        let plan = self.plan;
        let capacity = sizes.elements.saturating_mul(2);
        let held = (capacity as u64).saturating_mul(size_of::<T>() as u64 + 4);
        self.run.memory.host(held, 0);
        let mut sources = Sources { values: zeros(&[capacity])?, targets: zeros(&[capacity])? };
        sources.values.clear();
        sources.targets.clear();
        // Where indices stay in their planes, the sources of other planes are not read, and planes may be visited in
        // any order.
        let (batch, channels) =
            if stay { (region.batch.clone(), region.channels.clone()) } else { (0..plan.batch, 0..plan.channels) };
        let order = if stay { plan.layout() } else { Layout::Nchw };
        let extents: Vec<usize> = region.spatial.iter().map(ExactSizeIterator::len).collect();
        for mut from in Boxes::new(batch.len(), channels.len(), &plan.x_extents, order, sizes.elements as u64).iter() {
            from.batch = from.batch.start + batch.start..from.batch.end + batch.start;
            from.channels = from.channels.start + channels.start..from.channels.end + channels.start;
            if sources.values.len() as u64 + from.elements() > capacity as u64 {
                // The tile's previous results become the first sources of the next step.
                self.finish(before.take(), sink).await?;
                let flight = self.launch(region, &mut sources, false).await?;
                let y_bytes = flight.y_bytes;
                let (_, so_far) = self.land(flight).await?;
                sources.values.extend_from_slice(so_far.data());
                sources.targets.extend(0..so_far.data().len() as i32);
                drop(so_far);
                self.run.memory.host(0, y_bytes);
            }
            let read_x: Vec<T> = self.read(&from, plan.input_shape(), plan.layout(), x)?;
            let read_indices: Vec<I> = self.read(&from, &plan.inputs[1].shape, plan.inputs[1].layout, indices)?;
            let mut target = vec![0; plan.x_extents.len()];
            visit(plan, &from, &read_x, &read_indices, |value, index, n, c, at| {
                let Named::Element(n, c) = plan.named(index, n, c, at, &mut target) else { return };
                let inside = region.batch.contains(&n)
                    && region.channels.contains(&c)
                    && target.iter().zip(&region.spatial).all(|(at, range)| range.contains(at));
                if let (true, Some(value)) = (inside, value) {
                    let at: Vec<usize> =
                        target.iter().zip(&region.spatial).map(|(at, range)| at - range.start).collect();
                    let (n, c) = (n - region.batch.start, c - region.channels.start);
                    sources.values.push(value);
                    sources.targets.push(position(plan.layout(), region.channels.len(), &extents, n, c, &at) as i32);
                }
            });
            let read = size_of_val(read_x.as_slice()) + size_of_val(read_indices.as_slice());
            self.run.memory.host(0, read as u64);
        }
        let flight = self.launch(region, &mut sources, true).await?;
        self.run.memory.host(0, held);
        Ok(flight)
    }
}

impl Gpu {
    /// Reads values from `x` and indices from `indices`, and writes to `sink` the tensor with the values at the
    /// positions that the indices name, zeros elsewhere. None of the three has to be in memory. All indices are read
    /// and checked before anything is written, and read again with the values. Where every index stays in its own
    /// plane, as a pool's indices do, the values and indices of a plane are read once for each tile that holds a part
    /// of the plane; otherwise all values and indices are read once for every tile of Y.
    ///
    /// # Errors
    /// [`ExecuteError::IndexOutOfRange`] or [`ExecuteError::IndexOutsideWindow`] for bad indices, unless the plan skips them; otherwise as
    /// [`Gpu::stream_max_pool`].
    ///
    /// ```no_run
    /// # async fn f(gpu: wgpu_pooling::Gpu) -> Result<(), wgpu_pooling::ExecuteError> {
    /// use wgpu_pooling::{DType, IndexType, MaxUnpool, StreamOptions};
    /// let plan = MaxUnpool::new([2]).plan(&[1, 1, 2], DType::F32, IndexType::I64)?;
    /// let (mut x, mut indices, mut y) = (&[3.0f32, 2.0][..], &[0i64, 2][..], vec![0.0; 3]);
    /// gpu.stream_max_unpool(&plan, &mut x, &mut indices, &mut y, StreamOptions::new(64 << 20)).await?;
    /// assert_eq!(y, [3.0, 0.0, 2.0]);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn stream_max_unpool<T: Element, I: Index>(
        &self,
        plan: &UnpoolPlan,
        x: &mut impl StreamSource<T>,
        indices: &mut impl StreamSource<I>,
        sink: &mut impl StreamSink<T>,
        options: StreamOptions<'_>,
    ) -> Result<StreamReport, ExecuteError> {
        plan.inputs[0].check_dtype("x", T::DTYPE)?;
        plan.inputs[1].check_dtype("indices", I::DTYPE)?;
        self.inner.device.check_alive()?;
        let sizes = TileSizes::new(plan, &self.inner.device.limits, options.budget_bytes)?;
        let tiles = Boxes::new(plan.batch, plan.channels, &plan.y_extents, plan.layout(), sizes.elements as u64);
        let mut unpool = UnpoolRun { run: Run::new(self, tiles.len(), options), plan };
        unpool.run.tell()?;
        let found = unpool.look(&sizes, indices)?;
        if let Some((position, value, count)) = found.offender.filter(|_| plan.refuses_bad_indices()) {
            return Err(plan.offence(position, value, count));
        }
        let mut before = None;
        for region in tiles.iter() {
            let flight = unpool.tile(&region, (&sizes, found.stay), (x, indices), (&mut before, sink)).await?;
            unpool.finish(before.replace(flight), sink).await?;
        }
        unpool.finish(before, sink).await?;
        Ok(unpool.run.memory.report)
    }

    /// A one-shot call whose tensors exceed the device's limits.
    pub(super) async fn max_unpool_in_tiles<T: Element, I: Index>(
        &self,
        plan: &UnpoolPlan,
        mut x: TensorView<'_, T>,
        mut indices: TensorView<'_, I>,
    ) -> Result<Tensor<T>, ExecuteError> {
        plan.inputs[1].check_shape("indices", indices.shape())?;
        let mut y: Vec<T> = zeros(plan.output_shape())?;
        self.stream_max_unpool(plan, &mut x, &mut indices, &mut y, self.own_budget()).await?;
        Ok(Tensor::from_parts(plan.output_shape().to_vec(), y))
    }

    /// The blocking twin of [`Gpu::stream_max_unpool`].
    ///
    /// # Errors
    /// As [`Gpu::stream_max_unpool`].
    ///
    /// ```no_run
    /// # use wgpu_pooling::{ExecuteError, Gpu, StreamOptions, UnpoolPlan};
    /// # fn f(gpu: Gpu, plan: UnpoolPlan, x: Vec<f32>, indices: Vec<i64>, mut y: Vec<f32>) -> Result<(), ExecuteError> {
    /// gpu.stream_max_unpool_blocking(&plan, &mut &x[..], &mut &indices[..], &mut y, StreamOptions::new(64 << 20))?;
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(not(target_arch = "wasm32"))]
    pub fn stream_max_unpool_blocking<T: Element, I: Index>(
        &self,
        plan: &UnpoolPlan,
        x: &mut impl StreamSource<T>,
        indices: &mut impl StreamSource<I>,
        sink: &mut impl StreamSink<T>,
        options: StreamOptions<'_>,
    ) -> Result<StreamReport, ExecuteError> {
        pollster::block_on(self.polling().stream_max_unpool(plan, x, indices, sink, options))
    }
}
