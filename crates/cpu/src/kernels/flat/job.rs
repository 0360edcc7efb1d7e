//! The outputs of a band, plane after plane.

use bytemuck::{cast_slice, cast_slice_mut};
use wgpu_pooling_plan::internal::activate_all;
use wgpu_pooling_plan::{Element, NanPolicy};

use super::band::{Band, Firsts};
use super::pick::pick;
use super::{FEW, Flat};
use crate::kernels::lane::Code;
use crate::kernels::lane::Lane;
use crate::kernels::parts::PartOf;
use crate::kernels::reduce::Rows;
use crate::kernels::reduce::decode;
use crate::kernels::reduce::encode;
use crate::kernels::reduce::reduce;
use crate::kernels::reduce::take_nan;

/// The most reduced planes that are kept.
pub(super) const MOST_KEPT: usize = 16;

/// A plane of X that was reduced along its rows and across them. Special elements are those that their lanes do not
/// give back, and NaN.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kept {
    /// Where it begins.
    pub plane: usize,
    /// Whether it has special elements, as far as these were looked for.
    pub special: bool,
    /// Whether its lanes are those for special elements.
    pub wide: bool,
}

/// The memory of a thread, and the reduced planes in it.
pub(super) struct Memory<'a> {
    pub loaded: &'a mut [u64],
    pub reduced: &'a mut [u64],
    pub best: &'a mut [u64],
    /// The maxima at all positions of a band, if the stride along the rows is larger than 1.
    pub dense: &'a mut [u64],
    pub planes: Vec<&'a mut [u64]>,
    pub kept: Vec<Option<Kept>>,
}

/// Planes of X: where each begins.
#[derive(Debug, Clone, Copy)]
pub(super) struct Planes {
    pub own: [usize; MOST_KEPT],
    pub count: usize,
}

impl Planes {
    pub fn all(&self) -> &[usize] {
        &self.own[..self.count]
    }
}

/// What a band is computed for.
pub(super) struct Job<'a, T> {
    pub own: &'a Flat,
    pub part: &'a PartOf<'a>,
    pub band: &'a Band<'a>,
    pub x: &'a [T],
}

impl<T: Element> Job<'_, T> {
    /// Elements from one row of X to the next.
    fn x_pitch(&self) -> usize {
        self.own.along().input * self.own.inner
    }

    /// The rows of X that the band has, of a plane and of those that follow it.
    fn elements(&self, plane: usize) -> &[T] {
        let Band { strip, x_rows, .. } = self.band;
        let first = plane + x_rows.start * self.x_pitch() + strip.x.start * self.own.inner;
        &self.x[first..][..(self.band.all_x_rows() - 1) * self.x_pitch() + strip.x.len() * self.own.inner]
    }

    /// A plane of Y.
    pub fn run<C: Code<Element = T>, S: Code<Element = T>, N: Code<Element = T>>(
        &self,
        planes: Planes,
        y: &mut [T],
        memory: &mut Memory<'_>,
    ) {
        let (Band { strip, columns, .. }, Flat { apart, outputs, inner, .. }) = (self.band, self.own);
        let rows = Rows {
            count: self.band.all_rows(),
            width: strip.outputs.len() * inner,
            from: *columns,
            to: outputs * inner,
        };
        if *apart == 1 {
            self.plane_of_any::<C, S, N>(planes, y, memory);
        } else {
            let dense = std::mem::take(&mut memory.dense);
            let elements = &mut cast_slice_mut(dense)[..rows.count * columns];
            self.plane_of_any::<C, S, N>(planes, elements, memory);
            pick(self.part.simd, rows, [*apart, *inner], &mut y[..rows.written()], elements);
            memory.dense = dense;
        }
        let Rows { count, width, to, .. } = Rows { from: rows.to, ..rows }.joined();
        (0..count).for_each(|row| activate_all(self.part.plan.activation, &mut y[row * to..][..width]));
    }

    /// A plane of windows, with the lanes that its elements need.
    fn plane_of_any<C: Code<Element = T>, S: Code<Element = T>, N: Code<Element = T>>(
        &self,
        planes: Planes,
        y: &mut [T],
        memory: &mut Memory<'_>,
    ) {
        let policy = self.part.plan.nan_policy;
        let looks = T::DTYPE.is_float() && (policy != NanPolicy::SeedLowest || !C::KEEPS_BITS);
        let is_special = |kept: &Kept| kept.special && planes.all().contains(&kept.plane);
        let mut special = memory.kept.iter().flatten().any(is_special);
        if !special || !self.needs_others::<C>() {
            special |= self.plane::<C>(&planes, y, memory, false, looks);
        }
        if special && self.needs_others::<C>() {
            match policy {
                NanPolicy::PropagateLast => self.plane::<N>(&planes, y, memory, true, false),
                _ => self.plane::<S>(&planes, y, memory, true, false),
            };
        }
        if special && looks && policy == NanPolicy::SeedFirst {
            self.first_nan(planes.own[0], y);
        }
    }

    /// Whether special elements need other lanes than those of `C`.
    fn needs_others<C: Code>(&self) -> bool {
        !C::KEEPS_BITS || self.part.plan.nan_policy == NanPolicy::PropagateLast
    }

    /// The band's outputs, of which lanes lie side by side and elements of Y as they do there.
    fn rows_of_y(&self) -> Rows {
        let Band { width, columns, .. } = *self.band;
        Rows { count: self.band.all_rows(), width: columns, from: columns, to: width }.joined()
    }

    /// A plane of outputs with lanes of `C`, which are those for special elements if they are `wide`. If it `looks` for
    /// these: whether there was one. Then outputs are not written if they need other lanes.
    fn plane<C: Code<Element = T>>(
        &self,
        planes: &Planes,
        y: &mut [T],
        memory: &mut Memory<'_>,
        wide: bool,
        looks: bool,
    ) -> bool {
        let rows = self.rows_of_y();
        let y = &mut y[..rows.written()];
        if C::KEEPS_BITS {
            return self.maxima::<C>(planes, cast_slice_mut(y), rows, memory, wide, looks);
        }
        // The lanes of outputs are not needed any more when those of another plane are computed.
        let best = std::mem::take(&mut memory.best);
        let lanes = &mut cast_slice_mut(best)[..rows.read()];
        let found = self.maxima::<C>(planes, lanes, Rows { to: rows.from, ..rows }.joined(), memory, wide, looks);
        if !found {
            decode::<C>(self.part.simd, rows, y, lanes);
        }
        memory.best = best;
        found
    }

    /// The maxima of windows. `rows` says how far apart they are written.
    fn maxima<C: Code<Element = T>>(
        &self,
        planes: &Planes,
        best: &mut [C::Lane],
        rows: Rows,
        memory: &mut Memory<'_>,
        wide: bool,
        looks: bool,
    ) -> bool {
        let pitch = if rows.count == 1 { self.band.columns } else { rows.to };
        let mut found = false;
        if self.own.planes == 1 {
            let Memory { loaded, reduced, .. } = memory;
            found = self.plane_of_x::<C>(planes.own[0], loaded, reduced, (best, pitch), looks);
        } else {
            let mut slots = [0; MOST_KEPT];
            for (slot, plane) in slots.iter_mut().zip(planes.all()) {
                let found_here;
                (*slot, found_here) = self.kept_plane::<C>(planes, *plane, memory, wide, looks);
                found |= found_here;
            }
            let source = |number: usize| &cast_slice(&*memory.planes[slots[number]])[..rows.read()];
            reduce(self.part.simd, rows, best, (planes.count, false), source);
        }
        if let (NanPolicy::SeedLowest, true) = (self.part.plan.nan_policy, T::DTYPE.is_float()) {
            let seed = C::encode(self.part.plan.seed());
            for row in 0..rows.count {
                let best = &mut best[row * rows.to..][..rows.width];
                self.part.simd.run(
                    #[inline(always)]
                    || best.iter_mut().for_each(|best| *best = seed.step(*best, 0)),
                );
            }
        }
        found
    }

    /// The slot of a plane of X that is one of some, reduced now if it was not before; and whether there were special
    /// elements.
    fn kept_plane<C: Code<Element = T>>(
        &self,
        planes: &Planes,
        plane: usize,
        memory: &mut Memory<'_>,
        wide: bool,
        looks: bool,
    ) -> (usize, bool) {
        let Memory { loaded, reduced, planes: slots, kept, .. } = memory;
        let is_there = |kept: &Kept| kept.plane == plane && kept.wide == wide;
        if let Some(slot) = kept.iter().position(|kept| kept.as_ref().is_some_and(is_there)) {
            return (slot, false);
        }
        let is_needed = |kept: &Kept| kept.wide == wide && planes.all().contains(&kept.plane);
        // There are as many slots as a window has planes at most, and this one is in none of them.
        let slot = kept.iter().position(|kept| !kept.as_ref().is_some_and(is_needed)).unwrap_or(0);
        let was_special = kept.iter().flatten().any(|kept| kept.plane == plane && kept.special);
        let best = (cast_slice_mut(slots[slot]), self.band.columns);
        let found = self.plane_of_x::<C>(plane, loaded, reduced, best, looks);
        kept[slot] = Some(Kept { plane, special: found || was_special, wide });
        (slot, found)
    }

    /// The maxima of windows over one plane of X, in rows that lie some lanes apart. If it `looks`: whether there are
    /// special elements. Then lanes are not computed if those need others.
    fn plane_of_x<C: Code<Element = T>>(
        &self,
        plane: usize,
        loaded: &mut [u64],
        reduced: &mut [u64],
        (best, pitch): (&mut [C::Lane], usize),
        looks: bool,
    ) -> bool {
        let (elements, simd) = (self.elements(plane), self.part.simd);
        let reduced = cast_slice_mut(reduced);
        let found = if C::KEEPS_BITS {
            let found = self.along_rows(cast_slice(elements), self.x_pitch(), reduced, looks);
            if found && self.needs_others::<C>() {
                return true;
            }
            found
        } else {
            let columns = self.band.strip.x.len() * self.own.inner;
            let count = self.band.all_x_rows();
            let rows = Rows { count, width: columns, from: self.x_pitch(), to: columns }.joined();
            let lanes = &mut cast_slice_mut(loaded)[..count * columns];
            if encode::<C>(simd, rows, lanes, elements) && looks {
                return true;
            }
            self.along_rows(lanes, columns, reduced, false)
        };
        self.across_rows(reduced, best, pitch);
        found
    }

    /// Reduces the rows of X, which lie `pitch` lanes apart, along themselves. If it `looks` for NaN: whether there is
    /// one.
    fn along_rows<L: Lane>(&self, x: &[L], pitch: usize, reduced: &mut [L], looks: bool) -> bool {
        let (Band { strip, columns, .. }, inner) = (self.band, self.own.inner);
        let x_rows = self.band.all_x_rows();
        let (along, simd) = (self.own.along(), self.part.simd);
        let place = |column: usize| (column - strip.columns.start) * inner;
        let mut found = false;
        // Elements from which on the first taps of these windows have none.
        let (mut rest, mut rows_of_rest) = (0, 0..x_rows);
        if !strip.inside.is_empty() {
            let first = (along.start(strip.inside.start) as usize - strip.x.start) * inner;
            let width = strip.inside.len() * inner;
            let rows = Rows { count: x_rows, width, from: pitch, to: *columns }.joined_with_gaps();
            let source = |tap: usize| &x[first + tap * along.dilation * inner..][..rows.read()];
            let reduced = &mut reduced[place(strip.inside.start)..][..rows.written()];
            found = reduce(simd, rows, reduced, (along.kernel, looks), source);
            if first == 0 {
                rest = width;
                rows_of_rest.start = x_rows - rows.count;
            }
        }
        if L::HAS_NAN && looks && !found {
            let width = strip.x.len() * inner;
            let mut rows = rows_of_rest.map(|row| &x[row * pitch..][rest..width]);
            found = rows.any(|row| row.iter().any(|lane| lane.is_nan()));
        }
        // Where rows follow each other, these columns were taken for inner ones too.
        for edge in &strip.edges {
            let first = (edge.first - strip.x.start) * inner;
            let reduced = &mut reduced[place(edge.column)..];
            let rows = Rows { count: x_rows, width: inner, from: pitch, to: *columns };
            if inner >= FEW {
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

    /// Reduces rows that were reduced along themselves.
    fn across_rows<L: Lane>(&self, reduced: &[L], best: &mut [L], pitch: usize) {
        let (Band { rows, runs, x_rows, columns, planes, .. }, down) = (self.band, &self.own.axes[self.own.down]);
        let (from, to) = (x_rows.len() * columns, rows.len() * pitch);
        for run in runs {
            let of_plane = Rows { count: run.count, width: *columns, from: down.stride * columns, to: pitch }.joined();
            // What is a single row in each plane is as many rows as there are planes.
            let (of_planes, planes) = match of_plane.count {
                1 => (Rows { count: *planes, from, to, ..of_plane }, 1),
                _ => (of_plane, *planes),
            };
            for plane in 0..planes {
                let first = plane * from + (run.first - x_rows.start) * columns;
                let source = |tap: usize| &reduced[first + tap * down.dilation * columns..][..of_planes.read()];
                let best = &mut best[plane * to + (run.row - rows.start) * pitch..][..of_planes.written()];
                reduce(self.part.simd, of_planes, best, (run.taps, false), source);
            }
        }
    }

    /// Writes the first elements of windows that are NaN, given the first plane that windows have.
    fn first_nan(&self, plane: usize, y: &mut [T]) {
        let (Band { strip, rows, runs, width: width_of_y, planes, .. }, inner) = (self.band, self.own.inner);
        let down = &self.own.axes[self.own.down];
        for (number, run) in (0..*planes).flat_map(|number| runs.iter().map(move |run| (number, run))) {
            let x = &self.x[plane + (number * self.band.x_rows.len() + run.first) * self.x_pitch()..];
            let y = &mut y[(number * rows.len() + run.row - rows.start) * width_of_y..];
            for Firsts { column, position, count } in &strip.firsts {
                let place = (column - strip.columns.start) * inner;
                let (width, from) = (count * inner, down.stride * self.x_pitch());
                let rows_of_run = Rows { count: run.count, width, from, to: *width_of_y };
                let x = &x[position * inner..][..rows_of_run.read()];
                take_nan(self.part.simd, rows_of_run, &mut y[place..][..rows_of_run.written()], x);
            }
        }
    }
}

/// Reduces one lane of each row.
fn column<L: Lane>(rows: Rows, best: &mut [L], x: &[L], taps: usize, distance: usize) {
    #[inline(always)]
    fn of<L: Lane, const TAPS: usize>(rows: Rows, best: &mut [L], x: &[L], distance: usize) {
        let Some(last) = rows.count.checked_sub(1) else { return };
        let x: [&[L]; TAPS] = std::array::from_fn(|tap| &x[tap * distance..][..last * rows.from + 1]);
        for row in 0..rows.count {
            best[row * rows.to] = x.iter().fold(L::LOWEST, |best, x| best.step(x[row * rows.from], 0));
        }
    }
    match taps {
        1 => of::<L, 1>(rows, best, x, distance),
        2 => of::<L, 2>(rows, best, x, distance),
        3 => of::<L, 3>(rows, best, x, distance),
        4 => of::<L, 4>(rows, best, x, distance),
        _ => {
            for row in 0..rows.count {
                let x = &x[row * rows.from..];
                best[row * rows.to] = (0..taps).fold(L::LOWEST, |best, tap| best.step(x[tap * distance], 0));
            }
        }
    }
}
