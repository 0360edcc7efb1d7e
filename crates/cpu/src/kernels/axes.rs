//! The axes of pools with strided windows, in the form that the kernels with lanes use.

use std::ops::Range;

use wgpu_pooling_plan::{AxisWindow, Layout};

use super::view::View;

/// An axis of X: the planes, a spatial axis, or the channels where they lie innermost. Windows along planes and
/// channels have one element.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Axis {
    pub input: usize,
    pub output: usize,
    pub kernel: usize,
    pub stride: usize,
    pub dilation: usize,
    window: AxisWindow,
    pub x_stride: usize,
    pub index_stride: i64,
    /// The distance of positions whose lanes are neighbours: the stride, or 1 where the maxima of windows at all
    /// positions are computed.
    pub spacing: usize,
    /// For each remainder of a position modulo the spacing: its phase number, or `None` if no tap has this remainder.
    pub phases: Vec<Option<usize>>,
}

impl Axis {
    fn new(input: usize, output: usize, [kernel, stride, dilation]: [usize; 3], pad_begin: i64) -> Axis {
        let [taps, step, between] = [kernel, stride, dilation].map(|number| number as i64);
        let window = AxisWindow::Strided { kernel: taps, stride: step, dilation: between, pad_begin };
        let axis = Axis {
            input,
            output,
            kernel,
            stride,
            dilation,
            window,
            x_stride: 0,
            index_stride: 0,
            spacing: 1,
            phases: Vec::new(),
        };
        axis.spaced(stride)
    }

    /// The same axis with lanes of positions at this distance as neighbours.
    pub fn spaced(self, spacing: usize) -> Axis {
        let mut phases = vec![None; spacing];
        let mut used: Vec<usize> = (0..self.kernel.min(spacing)).map(|tap| tap * self.dilation % spacing).collect();
        used.sort_unstable();
        used.dedup();
        used.iter().enumerate().for_each(|(number, &phase)| phases[phase] = Some(number));
        Axis { spacing, phases, ..self }
    }

    /// The slots from the window of an output to that of the next one. A slot is a position, in lanes of one phase.
    pub fn pick(&self) -> usize {
        self.stride / self.spacing
    }

    /// The slots that the windows of neighbouring outputs span, at least one output.
    pub fn slots(&self, outputs: usize) -> usize {
        (outputs.max(1) - 1) * self.pick() + 1 + self.reach() / self.spacing
    }

    /// The same axis with stride 1 and this number of windows, beginning with the same first window.
    pub fn dense(&self, windows: usize) -> Axis {
        let dense = Axis::new(self.input, windows, [self.kernel, 1, self.dilation], -self.start(0));
        Axis { x_stride: self.x_stride, index_stride: self.index_stride, ..dense }
    }

    /// The same axis with its padding as positions of X: all windows lie inside, and the first one begins at 0.
    pub fn padded(&self) -> Axis {
        let input = self.output.saturating_sub(1) * self.stride + self.reach() + 1;
        Axis { x_stride: self.x_stride, ..Axis::new(input, self.output, [self.kernel, self.stride, self.dilation], 0) }
    }

    /// The distance from a window's first tap to its last one.
    pub fn reach(&self) -> usize {
        self.window.reach() as usize
    }

    /// The position in X of the first tap of a window, padding included.
    pub fn start(&self, output: usize) -> i64 {
        self.window.start(output, self.input)
    }

    /// The positions from the first tap of a window to the first one inside X; `None` if the window is empty.
    pub fn ahead(&self, output: usize) -> Option<usize> {
        let taps = self.window.taps(output, self.input);
        (taps.count > 0).then(|| (taps.first - self.start(output)) as usize)
    }

    /// Whether all taps of a window lie inside X.
    pub fn is_inside(&self, output: usize) -> bool {
        self.window.taps(output, self.input).count == self.kernel as i64
    }

    /// The taps of a window that lie inside X.
    pub fn taps_inside(&self, output: usize) -> Range<usize> {
        let taps = self.window.taps(output, self.input);
        let first = (taps.first - self.start(output)) as usize / self.dilation;
        first..first + taps.count as usize
    }

    /// The number of phases that contain taps.
    pub fn phase_count(&self) -> usize {
        self.phases.iter().flatten().count()
    }

    /// The number of outputs whose windows lie inside X. They are neighbours.
    pub fn inside(&self) -> usize {
        let inside = self.inside_range();
        inside.end - inside.start
    }

    /// The outputs whose windows lie inside X.
    pub fn inside_range(&self) -> Range<usize> {
        let begin = (0..self.output).find(|&output| self.is_inside(output)).unwrap_or(0);
        let end = (begin..self.output).rev().find(|&output| self.is_inside(output)).map_or(begin, |output| output + 1);
        begin..end
    }

    /// The positions in the phases with taps that the windows of neighbouring outputs span.
    pub fn loaded(&self, outputs: usize) -> usize {
        self.slots(outputs) * self.phase_count()
    }
}

/// The most elements of the box that a window spans: a block loads all of them into scratch memory.
const MOST_LANES: i64 = 1 << 22;
/// The largest stride.
const MOST_STRIDE: i64 = 4096;

/// The axes of a pool with strided windows. `Err` says why the windows do not qualify.
pub(super) fn axes(view: &View) -> Result<Vec<Axis>, &'static str> {
    let mut axes = vec![Axis::new(view.outer, view.outer, [1; 3], 0)];
    for axis in &view.axes {
        let AxisWindow::Strided { kernel, stride, dilation, pad_begin } = axis.window else {
            return Err("its windows are not strided");
        };
        // The dilation of a single tap and the stride of a single window have no effect.
        let dilation = if kernel == 1 { 1 } else { dilation };
        let stride = if axis.output == 1 { 1 } else { stride };
        let reach = (kernel - 1).saturating_mul(dilation);
        if reach >= MOST_LANES || stride > MOST_STRIDE || pad_begin.saturating_abs() > MOST_LANES {
            return Err("its windows are too far apart or reach too far");
        }
        let numbers = [kernel as usize, stride as usize, dilation as usize];
        let own = Axis::new(axis.input, axis.output, numbers, pad_begin);
        axes.push(Axis { x_stride: axis.x_stride, index_stride: axis.index_stride, ..own });
    }
    // A block loads at least the box that one window spans.
    let window = axes.iter().fold(1i64, |window, axis| window.saturating_mul(axis.reach() as i64 + 1));
    if window > MOST_LANES {
        return Err("its windows reach too far");
    }
    axes[0].x_stride = view.plane();
    // Where the indices of planes are not evenly spaced, blocks have one plane each.
    axes[0].index_stride = if view.layout == Layout::Nchw { view.index_c } else { view.index_n };
    if view.inner != 1 {
        let channels = Axis::new(view.inner, view.inner, [1; 3], 0);
        axes.push(Axis { x_stride: 1, index_stride: view.index_c, ..channels });
    }
    Ok(axes)
}

/// The largest index difference within a plane that kernels keep in 32 bits.
pub(crate) const MOST_INDEX: i64 = 1 << 30;

/// An upper bound of the difference between two indices of a plane, padding included. It saturates.
pub(crate) fn index_span(axes: &[Axis]) -> i64 {
    axes[1..].iter().fold(0, |span: i64, axis| {
        let before = axis.start(0).saturating_neg().max(0);
        let positions = (axis.input as i64).saturating_add(before).saturating_add(axis.reach() as i64);
        span.saturating_add(positions.saturating_mul(axis.index_stride.saturating_abs()))
    })
}
