//! The passes of a pool. A pass pools three neighbouring axes; the axes outside them are one outer extent, those inside
//! one inner extent.

use wgpu_pooling_plan::internal::{device_bytes, take_digit};
use wgpu_pooling_plan::{AxisWindow, Layout, NanPolicy, PlanError, PoolAxis, PoolPlan};

use super::bounds::{check_bytes, check_elements, checked};
use super::target::Target;
use super::tuning::view::PART_TAPS;
use crate::family::Family;
use crate::kernel::{Fact, PassDigits};
use crate::schedule::Limits;
use crate::tables::{PassWindow, Tables};
use crate::uniform;

/// The alignment of binding offsets, in bytes: no device requires more.
pub(super) const ALIGNMENT: u64 = 256;

/// Window formulas in a kernel are 32-bit; the windows of an axis whose numbers reach this limit are listed in a table.
const FORMULA_LIMIT: i64 = 1 << 29;

/// The most words of window tables: kernels number them in 32 bits.
const MAX_TABLE_WORDS: u64 = 1 << 32;

/// Values of an axis's `kind` (shaders/window/windows.wgsl).
pub(super) const FORMULA: u32 = 0;
const TABLE: u32 = 1;
const COVERING: u32 = 2;

/// One axis of a pass.
#[derive(Debug, Clone)]
pub(super) struct PassAxis {
    pub input: u64,
    pub output: u64,
    pub most_taps: u64,
    pub window: PassWindow,
}

impl PassAxis {
    pub fn unit() -> Self {
        PassAxis::identity(1)
    }

    pub fn of(axis: &PoolAxis) -> Self {
        PassAxis {
            input: axis.input as u64,
            output: axis.output as u64,
            most_taps: axis.most_taps(),
            window: PassWindow::Axis(axis.window.strided()),
        }
    }

    pub fn identity(extent: u64) -> Self {
        PassAxis { input: extent, output: extent, most_taps: 1, window: PassWindow::Identity }
    }

    /// The last axis of X and the channels (NHWC) as one axis, where the windows have stride 1. The distance of its
    /// taps is `dilation * channels`.
    pub fn with_channels(&self, channels: u64) -> Option<PassAxis> {
        let PassWindow::Axis(AxisWindow::Strided { kernel, stride: 1, dilation, pad_begin }) = self.window else {
            return None;
        };
        // With one tap the dilation has no effect, and the product could overflow.
        let dilation = if kernel == 1 { 1 } else { dilation.checked_mul(channels as i64)? };
        let pad_begin = pad_begin.checked_mul(channels as i64)?;
        Some(PassAxis {
            input: self.input.checked_mul(channels)?,
            output: self.output.checked_mul(channels)?,
            most_taps: self.most_taps,
            window: PassWindow::Axis(AxisWindow::Strided { kernel, stride: 1, dilation, pad_begin }),
        })
    }

    /// The windows as kernels compute them: the attributes of a formula, or a table, of which the dilation alone is a
    /// number for all windows, and whose place is not known yet.
    pub fn twin(&self) -> uniform::Axis {
        let (input, output) = (self.input as u32, self.output as u32);
        let formula =
            uniform::Axis { input, output, kind: FORMULA, kernel: 1, stride: 1, dilation: 1, pad_begin: 0, table: 0 };
        let table = uniform::Axis { kind: TABLE, ..formula };
        // Clamping is safe: a second tap that is a whole input away lies outside.
        let step =
            |window: AxisWindow| window.taps(0, self.input as usize).step.clamp(1, self.input.max(1) as i64) as u32;
        match self.window {
            PassWindow::Identity => formula,
            PassWindow::Axis(window) => {
                self.in_32_bits(window, formula).unwrap_or_else(|| uniform::Axis { dilation: step(window), ..table })
            }
            PassWindow::Parts(window, ..) => uniform::Axis { dilation: step(window), ..table },
            PassWindow::CoveringWindows(window, extent) => self
                .in_32_bits(window, formula)
                .map_or(table, |formula| uniform::Axis { kind: COVERING, table: extent as u32, ..formula }),
        }
    }

    /// The windows as a formula, if kernels can compute it in 32 bits: no attribute, sum or product on the way to a tap
    /// reaches [`FORMULA_LIMIT`].
    fn in_32_bits(&self, window: AxisWindow, axis: uniform::Axis) -> Option<uniform::Axis> {
        let AxisWindow::Strided { kernel, stride, dilation, pad_begin } = window else {
            return None;
        };
        let starts = if let PassWindow::CoveringWindows(..) = self.window { self.input } else { self.output };
        let reach = kernel.checked_sub(1)?.checked_mul(dilation)?;
        let last_start = i64::try_from(starts).ok()?.saturating_sub(1).max(0).checked_mul(stride)?;
        let last_tap = last_start.checked_add(reach)?.checked_add(pad_begin.checked_abs()?)?;
        let extents = [self.input, self.output].map(|extent| i64::try_from(extent).unwrap_or(i64::MAX));
        let numbers = [kernel, stride, dilation, last_tap].into_iter().chain(extents);
        if numbers.into_iter().any(|number| number >= FORMULA_LIMIT) {
            return None;
        }
        let pad_begin = i32::try_from(pad_begin).ok()?;
        let [kernel, stride, dilation] = [kernel, stride, dilation].map(|number| number as u32);
        Some(uniform::Axis { kernel, stride, dilation, pad_begin, ..axis })
    }

    /// Bounds of the elements that outputs `first` to `last` read through these taps: the lowest and the highest. An
    /// axis of a pass has at least one element.
    fn bounds(&self, first: u64, last: u64, taps: ElementRange) -> [u64; 2] {
        let end = (self.input as i64).saturating_sub(1);
        let [low, high] = match &self.window {
            PassWindow::Identity => [first as i64, last as i64],
            PassWindow::Axis(window) => {
                let input = self.input as usize;
                let [low, high, step] = if first == last {
                    let taps = window.taps(first as usize, input);
                    [taps.first, taps.first, taps.step]
                } else {
                    let [low, step] = window.bounds(first as usize, input);
                    let [high, _] = window.bounds(last as usize, input);
                    // Taps in the padding are skipped, so a window's first tap may lie up to a step minus one beyond
                    // its bound.
                    [low, high.saturating_add(step).saturating_sub(1), step]
                };
                let tap = |number: u64| step.saturating_mul(number as i64);
                [low.saturating_add(tap(taps.first)), high.saturating_add(tap(taps.end.saturating_sub(1)))]
            }
            PassWindow::Parts(window, parts, _) => self.bounds_of_parts(*window, *parts, first, last),
            PassWindow::CoveringWindows(..) => [0, end],
        };
        // Empty windows read no element, but a range is never empty.
        let low = low.clamp(0, end);
        [low as u64, high.clamp(low, end) as u64]
    }

    /// `bounds` for windows in parts. The bounds are exact if all parts belong to one window. Otherwise they also hold
    /// all parts between the first and the last.
    fn bounds_of_parts(&self, window: AxisWindow, parts: u64, first: u64, last: u64) -> [i64; 2] {
        let input = self.input as usize;
        let step = window.taps(0, input).step;
        let last_tap =
            |first: i64, count: i64| first.saturating_add(count.saturating_sub(1).max(0).saturating_mul(step));
        let [[low, _], [high, count]] = [first, last].map(|part| self.window.entry(part, self.input));
        let high = last_tap(high, count);
        let window_of = |part: u64| part.checked_div(parts).unwrap_or(0);
        let (of_first, of_last) = (window_of(first), window_of(last));
        if of_first == of_last {
            return [low, high];
        }
        // The bounds include the remaining parts of the first window, all windows in between, and the earlier parts of
        // the last window. Window starts never decrease.
        let [next, _] = window.bounds(of_first.saturating_add(1) as usize, input);
        let [before, _] = window.bounds(of_last.saturating_sub(1) as usize, input);
        let most = window.most_taps(input) as i64;
        [low.min(next), high.max(last_tap(before.saturating_add(step), most))]
    }

    /// Whether each element is a window of its own.
    pub fn is_plain(&self) -> bool {
        let uniform::Axis { kind, kernel, stride, pad_begin, .. } = self.twin();
        self.input == self.output && [kind, kernel, stride] == [FORMULA, 1, 1] && pad_begin == 0
    }

    /// As many such axes, one after the other, as one axis: if the windows are neighbours that share no element and
    /// leave none over.
    pub fn repeated(&self, times: u64) -> Option<PassAxis> {
        let [input, output] = [self.input.checked_mul(times)?, self.output.checked_mul(times)?];
        if self.is_plain() {
            return Some(PassAxis::identity(input));
        }
        let PassWindow::Axis(AxisWindow::Strided { kernel, stride, dilation, pad_begin: 0 }) = self.window else {
            return None;
        };
        let disjoint = kernel.checked_sub(1)?.checked_mul(dilation)? < stride;
        let even = i64::try_from(self.output).ok()?.checked_mul(stride)? == i64::try_from(self.input).ok()?;
        (disjoint && even).then(|| PassAxis { input, output, ..self.clone() })
    }

    /// Whether pooling along the axis changes nothing.
    pub fn is_identity(axis: &PoolAxis) -> bool {
        match axis.window {
            AxisWindow::Adaptive { input, output, .. } => input == output,
            AxisWindow::Strided { kernel, stride, pad_begin, .. } => {
                axis.input == axis.output && [kernel, stride, pad_begin] == [1, 1, 0]
            }
        }
    }
}

/// Three neighbouring axes, an outer extent and an inner extent.
pub(super) struct Pass {
    pub axes: [PassAxis; 3],
    pub inner: u64,
    /// Outputs of the pass: the product of the outer extent, the axes' outputs and the inner extent.
    pub outputs: u64,
}

impl Pass {
    /// # Errors
    /// [`PlanError::ExceedsLimit`] for more elements or outputs than positions can count.
    pub fn of(outer: u64, axes: [PassAxis; 3], inner: u64) -> Result<Pass, PlanError> {
        let all =
            |extent: fn(&PassAxis) -> u64| axes.iter().map(extent).chain([outer, inner]).fold(1, u64::saturating_mul);
        let outputs = all(|axis| axis.output);
        check_elements("candidates", all(|axis| axis.input))?;
        check_elements("candidates", outputs)?;
        Ok(Pass { axes, inner, outputs })
    }

    /// Elements from a window to the next one, where windows are alike.
    pub fn pitch(&self) -> u64 {
        let mut inside = self.inner;
        for axis in self.axes.iter().rev().take_while(|_| self.inner == 1) {
            inside = inside.saturating_mul(axis.input.div_ceil(axis.output.max(1)));
            if axis.output > 1 {
                break;
            }
        }
        if self.inner > 1 { 1 } else { inside }
    }

    /// Planes of all their depths and inner elements.
    pub fn planes(&self) -> u64 {
        let plane = self.axes.iter().fold(self.inner, |product: u64, axis| product.saturating_mul(axis.output));
        self.outputs.checked_div(plane).unwrap_or(0)
    }

    /// The most taps on each axis.
    pub fn taps(&self) -> [ElementRange; 3] {
        [0, 1, 2].map(|axis| ElementRange { first: 0, end: self.axes[axis].most_taps })
    }

    /// Loop iterations of one output, summed over its nested loops.
    pub fn iterations(&self) -> u64 {
        iterations(&self.taps())
    }

    /// A range that holds every element that these outputs read through these taps.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "a pass has at most 2^31 elements (`Pass::of`), and a coordinate times its step stays among them"
    )]
    pub fn input(&self, outputs: ElementRange, taps: &[ElementRange; 3]) -> ElementRange {
        let (first, last) = (self.coordinates(outputs.first), self.coordinates(outputs.end.saturating_sub(1)));
        // The stride of each digit: outer, the three axes, inner.
        let mut steps = [1u64; 5];
        for digit in (0..4).rev() {
            let within = if digit == 3 { self.inner } else { self.axes[digit].input };
            steps[digit] = steps[digit + 1].saturating_mul(within);
        }
        let mut range = ElementRange { first: 0, end: 0 };
        for digit in 0..5 {
            let same = first[digit] == last[digit];
            let [low, high] = match digit {
                0 | 4 => [first[digit], last[digit]],
                axis => self.axes[axis - 1].bounds(first[digit], last[digit], taps[axis - 1]),
            };
            range.first += low * steps[digit];
            range.end += high * steps[digit];
            if !same || digit == 4 {
                // Below the first digit that differs, every coordinate can occur.
                range.end += steps[digit];
                // In the first and in the last outer number, the outputs do not reach every coordinate of the first of
                // the three axes.
                if digit == 0 {
                    let outermost = &self.axes[0];
                    let [low, _] = outermost.bounds(first[1], outermost.output - 1, taps[0]);
                    let [_, high] = outermost.bounds(0, last[1], taps[0]);
                    range.first += low * steps[1];
                    range.end -= (outermost.input - 1 - high) * steps[1];
                }
                break;
            }
        }
        range
    }

    /// The windows as kernels compute them.
    pub fn windows(&self) -> [uniform::Axis; 3] {
        self.axes.each_ref().map(PassAxis::twin)
    }

    /// The constants of the windows in a specialised kernel (shaders/window/pass_axis.wgsl), and of the NaN rule.
    pub fn consts(&self, nan_policy: NanPolicy) -> impl Iterator<Item = Fact> + use<> {
        let windows = self.windows();
        let of = |names: [&'static str; 3], number: fn(&uniform::Axis) -> u32| {
            names.into_iter().zip(windows.each_ref().map(number))
        };
        of(["KERNEL_0", "KERNEL_1", "KERNEL_2"], |axis| axis.kernel)
            .chain(of(["STRIDE_0", "STRIDE_1", "STRIDE_2"], |axis| axis.stride))
            .chain(of(["DILATION_0", "DILATION_1", "DILATION_2"], |axis| axis.dilation))
            .chain(of(["KIND_0", "KIND_1", "KIND_2"], |axis| axis.kind))
            .chain([("NAN_POLICY", nan_policy as u32)])
    }

    /// The divisions that split an output's number into coordinates.
    pub fn digits(&self) -> PassDigits {
        let axes = self.axes.iter().rev().zip(1..).filter(|(axis, _)| axis.output > 1);
        PassDigits { axes: axes.map(|(_, number)| number).last().unwrap_or(0), inner: u32::from(self.inner > 1) }
    }

    /// The coordinates of an output: outer, the three axes, inner.
    fn coordinates(&self, output: u64) -> [u64; 5] {
        let [first, second, third] = self.axes.each_ref().map(|axis| axis.output);
        let mut rest = output;
        let inner = take_digit(&mut rest, self.inner);
        let [third, second, first] = [third, second, first].map(|radix| take_digit(&mut rest, radix));
        [rest, first, second, third, inner]
    }
}

/// Loop iterations of one output that reads these taps.
pub(super) fn iterations(taps: &[ElementRange; 3]) -> u64 {
    taps.iter().rev().fold(0, |inside: u64, taps| taps.count().saturating_mul(inside.saturating_add(1)))
}

/// The element numbers from `first` up to, not including, `end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ElementRange {
    pub first: u64,
    pub end: u64,
}

impl ElementRange {
    pub fn count(self) -> u64 {
        self.end.saturating_sub(self.first)
    }

    /// The bytes on the device of so many elements of this size.
    pub fn device_bytes(self, element_bytes: usize) -> u64 {
        device_bytes(self.count(), element_bytes)
    }

    /// The lower and the upper half, split at a multiple of `unit` from the first number.
    pub fn halves(self, unit: u64) -> [ElementRange; 2] {
        let most = self.count().saturating_sub(1);
        let lower = (self.count() / 2).checked_next_multiple_of(unit).unwrap_or(most).min(most);
        let middle = self.first.saturating_add(lower);
        [ElementRange { first: self.first, end: middle }, ElementRange { first: middle, end: self.end }]
    }

    /// The range this many elements further on.
    pub fn shifted(self, by: u64) -> ElementRange {
        ElementRange { first: self.first.saturating_add(by), end: self.end.saturating_add(by) }
    }

    /// Extended by this many elements on both sides.
    pub fn widened(self, by: u64) -> ElementRange {
        ElementRange { first: self.first.saturating_sub(by), end: self.end.saturating_add(by) }
    }

    /// Extended down to an offset at which a binding of elements of this size may begin.
    pub fn aligned(self, element_bytes: usize) -> ElementRange {
        ElementRange { first: self.whole(ALIGNMENT.div_ceil(element_bytes as u64)).first, end: self.end }
    }

    /// Extended to whole items of this many elements.
    pub fn whole(self, item: u64) -> ElementRange {
        let inside = self.first.checked_rem(item).unwrap_or(0);
        let end = self.end.checked_next_multiple_of(item).unwrap_or(self.end);
        ElementRange { first: self.first.saturating_sub(inside), end }
    }
}

/// Distributes the axes of a plan over passes, the innermost axis first.
pub(super) fn passes(plan: &PoolPlan, family: Family, limits: &Target) -> Result<Vec<Pass>, PlanError> {
    let axes = &plan.axes;
    let [outer, inner] = around(plan);
    let mut extents: Vec<u64> = axes.iter().map(|axis| axis.input as u64).collect();
    let mut passes = Vec::new();
    let mut pass = |extents: &[u64], begin: usize, end: usize, of: [PassAxis; 3]| {
        let all = |one: u64, extents: &[u64]| extents.iter().copied().fold(one, u64::saturating_mul);
        passes.push(Pass::of(all(outer, &extents[..begin]), of, all(inner, &extents[end..]))?);
        Ok(())
    };
    if family != Family::Separable {
        let mut end = axes.len();
        while end > 0 {
            let begin = end.saturating_sub(3);
            let mut of = [PassAxis::unit(), PassAxis::unit(), PassAxis::unit()];
            for (entry, axis) in of.iter_mut().rev().zip(axes[begin..end].iter().rev()) {
                *entry = PassAxis::of(axis);
            }
            pass(&extents, begin, end, of)?;
            for axis in begin..end {
                extents[axis] = axes[axis].output as u64;
            }
            end = begin;
        }
        return Ok(passes);
    }
    let mut busy: Vec<usize> = (0..axes.len()).rev().filter(|&axis| !PassAxis::is_identity(&axes[axis])).collect();
    // Axes that shrink most come first, which keeps the candidates between two passes few. Ties are decided by
    // position, so the order of the passes does not affect results.
    busy.sort_by(|&a, &b| {
        let ratio = |of: usize, by: usize| (axes[of].output as u128).saturating_mul(axes[by].input as u128);
        ratio(a, b).cmp(&ratio(b, a))
    });
    // A pool with identity axes only still has to copy X to Y.
    let busy = if busy.is_empty() { vec![axes.len().saturating_sub(1)] } else { busy };
    for axis in busy {
        for level in levels(&axes[axis], limits)? {
            let output = level.output;
            pass(&extents, axis, axis.saturating_add(1), [PassAxis::unit(), PassAxis::unit(), level])?;
            extents[axis] = output;
        }
    }
    Ok(passes)
}

/// The pass of a plan that a family computes in one.
pub(super) fn only_pass(plan: &PoolPlan, family: Family, limits: &Target) -> Result<Pass, PlanError> {
    let mut passes = passes(plan, Family::Direct, limits)?;
    match (passes.pop(), passes.is_empty()) {
        (Some(pass), true) => Ok(pass),
        _ => family.refuse("there are more than three spatial axes"),
    }
}

/// The extents outside and inside the spatial axes.
pub(super) fn around(plan: &PoolPlan) -> [u64; 2] {
    match plan.layout() {
        Layout::Nchw => [plan.planes(), 1],
        Layout::Nhwc => [plan.batch as u64, plan.channels as u64],
    }
}

/// The levels that pool an axis: one, or several levels of parts where a window is too long for one invocation.
fn levels(axis: &PoolAxis, limits: &Target) -> Result<Vec<PassAxis>, PlanError> {
    let mut levels = Vec::new();
    let mut current = PassAxis::of(axis);
    let part = limits.sizes.part_taps.unwrap_or(PART_TAPS).clamp(2, PART_TAPS);
    while current.most_taps > part
        && let PassWindow::Axis(window) = current.window
    {
        let (windows, parts) = (current.output, current.most_taps.div_ceil(part));
        let output = checked("candidates", windows.checked_mul(parts))?;
        check_table(output, limits)?;
        let window = PassWindow::Parts(window, parts, part);
        levels.push(PassAxis { input: current.input, output, most_taps: part, window });
        // The candidates of a window are contiguous.
        let window = AxisWindow::Strided { kernel: parts as i64, stride: parts as i64, dilation: 1, pad_begin: 0 };
        current = PassAxis { input: output, output: windows, most_taps: parts, window: PassWindow::Axis(window) };
    }
    levels.push(current);
    Ok(levels)
}

/// Refuses a table that the device cannot hold or bind.
fn check_table(entries: u64, limits: &Limits) -> Result<(), PlanError> {
    check_bytes("bytes of window tables", checked("bytes of window tables", entries.checked_mul(8))?, limits)
}

/// The uniform's description of an axis. If the axis needs a table, the table is appended to `tables`.
pub(super) fn pass_axis(axis: &PassAxis, tables: &mut Tables, limits: &Limits) -> Result<uniform::Axis, PlanError> {
    let twin = axis.twin();
    if twin.kind != TABLE {
        return Ok(twin);
    }
    check_table(axis.output, limits)?;
    let first = checked("bytes of window tables", tables.push(axis.window, axis.input, axis.output))?;
    check_bytes("bytes of window tables", tables.bytes(), limits)?;
    PlanError::within("words of window tables", tables.words(), MAX_TABLE_WORDS)?;
    Ok(uniform::Axis { table: first as u32, ..twin })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Limits;
    use crate::{AdaptiveMaxPool, DType, MaxPool, Pooling};

    /// Every position that an output reads, computed from the plan's own windows.
    fn positions(plan: &PoolPlan, pass: &Pass, output: u64, taps: &[ElementRange; 3]) -> Vec<u64> {
        let coordinates = pass.coordinates(output);
        let skipped = 3 - plan.axes.len();
        let mut rows = vec![coordinates[0]];
        for axis in 0..3usize {
            let along: Vec<u64> = match axis.checked_sub(skipped) {
                None => vec![0],
                Some(spatial) => {
                    let taps_of = plan.axes[spatial].taps(coordinates[axis + 1] as usize);
                    let all = taps_of.positions().map(|position| position as u64);
                    all.skip(taps[axis].first as usize).take(taps[axis].count() as usize).collect()
                }
            };
            let input = pass.axes[axis].input;
            rows = rows.iter().flat_map(|row| along.iter().map(move |at| row * input + at)).collect();
        }
        rows.iter().map(|row| row * pass.inner + coordinates[4]).collect()
    }

    #[test]
    fn a_range_holds_all_that_its_outputs_look_at_and_single_outputs_are_bounded_tightly() {
        let limits = Target::from(&Limits::WEBGPU);
        let pool = |kernel: &[i64]| MaxPool::new(kernel);
        let cases: Vec<(Box<dyn Pooling>, Vec<usize>)> = vec![
            (Box::new(pool(&[3]).strides([2]).pads([1, 1])), vec![2, 2, 9]),
            (Box::new(pool(&[2]).dilations([3]).pads([2, 1])), vec![1, 3, 7]),
            (Box::new(pool(&[2, 3]).strides([3, 1]).pads([1, 2, 0, 1])), vec![2, 1, 7, 6]),
            (Box::new(pool(&[3, 2]).dilations([2, 3]).pads([3, 2, 3, 2]).layout(Layout::Nhwc)), vec![2, 5, 4, 3]),
            (Box::new(pool(&[2, 2, 3]).strides([1, 2, 2]).pads([1, 1, 1, 0, 0, 0])), vec![1, 2, 3, 4, 5]),
            (Box::new(AdaptiveMaxPool::new([3, 5])), vec![2, 2, 7, 4]),
        ];
        for (pool, shape) in cases {
            let plan = pool.plan(&shape, DType::F32, None).unwrap();
            let plan = plan.pool().unwrap();
            let passes = passes(plan, Family::Direct, &limits).unwrap();
            let pass = &passes[0];
            let total = pass.outputs;
            let every = pass.taps();
            let mut parts = vec![every];
            for axis in 0..3 {
                if every[axis].count() > 1 {
                    parts.extend(every[axis].halves(1).map(|half| {
                        let mut part = every;
                        part[axis] = half;
                        part
                    }));
                }
            }
            for taps in parts {
                for first in 0..total {
                    for end in first + 1..=total.min(first + 30) {
                        let range = pass.input(ElementRange { first, end }, &taps);
                        for output in first..end {
                            for position in positions(plan, pass, output, &taps) {
                                let inside = range.first <= position && position < range.end;
                                assert!(inside, "{shape:?}: {output} looks at {position}, outside {range:?}");
                            }
                        }
                    }
                }
            }
            let elements: u64 = shape.iter().map(|&extent| extent as u64).product();
            assert!(pass.input(ElementRange { first: 0, end: total }, &every).end <= elements);
        }
    }

    #[test]
    fn halves_cover_the_whole_and_neither_is_empty() {
        for (first, end) in [(0, 2), (5, 8), (0, 1_000), (7, 520)] {
            for unit in [1, 256] {
                let whole = ElementRange { first, end };
                let [low, high] = whole.halves(unit);
                assert_eq!((low.first, low.end, high.end), (first, high.first, end));
                assert!(low.count() > 0 && high.count() > 0, "{whole:?} by {unit}");
            }
        }
    }
}
