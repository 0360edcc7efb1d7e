//! The outputs of a flat pool and the elements that their windows contain: bands of rows, in strips of columns.

use std::ops::Range;

use crate::kernels::axes::Axis;

/// A range of columns of windows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Strip {
    pub columns: Range<usize>,
    /// The outputs of a row among these columns.
    pub outputs: Range<usize>,
    /// The positions of X that their windows contain.
    pub x: Range<usize>,
    /// Columns whose windows lie inside X.
    pub inside: Range<usize>,
    pub edges: Vec<Edge>,
    /// The first elements of windows, as runs of columns whose first elements are neighbours.
    pub firsts: Vec<FirstColumns>,
}

/// Columns of outputs whose windows begin with neighbouring elements of X.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FirstColumns {
    pub column: usize,
    pub position: usize,
    pub count: usize,
}

/// A column of outputs whose windows have taps in the padding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Edge {
    pub column: usize,
    /// The position of the first tap in X, and the number of taps.
    pub first: usize,
    pub taps: usize,
}

impl Strip {
    /// Every column whose number is a multiple of `stride` is an output, up to `outputs` of them in a row. Only outputs
    /// get edges at the borders of X. `along` is the axis along which windows are reduced, perhaps with the padding as
    /// positions; `own` is that of X.
    pub fn new([along, own]: [&Axis; 2], columns: Range<usize>, stride: usize, outputs: usize) -> Strip {
        let is_output = |column: &usize| column.is_multiple_of(stride) && column / stride < outputs;
        let of_strip = columns.start.div_ceil(stride).min(outputs)..columns.end.div_ceil(stride).min(outputs);
        let is_inside = |column: &usize| along.is_inside(*column);
        let begin = columns.clone().find(is_inside).unwrap_or(columns.end);
        let end = columns.clone().rev().find(is_inside).map_or(begin, |column| column + 1);
        let edge = |column: usize| {
            let taps = along.taps_inside(column);
            Edge { column, first: position(along, column, taps.start), taps: taps.len() }
        };
        let edges: Vec<Edge> = (columns.start..begin).chain(end..columns.end).filter(is_output).map(edge).collect();
        let mut firsts: Vec<FirstColumns> = Vec::new();
        // Of columns that are no outputs, the last ones may have windows behind X.
        let has_first = |column: &usize| own.ahead(*column).is_some() && (is_inside(column) || is_output(column));
        for column in columns.clone().filter(has_first) {
            let position = position(own, column, own.taps_inside(column).start);
            match firsts.last_mut() {
                Some(last) if (last.position + last.count, last.column + last.count) == (position, column) => {
                    last.count += 1
                }
                _ => firsts.push(FirstColumns { column, position, count: 1 }),
            }
        }
        let of_inside =
            (begin < end).then(|| along.start(begin) as usize..along.start(end - 1) as usize + along.reach() + 1);
        let last = |edge: &Edge| edge.first + (edge.taps - 1) * along.dilation + 1;
        let first = edges.iter().map(|edge| edge.first).chain(of_inside.iter().map(|x| x.start)).min();
        let end_of_x = edges.iter().map(last).chain(of_inside.iter().map(|x| x.end)).max();
        Strip {
            columns,
            outputs: of_strip,
            x: first.unwrap_or(0)..end_of_x.unwrap_or(0),
            inside: begin..end,
            edges,
            firsts,
        }
    }
}

/// Evenly spaced rows of outputs whose windows contain the same number of rows of X.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RowRun {
    /// The first row of outputs, and the number of rows.
    pub row: usize,
    pub count: usize,
    /// The first row of X that the window of the first row contains, and the number of rows that each window contains.
    pub first: usize,
    pub taps: usize,
}

impl RowRun {
    pub fn split(down: &Axis, rows: Range<usize>) -> Vec<RowRun> {
        let mut runs: Vec<RowRun> = Vec::new();
        let mut before_is_inside = false;
        for row in rows {
            let (taps, is_inside) = (down.taps_inside(row), down.is_inside(row));
            match runs.last_mut() {
                Some(run) if is_inside && before_is_inside => run.count += 1,
                _ => runs.push(RowRun { row, count: 1, first: position(down, row, taps.start), taps: taps.len() }),
            }
            before_is_inside = is_inside;
        }
        runs
    }
}

/// A band of rows of outputs in one strip.
#[derive(Debug)]
pub(super) struct Band<'a> {
    pub strip: &'a Strip,
    pub rows: Range<usize>,
    pub runs: Vec<RowRun>,
    /// The rows of X that their windows contain.
    pub x_rows: Range<usize>,
    /// Elements from one row of outputs to the next, and the elements of a row of the strip.
    pub width: usize,
    pub columns: usize,
    /// The number of planes of outputs. If there are several, the rows of X of each plane follow those of the plane
    /// before.
    pub planes: usize,
}

impl<'a> Band<'a> {
    /// `inner` is the number of neighbouring elements at each position.
    pub fn new([down, along]: &[Axis; 2], inner: usize, strip: &'a Strip, rows: Range<usize>) -> Band<'a> {
        let runs = RowRun::split(down, rows.clone());
        let last = |run: &RowRun| run.first + (run.count - 1) * down.stride + (run.taps - 1) * down.dilation;
        let first = runs.iter().map(|run| run.first).min();
        let x_rows = first.unwrap_or(0)..runs.iter().map(last).max().map_or(0, |last| last + 1);
        let (width, columns) = (along.output * inner, strip.columns.len() * inner);
        Band { strip, rows, runs, x_rows, width, columns, planes: 1 }
    }

    /// The rows of X of all planes.
    pub fn all_x_rows(&self) -> usize {
        self.planes * self.x_rows.len()
    }

    pub fn all_rows(&self) -> usize {
        self.planes * self.rows.len()
    }
}

/// The position of a tap that lies inside X.
pub(super) fn position(axis: &Axis, output: usize, tap: usize) -> usize {
    (axis.start(output) + (tap * axis.dilation) as i64) as usize
}
