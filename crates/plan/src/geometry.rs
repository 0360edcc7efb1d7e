//! The output-size, padding, ceil and window formulas, one axis at a time, in exact integer arithmetic.
//!
//! This is their only home: plans, schedules and the reference all use these functions.
//!
//! An axis of a plan is checked before it has windows: extents are at most 2^58 (`element_count`), and every position
//! of a tap is at most a quarter of the 64-bit range (`max_pool_axis`, `max_unpool_window`), so that sums of a few
//! positions fit. The stride of an axis with one window, and the dilation of a kernel with one tap, can be any number,
//! but are only multiplied by zero.

use std::ops::Range;

use crate::error::PlanError;
use crate::options::{AutoPad, CeilRule, SamePadding, SizeRounding};

/// The attributes of one axis of a MaxPool, as the caller gave them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct AxisAttributes {
    pub axis: usize,
    pub input: usize,
    pub kernel: i64,
    pub stride: i64,
    pub dilation: i64,
    pub pads: [i64; 2],
}

/// The rules that turn attributes into an output extent.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct SizeRules {
    pub auto_pad: AutoPad,
    pub ceil: CeilRule,
    pub same: SamePadding,
    pub rounding: SizeRounding,
}

/// The windows of one axis.
///
/// ```
/// use wgpu_pooling_plan::AxisWindow;
///
/// let padded = AxisWindow::Strided { kernel: 3, stride: 2, dilation: 1, pad_begin: 1 };
/// let taps = padded.taps(0, 5);
/// assert_eq!((taps.first, taps.count, taps.step), (0, 2, 1));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AxisWindow {
    /// MaxPool: window `o` starts at `o * stride - pad_begin` and has `kernel` taps, `dilation` apart.
    Strided {
        /// Taps of a window.
        kernel: i64,
        /// Elements from one window's start to the next.
        stride: i64,
        /// Elements from one tap to the next.
        dilation: i64,
        /// Padding cells before the first element; negative ones move windows right (onnxruntime's SAME rule).
        pad_begin: i64,
    },
    /// AdaptiveMaxPool: window `o` covers `floor(o * input / output)` up to, not including,
    /// `ceil((o + 1) * input / output)` (OpenVINO AdaptiveMaxPool-8).
    ///
    /// The formula needs the extents of the whole axis. An axis may be a part of it: the windows from `first_output`
    /// on, on the elements from `first_input` on.
    Adaptive {
        /// Elements of the whole axis.
        input: usize,
        /// Windows of the whole axis.
        output: usize,
        /// The element of the whole axis that is the part's first.
        first_input: usize,
        /// The window of the whole axis that is the part's first.
        first_output: usize,
    },
}

/// The taps of one window that lie inside the input: `first`, `first + step`, .., `count` of them.
///
/// ```
/// use wgpu_pooling_plan::{AxisWindow, Taps};
///
/// // Three taps from -1 on, two apart: the first lies in the padding.
/// let window = AxisWindow::Strided { kernel: 3, stride: 1, dilation: 2, pad_begin: 1 };
/// assert_eq!(window.taps(0, 5), Taps { first: 1, count: 2, step: 2 });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Taps {
    /// The first tap that is not negative. It lies beyond the input if the window is empty.
    pub first: i64,
    /// The number of taps inside the input.
    pub count: i64,
    /// Elements from one tap to the next.
    pub step: i64,
}

impl Taps {
    /// The positions along the axis.
    pub fn positions(self) -> impl Iterator<Item = i64> + Clone {
        (0..self.count).map(move |tap| self.first.saturating_add(tap.saturating_mul(self.step)))
    }

    /// Whether one of them is at this position.
    #[inline]
    pub fn contains(self, position: i64) -> bool {
        let (ahead, step) = (position.saturating_sub(self.first), self.step.max(1));
        (0..self.count).contains(&ahead.div_euclid(step)) && ahead.rem_euclid(step) == 0
    }
}

/// The number whose product with `number` is `common`, their greatest common divisor, modulo `modulus`; and `common`.
fn inverse(number: i128, modulus: i128) -> [i128; 2] {
    let (mut above, mut below) = ([1, number], [0, modulus]);
    while below[1] != 0 {
        let quotient = above[1] / below[1];
        (above, below) = (below, [above[0] - quotient * below[0], above[1] - quotient * below[1]]);
    }
    above
}

/// The position of the first tap of a strided window, padding included.
fn strided_start(output_index: usize, stride: i64, pad_begin: i64) -> i64 {
    (output_index as i64).saturating_mul(stride).saturating_sub(pad_begin)
}

impl AxisWindow {
    /// The windows of a whole axis of AdaptiveMaxPool.
    pub fn adaptive(input: usize, output: usize) -> AxisWindow {
        AxisWindow::Adaptive { input, output, first_input: 0, first_output: 0 }
    }

    /// The taps of window `output_index` on an axis of `input` elements.
    ///
    /// The axis must have that window, and dilation and stride must be positive. A plan ensures this, and that no
    /// position overflows 64 bits; otherwise positions saturate.
    ///
    /// ```
    /// use wgpu_pooling_plan::AxisWindow;
    ///
    /// // Five elements in two windows, which share the middle one.
    /// let window = |output_index| AxisWindow::adaptive(5, 2).taps(output_index, 5).positions().collect::<Vec<_>>();
    /// assert_eq!((window(0), window(1)), (vec![0, 1, 2], vec![2, 3, 4]));
    /// ```
    #[inline]
    pub fn taps(self, output_index: usize, input: usize) -> Taps {
        #[cfg(debug_assertions)]
        steps::count();
        let input = input as i64;
        match self {
            AxisWindow::Strided { kernel, stride, dilation, pad_begin } => {
                let start = strided_start(output_index, stride, pad_begin);
                // Dilated windows step from their unclamped start (onnxruntime#29637), so taps in the begin padding are
                // skipped by whole steps.
                let dilation = dilation.max(1);
                let skipped = if start < 0 { ceil_div(start.saturating_neg(), dilation) } else { 0 };
                let first = start.saturating_add(skipped.saturating_mul(dilation));
                let left = kernel.saturating_sub(skipped).max(0);
                let room = ceil_div(input.saturating_sub(first).max(0), dilation);
                Taps { first, count: left.min(room), step: dilation }
            }
            AxisWindow::Adaptive { input, output, first_input, first_output } => {
                let index = first_output.saturating_add(output_index) as i128;
                // Below 2^63, so that products with a 64-bit number fit.
                let (input, output) = (input.min(i64::MAX as usize) as i128, output.max(1) as i128);
                let start = index * input / output;
                let end = ((index + 1) * input + output - 1) / output;
                let saturated = |value: i128| value.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
                let first = saturated(start).saturating_sub(first_input as i64);
                Taps { first, count: saturated(end - start), step: 1 }
            }
        }
    }

    /// Adaptive windows as strided ones, where the axis divides evenly; other windows unchanged.
    #[inline]
    pub fn strided(self) -> AxisWindow {
        match self {
            // A part has the form of the whole axis, so that no tile takes more than the largest one.
            AxisWindow::Adaptive { input, output, first_input, first_output }
                if output > 0 && input.is_multiple_of(output) =>
            {
                let stride = (input / output) as i64;
                let pad_begin = first_input as i64 - first_output as i64 * stride;
                AxisWindow::Strided { kernel: stride, stride, dilation: 1, pad_begin }
            }
            other => other,
        }
    }

    /// The elements that the windows of a range of outputs can reach, and these windows relative to those elements,
    /// with the same taps. The range of elements begins at or before the `first` of every window, empty ones included,
    /// unless `first` lies beyond the axis. It is never empty.
    pub(crate) fn part(self, outputs: Range<usize>, input: usize) -> (Range<usize>, AxisWindow) {
        let (first_output, last_output) = (outputs.start, outputs.end.max(outputs.start + 1) - 1);
        match self {
            AxisWindow::Strided { stride, pad_begin, .. } => {
                let start = first_output as i64 * stride - pad_begin;
                let end = last_output as i64 * stride - pad_begin + self.reach() + 1;
                let first = start.clamp(0, input as i64 - 1);
                let end = end.clamp(first + 1, input as i64);
                (first as usize..end as usize, self.shifted(first_output, first))
            }
            AxisWindow::Adaptive { input: whole_input, output: whole_output, first_input, first_output: before } => {
                let [start, last] = [first_output, last_output].map(|index| self.taps(index, input));
                let first = start.first as usize;
                let window = AxisWindow::Adaptive {
                    input: whole_input,
                    output: whole_output,
                    first_input: first_input + first,
                    first_output: before + first_output,
                };
                (first..(last.first + last.count) as usize, window)
            }
        }
    }

    /// The most elements that `outputs` neighbouring windows can reach: a bound on the extents that `part` returns.
    pub(crate) fn most_extent(self, outputs: usize, input: usize) -> usize {
        let outputs = outputs.max(1) as u128;
        let most = match self {
            AxisWindow::Strided { stride, .. } => (outputs - 1) * stride as u128 + self.reach() as u128 + 1,
            AxisWindow::Adaptive { input, output, .. } => (outputs * input as u128).div_ceil(output.max(1) as u128) + 1,
        };
        usize::try_from(most).unwrap_or(usize::MAX).clamp(1, input.max(1))
    }

    /// One window, cut to a range of its taps, on the elements from the first to the last of these taps. An empty
    /// window stays empty, on an axis of one element.
    pub(crate) fn taps_part(self, output_index: usize, taps: Range<i64>, input: usize) -> (Range<usize>, AxisWindow) {
        let Taps { first, count, step } = self.taps(output_index, input);
        if count == 0 {
            let first = first.clamp(0, input as i64 - 1);
            return (first as usize..first as usize + 1, self.shifted(output_index, first));
        }
        let (begin, end) = (taps.start.min(count - 1), taps.end.min(count));
        let (from, last) = (first + begin * step, first + (end - 1) * step);
        let window = AxisWindow::Strided { kernel: end - begin, stride: 1, dilation: step, pad_begin: 0 };
        (from as usize..last as usize + 1, window)
    }

    /// The same windows, with outputs and elements counted from this output and this element on.
    fn shifted(self, first_output: usize, first_input: i64) -> AxisWindow {
        match self {
            AxisWindow::Strided { kernel, stride, dilation, pad_begin } => {
                let pad_begin = pad_begin + first_input - first_output as i64 * stride;
                AxisWindow::Strided { kernel, stride, dilation, pad_begin }
            }
            // Adaptive windows are never empty and move with `part`.
            adaptive => adaptive,
        }
    }

    /// The position of a window's first tap, padding included.
    #[inline]
    pub fn start(self, output_index: usize, input: usize) -> i64 {
        match self {
            AxisWindow::Strided { stride, pad_begin, .. } => strided_start(output_index, stride, pad_begin),
            AxisWindow::Adaptive { .. } => self.taps(output_index, input).first,
        }
    }

    /// The distance from a window's start to its last tap.
    #[inline]
    pub fn reach(self) -> i64 {
        match self {
            AxisWindow::Strided { kernel, dilation, .. } => (kernel - 1).saturating_mul(dilation),
            AxisWindow::Adaptive { .. } => 0,
        }
    }

    /// A position at the first tap of a window or less than a step before it, and the step. Neither decreases from one
    /// window to the next.
    #[inline]
    pub fn bounds(self, output_index: usize, input: usize) -> [i64; 2] {
        [self.start(output_index, input).max(0), self.taps(output_index, input).step]
    }

    /// The covering windows of position `p`: the first one and their number. Windows in this range that step over `p`
    /// by their dilation are included.
    pub fn covering_windows(self, p: usize, input: usize, output: usize) -> [i64; 2] {
        if p >= input || output == 0 {
            return [0, 0];
        }
        let (first, last) = match self {
            AxisWindow::Strided { kernel, stride, dilation, pad_begin } => {
                let position = p as i64 + pad_begin;
                // Window o spans o * stride to o * stride + (kernel - 1) * dilation, in padded positions.
                let reach = (kernel as i128 - 1) * i128::from(dilation);
                let first = (i128::from(position) - reach + i128::from(stride) - 1).div_euclid(i128::from(stride));
                (first.max(0) as i64, position.div_euclid(stride))
            }
            AxisWindow::Adaptive { input, output, first_input, first_output } => {
                let (p, input, output) = ((first_input + p) as i128, input as i128, output as i128);
                // floor(o * input / output) <= p < ceil((o + 1) * input / output)
                let windows = [(p * output) / input, ((p + 1) * output - 1) / input];
                let [first, last] = windows.map(|window| window as i64 - first_output as i64);
                (first.max(0), last)
            }
        };
        let last = last.min(output as i64 - 1);
        [first, (last - first + 1).max(0)]
    }

    /// The windows that have a tap on element 0, of `output` windows on an axis of `input` elements.
    pub(crate) fn windows_of_first(self, input: usize, output: usize) -> Taps {
        let [first, count] = self.covering_windows(0, input, output);
        let AxisWindow::Strided { stride, dilation, pad_begin, .. } = self else {
            return Taps { first, count, step: 1 };
        };
        // Window o has one if o * stride differs from the padding by a multiple of the dilation.
        let (stride, dilation, pad) = (i128::from(stride), i128::from(dilation), i128::from(pad_begin));
        let [factor, common] = inverse(stride, dilation);
        let step = dilation / common;
        // Both factors stay below 2^64.
        let own = (pad / common).rem_euclid(step) * factor.rem_euclid(step) % step;
        let ahead = (own - i128::from(first)).rem_euclid(step);
        let left = if pad % common == 0 { (i128::from(count) - ahead + step - 1).div_euclid(step).max(0) } else { 0 };
        let saturated = |value: i128| i64::try_from(value).unwrap_or(i64::MAX);
        Taps { first: first.saturating_add(saturated(ahead)), count: saturated(left), step: saturated(step) }
    }

    /// The largest number of covering windows of a position.
    pub fn most_covering_windows(self, output: usize) -> u64 {
        let most = match self {
            AxisWindow::Strided { kernel, stride, dilation, .. } => {
                // The number of window starts within the span of a window.
                let reach = (kernel as i128 - 1) * i128::from(dilation);
                u64::try_from(reach / i128::from(stride) + 1).unwrap_or(u64::MAX)
            }
            AxisWindow::Adaptive { input, output, .. } => (output as u64).div_ceil(input.max(1) as u64) + 1,
        };
        most.min(output as u64)
    }

    /// An upper bound on the taps of a window inside the input. Windows that reach into padding have fewer, and
    /// adaptive ones may.
    ///
    /// ```
    /// use wgpu_pooling_plan::AxisWindow;
    ///
    /// let dilated = AxisWindow::Strided { kernel: 3, stride: 1, dilation: 4, pad_begin: 4 };
    /// assert_eq!(dilated.most_taps(6), 2);
    /// assert!((0..6).all(|output_index| dilated.taps(output_index, 6).count <= 2));
    /// ```
    pub fn most_taps(self, input: usize) -> u64 {
        let most = match self {
            AxisWindow::Strided { kernel, dilation, .. } => kernel.min(ceil_div(input as i64, dilation.max(1))) as u64,
            AxisWindow::Adaptive { output: 0, .. } => 0,
            // A window that starts inside an element's share and ends inside another's covers one more than the
            // quotient.
            AxisWindow::Adaptive { input, output, .. } if input.is_multiple_of(output) => (input / output) as u64,
            AxisWindow::Adaptive { input, output, .. } => (input / output) as u64 + 2,
        };
        most.min(input as u64)
    }

    /// Whether some window of the axis has no tap inside the input. Conservative: true without a search if more than
    /// 65,536 windows would have to be tried.
    pub(crate) fn has_empty(self, input: usize, output: usize) -> bool {
        let AxisWindow::Strided { stride, dilation, pad_begin, .. } = self else {
            return false;
        };
        if output == 0 {
            return false;
        }
        let empty = |index: usize| self.taps(index, input).count == 0;
        // Of the windows that start at or after 0, the last one is empty if any is. Of those that start before 0, the
        // first is empty if any ends before the input begins. In between, a dilation wider than the input can step over
        // all of it.
        if empty(0) || empty(output - 1) {
            return true;
        }
        if dilation <= input as i64 || pad_begin <= 0 {
            return false;
        }
        const LOOKED_AT: usize = 1 << 16;
        let before_zero = output.min(ceil_div(pad_begin, stride) as usize);
        before_zero > LOOKED_AT || (0..before_zero).any(empty)
    }

    /// An upper bound on `first` of any window: the largest coordinate of `EmptyIndex::ClampedStart`.
    pub fn largest_first(self, input: usize, output: usize) -> i64 {
        match self {
            AxisWindow::Strided { stride, dilation, pad_begin, .. } => {
                let last = (output as i64 - 1) * stride - pad_begin;
                if pad_begin > 0 { last.max(dilation - 1) } else { last }
            }
            AxisWindow::Adaptive { .. } => input as i64 - 1,
        }
    }
}

/// `a / b` rounded to plus infinity, for positive `b`.
#[inline]
pub const fn ceil_div(a: i64, b: i64) -> i64 {
    a.div_euclid(b) + (a.rem_euclid(b) != 0) as i64
}

/// The output extent and the windows of one axis of MaxPool.
///
/// ONNX MaxPool: `floor((input + pads - effective_kernel) / stride) + 1`, or with the ceiling; SAME_*:
/// `ceil(input / stride)`.
pub(crate) fn max_pool_axis(attributes: &AxisAttributes, rules: SizeRules) -> Result<(usize, AxisWindow), PlanError> {
    let AxisAttributes { axis, input, kernel, stride, dilation, pads } = *attributes;
    for (attribute, value) in [("kernel_shape", kernel), ("strides", stride), ("dilations", dilation)] {
        if value < 1 {
            return Err(PlanError::NotPositive { attribute, axis, value });
        }
    }
    // i128 holds every product of two i64 numbers, so nothing here overflows.
    let (n, k, s, d) = (input as i128, i128::from(kernel), i128::from(stride), i128::from(dilation));
    let effective = (k - 1) * d + 1;
    let fit = |value: i128| i64::try_from(value).ok();
    let overflow = || PlanError::GeometryOverflow { axis, input, kernel, stride, dilation, pads };

    let same = matches!(rules.auto_pad, AutoPad::SameUpper | AutoPad::SameLower);
    let same_outputs = (n + s - 1) / s;
    let (pad_begin, pad_end) = match rules.auto_pad {
        AutoPad::NotSet => (i128::from(pads[0]), i128::from(pads[1])),
        AutoPad::Valid => (0, 0),
        AutoPad::SameUpper | AutoPad::SameLower => {
            let total = match rules.same {
                SamePadding::SpecClamped => ((same_outputs - 1) * s + effective - n).max(0),
                SamePadding::OrtUndilated => (same_outputs - 1) * s + k - n,
            };
            let begin = if rules.auto_pad == AutoPad::SameUpper { total / 2 } else { (total + 1) / 2 };
            (begin, total - begin)
        }
    };
    let padded = n + pad_begin + pad_end;
    let output = if same && rules.same == SamePadding::SpecClamped {
        same_outputs
    } else {
        let room = padded - effective;
        let up = room.div_euclid(s) + i128::from(room.rem_euclid(s) != 0) + 1;
        match rules.ceil {
            CeilRule::Floor => match rules.rounding {
                SizeRounding::Floor | SizeRounding::FloorPositive => room.div_euclid(s) + 1,
                SizeRounding::Trunc => room / s + 1,
            },
            CeilRule::CeilLiteral => up,
            // ONNX opset 22: sliding windows that would start in the right padded region are ignored (onnx#5711).
            CeilRule::CeilDrop if (up - 1) * s >= n + pad_begin => up - 1,
            CeilRule::CeilDrop => up,
        }
    };
    let least = i128::from(rules.rounding == SizeRounding::FloorPositive);
    if output < least {
        return Err(match (fit(effective), fit(padded)) {
            (Some(effective_kernel), Some(padded_input)) => {
                PlanError::KernelExceedsInput { axis, effective_kernel, padded_input }
            }
            _ => overflow(),
        });
    }
    // Every position of a tap, and the arithmetic that leads to it, must fit 64 bits with room for sums.
    let last_start = (output - 1).max(0) * s;
    let extremes = [padded, effective, pad_begin, last_start, last_start + effective, effective + pad_begin];
    if extremes.iter().any(|&value| value.abs() > i128::from(i64::MAX / 4)) {
        return Err(overflow());
    }
    let window = AxisWindow::Strided { kernel, stride, dilation, pad_begin: pad_begin as i64 };
    Ok((usize::try_from(output).map_err(|_| overflow())?, window))
}

/// The extent that MaxUnpool infers for one axis: `(input - 1) * stride - pads + kernel` (ONNX MaxUnpool).
pub(crate) fn max_unpool_axis(attributes: &AxisAttributes) -> Result<i64, PlanError> {
    let AxisAttributes { axis, input, kernel, stride, dilation, pads } = *attributes;
    for (attribute, value) in [("kernel_shape", kernel), ("strides", stride)] {
        if value < 1 {
            return Err(PlanError::NotPositive { attribute, axis, value });
        }
    }
    let inferred =
        (input as i128 - 1) * i128::from(stride) - i128::from(pads[0]) - i128::from(pads[1]) + i128::from(kernel);
    i64::try_from(inferred).map_err(|_| PlanError::GeometryOverflow { axis, input, kernel, stride, dilation, pads })
}

/// The windows of the pool that MaxUnpool undoes on one axis; `None` if positions exceed 64 bits.
pub(crate) fn max_unpool_window(attributes: &AxisAttributes) -> Option<AxisWindow> {
    let AxisAttributes { input, kernel, stride, dilation, pads, .. } = *attributes;
    let last_start = (input as i128 - 1) * i128::from(stride);
    let fits = |value: i128| value.abs() <= i128::from(i64::MAX / 4);
    let all = [last_start, i128::from(kernel) * i128::from(dilation), i128::from(stride), i128::from(pads[0])];
    all.into_iter().all(fits).then_some(AxisWindow::Strided { kernel, stride, dilation, pad_begin: pads[0] })
}

/// Counts the windows that a test's thread evaluates: the measure of the cost of planning.
#[cfg(debug_assertions)]
pub mod steps {
    use std::cell::Cell;

    thread_local! {
        static TAKEN: Cell<u64> = const { Cell::new(0) };
    }

    /// Counts one more.
    pub fn count() {
        TAKEN.set(TAKEN.get() + 1);
    }

    /// The steps since the last call.
    pub fn take() -> u64 {
        TAKEN.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taps_are_those_of_the_definition() {
        for input in 1..7usize {
            for kernel in 1..5 {
                for dilation in 1..5 {
                    for stride in 1..4 {
                        for pad_begin in -2..6 {
                            let window = AxisWindow::Strided { kernel, stride, dilation, pad_begin };
                            let mut any_empty = false;
                            for o in 0..6usize {
                                let start = o as i64 * stride - pad_begin;
                                let expected: Vec<i64> = (0..kernel)
                                    .map(|tap| start + tap * dilation)
                                    .filter(|position| (0..input as i64).contains(position))
                                    .collect();
                                let taps = window.taps(o, input);
                                assert_eq!(taps.positions().collect::<Vec<_>>(), expected);
                                assert!(expected.len() as u64 <= window.most_taps(input));
                                let clamped =
                                    if start >= 0 { start } else { start + ceil_div(-start, dilation) * dilation };
                                assert_eq!(taps.first, clamped);
                                assert!(taps.first <= window.largest_first(input, 6));
                                any_empty |= expected.is_empty();
                            }
                            assert_eq!(window.has_empty(input, 6), any_empty, "{window:?} on {input}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn covering_windows_are_those_that_can_hold_a_position() {
        let check = |window: AxisWindow, input: usize, output: usize| {
            for p in 0..input + 2 {
                let [first, count] = window.covering_windows(p, input, output);
                for o in 0..output {
                    let holds = window.taps(o, input).positions().any(|tap| tap == p as i64);
                    let counted = (first..first + count).contains(&(o as i64));
                    assert!(!holds || counted, "{window:?} on {input}: window {o} holds {p}, but [{first}, +{count})");
                }
                assert!(count == 0 || first + count <= output as i64);
                assert!(count as u64 <= window.most_covering_windows(output), "{window:?} on {input} to {output}");
                let of_first = window.windows_of_first(input, output);
                let have = (0..output).filter(|&o| window.taps(o, input).positions().any(|tap| tap == 0));
                assert!(have.eq(of_first.positions().map(|o| o as usize)), "{window:?} on {input}: {of_first:?}");
                assert!((-1..9).all(|o| of_first.contains(o) == of_first.positions().any(|own| own == o)));
                if window == AxisWindow::adaptive(input, output) && p < input {
                    let hold = (0..output).filter(|&o| window.taps(o, input).positions().any(|tap| tap == p as i64));
                    assert_eq!(hold.count() as i64, count, "adaptive covering windows are exact");
                }
            }
        };
        for input in 1..8 {
            for output in 1..7 {
                check(AxisWindow::adaptive(input, output), input, output);
                for (kernel, stride, dilation, pad_begin) in
                    [(1, 1, 1, 0), (2, 2, 1, 0), (3, 2, 1, 1), (2, 3, 1, 0), (3, 1, 2, 2), (2, 1, 4, -1), (1, 5, 9, 3)]
                {
                    check(AxisWindow::Strided { kernel, stride, dilation, pad_begin }, input, output);
                }
            }
        }
    }

    #[test]
    fn a_part_of_an_axis_has_the_same_windows() {
        let check = |window: AxisWindow, input: usize, output: usize| {
            for begin in 0..output {
                for end in begin + 1..=output {
                    let (inputs, part) = window.part(begin..end, input);
                    assert!(!inputs.is_empty() && inputs.end <= input);
                    assert!(inputs.len() <= window.most_extent(end - begin, input), "{window:?}");
                    for o in begin..end {
                        let whole = window.taps(o, input);
                        let taps = part.taps(o - begin, inputs.len());
                        let moved = Taps { first: taps.first + inputs.start as i64, ..taps };
                        assert_eq!(moved, whole, "{window:?} on {input} to {output}: window {o} of {begin}..{end}");
                        assert!(taps.count as u64 <= part.most_taps(inputs.len()));
                        // Taps one by one, and a part of a part.
                        let (again, single) = part.part(o - begin..o - begin + 1, inputs.len());
                        let taps = single.taps(0, again.len());
                        assert_eq!(taps.first + (again.start + inputs.start) as i64, whole.first);
                        assert_eq!(taps.count, whole.count);
                        for tap in 0..whole.count.max(1) {
                            let (at, one) = window.taps_part(o, tap..tap + 2, input);
                            let taps = one.taps(0, at.len());
                            assert_eq!(taps.count, (whole.count - tap).clamp(0, 2));
                            assert_eq!(taps.first + at.start as i64, whole.first + tap * whole.step);
                        }
                    }
                }
            }
        };
        for input in 1..8 {
            for output in 1..7 {
                check(AxisWindow::adaptive(input, output), input, output);
                for kernel in 1..4 {
                    for dilation in [1, 2, 5] {
                        for (stride, pad_begin) in [(1, 0), (1, 2), (2, 1), (3, 0), (2, 7), (1, -2)] {
                            check(AxisWindow::Strided { kernel, stride, dilation, pad_begin }, input, output);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn adaptive_windows_that_divide_evenly_are_strided_in_parts_too() {
        let (input, output) = (35, 7);
        for outputs in [0..7, 0..1, 2..5, 6..7] {
            let (inputs, part) = AxisWindow::adaptive(input, output).part(outputs.clone(), input);
            let strided = part.strided();
            assert!(matches!(strided, AxisWindow::Strided { kernel: 5, stride: 5, .. }), "{strided:?}");
            for o in 0..outputs.len() {
                let taps = |window: AxisWindow| window.taps(o, inputs.len()).positions().collect::<Vec<_>>();
                assert_eq!(taps(strided), taps(part), "{outputs:?}");
            }
        }
        let (_, part) = AxisWindow::adaptive(36, 7).part(1..3, 36);
        assert_eq!(part.strided(), part);
    }
}
