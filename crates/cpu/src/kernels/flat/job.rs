//! Computes the outputs of a band, plane after plane.

use bytemuck::{cast_slice, cast_slice_mut};
use wgpu_pooling_plan::{Element, NanPolicy};

use super::Flat;
use super::band::{Band, FirstColumns, RowRun};
use super::pick::pick;
use super::steps::{EvenTaps, reduce_taps};
use crate::kernels::axes::Axis;
use crate::kernels::lane::{Code, Lane};
use crate::kernels::mirror::inverted;
use crate::kernels::parts::PartOf;
use crate::kernels::reduce::{Rows, copy_nan, decode, encode_row, invert, reduce};
use crate::kernels::tuning::flat::{FEW_LANES, MOST_KEPT};

/// A plane of X that was reduced along its rows and across them. An element is lossy if decoding its lane does not
/// return its bits, or if it is NaN.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CachedPlane {
    /// Where the plane begins in X.
    pub plane: usize,
    /// Whether lossy elements were found in it.
    pub lossy: bool,
    /// Whether its lanes are the wide ones for lossy elements.
    pub wide: bool,
}

/// The scratch memory of a band, and the reduced planes in it.
pub(super) struct BandBuffers<'a> {
    pub loaded: &'a mut [u64],
    pub reduced: &'a mut [u64],
    pub best: &'a mut [u64],
    /// The maxima at all positions of a band if the stride along the rows is larger than 1.
    pub dense: &'a mut [u64],
    pub planes: Vec<&'a mut [u64]>,
    /// The shorter windows that long ones are joined of.
    pub steps: [&'a mut [u64]; 2],
    pub kept: Vec<Option<CachedPlane>>,
}

/// The planes of X that a window contains: where each begins.
#[derive(Debug, Clone, Copy)]
pub(super) struct WindowPlanes {
    pub own: [usize; MOST_KEPT],
    pub count: usize,
}

impl WindowPlanes {
    pub fn all(&self) -> &[usize] {
        &self.own[..self.count]
    }
}

/// The computation of one band.
pub(super) struct BandJob<'a, T> {
    pub own: &'a Flat,
    pub part: &'a PartOf<'a>,
    pub band: &'a Band<'a>,
    pub x: &'a [T],
}

impl<T: Element> BandJob<'_, T> {
    /// Elements from one row of X to the next.
    fn x_pitch(&self) -> usize {
        self.own.along().input * self.own.inner
    }

    /// The rows of X of the band, from this plane on.
    fn elements(&self, plane: usize) -> &[T] {
        let Band { strip, x_rows, .. } = self.band;
        let first = plane + x_rows.start * self.x_pitch() + strip.x.start * self.own.inner;
        &self.x[first..][..(self.band.all_x_rows() - 1) * self.x_pitch() + strip.x.len() * self.own.inner]
    }

    /// Computes one plane of Y, or several if the band has several.
    pub fn run<C: Code<Element = T>, S: Code<Element = T>, N: Code<Element = T>>(
        &self,
        planes: WindowPlanes,
        y: &mut [T],
        memory: &mut BandBuffers<'_>,
    ) {
        let (Band { strip, columns, .. }, Flat { stride, outputs, inner, .. }) = (self.band, self.own);
        let rows = Rows {
            count: self.band.all_rows(),
            width: strip.outputs.len() * inner,
            read_pitch: *columns,
            write_pitch: outputs * inner,
        };
        if *stride == 1 {
            self.plane_of_any::<C, S, N>(planes, y, memory);
        } else {
            let dense = std::mem::take(&mut memory.dense);
            let elements = &mut cast_slice_mut(dense)[..rows.count * columns];
            self.plane_of_any::<C, S, N>(planes, elements, memory);
            pick(self.part.context.simd, rows, [*stride, *inner], &mut y[..rows.written()], elements);
            memory.dense = dense;
        }
        let Rows { count, width, write_pitch, .. } = Rows { read_pitch: rows.write_pitch, ..rows }.joined();
        (0..count).for_each(|row| self.part.plan.activation.apply_all(&mut y[row * write_pitch..][..width]));
    }

    /// Computes the outputs with the lanes that the elements need.
    fn plane_of_any<C: Code<Element = T>, S: Code<Element = T>, N: Code<Element = T>>(
        &self,
        planes: WindowPlanes,
        y: &mut [T],
        memory: &mut BandBuffers<'_>,
    ) {
        let policy = self.part.plan.nan_policy;
        let checks_lossy = T::DTYPE.is_float() && (!self.part.plan.starts_from_value() || !C::KEEPS_BITS);
        let is_lossy = |kept: &CachedPlane| kept.lossy && planes.all().contains(&kept.plane);
        let mut lossy = memory.kept.iter().flatten().any(is_lossy);
        if !lossy || !self.needs_other_lanes::<C>() {
            lossy |= self.plane::<C>(&planes, y, memory, false, checks_lossy);
        }
        if lossy && self.needs_other_lanes::<C>() {
            match policy {
                NanPolicy::PropagateLast => self.plane::<N>(&planes, y, memory, true, false),
                _ => self.plane::<S>(&planes, y, memory, true, false),
            };
        }
        if self.own.inverted != 0 {
            invert(self.part.context.simd, self.rows_of_y(), y, self.own.inverted);
        }
        if lossy && checks_lossy && policy == NanPolicy::SeedFirst {
            self.first_nan(planes.own[0], y);
        }
    }

    /// Whether lossy elements need other lanes than those of `C`.
    fn needs_other_lanes<C: Code>(&self) -> bool {
        !C::KEEPS_BITS || self.part.plan.nan_policy == NanPolicy::PropagateLast
    }

    /// The rows of outputs. The lanes of the strip lie side by side; the elements of Y have the pitch of Y.
    fn rows_of_y(&self) -> Rows {
        let Band { width, columns, .. } = *self.band;
        Rows { count: self.band.all_rows(), width: columns, read_pitch: columns, write_pitch: width }.joined()
    }

    /// Computes outputs with the lanes of `C`, which are those for lossy elements if `wide`. With `checks_lossy` it
    /// returns whether there is a lossy element; if lossy elements need other lanes, outputs are then not written.
    fn plane<C: Code<Element = T>>(
        &self,
        planes: &WindowPlanes,
        y: &mut [T],
        memory: &mut BandBuffers<'_>,
        wide: bool,
        checks_lossy: bool,
    ) -> bool {
        let rows = self.rows_of_y();
        let y = &mut y[..rows.written()];
        if C::KEEPS_BITS {
            return self.maxima::<C>(planes, cast_slice_mut(y), rows, memory, wide, checks_lossy);
        }
        // The lanes of outputs are free again once the outputs are decoded.
        let best = std::mem::take(&mut memory.best);
        let lanes = &mut cast_slice_mut(best)[..rows.read()];
        let found = self.maxima::<C>(
            planes,
            lanes,
            Rows { write_pitch: rows.read_pitch, ..rows }.joined(),
            memory,
            wide,
            checks_lossy,
        );
        if !found {
            decode::<C>(self.part.context.simd, rows, y, lanes);
        }
        memory.best = best;
        found
    }

    /// Computes the maxima of windows, and writes them with the pitch in `rows`.
    fn maxima<C: Code<Element = T>>(
        &self,
        planes: &WindowPlanes,
        best: &mut [C::Lane],
        rows: Rows,
        memory: &mut BandBuffers<'_>,
        wide: bool,
        checks_lossy: bool,
    ) -> bool {
        let pitch = if rows.count == 1 { self.band.columns } else { rows.write_pitch };
        let mut found = false;
        if self.own.planes == 1 {
            let BandBuffers { loaded, reduced, steps, .. } = memory;
            found = self.plane_of_x::<C>(planes.own[0], loaded, reduced, steps, (best, pitch), checks_lossy);
        } else {
            let mut slots = [0; MOST_KEPT];
            for (slot, plane) in slots.iter_mut().zip(planes.all()) {
                let found_here;
                (*slot, found_here) = self.kept_plane::<C>(planes, *plane, memory, wide, checks_lossy);
                found |= found_here;
            }
            let source = |number: usize| &cast_slice(&*memory.planes[slots[number]])[..rows.read()];
            reduce(self.part.context.simd, rows, best, (planes.count, false), source);
        }
        let seed = C::encode(inverted(self.part.plan.seed::<T>(), self.own.inverted));
        if self.part.plan.starts_from_value() && T::DTYPE.is_float() && seed > C::Lane::LOWEST {
            for row in 0..rows.count {
                let best = &mut best[row * rows.write_pitch..][..rows.width];
                self.part.context.simd.run(
                    #[inline(always)]
                    || best.iter_mut().for_each(|best| *best = seed.step(*best, 0)),
                );
            }
        }
        found
    }

    /// The slot of one of a window's planes of X, reduced now unless it is in the cache, and whether lossy elements
    /// were found.
    fn kept_plane<C: Code<Element = T>>(
        &self,
        planes: &WindowPlanes,
        plane: usize,
        memory: &mut BandBuffers<'_>,
        wide: bool,
        checks_lossy: bool,
    ) -> (usize, bool) {
        let BandBuffers { loaded, reduced, planes: slots, kept, steps, .. } = memory;
        let is_there = |kept: &CachedPlane| kept.plane == plane && kept.wide == wide;
        if let Some(slot) = kept.iter().position(|kept| kept.as_ref().is_some_and(is_there)) {
            return (slot, false);
        }
        let is_needed = |kept: &CachedPlane| kept.wide == wide && planes.all().contains(&kept.plane);
        // There are at least as many slots as a window has planes, so one slot holds none of them.
        let slot = kept.iter().position(|kept| !kept.as_ref().is_some_and(is_needed)).unwrap_or(0);
        let was_lossy = kept.iter().flatten().any(|kept| kept.plane == plane && kept.lossy);
        let best = (cast_slice_mut(slots[slot]), self.band.columns);
        let found = self.plane_of_x::<C>(plane, loaded, reduced, steps, best, checks_lossy);
        kept[slot] = Some(CachedPlane { plane, lossy: found || was_lossy, wide });
        (slot, found)
    }

    /// Computes the maxima of windows within one plane of X, and writes rows with this pitch. With `checks_lossy` it
    /// returns whether there are lossy elements; if they need other lanes, lanes are then not computed.
    fn plane_of_x<C: Code<Element = T>>(
        &self,
        plane: usize,
        loaded: &mut [u64],
        reduced: &mut [u64],
        steps: &mut [&mut [u64]; 2],
        (best, pitch): (&mut [C::Lane], usize),
        checks_lossy: bool,
    ) -> bool {
        let (reduced, steps) = (cast_slice_mut(reduced), steps.each_mut().map(|step| cast_slice_mut(step)));
        let [a, b] = steps;
        let found = if self.own.reads::<C>() {
            self.along_rows(cast_slice(self.elements(plane)), self.x_pitch(), reduced, [a, b], checks_lossy)
        } else {
            let columns = self.band.strip.x.len() * self.own.inner;
            let lanes = &mut cast_slice_mut(loaded)[..self.band.all_x_rows() * columns];
            let lossy = self.load::<C>(plane, lanes) && checks_lossy;
            if lossy && self.needs_other_lanes::<C>() {
                return true;
            }
            self.along_rows(lanes, columns, reduced, [a, b], false) || lossy
        };
        if !found || !self.needs_other_lanes::<C>() {
            self.across_rows(reduced, [a, b], best, pitch);
        }
        found
    }

    /// Writes the lanes of the rows of X, those in the padding too. Returns whether there are lossy elements.
    fn load<C: Code<Element = T>>(&self, plane: usize, lanes: &mut [C::Lane]) -> bool {
        let (Band { strip, x_rows, .. }, Flat { inner, inverted, .. }) = (self.band, self.own);
        let (down, along, simd) = (&self.own.axes[self.own.down], self.own.along(), self.part.context.simd);
        let (pitch, columns) = (self.x_pitch(), strip.x.len() * inner);
        if !self.own.padded && pitch == columns {
            let x = self.elements(plane);
            return simd.run(
                #[inline(always)]
                || encode_row::<C>(x, lanes, *inverted),
            );
        }
        // The position of a lane, and the lanes that X has.
        let position = |axis: &Axis, lane: usize| lane as i64 + if self.own.padded { axis.start(0) } else { 0 };
        let start = position(along, strip.x.start);
        let begin = (start.saturating_neg().max(0) as usize).min(strip.x.len());
        let end = (along.input as i64 - start).clamp(begin as i64, strip.x.len() as i64) as usize;
        let first = usize::try_from(start + begin as i64).unwrap_or(0) * inner;
        let rows = (0..self.band.planes).flat_map(|number| x_rows.clone().map(move |row| (number, row)));
        simd.run(
            #[inline(always)]
            || {
                let mut found = false;
                for ((number, row), lanes) in rows.zip(lanes.chunks_exact_mut(columns)) {
                    let row = usize::try_from(position(down, row)).ok().filter(|row| *row < down.input && begin < end);
                    let (before, rest) = lanes.split_at_mut(row.map_or(columns, |_| begin * inner));
                    before.fill(C::Lane::LOWEST);
                    let Some(row) = row else { continue };
                    let (lanes, behind) = rest.split_at_mut((end - begin) * inner);
                    behind.fill(C::Lane::LOWEST);
                    let x = &self.x[plane + (number * down.input + row) * pitch + first..][..lanes.len()];
                    found |= encode_row::<C>(x, lanes, *inverted);
                }
                found
            },
        )
    }

    /// Reduces the rows of X, which have this pitch in lanes, along themselves. With `checks_nan` it returns whether
    /// there is a NaN.
    fn along_rows<L: Lane>(
        &self,
        x: &[L],
        pitch: usize,
        reduced: &mut [L],
        steps: [&mut [L]; 2],
        checks_nan: bool,
    ) -> bool {
        let (Band { strip, columns, .. }, inner) = (self.band, self.own.inner);
        let x_rows = self.band.all_x_rows();
        let (along, simd) = (&self.own.lanes[1], self.part.context.simd);
        let place = |column: usize| (column - strip.columns.start) * inner;
        let mut found = false;
        // The part of the rows to search for NaN below: `reduce` searches the first taps of windows inside X.
        let (mut rest, mut rows_of_rest) = (0, 0..x_rows);
        if !strip.inside.is_empty() {
            let first = (along.start(strip.inside.start) as usize - strip.x.start) * inner;
            let width = strip.inside.len() * inner;
            let rows = Rows { count: x_rows, width, read_pitch: pitch, write_pitch: *columns }.joined_with_gaps();
            let taps = EvenTaps { count: along.kernel, distance: along.dilation * inner };
            let reduced = &mut reduced[place(strip.inside.start)..][..rows.written()];
            let x = &x[first..][..rows.read() + along.reach() * inner];
            found = reduce_taps(simd, rows, reduced, (taps, checks_nan), x, steps);
            if first == 0 {
                rest = width;
                rows_of_rest.start = x_rows - rows.count;
            }
        }
        if L::HAS_NAN && checks_nan && !found {
            let width = strip.x.len() * inner;
            let mut rows = rows_of_rest.map(|row| &x[row * pitch..][rest..width]);
            found = rows.any(|row| row.iter().any(|lane| lane.is_nan()));
        }
        // Where rows follow each other, the loop above also wrote wrong values to these columns.
        for edge in &strip.edges {
            let first = (edge.first - strip.x.start) * inner;
            let reduced = &mut reduced[place(edge.column)..];
            let rows = Rows { count: x_rows, width: inner, read_pitch: pitch, write_pitch: *columns };
            if inner >= FEW_LANES {
                let source = |tap: usize| &x[first + tap * along.dilation * inner..][..rows.read()];
                reduce(simd, rows, &mut reduced[..rows.written()], (edge.taps, false), source);
                continue;
            }
            for channel in 0..inner {
                let (x, reduced) = (&x[first + channel..], &mut reduced[channel..]);
                column(rows, reduced, x, edge.taps, along.dilation * inner);
            }
        }
        found
    }

    /// Reduces across rows the lanes that are already reduced along rows.
    fn across_rows<L: Lane>(&self, reduced: &[L], [a, b]: [&mut [L]; 2], best: &mut [L], pitch: usize) {
        let (Band { rows, runs, x_rows, columns, planes, .. }, down) = (self.band, &self.own.lanes[0]);
        let (read_pitch, write_pitch) = (x_rows.len() * columns, rows.len() * pitch);
        for run in runs {
            let of_plane =
                Rows { count: run.count, width: *columns, read_pitch: down.stride * columns, write_pitch: pitch }
                    .joined();
            // One row in each plane is treated as one row per plane.
            let (of_planes, planes) = match of_plane.count {
                1 => (Rows { count: *planes, read_pitch, write_pitch, ..of_plane }, 1),
                _ => (of_plane, *planes),
            };
            for plane in 0..planes {
                let first = plane * read_pitch + (run.first - x_rows.start) * columns;
                let taps = EvenTaps { count: run.taps, distance: down.dilation * columns };
                let x = &reduced[first..][..of_planes.read() + (run.taps - 1) * taps.distance];
                let best = &mut best[plane * write_pitch + (run.row - rows.start) * pitch..][..of_planes.written()];
                reduce_taps(self.part.context.simd, of_planes, best, (taps, false), x, [&mut *a, &mut *b]);
            }
        }
    }

    /// Rewrites the outputs whose windows begin with NaN, given the first plane that windows contain.
    fn first_nan(&self, plane: usize, y: &mut [T]) {
        let (Band { strip, rows, width: width_of_y, planes, .. }, inner) = (self.band, self.own.inner);
        let down = &self.own.axes[self.own.down];
        let runs = RowRun::split(down, rows.clone());
        for (number, run) in (0..*planes).flat_map(|number| runs.iter().map(move |run| (number, run))) {
            let x = &self.x[plane + (number * down.input + run.first) * self.x_pitch()..];
            let y = &mut y[(number * rows.len() + run.row - rows.start) * width_of_y..];
            for FirstColumns { column, position, count } in &strip.firsts {
                let place = (column - strip.columns.start) * inner;
                let (width, read_pitch) = (count * inner, down.stride * self.x_pitch());
                let rows_of_run = Rows { count: run.count, width, read_pitch, write_pitch: *width_of_y };
                let x = &x[position * inner..][..rows_of_run.read()];
                copy_nan(self.part.context.simd, rows_of_run, &mut y[place..][..rows_of_run.written()], x);
            }
        }
    }
}

/// Reduces one lane of each row.
fn column<L: Lane>(rows: Rows, best: &mut [L], x: &[L], taps: usize, distance: usize) {
    #[inline(always)]
    fn of<L: Lane, const TAPS: usize>(rows: Rows, best: &mut [L], x: &[L], distance: usize) {
        let Some(last) = rows.count.checked_sub(1) else { return };
        let x: [&[L]; TAPS] = std::array::from_fn(|tap| &x[tap * distance..][..last * rows.read_pitch + 1]);
        for row in 0..rows.count {
            best[row * rows.write_pitch] = x.iter().fold(L::LOWEST, |best, x| best.step(x[row * rows.read_pitch], 0));
        }
    }
    match taps {
        1 => of::<L, 1>(rows, best, x, distance),
        2 => of::<L, 2>(rows, best, x, distance),
        3 => of::<L, 3>(rows, best, x, distance),
        4 => of::<L, 4>(rows, best, x, distance),
        _ => {
            for row in 0..rows.count {
                let x = &x[row * rows.read_pitch..];
                best[row * rows.write_pitch] = (0..taps).fold(L::LOWEST, |best, tap| best.step(x[tap * distance], 0));
            }
        }
    }
}
