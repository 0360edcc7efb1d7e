//! Unpools on slices.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use bytemuck::{Pod, cast_slice_mut};
use wgpu_pooling_plan::internal::{Named, Offence, activate_all, for_each, stay_in_plane};
use wgpu_pooling_plan::with_element;
use wgpu_pooling_plan::{
    Activation, ExecuteError, Index, Layout, MAX_SPATIAL_AXES, OutsideWindow, PlanError, StorageOrder, UnpoolPlan,
};

use super::choose::CpuKernel;
use super::multiples::Multiples;
use super::own_windows::stay_in_their_windows;
use super::parts::{Context, Part, cut, pieces, runs, threads, wanted};
use super::scratch::Scratch;
use super::simd::SimdLevel;
use super::view::{Places, unpool_planes};

/// An unpool and how it is computed.
#[derive(Debug)]
pub(crate) struct UnpoolWork {
    kernel: CpuKernel,
}

impl UnpoolWork {
    pub fn of(plan: &UnpoolPlan, asked: Option<CpuKernel>) -> Result<UnpoolWork, PlanError> {
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

    /// Writes Y. If indices are bad and the plan refuses such, nothing is written, unless the outputs are fresh. The
    /// words are the bits of elements.
    pub fn run<W: Word, I: Index>(
        &self,
        plan: &UnpoolPlan,
        context: &Context<'_>,
        x: &[W],
        indices: &[I],
        y: &mut [W],
    ) -> Result<(), ExecuteError> {
        // An output without elements has no index that names one.
        if y.is_empty() {
            return refuse_bad(plan, context, indices);
        }
        if self.kernel == CpuKernel::Scatter {
            // Reading the indices once more to begin with takes a tenth to a sixth of the time. Those that have to stay
            // in their windows are what a pool gives, mostly, and then nothing is left to refuse or to skip.
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

/// An integer as wide as an element. An unpool moves elements and does not look at them.
pub(crate) trait Word: Pod + Send + Sync {}

impl Word for u8 {}
impl Word for u16 {}
impl Word for u32 {}
impl Word for u64 {}

/// Applies the plan's activation to elements of Y.
fn activate<W: Word>(plan: &UnpoolPlan, y: &mut [W]) {
    if plan.activation != Activation::Identity {
        with_element!(plan.dtype(), T => activate_all::<T>(plan.activation, cast_slice_mut(y)));
    }
}

/// Whether an index that stays in its plane says by a constant distance where its element of Y lies.
fn scatters(plan: &UnpoolPlan) -> Result<(), &'static str> {
    if plan.layout() == Layout::Nchw && plan.space.layout == Layout::Nhwc {
        return Err("Indices are NHWC and X is not");
    }
    if plan.space.extents != plan.y_extents || plan.space.order != StorageOrder::RowMajor {
        return Err("the indices have to be positions of Y");
    }
    let [_, y_plane] = unpool_planes(plan);
    // What tells multiples has 32 bits, and so has a place in a batch item.
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

/// The runs of memory that planes of Y have to themselves: planes in NCHW, batch items of all planes in NHWC.
struct Units {
    /// The planes of a unit, its sources and its elements of Y.
    planes: usize,
    sources: usize,
    elements: usize,
    parts: Vec<Part>,
}

impl Units {
    fn of(plan: &UnpoolPlan, layout: Layout) -> Units {
        let [plane, y_plane] = unpool_planes(plan);
        let (count, planes) = match layout {
            Layout::Nchw => (plan.batch * plan.channels, 1),
            Layout::Nhwc => (plan.batch, plan.channels),
        };
        let parts = cut(count, 1, wanted(plan.bytes(), threads).min(count), 1);
        Units { planes, sources: plane * planes, elements: y_plane * planes, parts }
    }
}

/// Whether every index names an element of its own plane, or none if the plan skips those.
fn stay_in_their_planes<I: Index>(
    plan: &UnpoolPlan,
    context: &Context<'_>,
    indices: &[I],
) -> Result<bool, ExecuteError> {
    let units = Units::of(plan, plan.space.layout);
    let strays = AtomicBool::new(false);
    let multiples = Multiples::of(units.planes as u32);
    context.run(units.parts.clone(), |part, _| {
        for unit in part.outer {
            let (base, indices) = (base(plan, unit * units.planes), &indices[unit * units.sources..][..units.sources]);
            let (elements, skips) = (units.elements as u64, plan.skip_minus_one);
            let stay = match plan.space.layout {
                Layout::Nchw => context.simd.run(
                    #[inline(always)]
                    || stay_in_plane(indices, base, elements, skips),
                ),
                Layout::Nhwc => stay_in_channels(context.simd, indices, base, &units, &multiples, skips),
            };
            if !stay {
                strays.store(true, Ordering::Relaxed);
            }
        }
        Ok(())
    })?;
    Ok(!strays.into_inner())
}

/// Whether the indices of whole positions in NHWC name elements of their own planes: some positions further on, by as
/// many elements as there are channels each.
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

/// Bytes of indices that are looked at and then used, while they are in the first-level cache.
const LOOKED_AT_BYTES: usize = 8 << 10;

/// Writes the elements of each plane in order, so that of equal indices the last one wins, and zeros elsewhere. Returns
/// whether each index names an element of its own plane or is skipped; otherwise Y is of no use.
fn scatter<W: Word, I: Index>(
    plan: &UnpoolPlan,
    context: &Context<'_>,
    x: &[W],
    indices: &[I],
    y: &mut [W],
) -> Result<bool, ExecuteError> {
    let units = Units::of(plan, plan.layout());
    let (strays, skips) = (AtomicBool::new(false), plan.skip_minus_one);
    let multiples = Multiples::of(units.planes as u32);
    let y = pieces(y, units.parts.iter().map(|part| part.outer.len() * units.elements));
    context.run(units.parts.iter().zip(y).collect(), |(part, y), scratch| {
        for (unit, y) in part.outer.clone().zip(y.chunks_exact_mut(units.elements)) {
            let sources = unit * units.sources..(unit + 1) * units.sources;
            let (x, indices) = (&x[sources.clone()], &indices[sources]);
            let base_of = |plane| base(plan, unit * units.planes + plane);
            let mut written = Written { y, zeros: 0 };
            let stay = match (plan.layout(), plan.space.layout) {
                (Layout::Nhwc, Layout::Nchw) => {
                    let planes = ChannelPlanes {
                        channels: units.planes,
                        y_plane: units.elements / units.planes,
                        base: base_of(0),
                        apart: plan.space.strides().c,
                    };
                    channels((context.simd, skips), x, indices, &mut written, &planes, scratch)?
                }
                (Layout::Nhwc, Layout::Nhwc) => {
                    // Whole positions.
                    let piece = (LOOKED_AT_BYTES / size_of::<I>() / units.planes).max(1) * units.planes;
                    x.chunks(piece).zip(indices.chunks(piece)).all(|(x, indices)| {
                        stay_in_channels(context.simd, indices, base_of(0), &units, &multiples, skips)
                            && written.take(x, indices, base_of(0), skips)
                    })
                }
                _ => written.take(x, indices, base_of(0), skips),
            };
            if !stay {
                strays.store(true, Ordering::Relaxed);
                return Ok(());
            }
            written.fill_up_to(units.elements);
            activate(plan, written.y);
        }
        Ok(())
    })?;
    Ok(!strays.into_inner())
}

/// Bytes of zeros that are written further than the element that is named. Longer runs of zeros are written faster, and
/// this one is still in the second-level cache when elements replace them.
const AHEAD_BYTES: usize = 128 << 10;

/// A run of Y whose first elements have been written: with zeros, and some of them with elements of X after that.
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
    /// Writes zeros up to an element, from where there are some.
    fn fill_up_to(&mut self, end: usize) {
        if end > self.zeros {
            self.y[self.zeros..end].fill(W::zeroed());
            self.zeros = end;
        }
    }

    /// Writes zeros up to an element that is named, and further.
    fn fill_ahead(&mut self, end: usize) {
        self.fill_up_to(end.saturating_add(AHEAD_BYTES / size_of::<W>()).min(self.y.len()));
    }

    /// Writes elements to places before which all has been written, and none to others.
    #[inline(always)]
    fn take_places(&mut self, x: &[W], places: impl Iterator<Item = u32>) {
        for (value, place) in x.iter().zip(places) {
            if let Some(element) = self.y[..self.zeros].get_mut(place as usize) {
                *element = *value;
            }
        }
    }

    /// Writes elements whose indices lie in memory as they do. Returns whether each index names an element of the run,
    /// whose first one has the index `base`, or is skipped. A loop of its own, which has all registers.
    #[inline(never)]
    fn take<I: Index>(&mut self, x: &[W], indices: &[I], base: i64, skips: bool) -> bool {
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

/// The planes of a batch item in NHWC whose indices are in NCHW.
struct ChannelPlanes {
    channels: usize,
    /// The elements of a plane of Y.
    y_plane: usize,
    /// The index of the first plane's first element, and how much greater that of the next plane's is.
    base: i64,
    apart: i64,
}

/// Positions whose indices are read together: sixteen cache lines of 64-bit indices of each plane, of which the
/// processor fetches most, and the first ones of the next positions, before they are asked for.
const POSITIONS: usize = 128;

/// The most channels whose places are made together. Those of a few positions are in the first-level cache.
const CHANNELS: usize = 128;

/// From the places of one plane to those of the next. They are read position after position, and what is an odd number
/// of cache lines apart lies in all sets of the cache.
const ROW: usize = POSITIONS + 16;

/// What is not a place in a batch item: those end before it.
const NO_PLACE: u32 = u32::MAX;

/// Writes the sources of a batch item in NHWC whose indices are in NCHW. Returns whether each index names an element of
/// its own plane or is skipped.
///
/// ```text
/// indices, plane after plane    a: 0 3 5 7 ..    b: 1 2 5 6 ..     c: ..
/// places in Y of 3 channels     a: 0 9 15 21 ..  b: 4 7 16 19 ..   c: ..
/// X, position after position    a0 b0 c0  a1 b1 c1 ..: a0 to place 0, b0 to 4, .. a1 to 9, b1 to 7, ..
/// ```
fn channels<W: Word, I: Index>(
    (simd, skips): (SimdLevel, bool),
    x: &[W],
    indices: &[I],
    written: &mut Written<'_, W>,
    planes: &ChannelPlanes,
    scratch: &mut Scratch,
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
                let indices = &indices[c * plane..][positions.clone()];
                let own = simd.run(
                    #[inline(always)]
                    || planes.places(c, indices, places),
                );
                match own.or_else(|| skips.then(|| planes.places_or_none(c, indices, places)).flatten()) {
                    Some(own) => end = end.max(own),
                    None => return Ok(false),
                }
            }
            written.fill_ahead(end);
            for position in positions.clone() {
                let x = &x[position * planes.channels..][channels.clone()];
                // The remainder shows the compiler that every row has this place.
                written.take_places(x, made.iter().map(|places| places[(position - start) % POSITIONS]));
            }
        }
    }
    Ok(true)
}

impl ChannelPlanes {
    fn base(&self, c: usize) -> i64 {
        self.base.wrapping_add(self.apart.wrapping_mul(c as i64))
    }

    /// Makes indices of a plane places in a batch item. Returns where the last of these ends; `None` if an index is
    /// outside its plane, and then the places are of no use.
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

    /// The same where indices of -1 are skipped: they become `NO_PLACE`.
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

/// The error of bad indices, where the plan refuses them.
fn refuse_bad<I: Index>(plan: &UnpoolPlan, context: &Context<'_>, indices: &[I]) -> Result<(), ExecuteError> {
    if !plan.refuses_bad_indices() {
        return Ok(());
    }
    let planes = plan.batch * plan.channels;
    let offences = Mutex::new(Offence::default());
    context.run(
        cut(planes, 1, wanted((indices.len() as u64).saturating_mul(64), threads).min(planes), 1),
        |part, _| {
            let mut offence = Offence::default();
            sources(plan, part.outer, |_, place, n, c, at| {
                let index = indices[place].to_i64();
                let mut target = [0; MAX_SPATIAL_AXES];
                if let Named::OutOfRange | Named::Outside = plan.named(index, n, c, at, &mut target[..at.len()]) {
                    offence.add(place, index);
                }
            });
            offences.lock().unwrap_or_else(PoisonError::into_inner).merge(offence);
            Ok(())
        },
    )?;
    let offences = offences.into_inner().unwrap_or_else(PoisonError::into_inner);
    offences.found().map_or(Ok(()), |(first, value, count)| Err(plan.offence(first, value, count)))
}

/// Each task owns a run of Y and takes from all sources that may name one of its elements those that do, in order.
fn general<W: Word, I: Index>(
    plan: &UnpoolPlan,
    context: &Context<'_>,
    x: &[W],
    indices: &[I],
    y: &mut [W],
) -> Result<(), ExecuteError> {
    let [_, y_plane] = unpool_planes(plan);
    let places = Places::of(plan.layout(), plan.channels, y_plane);
    let wanted = wanted((indices.len() as u64).saturating_mul(64), threads);
    // A task reads all sources, or those of its batch items or planes where an index cannot name others.
    let wanted = if plan.space.flatten.counts_batch() { wanted.min(threads()) } else { wanted };
    let owned = runs(y.len(), wanted);
    let slices = pieces(y, owned.iter().map(Range::len));
    context.run(owned.iter().zip(slices).collect(), |(owned, y), _| {
        y.fill(W::zeroed());
        sources(plan, relevant(plan, owned, y_plane), |from, place, n, c, at| {
            let mut target = [0; MAX_SPATIAL_AXES];
            let target = &mut target[..at.len()];
            if let Named::Element(n, c) = plan.named(indices[place].to_i64(), n, c, at, target) {
                let position =
                    target.iter().zip(&plan.y_extents).fold(0, |position, (at, extent)| position * extent + at);
                let to = places.at(n, c, position);
                if owned.contains(&to) {
                    y[to - owned.start] = x[from];
                }
            }
        });
        activate(plan, y);
        Ok(())
    })
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

/// Visits the sources of some planes (n, c) in (n, c, spatial) order: the place in X, that in Indices, and the
/// coordinates.
fn sources(plan: &UnpoolPlan, planes: Range<usize>, mut visit: impl FnMut(usize, usize, usize, usize, &[usize])) {
    let [plane, _] = unpool_planes(plan);
    let x_places = Places::of(plan.layout(), plan.channels, plane);
    let index_places = Places::of(plan.space.layout, plan.channels, plane);
    for outer in planes {
        let (n, c) = (outer / plan.channels, outer % plan.channels);
        let mut position = 0;
        for_each(&plan.x_extents, |at| {
            visit(x_places.at(n, c, position), index_places.at(n, c, position), n, c, at);
            position += 1;
        });
    }
}
