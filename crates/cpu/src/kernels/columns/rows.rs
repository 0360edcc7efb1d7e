//! Computes the rows of outputs of a part, several at a time.

use std::ops::Range;

use bytemuck::Zeroable;
use wgpu_pooling_plan::{Element, MAX_SPATIAL_AXES, Taps};

use super::maxima::{CHUNK, ColumnMaxima, RowSlice, WindowMaximum, reach};
use super::row::{CountedRows, InputRow, InputRows, OutputRow, outer_axes, outputs_are_columns};
use crate::kernels::general;
use crate::kernels::indices::IndicesMut;
use crate::kernels::lane::{Code, Lane, has_nan};
use crate::kernels::parts::PartOf;
use crate::kernels::simd::SimdLevel;
use crate::kernels::transpose::{BEHIND, InterleavedPlanes};
use crate::kernels::tuning::columns::{AT_ONCE, KEPT_BYTES, MOST_LISTED, NARROW};
use crate::kernels::view::{ViewAxis, nan_wins};

/// The bytes of the longest vector: it holds one column of all rows of outputs in a group. Lanes of 64 bits fill two
/// vectors.
const VECTOR_BYTES: usize = 64;

/// [`NARROW`] for lanes of this many bytes. A step from one column to the next takes longer with fewer lanes per
/// vector. Without AVX2, which has an instruction that selects lanes, windows of 7 to 11 columns were measured to take
/// up to twice as long.
fn narrow(simd: SimdLevel, lane: usize) -> u64 {
    let bytes = match simd {
        SimdLevel::Baseline => 16,
        SimdLevel::Avx2 | SimdLevel::Avx512 => 64,
    };
    NARROW.min(bytes / lane as u64)
}

/// How many rows of outputs are computed together, and in which blocks of outputs.
#[derive(Debug)]
pub struct Grouping {
    rows: usize,
    /// The columns in memory for one row of outputs.
    lanes: usize,
    blocks: Vec<ColumnBlock>,
}

/// Neighbouring outputs of a row, and the columns that their windows contain.
#[derive(Debug, Clone)]
struct ColumnBlock {
    outputs: Range<usize>,
    columns: Range<usize>,
}

impl Grouping {
    /// One row whose outputs are columns.
    fn single(columns: usize) -> Grouping {
        let lanes = columns.next_multiple_of(CHUNK);
        Grouping { rows: 1, lanes, blocks: vec![ColumnBlock { outputs: 0..columns, columns: 0..columns }] }
    }

    /// Groups rows of outputs, given the windows along rows, the number of rows, and the bytes of a lane and of a
    /// column's maxima.
    fn new(simd: SimdLevel, along: &[Taps], count: usize, (lane, kept): (usize, usize)) -> Grouping {
        let joined = |a: Range<usize>, b: Range<usize>| a.start.min(b.start)..a.end.max(b.end);
        let columns = along.iter().map(|&taps| reach(taps).0).reduce(joined).unwrap_or_default().len();
        let rows = VECTOR_BYTES / lane.min(size_of::<u32>());
        let most = KEPT_BYTES / (2 * rows * kept) / CHUNK * CHUNK;
        // The mean number of columns of a window, and from one window to the next: the columns between windows are
        // interleaved too.
        let width = along.iter().fold(0, |width: u64, taps| width.saturating_add(taps.count as u64));
        let wider = width.max(columns as u64) / along.len().max(1) as u64;
        let widest = along.iter().map(|&taps| reach(taps).0.len()).max().unwrap_or(0);
        // Columns that windows of two blocks share are reduced in both blocks.
        let (rows, most) = match count < rows / 2 || wider > narrow(simd, lane) || widest > most {
            true => (1, (KEPT_BYTES / kept).max(4 * widest)),
            false => (rows, most),
        };
        let mut blocks = vec![];
        let mut start = 0;
        while start < along.len() {
            let mut own = reach(along[start]).0;
            let mut end = start + 1;
            while let Some(&taps) = along.get(end) {
                let with_next = joined(own.clone(), reach(taps).0);
                if with_next.len() > most {
                    break;
                }
                (own, end) = (with_next, end + 1);
            }
            blocks.push(ColumnBlock { outputs: start..end, columns: own });
            start = end;
        }
        let longest = blocks.iter().map(|block| block.columns.len()).max().unwrap_or(0);
        Grouping { rows, lanes: longest.next_multiple_of(CHUNK), blocks }
    }

    /// The elements of memory for columns, and for interleaved columns.
    pub fn elements(&self) -> [usize; 2] {
        match self.rows {
            1 => [self.lanes, 0],
            rows => [rows * self.lanes + BEHIND, rows * self.lanes],
        }
    }
}

/// Room for some rows of X and their elements, and the first row of X of the row of outputs that was reduced last.
struct RowBuffers<'a, T> {
    rows: [InputRow; AT_ONCE],
    sources: [RowSlice<'a, T>; AT_ONCE],
    first: InputRow,
}

/// The rows of outputs of a part.
pub struct OutputRows<'a, C: Code> {
    part: &'a PartOf<'a>,
    x: &'a [C::Element],
    /// The element that windows begin with instead of their first element.
    seed: Option<C::Element>,
    nan_wins: bool,
    /// The taps of the windows along each axis. Along the first axis they begin with the part's first output.
    taps: Vec<Vec<Taps>>,
    /// The rows of X for all rows of outputs of a plane, and where the rows for each row of outputs end. `None` if
    /// there are many rows, or a single plane.
    listed: Option<(Vec<InputRow>, Vec<usize>)>,
    pub together: Grouping,
}

/// The taps of a part's windows along each axis.
fn taps_of(part: &PartOf<'_>) -> Vec<Vec<Taps>> {
    let view = part.view;
    let of_axis = |(number, axis): (usize, &ViewAxis)| {
        let outputs = if number == 0 { part.part.rows.clone() } else { 0..axis.output };
        outputs.map(|output| axis.taps(output)).collect()
    };
    let mut taps: Vec<Vec<Taps>> = view.axes.iter().enumerate().map(of_axis).collect();
    if let Some(along) = taps.get_mut(outer_axes(view)).filter(|_| view.inner > 1) {
        *along = of_channels(along, view.inner as i64);
    }
    taps
}

impl<'a, C: Code> OutputRows<'a, C> {
    /// `kept` is the number of values per column, each as wide as a lane.
    pub fn new(part: &'a PartOf<'a>, x: &'a [C::Element], kept: usize) -> Self {
        let PartOf { plan, view, .. } = *part;
        let seed = plan.starts_from_value().then(|| plan.seed());
        let nan_wins = nan_wins(plan);
        let taps = taps_of(part);
        let (leading, along) = taps.split_at(outer_axes(view));
        let count = part.part.outer.len() * leading.iter().map(Vec::len).product::<usize>();
        let lane = size_of::<C::Lane>();
        let together = match along.first() {
            Some(along) => Grouping::new(part.context.simd, along, count, (lane, kept * lane)),
            None => Grouping::single(view.inner),
        };
        let mut rows = OutputRows { part, x, seed, nan_wins, taps, listed: None, together };
        rows.listed = rows.list();
        rows
    }

    /// The number of rows of outputs of a plane.
    fn rows_of_plane(&self) -> usize {
        self.taps[..outer_axes(self.part.view)].iter().map(Vec::len).product()
    }

    /// The outputs along the outer axes, relative to the part's first one.
    fn outputs(&self, mut number: usize) -> [usize; MAX_SPATIAL_AXES] {
        let mut out = [0; MAX_SPATIAL_AXES];
        for (out, taps) in out.iter_mut().zip(&self.taps[..outer_axes(self.part.view)]).rev() {
            (number, *out) = (number / taps.len(), number % taps.len());
        }
        out
    }

    /// The rows of X for a row of outputs.
    fn counted(&self, number: usize) -> CountedRows<'_> {
        let view = self.part.view;
        let outer = outer_axes(view);
        CountedRows::new(&view.axes[..outer], &self.taps[..outer], self.outputs(number), view.index_base)
    }

    /// Lists the rows of X for all rows of outputs of a plane if there are several planes, which all have the same
    /// rows.
    fn list(&self) -> Option<(Vec<InputRow>, Vec<usize>)> {
        let taps_of = |taps: &Vec<Taps>| taps.iter().map(|taps| taps.count as usize).fold(0, usize::saturating_add);
        let all = self.taps[..outer_axes(self.part.view)].iter().map(taps_of).fold(1, usize::saturating_mul);
        if all > MOST_LISTED || self.part.part.outer.len() == 1 {
            return None;
        }
        let mut listed = vec![InputRow::default(); all];
        let mut end = 0;
        let of_each = |number| {
            end += self.counted(number).write_next(&mut listed[end..]);
            end
        };
        let ends = (0..self.rows_of_plane()).map(of_each).collect();
        Some((listed, ends))
    }

    fn rows_of_x(&self, row: &OutputRow<'_, C::Element>) -> InputRows<'_> {
        match &self.listed {
            Some((listed, ends)) => {
                let start = row.number.checked_sub(1).map_or(0, |before| ends[before]);
                InputRows::Listed(&listed[start..ends[row.number]])
            }
            None => InputRows::Counted(self.counted(row.number)),
        }
    }

    /// The number of outputs of a row.
    fn length(&self) -> usize {
        let view = self.part.view;
        self.taps.get(outer_axes(view)).map_or(view.inner, Vec::len)
    }

    /// The amount that a column of a row along the last axis adds to the index of the row's first element, and the part
    /// of it that is due to the channel.
    #[inline(always)]
    fn along(&self, column: i64) -> (i64, i64) {
        let view = self.part.view;
        let step = view.axes[view.axes.len() - 1].index_stride;
        if view.inner == 1 {
            return (column.wrapping_mul(step), 0);
        }
        let of_channel = (column % view.inner as i64).wrapping_mul(view.index_c);
        ((column / view.inner as i64).wrapping_mul(step).wrapping_add(of_channel), of_channel)
    }

    /// The rows of outputs in the order of Y.
    fn each(&self) -> impl Iterator<Item = OutputRow<'a, C::Element>> {
        let PartOf { view, part, .. } = *self.part;
        let (length, rows_of_plane) = (self.length(), self.rows_of_plane());
        let planes = part.outer.clone().enumerate();
        planes.flat_map(move |(before, plane)| {
            let (x, index) = (&self.x[plane * view.plane()..], view.index_of_plane(plane));
            (0..rows_of_plane).map(move |number| OutputRow {
                x,
                index,
                number,
                place: (before * rows_of_plane + number) * length,
            })
        })
    }

    /// Computes the part.
    pub fn run<K: ColumnMaxima<C::Lane>>(
        &self,
        mut kept: K,
        y: &mut [C::Element],
        mut indices: Option<&mut IndicesMut<'_>>,
    ) {
        let view = self.part.view;
        let mut rows = self.each();
        let mut found = vec![WindowMaximum { lane: C::Lane::LOWEST, row: 0, column: 0 }; CHUNK * self.together.rows];
        let mut together = Vec::with_capacity(self.together.rows);
        let (rows_of_x, sources) = ([InputRow::default(); AT_ONCE], [RowSlice { x: &[] as &[_], row: 0 }; AT_ONCE]);
        let mut memory = RowBuffers { rows: rows_of_x, sources, first: InputRow::default() };
        loop {
            together.clear();
            together.extend(rows.by_ref().take(self.together.rows));
            let [first, ..] = together[..] else { return };
            for block in &self.together.blocks {
                let with_nan = self.reduce_all((&mut kept, &mut memory), &together, block);
                let has_nan = |number: usize| with_nan >> number & 1 == 1;
                if outputs_are_columns(view) && !has_nan(0) {
                    self.channels(&kept, (&first, memory.first), y, indices.as_deref_mut());
                } else if together.len() > 1 || !has_nan(0) {
                    for start in block.outputs.clone().step_by(CHUNK) {
                        let outputs = start..(start + CHUNK).min(block.outputs.end);
                        self.find(&kept, block, outputs.clone(), &mut found);
                        for (number, (row, found)) in together.iter().zip(found.chunks_exact(CHUNK)).enumerate() {
                            let along = (outputs.clone(), block.columns.start);
                            if !has_nan(number) {
                                self.windows::<K>(row, along, found, y, indices.as_deref_mut());
                            }
                        }
                    }
                }
                for (_, row) in together.iter().enumerate().filter(|(number, _)| has_nan(*number)) {
                    self.general(row, block.outputs.clone(), y, indices.as_deref_mut());
                }
            }
        }
    }

    /// Reduces the columns of rows of outputs and interleaves them. Returns a bit mask of the rows where the last NaN
    /// of a window may have to win.
    #[inline(never)]
    fn reduce_all<'x, K: ColumnMaxima<C::Lane>>(
        &self,
        (kept, memory): (&mut K, &mut RowBuffers<'x, C::Element>),
        rows: &[OutputRow<'x, C::Element>],
        block: &ColumnBlock,
    ) -> u64 {
        let lanes = block.columns.len().next_multiple_of(CHUNK);
        let mut with_nan = 0;
        for (number, row) in rows.iter().enumerate() {
            let has_nan = self.reduce((kept, memory), row, &block.columns, number * lanes..(number + 1) * lanes);
            with_nan |= u64::from(has_nan) << number;
        }
        if self.together.rows > 1 {
            let planes = InterleavedPlanes { count: rows.len(), plane: lanes, lanes: self.together.rows };
            kept.interleave(self.part.context.simd, planes);
        }
        with_nan
    }

    /// Reduces the columns of one row of outputs into these places. Returns true if the last NaN of a window may have
    /// to win.
    fn reduce<'x, K: ColumnMaxima<C::Lane>>(
        &self,
        (kept, memory): (&mut K, &mut RowBuffers<'x, C::Element>),
        row: &OutputRow<'x, C::Element>,
        columns: &Range<usize>,
        places: Range<usize>,
    ) -> bool {
        let PartOf { view, context, .. } = *self.part;
        let simd = context.simd;
        let mut rows = self.rows_of_x(row);
        memory.first = rows.first();
        let (x, index, mut more) = (&row.x[columns.start..], memory.first.index, false);
        // Prefetching the rows of the next outputs gained too little: 0.9 of the time, with indices 0.96 to 1.08.
        loop {
            let together = rows.next_rows(&mut memory.rows);
            let (Some(first), Some(last)) = (together.first(), together.last()) else { return false };
            let sources = &mut memory.sources[..together.len()];
            for (source, own) in sources.iter_mut().zip(together) {
                // Where outputs are columns, store the index offset of the row of X; otherwise its number, so that the
                // earliest row wins.
                let adds = || own.index.wrapping_sub(index);
                *source =
                    RowSlice { x: &x[own.place..], row: if outputs_are_columns(view) { adds() } else { own.number } };
            }
            kept.reduce::<C>(simd, sources, (places.clone(), more));
            // Rows are in cache once they are reduced; only then is the search for NaN cheap. The elements between rows
            // are searched too if they are fewer than the elements of the rows.
            let (columns, between) = (columns.len(), last.place - first.place);
            let (rows, length) = match between < 2 * columns * (together.len() - 1) {
                true => (&together[..1], between + columns),
                false => (together, columns),
            };
            if self.nan_wins && rows.iter().any(|row| has_nan(simd, &x[row.place..row.place + length])) {
                return true;
            }
            more = true;
        }
    }

    /// Searches the windows, with columns counted from the block's first one. The results of a row of outputs follow
    /// those of the row before.
    #[inline(never)]
    fn find<K: ColumnMaxima<C::Lane>>(
        &self,
        kept: &K,
        block: &ColumnBlock,
        outputs: Range<usize>,
        found: &mut [WindowMaximum<C::Lane>],
    ) {
        let along = &self.taps[outer_axes(self.part.view)][outputs];
        let own = |taps: Taps| Taps { first: taps.first - block.columns.start as i64, ..taps };
        self.part.context.simd.run(
            #[inline(always)]
            || {
                for (number, &taps) in along.iter().enumerate() {
                    let (taps, found) = (own(taps), &mut found[number..]);
                    // By whole vectors it took 1.1 to 1.4 of the time, by maxima of 2, 4 and 8 columns 1.0 to 1.3.
                    match (self.together.rows, size_of::<C::Lane>()) {
                        (1, _) => found[0] = kept.window(taps),
                        (_, 1) => kept.windows::<64>(taps, found),
                        (_, 2) => kept.windows::<32>(taps, found),
                        (..) => kept.windows::<16>(taps, found),
                    }
                }
            },
        );
    }

    /// Writes outputs of a row whose windows lie along it, given the search results, with columns counted from `start`.
    fn windows<K: ColumnMaxima<C::Lane>>(
        &self,
        row: &OutputRow<'_, C::Element>,
        (outputs, start): (Range<usize>, usize),
        found: &[WindowMaximum<C::Lane>],
        y: &mut [C::Element],
        indices: Option<&mut IndicesMut<'_>>,
    ) {
        let (view, places) = (self.part.view, row.place + outputs.start..row.place + outputs.end);
        let axis = view.axes.len() - 1;
        let rows = self.rows_of_x(row);
        let first = rows.first();
        let along = &self.taps[axis][outputs];
        let value = |found: &WindowMaximum<C::Lane>, taps: Taps| {
            let own = row.x[first.place + taps.first as usize];
            let won = self.wins(found.lane, own);
            (self.value::<K>(row, || taps, won.then_some(found.lane), own), won)
        };
        let y = &mut y[places.clone()];
        let activation = self.part.plan.activation;
        let Some(indices) = indices else {
            for ((y, found), &taps) in y.iter_mut().zip(found).zip(along) {
                *y = value(found, taps).0;
            }
            return activation.apply_all(y);
        };
        let mut own = [0; CHUNK];
        for (((y, index), found), &taps) in y.iter_mut().zip(&mut own).zip(found).zip(along) {
            let (element, won) = value(found, taps);
            *y = element;
            let of_plane = match (won, self.seed) {
                (true, _) => rows.index_of(found.row).wrapping_add(self.along((start + found.column) as i64).0),
                (false, Some(_)) => view.unit_base.wrapping_add(self.along(taps.first).1),
                (false, None) => first.index.wrapping_add(self.along(taps.first).0),
            };
            *index = of_plane.wrapping_add(row.index);
        }
        indices.write(places.start, &own[..y.len()]);
        activation.apply_all(y);
    }

    /// Writes the outputs of a row whose windows are columns, given the first row of X of those windows.
    fn channels<K: ColumnMaxima<C::Lane>>(
        &self,
        kept: &K,
        (row, first): (&OutputRow<'_, C::Element>, InputRow),
        y: &mut [C::Element],
        mut indices: Option<&mut IndicesMut<'_>>,
    ) {
        let view = self.part.view;
        let y = &mut y[row.place..][..view.inner];
        for (number, y) in y.chunks_mut(CHUNK).enumerate() {
            let (start, mut found) = (number * CHUNK, [0; CHUNK]);
            for (channel, (y, found)) in (start..).zip(y.iter_mut().zip(&mut found)) {
                let (own, (lane, adds)) = (row.x[first.place + channel], kept.column(channel));
                let won = self.wins(lane, own);
                let taps = || Taps { first: channel as i64, count: 1, step: 1 };
                *y = self.value::<K>(row, taps, won.then_some(lane), own);
                if K::ROWS {
                    let index = first.index.wrapping_add(if won { adds } else { 0 });
                    let index = if won || self.seed.is_none() { index } else { view.unit_base };
                    let of_channel = row.index.wrapping_add((channel as i64).wrapping_mul(view.index_c));
                    *found = index.wrapping_add(of_channel);
                }
            }
            if let Some(indices) = &mut indices {
                indices.write(row.place + start, &found[..y.len()]);
            }
        }
        self.part.plan.activation.apply_all(y);
    }

    /// Whether the greatest lane replaces the element that the window begins with, given the window's first element.
    #[inline(always)]
    fn wins(&self, greatest: C::Lane, first: C::Element) -> bool {
        let first = self.seed.unwrap_or(first);
        !first.is_nan() && greatest > C::encode(first)
    }

    /// The element of Y, given the taps of its window along the row, the lane that won, and the window's first element.
    #[inline(always)]
    fn value<K: ColumnMaxima<C::Lane>>(
        &self,
        row: &OutputRow<'_, C::Element>,
        along: impl FnOnce() -> Taps,
        won: Option<C::Lane>,
        first: C::Element,
    ) -> C::Element {
        match won {
            None => self.seed.unwrap_or(first),
            Some(lane) if !K::ROWS && C::Element::DTYPE.is_float() && lane == C::encode(C::Element::zeroed()) => {
                self.first_zero(row, along())
            }
            Some(lane) => C::decode(lane),
        }
    }

    /// The first zero of a window that contains one.
    #[cold]
    fn first_zero(&self, row: &OutputRow<'_, C::Element>, along: Taps) -> C::Element {
        let zero = C::encode(C::Element::zeroed());
        let (mut rows, mut memory) = (self.rows_of_x(row), [InputRow::default(); AT_ONCE]);
        loop {
            let together = rows.next_rows(&mut memory);
            let mut elements =
                together.iter().flat_map(|own| along.positions().map(move |column| row.x[own.place + column as usize]));
            let first = elements.find(|&element| C::encode(element) == zero);
            if first.is_some() || together.is_empty() {
                return first.unwrap_or_else(C::Element::zeroed);
            }
        }
    }

    /// Computes outputs of a row with the general kernel, activation included.
    fn general(
        &self,
        row: &OutputRow<'_, C::Element>,
        outputs: Range<usize>,
        y: &mut [C::Element],
        mut indices: Option<&mut IndicesMut<'_>>,
    ) {
        let PartOf { plan, view, part, .. } = *self.part;
        let (of_row, mut out) = (outer_axes(view), self.outputs(row.number));
        // Along the first axis, outputs are counted from the part's first one.
        out[0] += part.rows.start;
        let indices_of = |of_plane: i64| (of_plane, view.unit_base.wrapping_add(of_plane));
        for output in outputs {
            let channel = output % view.inner;
            if !outputs_are_columns(view) {
                out[of_row] = output / view.inner + if of_row == 0 { part.rows.start } else { 0 };
            }
            let of_channel = (channel as i64).wrapping_mul(view.index_c);
            let bases = indices_of(row.index.wrapping_add(of_channel));
            let (value, index) = general::window(plan, view, &out, &row.x[channel..], bases, None);
            y[row.place + output] = value;
            if let Some(indices) = &mut indices {
                indices.set(row.place + output, index);
            }
        }
    }
}

/// The taps of the windows of all channels, counted in elements.
fn of_channels(along: &[Taps], channels: i64) -> Vec<Taps> {
    let of = |taps: &Taps| {
        let Taps { first, count, step } = *taps;
        (0..channels).map(move |channel| Taps { first: first * channels + channel, count, step: step * channels })
    };
    along.iter().flat_map(of).collect()
}
