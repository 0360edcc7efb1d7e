//! Unpools on slices: scatters X where indices stay in their planes, and runs the general kernel otherwise.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use bytemuck::{Pod, cast_slice, cast_slice_mut};
use wgpu_pooling_plan::internal::{BadIndices, IndexTarget, for_each, stay_in_plane};
use wgpu_pooling_plan::with_element;
use wgpu_pooling_plan::{
    Activation, ExecuteError, Index, Layout, MAX_SPATIAL_AXES, OutsideWindow, PlanError, StorageOrder, UnpoolPlan,
};

use super::cpu_kernel::CpuKernel;
use super::first_elements::put_first_elements;
use super::indices::{Indices, with_slice};
use super::multiples::Multiples;
use super::own_windows::stay_in_their_windows;
use super::parts::{Context, OutputPart, cut, pieces, runs};
use super::scratch::ThreadMemory;
use super::simd::SimdLevel;
use super::tuning::unpool::{AHEAD_BYTES, CHANNELS, LOOKED_AT_BYTES, POSITIONS};
use super::view::{Distances, unpool_planes};

/// An unpool and the kernel that computes it.
#[derive(Debug)]
pub(crate) struct UnpoolWork {
    kernel: CpuKernel,
}

impl UnpoolWork {
    pub fn new(plan: &UnpoolPlan, asked: Option<CpuKernel>) -> Result<UnpoolWork, PlanError> {
        let refused = |kernel: CpuKernel, reason| PlanError::KernelDoesNotApply { kernel: kernel.name(), reason };
        let kernel = match (asked, scatters(plan)) {
            (None | Some(CpuKernel::Scatter), Ok(())) => CpuKernel::Scatter,
            (None | Some(CpuKernel::General), _) => CpuKernel::General,
            (Some(CpuKernel::Scatter), Err(reason)) => return Err(refused(CpuKernel::Scatter, reason)),
            (Some(other), _) => return Err(refused(other, "it is for pools")),
        };
        Ok(UnpoolWork { kernel })
    }

    pub fn kernel(&self) -> CpuKernel {
        self.kernel
    }

    /// Writes Y. If the plan refuses bad indices and there are some, nothing is written unless the outputs are fresh. X
    /// and Y are the bytes of elements of the plan's type.
    pub fn run(
        &self,
        plan: &UnpoolPlan,
        context: &Context<'_>,
        x: &[u8],
        indices: Indices<'_>,
        y: &mut [u8],
    ) -> Result<(), ExecuteError> {
        // No index can name an element of an output without elements.
        if y.is_empty() {
            return refuse_bad(plan, context, indices);
        }
        if self.kernel == CpuKernel::Scatter {
            // Reading the indices a second time takes a tenth to a sixth of the time. Indices that must stay in their
            // windows mostly come from a pool; then none is bad and none is skipped.
            let stay = match plan.outside_window {
                OutsideWindow::Scatter if context.fresh || !plan.refuses_bad_indices() => true,
                OutsideWindow::Scatter => stay_in_their_planes(plan, context, indices)?,
                _ => stay_in_their_windows(plan, context, indices, |plane| base(plan, plane))?,
            };
            if stay && scatter(plan, context, x, indices, y)? {
                return Ok(());
            }
        }
        refuse_bad(plan, context, indices)?;
        general(plan, context, x, indices, y)
    }
}

/// An integer as wide as an element. An unpool moves elements and never compares them.
pub(crate) trait Word: Pod + Send + Sync {}

impl Word for u8 {}
impl Word for u16 {}
impl Word for u32 {}
impl Word for u64 {}

/// Evaluates an expression with the integer type of the element's width as `$word`. It is compiled for each width.
macro_rules! with_word {
    ($plan:expr, $word:ident => $expression:expr) => {
        match $plan.dtype().bytes() {
            1 => {
                type $word = u8;
                $expression
            }
            2 => {
                type $word = u16;
                $expression
            }
            4 => {
                type $word = u32;
                $expression
            }
            _ => {
                type $word = u64;
                $expression
            }
        }
    };
}

/// Applies the plan's activation to elements of Y.
fn activate(plan: &UnpoolPlan, y: &mut [u8]) {
    if plan.activation != Activation::Identity {
        with_element!(plan.dtype(), T => plan.activation.apply_all::<T>(cast_slice_mut(y)));
    }
}

/// Whether the kernel that scatters applies: for each plane, an index and the place that it names differ by a constant.
/// `Err` says why not.
fn scatters(plan: &UnpoolPlan) -> Result<(), &'static str> {
    if plan.layout() == Layout::Nchw && plan.space.layout == Layout::Nhwc {
        return Err("Indices are NHWC and X is not");
    }
    if plan.space.extents != plan.y_extents || plan.space.order != StorageOrder::RowMajor {
        return Err("the indices have to be positions of Y");
    }
    let [_, y_plane] = unpool_planes(plan);
    // The test for multiples has 32 bits, and so has a place in a batch item.
    if plan.layout() == Layout::Nhwc && y_plane.saturating_mul(plan.channels) > u32::MAX as usize {
        return Err("a batch item has too many elements");
    }
    Ok(())
}

/// The index of a plane's first element.
fn base(plan: &UnpoolPlan, plane: usize) -> i64 {
    let strides = plan.space.strides();
    let (n, c) = (plane / plan.channels, plane % plan.channels);
    (n as i64).wrapping_mul(strides.n).wrapping_add((c as i64).wrapping_mul(strides.c))
}

/// The runs of memory that contain whole planes of Y: one plane in NCHW, all planes of a batch item in NHWC.
struct Units {
    /// The planes of a unit, its sources, and its elements of Y.
    planes: usize,
    sources: usize,
    elements: usize,
    parts: Vec<OutputPart>,
}

impl Units {
    fn new(plan: &UnpoolPlan, context: &Context<'_>, layout: Layout) -> Units {
        let [plane, y_plane] = unpool_planes(plan);
        let (count, planes) = match layout {
            Layout::Nchw => (plan.batch * plan.channels, 1),
            Layout::Nhwc => (plan.batch, plan.channels),
        };
        let parts = cut(count, 1, context.wanted(plan.bytes()).min(count), 1);
        Units { planes, sources: plane * planes, elements: y_plane * planes, parts }
    }
}

/// Whether every index names an element of its own plane, or none if the plan skips -1.
fn stay_in_their_planes(plan: &UnpoolPlan, context: &Context<'_>, indices: Indices<'_>) -> Result<bool, ExecuteError> {
    let units = Units::new(plan, context, plan.space.layout);
    let strays = AtomicBool::new(false);
    let multiples = Multiples::new(units.planes as u32);
    context.run(units.parts.clone(), |part, _| {
        for unit in part.outer {
            let indices = indices.part(unit * units.sources..(unit + 1) * units.sources);
            let (base, elements, skips) = (base(plan, unit * units.planes), units.elements as u64, plan.skip_minus_one);
            let stay = with_slice!(Indices, indices, indices => match plan.space.layout {
                Layout::Nchw => context.simd.run(
                    #[inline(always)]
                    || stay_in_plane(indices, base, elements, skips),
                ),
                Layout::Nhwc => stay_in_channels(context.simd, indices, base, &units, &multiples, skips),
            });
            if !stay {
                strays.store(true, Ordering::Relaxed);
            }
        }
        Ok(())
    })?;
    Ok(!strays.into_inner())
}

/// Whether the indices of whole positions in NHWC name elements of their own planes. The distance of an index from the
/// plane's first index is a multiple of the number of channels.
fn stay_in_channels<I: Index>(
    simd: SimdLevel,
    indices: &[I],
    base: i64,
    units: &Units,
    multiples: &Multiples,
    skips: bool,
) -> bool {
    let elements = units.elements as u64;
    simd.run(
        #[inline(always)]
        || {
            let mut stay = true;
            for indices in indices.chunks_exact(units.planes) {
                for (c, index) in indices.iter().enumerate() {
                    let index = index.to_i64();
                    let ahead = index.wrapping_sub(base).wrapping_sub(c as i64);
                    stay &= (((ahead as u64) < elements) & multiples.has(ahead as u32)) | (skips & (index == -1));
                }
            }
            stay
        },
    )
}

/// Writes the elements of each plane in order, so that of equal indices the last one wins, and zeros elsewhere. Returns
/// whether each index names an element of its own plane or is skipped; if not, Y is invalid.
fn scatter(
    plan: &UnpoolPlan,
    context: &Context<'_>,
    x: &[u8],
    indices: Indices<'_>,
    y: &mut [u8],
) -> Result<bool, ExecuteError> {
    let units = Units::new(plan, context, plan.layout());
    let (strays, bytes) = (AtomicBool::new(false), plan.dtype().bytes());
    let multiples = Multiples::new(units.planes as u32);
    let y = pieces(y, units.parts.iter().map(|part| part.outer.len() * units.elements * bytes));
    context.run(units.parts.iter().zip(y).collect(), |(part, y), scratch| {
        for (unit, y) in part.outer.clone().zip(y.chunks_exact_mut(units.elements * bytes)) {
            let sources = unit * units.sources..(unit + 1) * units.sources;
            let own = &x[sources.start * bytes..sources.end * bytes];
            let of_unit = Unit { plan, units: &units, multiples: &multiples, number: unit, simd: context.simd };
            let stay = with_word!(plan, W => {
                let mut written = Written::<W> { y: cast_slice_mut(y), zeros: 0 };
                let stay = of_unit.scatter(cast_slice(own), indices.part(sources), &mut written, scratch)?;
                written.fill_up_to(units.elements);
                if let Some(have) = &plan.first_elements {
                    let planes = unit * units.planes..(unit + 1) * units.planes;
                    let base = |plane| base(plan, plane);
                    put_first_elements((plan, have), base, planes, cast_slice::<u8, W>(x), indices, written.y);
                }
                stay
            });
            if !stay {
                strays.store(true, Ordering::Relaxed);
                return Ok(());
            }
            activate(plan, y);
        }
        Ok(())
    })?;
    Ok(!strays.into_inner())
}

/// One of the [`Units`].
struct Unit<'a> {
    plan: &'a UnpoolPlan,
    units: &'a Units,
    /// Tests for multiples of the number of planes.
    multiples: &'a Multiples,
    number: usize,
    simd: SimdLevel,
}

impl Unit<'_> {
    /// Writes the sources of the unit. Returns whether each index names an element of its own plane or is skipped.
    fn scatter<W: Word>(
        &self,
        x: &[W],
        indices: Indices<'_>,
        written: &mut Written<'_, W>,
        scratch: &mut ThreadMemory,
    ) -> Result<bool, ExecuteError> {
        let (plan, units, skips) = (self.plan, self.units, self.plan.skip_minus_one);
        let base = base(plan, self.number * units.planes);
        match (plan.layout(), plan.space.layout) {
            (Layout::Nhwc, Layout::Nchw) => {
                let y_plane = units.elements / units.planes;
                let planes =
                    ChannelPlanes { channels: units.planes, y_plane, base, index_stride: plan.space.strides().c };
                channels((self.simd, skips), x, indices, written, &planes, scratch)
            }
            (Layout::Nhwc, Layout::Nhwc) => Ok(with_slice!(Indices, indices, indices => {
                // Pieces of whole positions.
                let piece = (LOOKED_AT_BYTES / plan.index_type.bytes() / units.planes).max(1) * units.planes;
                x.chunks(piece).zip(indices.chunks(piece)).all(|(x, indices)| {
                    stay_in_channels(self.simd, indices, base, units, self.multiples, skips)
                        && written.scatter(x, indices, base, skips)
                })
            })),
            _ => Ok(with_slice!(Indices, indices, indices => written.scatter(x, indices, base, skips))),
        }
    }
}

/// A run of Y whose first `zeros` elements have been written: with zeros, some of which elements of X have replaced.
///
/// ```text
/// written: 0 0 7 0 0 4 0 0 | not yet
///                       ^ zeros
/// ```
struct Written<'a, W> {
    y: &'a mut [W],
    zeros: usize,
}

impl<W: Word> Written<'_, W> {
    /// Writes zeros up to the element `end`, where there are none yet.
    fn fill_up_to(&mut self, end: usize) {
        if end > self.zeros {
            self.y[self.zeros..end].fill(W::zeroed());
            self.zeros = end;
        }
    }

    /// Writes zeros up to the end of an element that is named, and `AHEAD_BYTES` beyond.
    fn fill_ahead(&mut self, end: usize) {
        self.fill_up_to(end.saturating_add(AHEAD_BYTES / size_of::<W>()).min(self.y.len()));
    }

    /// Scatters elements to places below `zeros`, and skips all other places.
    #[inline(always)]
    fn scatter_to(&mut self, x: &[W], places: impl Iterator<Item = u32>) {
        for (value, place) in x.iter().zip(places) {
            if let Some(element) = self.y[..self.zeros].get_mut(place as usize) {
                *element = *value;
            }
        }
    }

    /// Scatters elements of X, whose indices have the same layout. Returns whether each index names an element of the
    /// run, whose first element has the index `base`, or is skipped. It is not inlined, so that its loop has all
    /// registers.
    #[inline(never)]
    fn scatter<I: Index>(&mut self, x: &[W], indices: &[I], base: i64, skips: bool) -> bool {
        let mut rest = x.iter().zip(indices);
        loop {
            let zeros = &mut self.y[..self.zeros];
            let place = |index: &I| usize::try_from(index.to_i64().wrapping_sub(base) as u64).unwrap_or(usize::MAX);
            let further = rest.find(|(value, index)| match zeros.get_mut(place(index)) {
                Some(element) => {
                    *element = **value;
                    false
                }
                None => true,
            });
            let Some((value, index)) = further else { return true };
            match place(index) {
                place if place < self.y.len() => {
                    self.fill_ahead(place + 1);
                    self.y[place] = *value;
                }
                _ if skips && index.to_i64() == -1 => {}
                _ => return false,
            }
        }
    }
}

/// The planes of a batch item in NHWC whose indices are NCHW.
struct ChannelPlanes {
    channels: usize,
    /// The elements of a plane of Y.
    y_plane: usize,
    /// The index of the first plane's first element, and the index difference between planes.
    base: i64,
    index_stride: i64,
}

/// The distance from the places of one plane to those of the next. They are read position by position, and a distance
/// of an odd number of cache lines spreads them over all sets of the cache.
const ROW: usize = POSITIONS + 16;

/// Marks an index that is skipped. It is not a place, because a batch item has fewer elements.
const NO_PLACE: u32 = u32::MAX;

/// Scatters a batch item in NHWC whose indices are NCHW. Returns whether each index names an element of its own plane
/// or is skipped.
///
/// ```text
/// indices, plane after plane    a: 0 3 5 7 ..    b: 1 2 5 6 ..     c: ..
/// places in Y of 3 channels     a: 0 9 15 21 ..  b: 4 7 16 19 ..   c: ..
/// X, position after position    a0 b0 c0  a1 b1 c1 ..: a0 to place 0, b0 to 4, .. a1 to 9, b1 to 7, ..
/// ```
fn channels<W: Word>(
    (simd, skips): (SimdLevel, bool),
    x: &[W],
    indices: Indices<'_>,
    written: &mut Written<'_, W>,
    planes: &ChannelPlanes,
    scratch: &mut ThreadMemory,
) -> Result<bool, ExecuteError> {
    let plane = x.len() / planes.channels;
    let made: &mut [u32] = scratch.elements(ROW * CHANNELS.min(planes.channels))?;
    let made = made.as_chunks_mut::<ROW>().0;
    for start in (0..plane).step_by(POSITIONS) {
        let positions = start..(start + POSITIONS).min(plane);
        for first in (0..planes.channels).step_by(CHANNELS) {
            let channels = first..(first + CHANNELS).min(planes.channels);
            let made = &mut made[..channels.len()];
            let mut end = 0;
            for (c, places) in channels.clone().zip(made.iter_mut()) {
                let indices = indices.part(c * plane + positions.start..c * plane + positions.end);
                let own = with_slice!(Indices, indices, indices => {
                    let inside = simd.run(
                        #[inline(always)]
                        || planes.places(c, indices, places),
                    );
                    inside.or_else(|| skips.then(|| planes.places_or_none(c, indices, places)).flatten())
                });
                match own {
                    Some(own) => end = end.max(own),
                    None => return Ok(false),
                }
            }
            written.fill_ahead(end);
            for position in positions.clone() {
                let x = &x[position * planes.channels..][channels.clone()];
                // The remainder tells the compiler that the place is within bounds.
                written.scatter_to(x, made.iter().map(|places| places[(position - start) % POSITIONS]));
            }
        }
    }
    Ok(true)
}

impl ChannelPlanes {
    fn base(&self, c: usize) -> i64 {
        self.base.wrapping_add(self.index_stride.wrapping_mul(c as i64))
    }

    /// Converts indices of a plane to places in a batch item. Returns the end of the last place; `None` if an index is
    /// outside its plane, and then the places are invalid.
    #[inline(always)]
    fn places<I: Index>(&self, c: usize, indices: &[I], places: &mut [u32]) -> Option<usize> {
        let (channels, base) = (self.channels as u32, self.base(c));
        let (mut high, mut last) = (0, 0);
        for (place, index) in places.iter_mut().zip(indices) {
            let position = index.to_i64().wrapping_sub(base) as u64;
            high |= position >> u32::BITS;
            last = last.max(position as u32);
            *place = (position as u32).wrapping_mul(channels).wrapping_add(c as u32);
        }
        let inside = high == 0 && (last as usize) < self.y_plane;
        inside.then(|| last as usize * self.channels + c + 1)
    }

    /// Like `places`, but an index of -1 becomes `NO_PLACE`.
    fn places_or_none<I: Index>(&self, c: usize, indices: &[I], places: &mut [u32]) -> Option<usize> {
        let mut end = 0;
        for (place, index) in places.iter_mut().zip(indices.iter().map(|index| index.to_i64())) {
            let position = index.wrapping_sub(self.base(c)) as u64;
            *place = match index {
                _ if position < self.y_plane as u64 => position as u32 * self.channels as u32 + c as u32,
                -1 => NO_PLACE,
                _ => return None,
            };
            end = if *place == NO_PLACE { end } else { end.max(*place as usize + 1) };
        }
        Some(end)
    }
}

/// Returns the error for bad indices if the plan refuses them.
fn refuse_bad(plan: &UnpoolPlan, context: &Context<'_>, indices: Indices<'_>) -> Result<(), ExecuteError> {
    if !plan.refuses_bad_indices() {
        return Ok(());
    }
    let planes = plan.batch * plan.channels;
    let all_bad = Mutex::new(BadIndices::default());
    context.run(
        cut(planes, 1, context.wanted((indices.count() as u64).saturating_mul(64)).min(planes), 1),
        |part, _| {
            let mut bad = BadIndices::default();
            sources(plan, part.outer, |_, place, n, c, at| {
                let index = indices.get(place);
                let mut target = [0; MAX_SPATIAL_AXES];
                if let IndexTarget::OutOfRange | IndexTarget::Outside =
                    plan.index_target(index, n, c, at, &mut target[..at.len()])
                {
                    bad.add(place, index);
                }
            });
            all_bad.lock().unwrap_or_else(PoisonError::into_inner).merge(bad);
            Ok(())
        },
    )?;
    let all_bad = all_bad.into_inner().unwrap_or_else(PoisonError::into_inner);
    all_bad.found().map_or(Ok(()), |(first, value, count)| Err(plan.bad_index_error(first, value, count)))
}

/// The general kernel: each task owns a run of Y, and visits in order all sources that may name one of its elements.
fn general(
    plan: &UnpoolPlan,
    context: &Context<'_>,
    x: &[u8],
    indices: Indices<'_>,
    y: &mut [u8],
) -> Result<(), ExecuteError> {
    let bytes = plan.dtype().bytes();
    let wanted = context.wanted((indices.count() as u64).saturating_mul(64));
    // If indices count the batch, a task visits all sources; otherwise only those of its batch items or planes.
    let wanted = if plan.space.flatten.counts_batch() { wanted.min(context.threads.count()) } else { wanted };
    let owned = runs(y.len() / bytes, wanted);
    let slices = pieces(y, owned.iter().map(|owned| owned.len() * bytes));
    context.run(owned.iter().zip(slices).collect(), |(owned, y), _| {
        y.fill(0);
        with_word!(plan, W => write_named::<W>(plan, owned, cast_slice(x), indices, cast_slice_mut(y)));
        activate(plan, y);
        Ok(())
    })
}

/// Writes the elements of X whose indices name elements of this run of Y.
fn write_named<W: Word>(plan: &UnpoolPlan, owned: &Range<usize>, x: &[W], indices: Indices<'_>, y: &mut [W]) {
    let [_, y_plane] = unpool_planes(plan);
    let places = Distances::new(plan.layout(), plan.channels, y_plane);
    sources(plan, relevant(plan, owned, y_plane), |from, place, n, c, at| {
        let mut target = [0; MAX_SPATIAL_AXES];
        let target = &mut target[..at.len()];
        if let IndexTarget::Element(n, c) = plan.index_target(indices.get(place), n, c, at, target) {
            let position = target.iter().zip(&plan.y_extents).fold(0, |position, (at, extent)| position * extent + at);
            let to = places.at(n, c, position);
            if owned.contains(&to) {
                y[to - owned.start] = x[from];
            }
        }
    });
}

/// The planes (n, c) of X whose indices can name an element in this run of Y.
fn relevant(plan: &UnpoolPlan, owned: &Range<usize>, y_plane: usize) -> Range<usize> {
    let channels = plan.channels;
    if plan.space.flatten.counts_batch() {
        return 0..plan.batch * channels;
    }
    let (first, last) = (owned.start / y_plane, (owned.end - 1) / y_plane);
    if plan.layout() == Layout::Nchw && !plan.space.flatten.counts_channels() {
        return first..last + 1;
    }
    let items = match plan.layout() {
        Layout::Nchw => first / channels..last / channels + 1,
        Layout::Nhwc => owned.start / (y_plane * channels)..(owned.end - 1) / (y_plane * channels) + 1,
    };
    items.start * channels..items.end * channels
}

/// Visits the sources of some planes (n, c) in (n, c, spatial) order: the place in X, the place in Indices, and the
/// coordinates.
fn sources(plan: &UnpoolPlan, planes: Range<usize>, mut visit: impl FnMut(usize, usize, usize, usize, &[usize])) {
    let [plane, _] = unpool_planes(plan);
    let x_places = Distances::new(plan.layout(), plan.channels, plane);
    let index_places = Distances::new(plan.space.layout, plan.channels, plane);
    for outer in planes {
        let (n, c) = (outer / plan.channels, outer % plan.channels);
        let mut position = 0;
        for_each(&plan.x_extents, &mut |at| {
            visit(x_places.at(n, c, position), index_places.at(n, c, position), n, c, at);
            position += 1;
        });
    }
}
