//! Pools with small windows: outputs take the taps of their windows straight from X, and neighbouring outputs share a
//! vector.
//!
//! ```text
//! y[i]  begins with x[0][2i], then takes x[0][2i + 1], x[0][2i + 2], x[1][2i], .. where they are greater
//! ```
//!
//! Taps are taken in row-major order, each only if it is greater than the current value. This is the operator's own
//! rule: a first tap that is NaN stays, and a zero keeps its sign. Where NaN wins, outputs are first computed as if it
//! did not. Then X, which is in cache now, is searched for NaN; if there is one, the outputs are computed again, and a
//! tap is also taken if it is NaN. Nothing is greater than NaN, so it stays until the next NaN. Rows of taps in the
//! padding are left out. Outputs whose windows begin or end in the padding of the innermost axis have other taps than
//! their neighbours in the row; they share a vector with the outputs above and below them.
//!
//! In NHWC the innermost axis is the channels: each channel is an output, and every tap is a row of its own.

use std::ops::Range;

use bytemuck::{cast, cast_slice, cast_slice_mut};
use wgpu_pooling_plan::internal::advance;
use wgpu_pooling_plan::{Element, ExecuteError, Index, PoolPlan, with_element};

use super::axes::{Axis, MOST_INDEX, index_span};
use super::elements::LaneElement;
use super::indices::{IndicesMut, with_slice};
use super::kernel::{Offer, OfferedPool, Operands, PoolKernel};
use super::lane::has_nan;
use super::parts::PartOf;
use super::scratch::ThreadMemory;
use super::taps::{Column, ElementsAlone, InsideRows, LoopOutputs, MOST_TAPS, Shape, TapLoop, WithIndices};
use super::tuning::direct::{
    ALONE_TAP, BORDER, BORDER_TAP, BYTE, FEW_ROWS, GROUP, GROUP_BYTES, HALF, MOST_GROUPS, MOST_OF_ROW, PERMUTED_PLANE,
    ROW, SORTED, SORTED_8, TAP,
};
use super::vector::VectorCode;
use super::view::nan_wins;

/// A pool with small windows.
#[derive(Debug)]
pub(crate) struct Direct {
    axes: Vec<Axis>,
    shape: Shape,
    /// Outputs of a row whose windows lie inside X.
    inside: Range<usize>,
}

/// Evenly spaced rows of outputs whose windows have taps in the same number of rows of X.
struct Group {
    /// The number of rows of X that the windows of the first row of outputs contain. For each of these rows, the place
    /// of output 0's first tap, padding included.
    rows_of_x: usize,
    places: [i64; MOST_TAPS],
    /// The amount that each tap adds to the index of the first one, row by row.
    ahead: [i64; MOST_TAPS],
    /// The index of the first tap of the window of output 0, padding included.
    base: i64,
    /// The number of rows of outputs, and the distance from one to the next in X and in indices.
    count: usize,
    x_step: usize,
    index_step: i64,
    /// Outputs of a row.
    lanes: Range<usize>,
    /// The plane of the first row of outputs.
    plane: usize,
}

/// `Err` says why the kernel does not apply.
pub(crate) fn offer<'a>(pool: &'a OfferedPool<'a>) -> Result<Offer<'a>, &'static str> {
    let axes = pool.axes()?;
    let (last, outer) = axes.split_last().ok_or("it has no axis")?;
    if pool.plan.has_empty_windows() {
        return Err("windows are empty");
    }
    if !matches!(last.stride, 1 | 2 | 4) || last.stride > 1 && last.dilation > 1 {
        return Err("there is no loop for its innermost stride and dilation");
    }
    let rows = outer.iter().map(|axis| axis.kernel).product::<usize>();
    if last.kernel > MOST_OF_ROW || rows * last.kernel > MOST_TAPS {
        return Err("its windows have too many taps");
    }
    if index_span(axes) > MOST_INDEX {
        return Err("its indices are too far apart");
    }
    let layout = || {
        let shape = Shape { kernel: last.kernel, stride: last.stride, distance: last.dilation };
        Direct { shape, inside: last.inside_range(), axes: axes.to_vec() }
    };
    Ok(Offer::new(cost(pool, last, outer), layout))
}

/// The time for all groups: rows of whole vectors, and outputs at borders one by one.
fn cost(pool: &OfferedPool<'_>, last: &Axis, outer: &[Axis]) -> f64 {
    let count = |axes: &[Axis]| axes.iter().map(|axis| axis.output as f64).product::<f64>();
    let Some((across, rest)) = outer.split_last() else { return f64::INFINITY };
    let rows = count(outer);
    let taps = outer.iter().map(|axis| axis.kernel).product::<usize>() * last.kernel;
    let inside = last.inside();
    let borders = (last.output - inside) as f64;
    let inside_across = across.inside();
    let most = rows_of_group(pool.plan, across, 1);
    let groups = count(rest) * (across.output - inside_across + inside_across.div_ceil(most)) as f64;
    let goes_on = across.stride.saturating_mul(across.x_stride) == last.output && last.stride == 1 && borders == 0.0;
    // The rows of one channel after the other have indices that are not evenly spaced.
    let joined = goes_on && (pool.view.inner == 1 || pool.plan.indices.is_none());
    let vectors = match pool.vectors(inside as f64, pool.plan.dtype().bytes()) {
        _ if joined => pool.vectors(rows * inside as f64, pool.plan.dtype().bytes()),
        of_row if of_row < 1.0 => 0.0,
        of_row => rows * of_row.ceil(),
    };
    let alone = if vectors == 0.0 { rows * inside as f64 } else { 0.0 };
    let taken = vectors * taps as f64;
    let sorted = if last.stride > 1 { taken } else { 0.0 };
    pool.cost(&[
        (BYTE, pool.bytes()),
        (GROUP, groups),
        (BORDER, groups * borders),
        (ROW, if joined { 0.0 } else { rows }),
        (TAP, taken),
        (SORTED, sorted),
        (SORTED_8, if pool.plan.dtype().bytes() == 1 { sorted } else { 0.0 }),
        (BORDER_TAP, rows * borders * taps as f64),
        (ALONE_TAP, alone * taps as f64),
        (PERMUTED_PLANE, pool.permuted_planes()),
        (HALF, pool.if_half(taken)),
    ])
}

/// The most rows of a group, if the parts of X that their windows contain are searched for NaN separately.
fn rows_of_group(plan: &PoolPlan, across: &Axis, separate: usize) -> usize {
    let step = across.stride.saturating_mul(across.x_stride).max(1);
    (GROUP_BYTES / plan.dtype().bytes() / step / separate).max(1)
}

impl PoolKernel for Direct {
    fn run(
        &self,
        part: &PartOf<'_>,
        (x, y, mut indices): Operands<'_>,
        _: &mut ThreadMemory,
    ) -> Result<(), ExecuteError> {
        with_element!(part.plan.dtype(), T => {
            self.groups::<<T as LaneElement>::Vectors>(part, cast_slice(x), cast_slice_mut(y), indices.as_mut());
        });
        Ok(())
    }
}

impl Direct {
    fn groups<C: VectorCode>(
        &self,
        part: &PartOf<'_>,
        x: &[C::Element],
        y: &mut [C::Element],
        mut indices: Option<&mut IndicesMut<'_>>,
    ) {
        let mut place = 0;
        let (mut nan_expected, mut free_of_nan) = (false, 0..0);
        self.each_group(part, |group| {
            let outputs = group.count * group.lanes.len();
            let job = GroupJob { own: self, part, group, x };
            // A loop may write outputs beyond the group, because they are computed later.
            let mut indices = indices.as_mut().map(|indices| indices.tail(place));
            let y = &mut y[place..];
            // X is in cache once its maxima are computed; only then is the search for NaN cheap.
            if !nan_expected {
                job.run::<C>(false, y, indices.as_mut());
            }
            let nan = job.has_winning_nan(&mut free_of_nan);
            if nan || nan_expected {
                job.run::<C>(nan, y, indices.as_mut());
            }
            nan_expected = nan;
            if let Some(indices) = &mut indices {
                job.begin_with_seed::<C>(y, indices);
            }
            part.plan.activation.apply_all(&mut y[..outputs]);
            place += outputs;
        });
    }

    /// The value that windows begin with, unless it is their first tap. Integers need none, because no integer is less
    /// than their seed. With indices, windows begin with their first taps in any case, and
    /// [`GroupJob::begin_with_seed`] follows.
    fn seed<T: Element>(&self, plan: &PoolPlan) -> Option<T> {
        let seeded = plan.starts_from_value() && T::DTYPE.is_float() && plan.indices.is_none();
        seeded.then(|| plan.seed())
    }

    /// Visits the groups of a part in the order of Y.
    fn each_group(&self, part: &PartOf<'_>, mut visit: impl FnMut(&Group)) {
        // The rows along each outer axis, and the outputs along the innermost one.
        let mut ranges = part.ranges(&self.axes);
        let lanes = ranges.pop().unwrap_or(0..0);
        let mut at: Vec<usize> = ranges.iter().map(|range| range.start).collect();
        let innermost = at.len() - 1;
        let mut of_plane: Vec<Group> = Vec::new();
        loop {
            let group = self.group(part, &at, &ranges, &lanes);
            visit(&group);
            at[innermost] += group.count - 1;
            let Some(axis) = advance(&mut at, &|axis| ranges[axis].clone()) else { return };
            if innermost == 0 || of_plane.len() == MOST_GROUPS {
                continue;
            }
            of_plane.push(group);
            if axis == 0 {
                // The groups of all planes are the same.
                for plane in at[0]..ranges[0].end {
                    for group in &mut of_plane {
                        group.move_to(plane, &self.axes[0], part);
                        visit(group);
                    }
                }
                return;
            }
        }
    }

    /// The group whose first row of outputs is at position `at`.
    fn group(&self, part: &PartOf<'_>, at: &[usize], ranges: &[Range<usize>], lanes: &Range<usize>) -> Group {
        let view = part.view;
        let number = at.len() - 1;
        let (axis, last) = (&self.axes[number], &self.axes[number + 1]);
        let mut group = Group {
            rows_of_x: 1,
            places: [last.start(0) * last.x_stride as i64; MOST_TAPS],
            ahead: [0; MOST_TAPS],
            base: view.index_base.wrapping_add(view.index_of_plane(at[0])),
            count: 1,
            x_step: axis.stride.saturating_mul(axis.x_stride),
            index_step: (axis.stride as i64).wrapping_mul(axis.index_stride),
            lanes: lanes.clone(),
            plane: at[0],
        };
        // Where NaN wins, all parts of X that the windows contain are searched for it.
        let separate =
            if nan_wins(part.plan) { self.axes[..number].iter().map(|axis| axis.kernel).product() } else { 1 };
        let most = rows_of_group(part.plan, axis, separate);
        // The indices of planes are evenly spaced within a batch item.
        let of_item = view.channels.max(1);
        let apart = number == 0 && part.plan.indices.is_some();
        let most = if apart { most.min(of_item - at[0] % of_item) } else { most };
        if axis.is_inside(at[number]) {
            // The rows whose windows lie inside X are neighbours.
            let rows = at[number]..ranges[number].end.min(at[number] + most);
            group.count = rows.clone().rev().find(|&row| axis.is_inside(row)).map_or(1, |row| row + 1 - rows.start);
        }
        let mut of_rows = [0; MOST_TAPS];
        for (number, axis) in self.axes[..at.len()].iter().enumerate() {
            group.extend(axis, at[number], &mut of_rows, number > 0);
        }
        group.base = group.base.wrapping_add(last.start(0).wrapping_mul(last.index_stride));
        for (row, of_row) in of_rows[..group.rows_of_x].iter().enumerate() {
            for tap in 0..last.kernel {
                let along = ((tap * last.dilation) as i64).wrapping_mul(last.index_stride);
                group.ahead[row * last.kernel + tap] = of_row.wrapping_add(along);
            }
        }
        group
    }
}

impl Group {
    /// Moves the group to the same rows of another plane.
    fn move_to(&mut self, plane: usize, planes: &Axis, part: &PartOf<'_>) {
        let ahead = (plane as i64 - self.plane as i64) * planes.x_stride as i64;
        self.places[..self.rows_of_x].iter_mut().for_each(|place| *place += ahead);
        if part.plan.indices.is_some() {
            let index = |plane: usize| part.view.index_of_plane(plane);
            self.base = self.base.wrapping_add(index(plane).wrapping_sub(index(self.plane)));
        }
        self.plane = plane;
    }

    /// Multiplies the rows by the taps of a further axis. `ahead` is the amount that each row adds to the index.
    fn extend(&mut self, axis: &Axis, output: usize, ahead: &mut [i64; MOST_TAPS], spatial: bool) {
        let (count, places, before) = (self.rows_of_x, self.places, *ahead);
        self.rows_of_x = 0;
        for (place, before) in places.iter().zip(before).take(count) {
            for tap in 0..axis.kernel {
                let position = axis.start(output) + (tap * axis.dilation) as i64;
                if (0..axis.input as i64).contains(&position) && self.rows_of_x < MOST_TAPS {
                    self.places[self.rows_of_x] = place + position * axis.x_stride as i64;
                    let own = ((tap * axis.dilation) as i64).wrapping_mul(axis.index_stride);
                    ahead[self.rows_of_x] = before + if spatial { own } else { 0 };
                    self.rows_of_x += 1;
                }
            }
        }
        if spatial {
            self.base = self.base.wrapping_add(axis.start(output).wrapping_mul(axis.index_stride));
        }
    }
}

/// The computation of one group of a part.
struct GroupJob<'a, T> {
    own: &'a Direct,
    part: &'a PartOf<'a>,
    group: &'a Group,
    x: &'a [T],
}

impl<T: Element> GroupJob<'_, T> {
    fn last(&self) -> &Axis {
        &self.own.axes[self.own.axes.len() - 1]
    }

    /// The index difference between neighbouring outputs.
    fn step(&self) -> i64 {
        let last = self.last();
        (last.stride as i64).wrapping_mul(last.index_stride)
    }

    /// The index of the first tap of a window.
    fn base(&self, row: usize, lane: usize) -> i64 {
        let along = ((self.group.lanes.start + lane) as i64).wrapping_mul(self.step());
        self.group.base.wrapping_add((row as i64).wrapping_mul(self.group.index_step)).wrapping_add(along)
    }

    /// Writes the group's outputs at the beginning of the slices.
    fn run<C: VectorCode<Element = T>>(&self, nan_wins: bool, y: &mut [T], mut indices: Option<&mut IndicesMut<'_>>) {
        let (group, shape) = (self.group, self.own.shape);
        let width = group.lanes.len();
        let begin = self.own.inside.start.clamp(group.lanes.start, group.lanes.end) - group.lanes.start;
        let end = self.own.inside.end.clamp(group.lanes.start + begin, group.lanes.end) - group.lanes.start;
        if begin < end {
            let first = ((group.lanes.start + begin) * shape.stride) as i64;
            let mut places = [0; MOST_TAPS];
            let places = &mut places[..group.rows_of_x];
            places.iter_mut().zip(&group.places).for_each(|(to, place)| *to = (place + first) as usize);
            let (mut length, mut count) = (end - begin, group.count);
            // Rows that follow each other in X and in Y form one long row.
            if shape.stride == 1 && group.x_step == width && group.index_step == self.step().wrapping_mul(width as i64)
            {
                (length, count) = ((count - 1) * width + length, 1);
            }
            let run = InsideRows { shape, places: &*places, length, count, x_step: group.x_step, y_step: width };
            let mut next = 0;
            while next < count {
                let of_run = LoopOutputs::Rows(run, next);
                let ended = self.vectors::<C>(of_run, begin, nan_wins, y, indices.as_deref_mut());
                let Some((row, at)) = ended.unwrap_or(Some((next, 0))) else { break };
                for at in at..length {
                    let (row, lane) = (row + (begin + at) / width, (begin + at) % width);
                    self.outputs::<C>(row..row + 1, lane, y, indices.as_deref_mut());
                }
                next = row + 1;
            }
        }
        // This comes after all rows, because the loop may have written to these places.
        for lane in (0..begin).chain(end..width) {
            self.column::<C>(lane, nan_wins, y, indices.as_deref_mut());
        }
    }

    /// Computes the outputs of all rows at one place in the row.
    fn column<C: VectorCode<Element = T>>(
        &self,
        lane: usize,
        nan_wins: bool,
        y: &mut [T],
        mut indices: Option<&mut IndicesMut<'_>>,
    ) {
        let (group, shape) = (self.group, self.own.shape);
        let output = group.lanes.start + lane;
        let places = group.places.map(|place| place + (output * shape.stride) as i64);
        let taps = self.last().taps_inside(output);
        let column = Column {
            places: &places[..group.rows_of_x],
            kernel: shape.kernel,
            first_tap: taps.start,
            taps: taps.len(),
            distance: shape.distance,
            count: group.count,
            x_step: group.x_step,
            y_step: group.lanes.len(),
        };
        let few = group.count < FEW_ROWS;
        if few || self.vectors::<C>(LoopOutputs::Column(column), lane, nan_wins, y, indices.as_deref_mut()).is_none() {
            self.outputs::<C>(0..group.count, lane, y, indices);
        }
    }

    /// Runs a vector loop whose first output has this number in its row. `None` if the processor has no vectors.
    fn vectors<C: VectorCode<Element = T>>(
        &self,
        outputs: LoopOutputs<'_>,
        lane: usize,
        nan_wins: bool,
        y: &mut [T],
        indices: Option<&mut IndicesMut<'_>>,
    ) -> Option<Option<(usize, usize)>> {
        let (x, y) = (cast_slice(self.x), cast_slice_mut(&mut y[lane..]));
        let (room, simd, group) = (y.len(), self.part.context.simd, self.group);
        match indices {
            None => {
                let form = ElementsAlone::<C> { y, seed: self.own.seed::<T>(self.part.plan).map(cast) };
                simd.vectors(TapLoop { outputs, x, room, form, nan_wins })
            }
            Some(indices) => {
                let (base, step, row_step) = (self.base(0, lane), self.step(), group.index_step);
                let indices = indices.tail(lane);
                let form = WithIndices::<C> { y, indices, base, row_step, step, ahead: &group.ahead };
                simd.vectors(TapLoop { outputs, x, room, form, nan_wins })
            }
        }
    }

    /// Whether there is a NaN that wins. Rows of X that lie near each other are searched together with the elements
    /// between them, and elements that are known not to be NaN are not searched again.
    fn has_winning_nan(&self, free: &mut Range<usize>) -> bool {
        if !nan_wins(self.part.plan) {
            return false;
        }
        let (group, shape) = (self.group, self.own.shape);
        let reach = (shape.kernel - 1) * shape.distance + (group.lanes.len() - 1) * shape.stride + 1;
        let of_group = (group.x_step.saturating_mul(group.count - 1) + reach) as i64;
        group.places[..group.rows_of_x].chunk_by(|a, b| b - a <= of_group).any(|near| {
            let begin = near[0] + (group.lanes.start * shape.stride) as i64;
            let length = (near[near.len() - 1] - near[0]) as usize + reach;
            // The elements between rows are searched too if they are fewer than the elements of the rows.
            let (rows, length) = match group.x_step < 2 * length {
                true => (1, group.x_step * (group.count - 1) + length),
                false => (group.count, length),
            };
            (0..rows).any(|row| {
                let begin = begin + (row * group.x_step) as i64;
                let within = |place: i64| place.clamp(0, self.x.len() as i64) as usize;
                let mut elements = within(begin)..within(begin + length as i64);
                let goes_on = free.contains(&elements.start);
                if goes_on {
                    elements.start = free.end;
                }
                let nan = has_nan(self.part.context.simd, self.x.get(elements.clone()).unwrap_or_default());
                if !nan {
                    *free = if goes_on { free.start..free.end.max(elements.end) } else { elements };
                }
                nan
            })
        })
    }

    /// Rewrites the outputs that differ because windows begin with the seed and not with their first elements: the
    /// outputs that are not greater than the seed. No element of such a window is greater, unless the window begins
    /// with NaN.
    fn begin_with_seed<C: VectorCode<Element = T>>(&self, y: &mut [T], indices: &mut IndicesMut<'_>) {
        let (plan, group) = (self.part.plan, self.group);
        if !plan.starts_from_value() {
            return;
        }
        let (seed, width) = (plan.seed::<T>(), group.lanes.len());
        for (row, y) in y.chunks_mut(width).take(group.count).enumerate() {
            let all_above = self.part.context.simd.run(
                #[inline(always)]
                || y.iter().fold(true, |all, &own| all & C::above(own, seed)),
            );
            if all_above {
                continue;
            }
            for (lane, own) in y.iter_mut().enumerate() {
                if C::above(*own, seed) {
                    continue;
                }
                let greater = if own.is_nan() { self.greatest::<C>(row, lane, seed) } else { None };
                let (value, position) = greater.unwrap_or_else(|| (seed, self.index_of_seed(row, lane)));
                *own = value;
                indices.set(row * width + lane, position);
            }
        }
    }

    /// The first of the greatest elements of a window, with its index, if it is greater than the seed.
    fn greatest<C: VectorCode<Element = T>>(&self, row: usize, lane: usize, seed: T) -> Option<(T, i64)> {
        let (group, shape) = (self.group, self.own.shape);
        let output = group.lanes.start + lane;
        let (mut best, mut found) = (seed, None);
        for (number, place) in group.places[..group.rows_of_x].iter().enumerate() {
            for tap in self.last().taps_inside(output) {
                let along = (row * group.x_step + output * shape.stride + tap * shape.distance) as i64;
                let next = self.x[(place + along) as usize];
                if C::above(next, best) {
                    best = next;
                    found = Some(self.base(row, lane).wrapping_add(group.ahead[number * shape.kernel + tap]));
                }
            }
        }
        found.map(|index| (best, index))
    }

    /// The index of a seed: the index of the plane's first element.
    fn index_of_seed(&self, row: usize, lane: usize) -> i64 {
        let (view, group) = (self.part.view, self.group);
        // Where planes are the only outer axis, each row of outputs is a plane.
        let plane = if self.own.axes.len() == 2 { group.plane + row } else { group.plane };
        let channel = if view.inner == 1 { 0 } else { (group.lanes.start + lane) as i64 };
        let of_plane = view.index_of_plane(plane).wrapping_add(channel.wrapping_mul(view.index_c));
        view.unit_base.wrapping_add(of_plane)
    }

    /// Computes the outputs of some rows at one place in the row, one tap after the other.
    fn outputs<C: VectorCode<Element = T>>(
        &self,
        rows: Range<usize>,
        lane: usize,
        y: &mut [T],
        mut indices: Option<&mut IndicesMut<'_>>,
    ) {
        let (group, shape) = (self.group, self.own.shape);
        let nan_wins = nan_wins(self.part.plan);
        let taps = self.last().taps_inside(group.lanes.start + lane);
        let seed = self.own.seed::<T>(self.part.plan);
        let width = group.lanes.len();
        let from = rows.start * width + lane;
        if let Some(seed) = seed {
            y[from..].chunks_mut(width).take(rows.len()).for_each(|best| best[0] = seed);
        }
        for (number, place) in group.places[..group.rows_of_x].iter().enumerate() {
            for tap in taps.clone() {
                // No window is empty, so the first tap exists.
                let begins = number == 0 && tap == taps.start && seed.is_none();
                let first = place + ((group.lanes.start + lane) * shape.stride + tap * shape.distance) as i64;
                let x = self.x[first as usize + rows.start * group.x_step..].chunks(group.x_step).take(rows.len());
                let of_rows = x.zip(y[from..].chunks_mut(width));
                if let Some(indices) = &mut indices {
                    let mut base = self.base(rows.start, lane).wrapping_add(group.ahead[number * shape.kernel + tap]);
                    with_slice!(IndicesMut, indices, indices => {
                        for ((next, best), index) in of_rows.zip(indices[from..].chunks_mut(width)) {
                            let takes = begins | C::above(next[0], best[0]) | (nan_wins & next[0].is_nan());
                            best[0] = if takes { next[0] } else { best[0] };
                            index[0] = if takes { Index::from_i64(base) } else { index[0] };
                            base = base.wrapping_add(group.index_step);
                        }
                    });
                } else if begins {
                    of_rows.for_each(|(next, best)| best[0] = next[0]);
                } else {
                    for (next, best) in of_rows {
                        let takes = C::above(next[0], best[0]) | (nan_wins & next[0].is_nan());
                        best[0] = if takes { next[0] } else { best[0] };
                    }
                }
            }
        }
    }
}
