//! The loops of the [`direct`](super::direct) kernel: a vector of neighbouring outputs takes one tap of all their
//! windows after the other.
//!
//! ```text
//! stride 1, tap t   the vector from x[i + t] on
//! stride 2, taps    x[2i] x[2i + 1] x[2i + 2] x[2i + 3] ..    two vectors, sorted into
//!    t and t + 1    x[2i] x[2i + 2] ..   and   x[2i + 1] x[2i + 3] ..
//! ```
//!
//! Where a comparison takes less time than sorting, windows at all positions are computed, as with stride 1, and every
//! second one is an output.

use std::convert::identity;

use bytemuck::Zeroable;
use fearless_simd::{Simd, SimdBase};
use wgpu_pooling_plan::Index;

use super::indices::{IndicesMut, with_slice};
use super::simd::VectorLoop;
use super::vector::{VectorCode, VectorWindows};

/// The most taps of a window.
pub(crate) const MOST_TAPS: usize = 27;

/// The most lanes of a vector.
pub(crate) const MOST_LANES: usize = 64;

/// Taps along the innermost axis.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub kernel: usize,
    pub stride: usize,
    /// Elements from one tap to the next.
    pub distance: usize,
}

/// Evenly spaced rows of outputs whose windows lie inside X along the innermost axis.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InsideRows<'a> {
    pub shape: Shape,
    /// For each row of X of a window: the place of the first tap of the first output.
    pub places: &'a [usize],
    /// The number of outputs of a row, and of rows.
    pub length: usize,
    pub count: usize,
    /// Elements from one row to the next, in X and in Y.
    pub x_step: usize,
    pub y_step: usize,
}

/// The state of an output and how it is written: the element alone, or with its index.
pub(crate) trait OutputForm<C: VectorCode> {
    type State<S: Simd>: Copy;

    /// Whether windows at all positions are computed if the stride is 2.
    const AT_ALL_POSITIONS: bool;

    /// The state before the first tap, and whether it is a seed. If not, the first tap replaces it.
    fn seed<S: Simd>(&self, simd: S) -> (Self::State<S>, bool);

    /// The state after the first tap. Taps are numbered row by row, `kernel` taps per row.
    fn begin<S: Simd>(&self, simd: S, tap: usize, first: C::Vector<S>) -> Self::State<S>;

    fn step<S: Simd, const NAN_WINS: bool>(
        &self,
        simd: S,
        tap: usize,
        state: Self::State<S>,
        next: C::Vector<S>,
    ) -> Self::State<S>;

    /// Every second lane of two vectors.
    fn every_second<S: Simd>(low: Self::State<S>, high: Self::State<S>) -> Self::State<S>;

    /// Writes a vector of outputs that begins with number `at` of row `row`, to `place` in Y.
    fn write<S: Simd>(&mut self, simd: S, at: (usize, usize), place: usize, state: Self::State<S>);

    /// Writes the first `count` outputs of a vector whose lanes are rows, beginning with row `row`. `pitch` is the
    /// distance of rows in Y.
    fn write_column<S: Simd>(&mut self, simd: S, row: usize, count: usize, pitch: usize, state: Self::State<S>);
}

/// Writes elements alone. Outputs begin with a seed, or with their first tap.
pub(crate) struct ElementsAlone<'a, C: VectorCode> {
    pub y: &'a mut [C::Stored],
    pub seed: Option<C::Stored>,
}

impl<C: VectorCode> OutputForm<C> for ElementsAlone<'_, C> {
    type State<S: Simd> = C::Best<S>;

    const AT_ALL_POSITIONS: bool = C::IS_CHEAP;

    #[inline(always)]
    fn seed<S: Simd>(&self, simd: S) -> (C::Best<S>, bool) {
        let seed = self.seed.unwrap_or(C::Stored::zeroed());
        (C::begin(simd, C::Vector::splat(simd, seed)), self.seed.is_some())
    }

    #[inline(always)]
    fn begin<S: Simd>(&self, simd: S, _: usize, first: C::Vector<S>) -> C::Best<S> {
        C::begin(simd, first)
    }

    #[inline(always)]
    fn step<S: Simd, const NAN_WINS: bool>(
        &self,
        simd: S,
        _: usize,
        best: C::Best<S>,
        next: C::Vector<S>,
    ) -> C::Best<S> {
        C::step::<S, NAN_WINS>(simd, best, next)
    }

    #[inline(always)]
    fn every_second<S: Simd>(low: C::Best<S>, high: C::Best<S>) -> C::Best<S> {
        C::every_second(low, high)
    }

    #[inline(always)]
    fn write<S: Simd>(&mut self, _: S, _: (usize, usize), place: usize, best: C::Best<S>) {
        C::elements(best).store_slice(&mut self.y[place..][..C::Vector::<S>::LEN]);
    }

    #[inline(always)]
    fn write_column<S: Simd>(&mut self, _: S, row: usize, count: usize, pitch: usize, best: C::Best<S>) {
        scatter(&mut self.y[row * pitch..], pitch, &C::elements(best).as_slice()[..count], identity);
    }
}

/// Writes elements and indices. The taps are compared in the same loops whatever the type of indices.
pub(crate) struct WithIndices<'a, C: VectorCode> {
    pub y: &'a mut [C::Stored],
    pub indices: IndicesMut<'a>,
    /// The index of the first tap of the first output, and the amounts that each row of outputs and each output add to
    /// it.
    pub base: i64,
    pub row_step: i64,
    pub step: i64,
    /// The amount that each tap adds.
    pub ahead: &'a [i64],
}

impl<C: VectorCode> WithIndices<'_, C> {
    #[inline(always)]
    fn tap<S: Simd>(&self, simd: S, number: usize) -> C::TapIds<S> {
        C::tap(simd, number, self.ahead[number])
    }
}

impl<C: VectorCode> OutputForm<C> for WithIndices<'_, C> {
    type State<S: Simd> = (C::Best<S>, C::TapIds<S>);

    const AT_ALL_POSITIONS: bool = false;

    #[inline(always)]
    fn seed<S: Simd>(&self, simd: S) -> (Self::State<S>, bool) {
        let nothing = C::Vector::splat(simd, C::Stored::zeroed());
        ((C::begin(simd, nothing), C::along(simd, 0)), false)
    }

    #[inline(always)]
    fn begin<S: Simd>(&self, simd: S, tap: usize, first: C::Vector<S>) -> Self::State<S> {
        (C::begin(simd, first), self.tap(simd, tap))
    }

    #[inline(always)]
    fn step<S: Simd, const NAN_WINS: bool>(
        &self,
        simd: S,
        tap: usize,
        state: Self::State<S>,
        next: C::Vector<S>,
    ) -> Self::State<S> {
        C::step_placed::<S, NAN_WINS>(simd, state, next, self.tap(simd, tap))
    }

    #[inline(always)]
    fn every_second<S: Simd>(low: Self::State<S>, high: Self::State<S>) -> Self::State<S> {
        (C::every_second(low.0, high.0), C::every_second_tap(low.1, high.1))
    }

    #[inline(always)]
    fn write<S: Simd>(&mut self, simd: S, (row, at): (usize, usize), place: usize, (best, taps): Self::State<S>) {
        let lanes = C::Vector::<S>::LEN;
        C::elements(best).store_slice(&mut self.y[place..][..lanes]);
        let along = (row as i64).wrapping_mul(self.row_step).wrapping_add((at as i64).wrapping_mul(self.step));
        let windows = VectorWindows { step: self.step, along: C::along(simd, self.step), ahead: self.ahead };
        let base = self.base.wrapping_add(along);
        with_slice!(IndicesMut, &mut self.indices, indices => {
            C::write_indices(simd, taps, &windows, base, &mut indices[place..][..lanes]);
        });
    }

    #[inline(always)]
    fn write_column<S: Simd>(&mut self, simd: S, row: usize, count: usize, pitch: usize, (best, taps): Self::State<S>) {
        scatter(&mut self.y[row * pitch..], pitch, &C::elements(best).as_slice()[..count], identity);
        let windows = VectorWindows { step: self.row_step, along: C::along(simd, self.row_step), ahead: self.ahead };
        let base = self.base.wrapping_add((row as i64).wrapping_mul(self.row_step));
        let mut indices = [0i64; MOST_LANES];
        let indices = &mut indices[..C::Vector::<S>::LEN];
        C::write_indices(simd, taps, &windows, base, indices);
        with_slice!(IndicesMut, &mut self.indices, to => {
            scatter(&mut to[row * pitch..], pitch, &indices[..count], Index::from_i64);
        });
    }
}

/// Outputs at one place of consecutive rows, whose windows have the same taps inside X. A lane of a vector is a row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column<'a> {
    /// For each row of X of a window: the place of tap 0 of the first row of outputs, padding included.
    pub places: &'a [i64],
    /// The taps of a row of a window, the first one inside X, the number of taps inside X, and elements from one to the
    /// next.
    pub kernel: usize,
    pub first_tap: usize,
    pub taps: usize,
    pub distance: usize,
    /// The number of rows, and elements from one to the next, in X and in Y.
    pub count: usize,
    pub x_step: usize,
    pub y_step: usize,
}

/// The outputs that a loop computes.
pub(crate) enum LoopOutputs<'a> {
    /// The outputs of rows, beginning with this row. Where there is room, the loop also writes outputs beyond a row,
    /// which must be computed afterwards.
    Rows(InsideRows<'a>, usize),
    /// The outputs of a column, and no others.
    Column(Column<'a>),
}

/// A loop over outputs. It returns `Some((row, output))` where no vector fits in the rest of that row; the rows after
/// it are not computed.
pub(crate) struct TapLoop<'a, C: VectorCode, F> {
    pub outputs: LoopOutputs<'a>,
    pub x: &'a [C::Stored],
    /// The number of elements of Y that may be written.
    pub room: usize,
    pub form: F,
    pub nan_wins: bool,
}

impl<C: VectorCode, F: OutputForm<C>> VectorLoop for TapLoop<'_, C, F> {
    type Output = Option<(usize, usize)>;

    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) -> Option<(usize, usize)> {
        if C::HAS_NAN && self.nan_wins {
            return self.run_of_policy::<S, true>(simd);
        }
        self.run_of_policy::<S, false>(simd)
    }
}

impl<C: VectorCode, F: OutputForm<C>> TapLoop<'_, C, F> {
    #[inline(always)]
    fn run_of_policy<S: Simd, const NAN_WINS: bool>(&mut self, simd: S) -> Option<(usize, usize)> {
        match self.outputs {
            // Few processors of x86 have nothing better than SSE2, whose vectors have 16 bytes. For them the loops in
            // which NaN wins take one vector at a time, so that less is compiled.
            LoopOutputs::Rows(run, first)
                if const { NAN_WINS && cfg!(target_feature = "sse2") && size_of::<S::f32s>() == 16 } =>
            {
                match run.shape.stride {
                    1 => self.rows::<S, 1, 1, 1, 1, NAN_WINS>(simd, run, first),
                    2 => self.rows::<S, 2, 2, 1, 1, NAN_WINS>(simd, run, first),
                    _ => self.rows::<S, 4, 4, 1, 1, NAN_WINS>(simd, run, first),
                }
            }
            LoopOutputs::Rows(run, first) => match run.shape.stride {
                1 => self.rows::<S, 1, 1, 4, 1, NAN_WINS>(simd, run, first),
                2 if F::AT_ALL_POSITIONS => self.rows::<S, 2, 1, 4, 2, NAN_WINS>(simd, run, first),
                2 => self.rows::<S, 2, 2, 2, 1, NAN_WINS>(simd, run, first),
                _ => self.rows::<S, 4, 4, 1, 1, NAN_WINS>(simd, run, first),
            },
            LoopOutputs::Column(column) => {
                self.column::<S, NAN_WINS>(simd, column);
                None
            }
        }
    }

    /// Computes outputs in blocks. The windows in neighbouring lanes of a vector are `SPACING` elements apart:
    /// `STRIDE`, the distance of outputs, or 1 for windows at all positions. A block has the outputs of `MANY` vectors,
    /// or of `FEW`. Loops that take two or four rows of X at once took 0.8 to 1.1 of the time for 2x2x2 in f32, up to 3
    /// times as long for bytes.
    #[inline(always)]
    fn rows<
        S: Simd,
        const STRIDE: usize,
        const SPACING: usize,
        const MANY: usize,
        const FEW: usize,
        const NAN_WINS: bool,
    >(
        &mut self,
        simd: S,
        run: InsideRows<'_>,
        first: usize,
    ) -> Option<(usize, usize)> {
        let InsideRows { shape, places, length, count, x_step, y_step } = run;
        let outputs = |vectors: usize| vectors * SPACING * C::Vector::<S>::LEN / STRIDE;
        let (many, few) = (outputs(MANY), outputs(FEW));
        // The elements that a block reads beyond the vectors of its first tap.
        let beyond =
            if SPACING == 1 { (shape.kernel - 1) * shape.distance } else { (shape.kernel - 1) / SPACING * SPACING };
        let furthest = places.iter().copied().max().unwrap_or(0);
        // With a spacing of 1, all taps are read in the same way, whatever their row.
        let mut taps = [0; MOST_TAPS];
        if SPACING == 1 {
            for (place, taps) in places.iter().zip(taps.chunks_exact_mut(shape.kernel)) {
                taps.iter_mut().enumerate().for_each(|(number, tap)| *tap = place + number * shape.distance);
            }
        }
        let taps = &taps[..places.len() * shape.kernel];
        for row in first..count {
            let of_y = row * y_step;
            let room = (self.x.len() - (furthest + row * x_step)).saturating_sub(beyond) / STRIDE;
            let room = room.min(self.room - of_y);
            let mut at = 0;
            while at < length {
                if MANY > FEW && length - at > many / 2 && at + many <= room {
                    self.block::<S, STRIDE, SPACING, MANY, NAN_WINS>(simd, run, taps, (row, at));
                    at += many;
                    continue;
                }
                if at + few > room {
                    // The last outputs of the row again, with some before them.
                    if length > room || length < few {
                        return Some((row, at));
                    }
                    at = length - few;
                }
                self.block::<S, STRIDE, SPACING, FEW, NAN_WINS>(simd, run, taps, (row, at));
                at += few;
            }
        }
        None
    }

    #[inline(always)]
    fn block<S: Simd, const STRIDE: usize, const SPACING: usize, const VECTORS: usize, const NAN_WINS: bool>(
        &mut self,
        simd: S,
        run: InsideRows<'_>,
        taps: &[usize],
        (row, at): (usize, usize),
    ) {
        let InsideRows { shape, places, x_step, y_step, .. } = run;
        let lanes = C::Vector::<S>::LEN;
        let (seed, mut begun) = self.form.seed(simd);
        let mut states = [seed; VECTORS];
        let (form, x) = (&self.form, &self.x[row * x_step + at * STRIDE..]);
        if SPACING == 1 {
            for (number, &tap) in taps.iter().enumerate() {
                let x = &x[tap..][..VECTORS * lanes];
                for (vector, state) in states.iter_mut().enumerate() {
                    let next = C::Vector::from_slice(simd, &x[vector * lanes..][..lanes]);
                    *state = match begun {
                        true => form.step::<S, NAN_WINS>(simd, number, *state, next),
                        false => form.begin(simd, number, next),
                    };
                }
                begun = true;
            }
        } else {
            for (number, &place) in places.iter().enumerate() {
                each_tap::<S, C, SPACING, VECTORS>(
                    simd,
                    shape,
                    &x[place..],
                    #[inline(always)]
                    |vector, tap, next| {
                        let number = number * shape.kernel + tap;
                        states[vector] = match begun || tap > 0 {
                            true => form.step::<S, NAN_WINS>(simd, number, states[vector], next),
                            false => form.begin(simd, number, next),
                        };
                    },
                );
                begun = true;
            }
        }
        let mut at = at;
        for kept in states.chunks_exact(STRIDE / SPACING) {
            let state = if let [low, high] = *kept { F::every_second(low, high) } else { kept[0] };
            self.form.write(simd, (row, at), row * y_step + at, state);
            at += lanes;
        }
    }

    #[inline(always)]
    fn column<S: Simd, const NAN_WINS: bool>(&mut self, simd: S, column: Column<'_>) {
        let Column { places, kernel, first_tap, taps, distance, count: rows, x_step, y_step } = column;
        let lanes = C::Vector::<S>::LEN;
        for row in (0..rows).step_by(lanes) {
            let count = lanes.min(rows - row);
            let (mut state, mut begun) = self.form.seed(simd);
            for (number, place) in places.iter().enumerate() {
                for tap in first_tap..first_tap + taps {
                    let first = (place + (row * x_step + tap * distance) as i64) as usize;
                    let x = &self.x[first..];
                    // Lanes beyond the last row repeat that row.
                    let next = C::Vector::from_fn(
                        simd,
                        #[inline(always)]
                        |lane| x[lane.min(count - 1) * x_step],
                    );
                    let tap = number * kernel + tap;
                    state = match begun {
                        true => self.form.step::<S, NAN_WINS>(simd, tap, state, next),
                        false => self.form.begin(simd, tap, next),
                    };
                    begun = true;
                }
            }
            self.form.write_column(simd, row, count, y_step, state);
        }
    }
}

/// Writes elements with this pitch, converted.
#[inline(always)]
fn scatter<F: Copy, T>(to: &mut [T], pitch: usize, elements: &[F], convert: impl Fn(F) -> T) {
    for (to, &element) in to.chunks_mut(pitch).zip(elements) {
        to[0] = convert(element);
    }
}

/// The elements at even places of two vectors, and those at odd places.
#[inline(always)]
fn sorted<S: Simd, C: VectorCode>(simd: S, x: &[C::Stored]) -> (C::Vector<S>, C::Vector<S>) {
    let (low, high) = x.split_at(C::Vector::<S>::LEN);
    C::Vector::from_slice(simd, low).deinterleave(C::Vector::from_slice(simd, high))
}

/// Visits the taps of `MANY` vectors of windows in one row of X: the number of the vector, the tap, and its elements.
#[inline(always)]
fn each_tap<S: Simd, C: VectorCode, const STRIDE: usize, const MANY: usize>(
    simd: S,
    shape: Shape,
    x: &[C::Stored],
    mut visit: impl FnMut(usize, usize, C::Vector<S>),
) {
    let lanes = C::Vector::<S>::LEN;
    let load = STRIDE * lanes;
    for first in (0..shape.kernel).step_by(STRIDE) {
        let x = &x[first * shape.distance..][..MANY * load];
        let taps = (shape.kernel - first).min(STRIDE);
        for vector in 0..MANY {
            let x = &x[vector * load..][..load];
            match STRIDE {
                2 if taps == 1 => {
                    let (low, high) = x.split_at(lanes);
                    visit(vector, first, C::Vector::from_slice(simd, low).unzip_low(C::Vector::from_slice(simd, high)));
                }
                2 => {
                    let (even, odd) = sorted::<S, C>(simd, x);
                    visit(vector, first, even);
                    visit(vector, first + 1, odd);
                }
                _ => {
                    let (low, high) = x.split_at(2 * lanes);
                    let (even, odd) = sorted::<S, C>(simd, low);
                    let (more_even, more_odd) = sorted::<S, C>(simd, high);
                    let (a, c) = even.deinterleave(more_even);
                    let (b, d) = odd.deinterleave(more_odd);
                    visit(vector, first, a);
                    if taps > 1 {
                        visit(vector, first + 1, b);
                    }
                    if taps > 2 {
                        visit(vector, first + 2, c);
                    }
                    if taps > 3 {
                        visit(vector, first + 3, d);
                    }
                }
            }
        }
    }
}
