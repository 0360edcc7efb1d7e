//! Streaming unpools: all indices are checked first, then every tile of Y is computed from the sources whose indices
//! name its elements.

use bytemuck::cast_slice_mut;

use super::ends::{Ends, read_box, write_box};
use super::flights::Flights;
use super::progress::{Buffer, Callback, Running, StreamReport, warn_of_reads};
use crate::backend::Backend;
use crate::bad_indices::{BadIndices, stay_in_plane};
use crate::element::{Index, IndexType};
use crate::error::{ExecuteError, PlanError};
use crate::index::IndexSpace;
use crate::indices::Indices;
use crate::options::{IndexFlattening, Layout, OutOfBounds, OutsideWindow};
use crate::plan::{IndexTarget, Plan, UnpoolPlan};
use crate::tensor::{count, for_each_element, position};
use crate::tile::{Boxes, Region, largest};
use crate::with_element;

/// The most sources that are read at a time where the host puts values in place: between two boxes the caller may stop.
const MOST_SOURCES: u64 = 1 << 18;

/// The sizes of a run's boxes.
struct BoxSizes {
    /// The most elements of a tile of Y.
    y: u64,
    /// The most sources that the host reads at a time.
    sources: u64,
    /// Whether tiles are whole planes, and the budget holds them with all their sources on the backend.
    planes: bool,
}

impl BoxSizes {
    /// The largest boxes that fit.
    fn new(plan: &UnpoolPlan, backend: &dyn Backend, budget_bytes: u64) -> Result<BoxSizes, PlanError> {
        let what = "bytes of tiles (budget_bytes)";
        let on_host = |of_y: u64| PlanError::within(what, host_bytes(plan, of_y, of_y.min(MOST_SOURCES)), budget_bytes);
        on_host(1)?;
        let most = count(plan.output_shape()).max(count(plan.input_shape()));
        let y = largest(most.saturating_add(1), |of_y| on_host(of_y).is_ok());
        let sources = y.min(MOST_SOURCES);
        let of_plane = count(&plan.y_extents);
        // Tiles of whole planes must fit the host too: it computes them if indices, not read yet, leave their planes.
        let most = y.checked_div(of_plane).unwrap_or(0).min(count(&[plan.batch, plan.channels]));
        let planes_fit = |planes: u64| {
            let tile = y_tiles(plan, planes.saturating_mul(of_plane)).region(0);
            let needed = backend.stream_bytes(&Plan::Unpool(of_planes(plan, &tile)));
            needed.is_ok_and(|needed| needed <= budget_bytes)
        };
        let in_order = plan.layout() == Layout::Nchw && plan.space.layout == Layout::Nchw;
        if !in_order || most == 0 || !planes_fit(1) {
            return Ok(BoxSizes { y, sources, planes: false });
        }
        Ok(BoxSizes { y: largest(most.saturating_add(1), planes_fit).saturating_mul(of_plane), sources, planes: true })
    }
}

/// How often a run reads X, at most, if indices stay in their planes.
pub(super) fn reads(plan: &UnpoolPlan, backend: &dyn Backend, budget_bytes: u64) -> Result<f64, PlanError> {
    Ok(reads_by(plan, &y_tiles(plan, BoxSizes::new(plan, backend, budget_bytes)?.y), true))
}

/// How often a run by these tiles reads X, at most: once for each tile, or for each tile of a plane.
fn reads_by(plan: &UnpoolPlan, tiles: &Boxes, stay: bool) -> f64 {
    let planes = if stay { count(&[plan.batch, plan.channels]).max(1) } else { 1 };
    tiles.len().div_ceil(planes) as f64
}

/// The memory of a tile of Y and of a box of values and indices.
fn host_bytes(plan: &UnpoolPlan, of_y: u64, sources: u64) -> u64 {
    let (value, index) = (plan.dtype().bytes() as u64, plan.index_type.bytes() as u64);
    of_y.saturating_mul(value).saturating_add(sources.saturating_mul(value.saturating_add(index)))
}

/// The tiles of Y with at most so many elements.
fn y_tiles(plan: &UnpoolPlan, most: u64) -> Boxes {
    Boxes::new(plan.batch, plan.channels, &plan.y_extents, plan.layout(), most)
}

/// The plan of some planes, whose indices were checked, stay in their planes, and count from their plane's first
/// element. Indices that name nothing are -1.
fn of_planes(plan: &UnpoolPlan, tile: &Region) -> UnpoolPlan {
    let (batch, channels) = (tile.batch.len(), tile.channels.len());
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

/// An unpool's stream while it runs.
struct UnpoolStream<'s, 'p> {
    ends: Ends<'s>,
    running: Running<'s>,
    plan: &'p UnpoolPlan,
    backend: &'p dyn Backend,
    tiles: Boxes,
    /// The most sources that the host reads at a time, and where it reads their values and indices.
    most_sources: u64,
    x: Buffer,
    indices: Buffer,
}

pub(super) async fn run<'s>(
    plan: &UnpoolPlan,
    ends: Ends<'s>,
    backend: &dyn Backend,
    (budget_bytes, progress): (u64, Option<Callback<'s>>),
) -> Result<StreamReport, ExecuteError> {
    let sizes = BoxSizes::new(plan, backend, budget_bytes)?;
    let tiles = y_tiles(plan, sizes.y);
    let running = Running::new(tiles.len(), progress);
    let (x, indices) = (Buffer::default(), Buffer::default());
    let mut unpool = UnpoolStream { ends, running, plan, backend, tiles, most_sources: sizes.sources, x, indices };
    unpool.running.tell()?;
    let stay = unpool.check_indices().await?;
    let reads = reads_by(plan, &unpool.tiles, stay);
    warn_of_reads("max_unpool", budget_bytes, unpool.tiles.len(), reads);
    if stay && sizes.planes {
        unpool.running.free(&mut unpool.indices);
        unpool.compute_planes().await?;
    } else {
        unpool.put_in_place(stay).await?;
    }
    Ok(unpool.running.report)
}

impl UnpoolStream<'_, '_> {
    /// Reads and checks all indices, so that a run with bad ones writes nothing. Returns whether every index names an
    /// element of its own plane.
    async fn check_indices(&mut self) -> Result<bool, ExecuteError> {
        let plan = self.plan;
        let (mut stay, mut bad) = (true, BadIndices::default());
        let mut target = vec![0; plan.x_extents.len()];
        let boxes = Boxes::new(plan.batch, plan.channels, &plan.x_extents, plan.space.layout, self.most_sources);
        for region in boxes.iter() {
            self.backend.check_alive()?;
            self.read_indices(&region).await?;
            let indices = Indices::new(self.indices.bytes(), plan.index_type);
            if !all_stay(plan, &region, indices) {
                visit(plan, &region, indices, |_, index, n, c, at| {
                    match plan.index_target(index, n, c, at, &mut target) {
                        IndexTarget::Element(to_n, to_c) => stay &= (to_n, to_c) == (n, c),
                        IndexTarget::Nothing => {}
                        IndexTarget::OutOfRange | IndexTarget::Outside => {
                            bad.add(position(plan.space.layout, plan.channels, &plan.x_extents, n, c, at), index);
                        }
                    }
                });
            }
            self.running.tell()?;
        }
        match bad.found().filter(|_| plan.refuses_bad_indices()) {
            Some((position, value, count)) => Err(plan.bad_index_error(position, value, count)),
            None => Ok(stay),
        }
    }

    /// Has the backend compute whole planes; all indices stay in their planes.
    async fn compute_planes(&mut self) -> Result<(), ExecuteError> {
        let plan = self.plan;
        let (mut flights, spatial) = (Flights::new(self.backend), plan.x_extents.iter().map(|&extent| 0..extent));
        let spatial: Vec<_> = spatial.collect();
        for number in 0..self.tiles.len() {
            self.backend.check_alive()?;
            let tile = self.tiles.region(number);
            let planes = Plan::Unpool(of_planes(plan, &tile));
            let (run, mut tensors) = flights.prepare(&planes, &mut self.running).await?;
            let from = Region { batch: tile.batch.clone(), channels: tile.channels.clone(), spatial: spatial.clone() };
            for (buffer, input) in tensors.inputs.iter_mut().zip(0..) {
                let (spec, what) = (&plan.inputs[input], ["x", "indices"][input]);
                read_box(what, &from, spec, self.ends.sources[input], buffer.bytes_mut()).await?;
                self.running.progress.bytes_read += buffer.bytes().len() as u64;
            }
            let indices = tensors.inputs[1].bytes_mut();
            match plan.index_type {
                IndexType::I32 => count_from_planes::<i32>(plan, &tile, cast_slice_mut(indices)),
                IndexType::I64 => count_from_planes::<i64>(plan, &tile, cast_slice_mut(indices)),
            }
            flights.launch(tile, run, tensors, &mut self.running).await;
            self.land(&mut flights, false).await?;
        }
        self.land(&mut flights, true).await
    }

    /// Writes the tiles that are computed, or all of them.
    async fn land(&mut self, flights: &mut Flights<'_, Region>, all: bool) -> Result<(), ExecuteError> {
        while let Some((tile, tensors)) = flights.landed(all, &mut self.running).await? {
            self.write(&tile, tensors.outputs[0].bytes()).await?;
            flights.reuse(tensors);
        }
        Ok(())
    }

    /// Computes every tile on the host, from the sources whose indices name its elements.
    async fn put_in_place(&mut self, stay: bool) -> Result<(), ExecuteError> {
        let (plan, size) = (self.plan, self.plan.dtype().bytes());
        let mut y = Buffer::default();
        for number in 0..self.tiles.len() {
            let tile = self.tiles.region(number);
            self.running.resize(&mut y, tile.elements().saturating_mul(size as u64))?;
            y.bytes_mut().fill(0);
            for from in self.sources(&tile, stay) {
                self.backend.check_alive()?;
                self.read_indices(&from).await?;
                self.running.resize(&mut self.x, from.elements().saturating_mul(size as u64))?;
                read_box("x", &from, &plan.inputs[0], self.ends.sources[0], self.x.bytes_mut()).await?;
                self.running.progress.bytes_read += self.x.bytes().len() as u64;
                let (x, y) = (self.x.bytes(), y.bytes_mut());
                // The last source that names an element wins.
                targets(plan, &tile, (&from, Indices::new(self.indices.bytes(), plan.index_type)), |source, place| {
                    y[place * size..][..size].copy_from_slice(&x[source * size..][..size]);
                });
            }
            with_element!(plan.dtype(), T => plan.activation.apply_all::<T>(cast_slice_mut(y.bytes_mut())));
            self.write(&tile, y.bytes()).await?;
        }
        Ok(())
    }

    /// The boxes of sources to look at for a tile, in the order that decides between sources of one element.
    ///
    /// Where indices stay in their planes, the sources of other planes are not read, and planes may be visited in any
    /// order.
    fn sources(&self, tile: &Region, stay: bool) -> impl Iterator<Item = Region> + use<> {
        let plan = self.plan;
        let (batch, channels) =
            if stay { (tile.batch.clone(), tile.channels.clone()) } else { (0..plan.batch, 0..plan.channels) };
        let order = if stay { plan.layout() } else { Layout::Nchw };
        let boxes = Boxes::new(batch.len(), channels.len(), &plan.x_extents, order, self.most_sources);
        (0..boxes.len()).map(move |number| {
            let mut from = boxes.region(number);
            from.batch = from.batch.start + batch.start..from.batch.end + batch.start;
            from.channels = from.channels.start + channels.start..from.channels.end + channels.start;
            from
        })
    }

    async fn read_indices(&mut self, region: &Region) -> Result<(), ExecuteError> {
        let bytes = region.elements().saturating_mul(self.plan.index_type.bytes() as u64);
        self.running.resize(&mut self.indices, bytes)?;
        read_box("indices", region, &self.plan.inputs[1], self.ends.sources[1], self.indices.bytes_mut()).await?;
        self.running.progress.bytes_read += bytes;
        Ok(())
    }

    /// Writes a tile to its place in the sink.
    async fn write(&mut self, tile: &Region, y: &[u8]) -> Result<(), ExecuteError> {
        write_box("y", tile, &self.plan.outputs[0], y, self.ends.sinks[0]).await?;
        self.running.progress.bytes_written += y.len() as u64;
        self.running.tile_done()
    }
}

/// Whether all indices of a box name elements of their own planes. False if a comparison of each cannot show it.
fn all_stay(plan: &UnpoolPlan, region: &Region, indices: Indices<'_>) -> bool {
    if plan.outside_window != OutsideWindow::Scatter || plan.space.layout != Layout::Nchw {
        return false;
    }
    match indices {
        Indices::I32(indices) => all_in_their_planes(plan, region, indices),
        Indices::I64(indices) => all_in_their_planes(plan, region, indices),
    }
}

fn all_in_their_planes<I: Index>(plan: &UnpoolPlan, region: &Region, indices: &[I]) -> bool {
    let (strides, elements) = (plan.space.strides(), count(&plan.space.extents));
    let of_a_plane: usize = region.spatial.iter().map(ExactSizeIterator::len).product();
    let planes = region.batch.clone().flat_map(|n| region.channels.clone().map(move |c| (n, c)));
    planes
        .zip(indices.chunks(of_a_plane.max(1)))
        .all(|((n, c), indices)| stay_in_plane(indices, strides.flat(n, c, &[]), elements, plan.skip_minus_one))
}

/// Visits the sources of a box in (n, c, spatial) order: the place of the value in the box, the index, and the
/// coordinates in the tensor.
fn visit(
    plan: &UnpoolPlan,
    region: &Region,
    indices: Indices<'_>,
    mut each: impl FnMut(usize, i64, usize, usize, &[usize]),
) {
    let extents: Vec<usize> = region.spatial.iter().map(ExactSizeIterator::len).collect();
    let channels = region.channels.len();
    let mut at = vec![0; extents.len()];
    for_each_element(region.batch.len(), channels, &extents, &mut |n, c, inside| {
        let value = position(plan.layout(), channels, &extents, n, c, inside);
        let index = indices.get(position(plan.space.layout, channels, &extents, n, c, inside));
        for ((at, inside), range) in at.iter_mut().zip(inside).zip(&region.spatial) {
            *at = range.start + inside;
        }
        each(value, index, region.batch.start + n, region.channels.start + c, &at);
    });
}

/// Visits the sources of a box whose indices name elements of a tile: the place of the value in the box, and the place
/// of the element in the tile.
fn targets(
    plan: &UnpoolPlan,
    tile: &Region,
    (from, indices): (&Region, Indices<'_>),
    mut each: impl FnMut(usize, usize),
) {
    let extents: Vec<usize> = tile.spatial.iter().map(ExactSizeIterator::len).collect();
    let (mut target, mut inside) = (vec![0; extents.len()], vec![0; extents.len()]);
    visit(plan, from, indices, |value, index, n, c, at| {
        let IndexTarget::Element(n, c) = plan.index_target(index, n, c, at, &mut target) else { return };
        let here = tile.batch.contains(&n)
            && tile.channels.contains(&c)
            && target.iter().zip(&tile.spatial).all(|(at, range)| range.contains(at));
        if here {
            for ((inside, at), range) in inside.iter_mut().zip(&target).zip(&tile.spatial) {
                *inside = at - range.start;
            }
            let (n, c) = (n - tile.batch.start, c - tile.channels.start);
            each(value, position(plan.layout(), tile.channels.len(), &extents, n, c, &inside));
        }
    });
}
