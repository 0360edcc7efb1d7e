//! Streaming unpools: all indices are checked first, then every tile of Y is computed from the sources whose indices
//! name its elements.

use wgpu_pooling_plan::internal::{UnpoolRun, largest_box, zeros};
use wgpu_pooling_plan::{
    Activation, AsyncStreamSink, AsyncStreamSource, Element, ExecuteError, Index, IndexSpace, IndexType, Layout,
    OutOfBounds, OutsideWindow, Plan, PlanError, Region, StreamOptions, StreamReport, Tensor, TensorView, UnpoolPlan,
};

use super::gpu::Gpu;
use super::results::{ReadBack, Submitted};
use crate::gpu::prepared::preparation::Scratch;
use crate::schedule::{Limits, Schedule};
use crate::select::{Choice, select};
use crate::tiles::IN_FLIGHT;
#[cfg(not(target_arch = "wasm32"))]
use wgpu_pooling_plan::{StreamSink, StreamSource};

/// Tiles have at most so many elements: positions in a tile have 32 bits.
const MOST: u64 = 1 << 30;

/// The peak memory of a run with tiles of at most so many elements. A submit takes up to twice as many sources: the
/// tile's previous results, and as many new sources.
fn peak(plan: &UnpoolPlan, limits: &Limits, elements: usize) -> Result<u64, PlanError> {
    let schedule = select(&scattering(plan, 2 * elements, elements, false).into(), limits, &Choice::default())?;
    let (elements, value) = (elements as u64, plan.dtype().bytes() as u64);
    // The sources found so far, the sources being read, and the results, which may become sources of the next step.
    let host = 2 * elements * (value + 4) + elements * (value + plan.index_type.bytes() as u64) + elements * value;
    Ok(host + IN_FLIGHT * device_bytes(&schedule))
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

/// An unpool's run on a GPU.
struct UnpoolFlights<'a> {
    gpu: &'a Gpu,
    unpool: UnpoolRun<'a>,
    /// The most elements of a tile.
    most: usize,
}

/// The device memory of a scattering, staging included.
fn device_bytes(schedule: &Schedule) -> u64 {
    let bytes = |bytes: Option<u64>| bytes.unwrap_or(0);
    let (y, report) = (bytes(schedule.y_bytes()), bytes(schedule.report_bytes()));
    let uploaded = bytes(schedule.x_bytes()) + bytes(schedule.indices_bytes()) + schedule.constants_bytes();
    2 * uploaded + y + y.next_multiple_of(8) + 2 * report + schedule.scratch_bytes()
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

impl UnpoolFlights<'_> {
    /// Submits the sources found for a tile.
    async fn launch<T: Element>(
        &mut self,
        region: &Region,
        sources: &mut Sources<T>,
        last: bool,
    ) -> Result<Flight<T>, ExecuteError> {
        let scattering = scattering(self.unpool.plan, sources.values.len(), region.elements() as usize, last);
        let shape = scattering.inputs[0].shape.clone();
        let prepared = self.gpu.prepare_chosen(Plan::Unpool(scattering), &Choice::default(), Scratch::Own).await?;
        let device_bytes = device_bytes(prepared.schedule());
        let memory = &mut self.unpool.run.memory;
        memory.device(device_bytes, 0);
        let mut chain = self.gpu.chain().on_its_own();
        let x = chain.upload(TensorView::new(&shape, &sources.values)?, Layout::Nchw)?;
        let indices = chain.upload(TensorView::new(&shape, &sources.targets)?, Layout::Nchw)?;
        memory.report.bytes_uploaded += x.bytes() + indices.bytes();
        let [y] = chain.step(&prepared, &[&x, &indices])?;
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
        let memory = &mut self.unpool.run.memory;
        memory.host(flight.y_bytes, 0);
        memory.report.bytes_downloaded += results.bytes_read_back();
        let y = results.take(flight.y)?;
        drop(results);
        memory.device(0, flight.device_bytes);
        Ok((flight.region, y))
    }

    async fn finish<T: Element>(
        &mut self,
        flight: Option<Flight<T>>,
        sink: &mut impl AsyncStreamSink<T>,
    ) -> Result<(), ExecuteError> {
        let Some(flight) = flight else { return Ok(()) };
        let y_bytes = flight.y_bytes;
        let (region, y) = self.land(flight).await?;
        self.unpool.write(&region, y.data(), sink).await?;
        self.unpool.run.memory.host(0, y_bytes);
        self.unpool.run.tell()
    }

    /// Gathers the sources whose indices name elements of a tile and submits them, in several steps if they are many.
    /// Returns with the last step still on the device.
    async fn tile<T: Element, I: Index>(
        &mut self,
        (region, stay): (&Region, bool),
        (x, indices): (&mut impl AsyncStreamSource<T>, &mut impl AsyncStreamSource<I>),
        (before, sink): (&mut Option<Flight<T>>, &mut impl AsyncStreamSink<T>),
    ) -> Result<Flight<T>, ExecuteError> {
        let capacity = self.most.saturating_mul(2);
        let held = (capacity as u64).saturating_mul(size_of::<T>() as u64 + 4);
        self.unpool.run.memory.host(held, 0);
        let mut sources = Sources { values: zeros(&[capacity])?, targets: zeros(&[capacity])? };
        sources.values.clear();
        sources.targets.clear();
        for from in self.unpool.sources(region, stay) {
            if sources.values.len() as u64 + from.elements() > capacity as u64 {
                // The tile's previous results become the first sources of the next step.
                self.finish(before.take(), sink).await?;
                let flight = self.launch(region, &mut sources, false).await?;
                let y_bytes = flight.y_bytes;
                let (_, so_far) = self.land(flight).await?;
                sources.values.extend_from_slice(so_far.data());
                sources.targets.extend(0..so_far.data().len() as i32);
                drop(so_far);
                self.unpool.run.memory.host(0, y_bytes);
            }
            let found = |value, place| {
                sources.values.push(value);
                sources.targets.push(place as i32);
            };
            self.unpool.visit((region, &from), (&mut *x, &mut *indices), found).await?;
        }
        let flight = self.launch(region, &mut sources, true).await?;
        self.unpool.run.memory.host(0, held);
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
    /// [`ExecuteError::IndexOutOfRange`] or [`ExecuteError::IndexOutsideWindow`] for bad indices, unless the plan skips
    /// them; otherwise as [`Gpu::stream_max_pool`].
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
        x: &mut impl AsyncStreamSource<T>,
        indices: &mut impl AsyncStreamSource<I>,
        sink: &mut impl AsyncStreamSink<T>,
        options: StreamOptions<'_>,
    ) -> Result<StreamReport, ExecuteError> {
        plan.inputs[0].check_dtype("x", T::DTYPE)?;
        plan.inputs[1].check_dtype("indices", I::DTYPE)?;
        self.inner.device.check_alive()?;
        let limits = &self.inner.device.limits;
        let most = largest_box(plan, MOST, options.budget_bytes, |elements| peak(plan, limits, elements))?;
        let mut flights = UnpoolFlights { gpu: self, unpool: UnpoolRun::new(plan, (most, most), options), most };
        flights.unpool.run.tell()?;
        let stay = flights.unpool.look(indices, || Ok(())).await?;
        let mut before = None;
        for number in 0..flights.unpool.tiles.len() {
            let region = flights.unpool.tiles.region(number);
            let flight = flights.tile((&region, stay), (&mut *x, &mut *indices), (&mut before, &mut *sink)).await?;
            flights.finish(before.replace(flight), sink).await?;
        }
        flights.finish(before, sink).await?;
        Ok(flights.unpool.run.memory.report)
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
    /// # fn f(gpu: Gpu, plan: UnpoolPlan, x: Vec<f32>, indices: Vec<i64>) -> Result<(), ExecuteError> {
    /// # let mut y = vec![0.0; 64];
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
