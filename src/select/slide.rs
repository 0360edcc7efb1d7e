//! One pass of sliding maxima: the division of an axis into classes and chunks, and of a long window into levels.

use wgpu_pooling_plan::{AxisWindow, PlanError, PoolAxis, PoolPlan};

use super::bounds::greatest_common_divisor;
use super::view::{FORMULA, PassAxis, around};
use crate::family::Family;
use crate::kernel::Fact;
use crate::uniform::{self, Divisor};

/// Windows that slide along one axis (shaders/kernel/pool_sliding.wgsl).
#[derive(Debug, Clone)]
pub(super) struct Slide {
    /// The axis' number in the plan.
    number: usize,
    /// The extents outside and inside the axis.
    pub outer: u64,
    pub inner: u64,
    /// Strides along the axis in the source and in the sink, and the distance of lines in the sink.
    source_inner: u64,
    sink_inner: u64,
    pub sink_line: u64,
    pub input: u64,
    pub output: u64,
    stride: u64,
    dilation: u64,
    pad: i64,
    /// The number of interleaved classes: outputs share taps if their distance is a multiple of it.
    pub classes: u64,
    /// A window is `chunks` chunks of `chunk` taps, and `rest` taps of one further chunk. Of each chunk, `read` taps
    /// are read.
    pub chunks: u64,
    pub chunk: u64,
    pub read: u64,
    rest: u64,
    /// Elements from the first tap to the additional last tap of a level whose taps do not divide the window.
    last_tap: Option<u64>,
    /// Elements from the first tap to the last tap.
    reach: u64,
}

/// The passes of a plan, in order. Windows of more than `most_chunks` chunks are pooled in levels.
pub(super) fn slides(plan: &PoolPlan, most_chunks: u64) -> Result<Vec<Slide>, PlanError> {
    if plan.has_empty_windows() {
        return Family::Sliding.refuse("a window can be empty");
    }
    let [planes, mut inner] = around(plan);
    let mut slides = Vec::new();
    let mut overlap = false;
    for (number, axis) in plan.axes.iter().enumerate().rev() {
        if !PassAxis::is_identity(axis) {
            let outer = plan.axes[..number].iter().fold(planes, |all, axis| all.saturating_mul(axis.input as u64));
            let levels = levels(plan, number, outer, inner, most_chunks)?;
            overlap |= levels.iter().any(|level| level.chunks > 1) && axis.output > 1;
            slides.extend(levels);
        }
        inner = inner.saturating_mul(axis.output as u64);
    }
    if !overlap {
        return Family::Sliding.refuse("the windows do not overlap");
    }
    Ok(slides)
}

/// The passes along one axis: one, or several levels where windows are long. A window of the first level covers some
/// consecutive taps of the axis's own windows. A window of each further level is the maximum of consecutive windows of
/// the level before. The last level may need one additional window, which then overlaps the one before it.
fn levels(plan: &PoolPlan, number: usize, outer: u64, inner: u64, most: u64) -> Result<Vec<Slide>, PlanError> {
    let axis = &plan.axes[number];
    let window = axis.window.strided();
    let AxisWindow::Strided { kernel, stride, dilation, pad_begin } = window else {
        return Family::Sliding.refuse("the windows are not given by a kernel and a stride");
    };
    // Kernels compute both ends of a window in 32 bits.
    if PassAxis::of(axis).twin().kind != FORMULA {
        return Family::Sliding.refuse("an axis is too long");
    }
    let (kernel, stride, dilation) = (kernel as u64, stride as u64, dilation as u64);
    let whole = Slide {
        number,
        outer,
        inner,
        source_inner: inner,
        sink_inner: inner,
        sink_line: 0,
        input: axis.input as u64,
        output: axis.output as u64,
        stride,
        dilation,
        pad: pad_begin,
        classes: 1,
        chunks: kernel,
        chunk: 1,
        read: 1,
        rest: 0,
        last_tap: None,
        reach: kernel.saturating_sub(1).saturating_mul(dilation),
    };
    let alone = whole.clone().of_taps(kernel, dilation);
    if alone.chunks <= most {
        return Ok(vec![alone]);
    }
    let mut many = 2;
    while most.saturating_pow(many) < kernel {
        many = many.saturating_add(1);
    }
    let factor = (2..=most).find(|factor| factor.saturating_pow(many) >= kernel).unwrap_or(most);
    Ok(in_levels(whole, kernel, many, factor))
}

/// `many` levels, of which all but the last multiply the taps of a window by `factor`.
fn in_levels(whole: Slide, kernel: u64, many: u32, factor: u64) -> Vec<Slide> {
    let (stride, dilation) = (whole.stride, whole.dilation);
    let mut found: Vec<Slide> = Vec::new();
    // Taps of the plan's axis that a window of the level covers.
    let mut taps = 1u64;
    let starts = whole.output.saturating_sub(1).saturating_mul(stride);
    for _ in 1..many {
        let step = taps.saturating_mul(dilation);
        taps = taps.saturating_mul(factor);
        let output = starts.saturating_add(kernel.saturating_sub(taps).saturating_mul(dilation)).saturating_add(1);
        let level = Slide {
            input: found.last().map_or(whole.input, |before| before.output),
            output,
            stride: 1,
            pad: if found.is_empty() { whole.pad } else { 0 },
            reach: step.saturating_mul(factor.saturating_sub(1)),
            ..whole.clone()
        };
        found.push(level.of_taps(factor, step));
    }
    let last_tap = (!kernel.is_multiple_of(taps)).then(|| kernel.saturating_sub(taps).saturating_mul(dilation));
    let last = Slide {
        input: found.last().map_or(whole.input, |before| before.output),
        pad: 0,
        last_tap,
        reach: kernel.saturating_sub(taps).saturating_mul(dilation),
        ..whole
    };
    found.push(last.of_taps(kernel.checked_div(taps).unwrap_or(1), taps.saturating_mul(dilation)));
    found
}

/// Rows of scratch memory between passes: `kept` elements per row, of which the first `extent` are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pitch {
    pub kept: u64,
    pub extent: u64,
}

impl Pitch {
    /// The pitch of rows rounded up to a multiple of `lanes`.
    pub fn of(slides: &[Slide], lanes: u64) -> Pitch {
        let Some(first) = slides.first() else { return Pitch { kept: 1, extent: 1 } };
        let of_one = slides.iter().take_while(|slide| slide.number == first.number);
        let extent = if first.inner == 1 { of_one.last().map_or(1, |slide| slide.output) } else { first.inner };
        let lanes = lanes.min(extent.next_power_of_two());
        Pitch { kept: extent.checked_next_multiple_of(lanes).unwrap_or(extent), extent }
    }

    /// The extent inside an axis, with padded rows.
    fn padded(self, inner: u64) -> u64 {
        if inner == 1 { 1 } else { inner.checked_div(self.extent).unwrap_or(1).saturating_mul(self.kept) }
    }

    /// Sets the strides of the passes. X and Y have no padded rows.
    pub fn lay_out(self, slides: &mut [Slide]) {
        let last = slides.len().saturating_sub(1);
        let axes: Vec<usize> = slides.iter().map(|slide| slide.number).collect();
        for (number, slide) in slides.iter_mut().enumerate() {
            let padded = self.padded(slide.inner);
            slide.source_inner = if number == 0 { slide.inner } else { padded };
            slide.sink_inner = if number == last { slide.inner } else { padded };
            // The last pass along the innermost axis writes padded rows.
            let next = axes.get(number.saturating_add(1));
            let is_first = axes.first() == Some(&slide.number);
            let is_row = is_first && slide.inner == 1 && next.is_some_and(|axis| *axis != slide.number);
            let line = slide.output.saturating_mul(slide.sink_inner);
            slide.sink_line = if is_row { self.kept } else { line };
            slide.inner = padded;
        }
    }
}

impl Slide {
    /// The same axis with windows of `taps` taps, `dilation` elements apart.
    fn of_taps(self, taps: u64, dilation: u64) -> Slide {
        let common = greatest_common_divisor(self.stride, dilation).max(1);
        let chunk = self.stride.div_ceil(common);
        let chunks = taps.checked_div(chunk).unwrap_or(1).max(1);
        Slide {
            dilation,
            classes: dilation.div_ceil(common),
            chunks,
            chunk,
            read: chunk.min(taps),
            rest: taps.saturating_sub(chunks.saturating_mul(chunk)),
            ..self
        }
    }

    /// Elements that the pass writes.
    pub fn outputs(&self) -> u64 {
        self.outer.saturating_mul(self.sink_line)
    }

    /// The position of an output of a line in the sink.
    pub fn number(&self, line: u64, output: u64) -> u64 {
        line.saturating_mul(self.sink_line).saturating_add(output.saturating_mul(self.sink_inner))
    }

    /// Elements from the first tap of a window to the first tap of the next window in its class.
    pub fn pitch(&self) -> u64 {
        self.classes.saturating_mul(self.stride)
    }

    /// Outputs of the largest class.
    pub fn outputs_of_a_class(&self) -> u64 {
        self.output.div_ceil(self.classes.max(1))
    }

    /// Elements between an aligned load of four and the first element of a window, if windows slide by single elements
    /// along the innermost axis.
    pub fn row_left(&self) -> Option<u32> {
        let by_ones = self.stride == 1 && self.dilation == 1 && self.last_tap.is_none();
        let left = self.pad.checked_neg()?.rem_euclid(4) as u32;
        (self.source_inner == 1 && by_ones && self.chunks >= 4).then_some(left)
    }

    /// The window as constants of a kernel of the pass.
    pub fn window(&self) -> [Fact; 6] {
        [
            ("CHUNKS", self.chunks as u32),
            ("CHUNK", self.chunk as u32),
            ("READ", self.read as u32),
            ("REST", self.rest as u32),
            ("LAST_TAP", self.last_tap.is_some().into()),
            ("DILATED", (self.dilation > 1).into()),
        ]
    }

    /// The uniform's description of the axis.
    pub fn axis(&self) -> uniform::Axis {
        uniform::Axis {
            input: self.input as u32,
            output: self.output as u32,
            kernel: self.chunks as u32,
            stride: self.stride as u32,
            dilation: self.dilation as u32,
            pad_begin: self.pad as i32,
            kind: 0,
            table: 0,
        }
    }

    /// The further fields of the uniform, without those that divide the axis among invocations.
    pub fn uniform(&self, plan: &PoolPlan, pitch: Pitch) -> uniform::Slide {
        let [_, channels] = around(plan);
        uniform::Slide {
            classes: Divisor::new(self.classes),
            channels: Divisor::new(channels),
            row: Divisor::new(plan.axes.last().map_or(1, |axis| axis.output as u64)),
            last_tap: self.last_tap.unwrap_or(0) as u32,
            pitch: Divisor::new(pitch.kept),
            extent: pitch.extent as u32,
            out_line: self.sink_line as u32,
            out_inner: self.sink_inner as u32,
            ..bytemuck::Zeroable::zeroed()
        }
    }

    /// How the last pass finds the first elements of the plan's own windows, as constants of its kernel: the distance
    /// in taps of neighbouring windows of a class, the dilation of the axis, and the axes inside it.
    pub fn first_elements(&self, plan: &PoolPlan) -> [Fact; 5] {
        let dilation = original(&plan.axes[self.number]).dilation;
        let inside = &plan.axes[self.number.saturating_add(1)..];
        [
            ("FIRST_STRIDE", self.pitch().checked_div(dilation.into()).unwrap_or(1) as u32),
            ("FIRST_DILATION", dilation),
            ("CHANNELS_INSIDE", (around(plan)[1] > 1).into()),
            ("INNER_AXES", inside.len() as u32),
            ("INNER_DILATED", inside.iter().any(|axis| original(axis).dilation > 1).into()),
        ]
    }

    /// The axis' number in the plan.
    pub fn axis_number(&self) -> usize {
        self.number
    }

    /// The stride along the axis in the source.
    pub fn source_inner(&self) -> u64 {
        self.source_inner
    }

    /// The elements that windows of this pass read.
    pub fn axis_range(&self) -> AxisRange {
        AxisRange {
            input: self.input,
            inner: self.source_inner,
            stride: self.stride,
            dilation: self.dilation,
            pad: self.pad,
            reach: self.reach,
        }
    }

    /// The elements of X that are first taps of the plan's own windows along this axis, over all axes inside.
    pub fn original_range(&self, plan: &PoolPlan) -> AxisRange {
        let axis = original(&plan.axes[self.number]);
        let [_, channels] = around(plan);
        let inside = &plan.axes[self.number.saturating_add(1)..];
        AxisRange {
            input: axis.input.into(),
            inner: inside.iter().fold(channels, |all, axis| all.saturating_mul(axis.input as u64)),
            stride: axis.stride.into(),
            dilation: axis.dilation.into(),
            pad: axis.pad_begin.into(),
            reach: 0,
        }
    }
}

/// The uniform's description of an axis of the plan whose windows are given by a formula.
pub(super) fn original(axis: &PoolAxis) -> uniform::Axis {
    uniform::Axis { kind: FORMULA, ..PassAxis::of(axis).twin() }
}

/// The elements along an axis that neighbouring windows can read.
pub(super) struct AxisRange {
    pub input: u64,
    pub inner: u64,
    stride: u64,
    dilation: u64,
    pad: i64,
    reach: u64,
}

impl AxisRange {
    /// The lowest and the highest element that outputs `first` to `last` read. Taps in the padding are moved to the
    /// nearest tap inside, which is less than a dilation from the end of the axis.
    pub fn bounds(&self, first: u64, last: u64) -> [u64; 2] {
        let end = self.input.saturating_sub(1);
        let start = |output: u64| (output.saturating_mul(self.stride) as i64).saturating_sub(self.pad);
        let lowest_of_end = self.input.saturating_sub(self.dilation.max(1));
        let low = (start(first).max(0) as u64).min(lowest_of_end);
        let high = start(last).saturating_add(self.reach as i64).max(self.dilation as i64) as u64;
        [low, high.min(end).max(low)]
    }
}
