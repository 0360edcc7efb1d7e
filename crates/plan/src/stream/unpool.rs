//! Streaming unpools: all indices are checked first, then every tile of Y is computed from the sources whose indices
//! name its elements.

use super::ends::{AsyncStreamSink, AsyncStreamSource, gather, scatter};
use super::progress::{StreamOptions, StreamState};
use crate::element::{Element, Index};
use crate::error::{ExecuteError, PlanError, within};
use crate::offence::{Offence, stay_in_plane};
use crate::options::{Layout, OutsideWindow};
use crate::plan::{Named, UnpoolPlan};
use crate::tensor::{TensorSpec, count, for_each, position, zeros};
use crate::tile::{Boxes, Region};

/// An unpool's run.
pub struct UnpoolRun<'a> {
    /// How far it has come.
    pub run: StreamState<'a>,
    /// The whole unpool.
    pub plan: &'a UnpoolPlan,
    /// The boxes of Y that tiles compute.
    pub tiles: Boxes,
    /// The most elements of a box of sources.
    most_sources: usize,
}

/// The result of checking all indices.
struct Indices {
    /// Whether every index names an element of its own plane.
    stay: bool,
    /// The bad ones.
    offence: Offence,
}

/// The most elements of a box, up to `most`, with which a run fits the budget. `peak` is the memory of a run with boxes
/// of so many elements.
pub fn largest_box(
    plan: &UnpoolPlan,
    most: u64,
    budget_bytes: u64,
    peak: impl Fn(usize) -> Result<u64, PlanError>,
) -> Result<usize, PlanError> {
    let fits = |elements: usize| within("bytes of tiles (budget_bytes)", peak(elements)?, budget_bytes);
    fits(1)?;
    let all = count(plan.output_shape()).max(count(plan.input_shape())).min(most);
    let (mut fitting, mut beyond) = (1, usize::try_from(all).unwrap_or(usize::MAX).saturating_add(1));
    while beyond.saturating_sub(fitting) > 1 {
        let middle = fitting.midpoint(beyond);
        if fits(middle).is_ok() {
            fitting = middle;
        } else {
            beyond = middle;
        }
    }
    Ok(fitting)
}

impl<'a> UnpoolRun<'a> {
    /// A run before its first tile, with at most so many elements in a tile of Y and in a box of sources.
    pub fn new(
        plan: &'a UnpoolPlan,
        (most_of_y, most_sources): (usize, usize),
        options: StreamOptions<'a>,
    ) -> UnpoolRun<'a> {
        let tiles = Boxes::new(plan.batch, plan.channels, &plan.y_extents, plan.layout(), most_of_y as u64);
        UnpoolRun { run: StreamState::new(tiles.len(), options), plan, tiles, most_sources }
    }

    /// Reads and checks all indices, so that a run with bad ones writes nothing. Returns whether every index names an
    /// element of its own plane.
    pub async fn look<I: Index>(
        &mut self,
        indices: &mut impl AsyncStreamSource<I>,
        unless_stopped: impl Fn() -> Result<(), ExecuteError>,
    ) -> Result<bool, ExecuteError> {
        let plan = self.plan;
        let mut found = Indices { stay: true, offence: Offence::default() };
        let mut target = vec![0; plan.x_extents.len()];
        let most = self.most_sources as u64;
        for region in Boxes::new(plan.batch, plan.channels, &plan.x_extents, plan.space.layout, most).iter() {
            unless_stopped()?;
            let read: Vec<I> = self.read(&region, &plan.inputs[1], indices).await?;
            // Where a glance is enough, nothing is left to visit.
            let batch = if all_stay(plan, &region, &read) { 0..0 } else { region.batch.clone() };
            visit(plan, &Region { batch, ..region }, &[] as &[u8], &read, |_, index, n, c, at| {
                match plan.named(index, n, c, at, &mut target) {
                    Named::Element(to_n, to_c) => found.stay &= (to_n, to_c) == (n, c),
                    Named::Nothing => {}
                    Named::OutOfRange | Named::Outside => {
                        let here = position(plan.space.layout, plan.channels, &plan.x_extents, n, c, at);
                        found.offence.add(here, index);
                    }
                }
            });
            self.done_with(&read);
            self.run.tell()?;
        }
        match found.offence.found().filter(|_| plan.refuses_bad_indices()) {
            Some((position, value, count)) => Err(plan.offence(position, value, count)),
            None => Ok(found.stay),
        }
    }

    /// The boxes of sources to look at for a tile, in the order that decides between sources of one element.
    ///
    /// Where indices stay in their planes, the sources of other planes are not read, and planes may be visited in any
    /// order.
    pub fn sources(&self, tile: &Region, stay: bool) -> impl Iterator<Item = Region> + use<> {
        let plan = self.plan;
        let (batch, channels) =
            if stay { (tile.batch.clone(), tile.channels.clone()) } else { (0..plan.batch, 0..plan.channels) };
        let order = if stay { plan.layout() } else { Layout::Nchw };
        let boxes = Boxes::new(batch.len(), channels.len(), &plan.x_extents, order, self.most_sources as u64);
        (0..boxes.len()).map(move |number| {
            let mut from = boxes.region(number);
            from.batch = from.batch.start + batch.start..from.batch.end + batch.start;
            from.channels = from.channels.start + channels.start..from.channels.end + channels.start;
            from
        })
    }

    /// Reads a box of sources, and visits those whose indices name elements of a tile: the value, and the place in the
    /// tile.
    pub async fn visit<T: Element, I: Index>(
        &mut self,
        (tile, from): (&Region, &Region),
        (x, indices): (&mut impl AsyncStreamSource<T>, &mut impl AsyncStreamSource<I>),
        mut each: impl FnMut(T, usize),
    ) -> Result<(), ExecuteError> {
        let plan = self.plan;
        let read_x: Vec<T> = self.read(from, &plan.inputs[0], x).await?;
        let read_indices: Vec<I> = self.read(from, &plan.inputs[1], indices).await?;
        let extents: Vec<usize> = tile.spatial.iter().map(ExactSizeIterator::len).collect();
        let (mut target, mut inside) = (vec![0; extents.len()], vec![0; extents.len()]);
        visit(plan, from, &read_x, &read_indices, |value, index, n, c, at| {
            let Named::Element(n, c) = plan.named(index, n, c, at, &mut target) else { return };
            let here = tile.batch.contains(&n)
                && tile.channels.contains(&c)
                && target.iter().zip(&tile.spatial).all(|(at, range)| range.contains(at));
            if let (true, Some(value)) = (here, value) {
                for ((inside, at), range) in inside.iter_mut().zip(&target).zip(&tile.spatial) {
                    *inside = at - range.start;
                }
                let (n, c) = (n - tile.batch.start, c - tile.channels.start);
                each(value, position(plan.layout(), tile.channels.len(), &extents, n, c, &inside));
            }
        });
        self.done_with(&read_x);
        self.done_with(&read_indices);
        Ok(())
    }

    /// Writes a tile to its place in the sink.
    pub async fn write<T: Element>(
        &mut self,
        tile: &Region,
        y: &[T],
        sink: &mut impl AsyncStreamSink<T>,
    ) -> Result<(), ExecuteError> {
        let place = (self.plan.output_shape(), self.plan.layout());
        self.run.progress.bytes_written += scatter("sink", tile, place, y, sink).await?;
        self.run.progress.done += 1;
        self.run.memory.report.tiles += 1;
        Ok(())
    }

    /// Reads a box of a source into memory that counts towards the budget already.
    pub async fn read_into<T: Element>(
        &mut self,
        region: &Region,
        of: &TensorSpec,
        source: &mut impl AsyncStreamSource<T>,
        elements: &mut [T],
    ) -> Result<(), ExecuteError> {
        self.run.progress.bytes_read += size_of_val(elements) as u64;
        gather(region, (&of.shape, of.layout), source, elements).await
    }

    /// Reads a box of a source; its bytes count towards the budget until the run is done with them.
    async fn read<T: Element>(
        &mut self,
        region: &Region,
        of: &TensorSpec,
        source: &mut impl AsyncStreamSource<T>,
    ) -> Result<Vec<T>, ExecuteError> {
        self.run.memory.host(region.elements() * size_of::<T>() as u64, 0);
        let mut elements = zeros(&region.shape(of.layout))?;
        self.read_into(region, of, source, &mut elements).await?;
        Ok(elements)
    }

    fn done_with<T>(&mut self, read: &[T]) {
        self.run.memory.host(0, size_of_val(read) as u64);
    }
}

/// Whether all indices of a box name elements of their own planes, as far as a comparison of each tells.
fn all_stay<I: Index>(plan: &UnpoolPlan, region: &Region, indices: &[I]) -> bool {
    if plan.outside_window != OutsideWindow::Scatter || plan.space.layout != Layout::Nchw {
        return false;
    }
    let (strides, elements) = (plan.space.strides(), count(&plan.space.extents));
    let of_a_plane: usize = region.spatial.iter().map(ExactSizeIterator::len).product();
    let planes = region.batch.clone().flat_map(|n| region.channels.clone().map(move |c| (n, c)));
    planes
        .zip(indices.chunks(of_a_plane.max(1)))
        .all(|((n, c), indices)| stay_in_plane(indices, strides.flat(n, c, &[]), elements, plan.skip_minus_one))
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
