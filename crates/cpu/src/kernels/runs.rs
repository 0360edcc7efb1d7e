//! Pools whose windows are runs of neighbouring elements: whole planes, windows along rows, and windows of whole rows.
//!
//! ```text
//! X, rows of ten, windows of 1x4, 3 apart      a0 a1 a2 a3 a4 a5 a6 a7 a8 a9   b0 b1 ..
//! stretches                                    |---------|  and |---------|    |----
//!                                                       |---------|  cut: |-|
//! ```
//!
//! Windows without clipping are evenly spaced, across all rows and planes if no window is clipped and the windows fill
//! the rows. Each clipped window is a stretch of its own.

use std::ops::Range;

use wgpu_pooling_plan::{AxisWindow, Layout, PoolPlan};

use super::view::{View, ViewAxis};

/// The windows of a pool, in the order of Y.
#[derive(Debug)]
pub(crate) struct Runs {
    /// The axis with windows, and its number. Windows contain all elements of the axes after it.
    windows: ViewAxis,
    pub axis: usize,
    /// The levels of outputs, outermost first, without the last level. The last level is the axis with windows, joined
    /// with the levels before it that continue at the same spacing.
    outer: Vec<Level>,
    last: Level,
    /// The outputs of the last level whose windows are not clipped, and the elements of the longest window.
    whole: Range<usize>,
    pub longest: usize,
    /// The place and the index of position 0 along the axis with windows; then those of the first tap of output 0,
    /// padding included.
    origin: (i64, i64),
    start: (i64, i64),
}

/// Outputs that are evenly spaced in X and in indices.
#[derive(Debug, Clone, Copy)]
struct Level {
    extent: usize,
    x: usize,
    index: i64,
}

/// Evenly spaced windows of the same length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stretch {
    pub count: usize,
    pub length: usize,
    /// The first element of the first window, and its index.
    pub first: usize,
    pub index: i64,
    /// The distance from one window to the next.
    pub step: usize,
    pub index_step: i64,
}

impl Runs {
    /// `Err` says why the windows are not runs.
    pub fn new(plan: &PoolPlan, view: &View) -> Result<Runs, &'static str> {
        let refused = "its windows are not runs of neighbouring elements";
        if plan.has_empty_windows() {
            return Err("windows are empty");
        }
        let single = |axis: &&ViewAxis| matches!(axis.window, AxisWindow::Strided { kernel: 1, .. });
        let axis = view.axes.iter().take_while(single).count();
        let (leading, [windows, filled @ ..]) = view.axes.split_at(axis) else { return Err(refused) };
        let are_neighbours = |axis: &ViewAxis| match axis.taps(0) {
            taps if axis.output == 1 => taps.step == 1 || taps.count == 1,
            taps => taps.step == 1,
        };
        let is_filled = |axis: &ViewAxis| axis.output == 1 && axis.taps(0).count == axis.input as i64;
        if view.inner != 1
            || !are_neighbours(windows)
            || !filled.iter().all(|axis| are_neighbours(axis) && is_filled(axis))
        {
            return Err(refused);
        }
        let channels = if view.layout == Layout::Nchw { view.channels.max(1) } else { 1 };
        let plane = view.plane();
        let mut outer = vec![
            Level { extent: view.outer / channels, x: channels.saturating_mul(plane), index: view.index_n },
            Level { extent: channels, x: plane, index: view.index_c },
        ];
        let mut origin = (0, view.index_base);
        for axis in leading {
            outer.push(Level::new(axis));
            origin = ahead(axis, axis.window.start(0, axis.input), origin);
        }
        let most = windows.window.most_taps(windows.input) as i64;
        let (whole, most, begin) = match windows.window {
            _ if windows.output == 1 => (0..1, windows.taps(0).count, windows.taps(0).first),
            AxisWindow::Strided { kernel, stride, pad_begin, .. } => {
                // The first output whose window begins inside X, and the last one whose window ends there.
                let begin = pad_begin.max(0).unsigned_abs().div_ceil(stride.unsigned_abs().max(1)) as i64;
                let room = (windows.input as i64).saturating_sub(kernel).saturating_add(pad_begin);
                let end = if room < 0 { 0 } else { (room / stride + 1).min(windows.output as i64) };
                (begin.min(end) as usize..end as usize, most, pad_begin.saturating_neg())
            }
            _ => (0..0, most, 0),
        };
        let longest = usize::try_from(most).unwrap_or(usize::MAX).saturating_mul(windows.x_stride);
        let last = Level::new(windows);
        let start = ahead(windows, begin, origin);
        let mut runs = Runs { windows: *windows, axis, outer, last, whole, longest, origin, start };
        runs.join();
        Ok(runs)
    }

    /// Joins the last level with the levels before it that continue at the same spacing.
    fn join(&mut self) {
        while self.whole == (0..self.last.extent)
            && let Some(outer) =
                self.outer.pop_if(|outer| outer.extent == 1 || outer.goes_on(&self.last) || self.last.extent == 1)
        {
            self.last = match (outer.extent, self.last.extent) {
                (1, _) => self.last,
                (_, 1) => outer,
                (extent, of_last) => Level { extent: extent * of_last, ..self.last },
            };
            self.whole = 0..self.last.extent;
        }
    }

    /// The number of stretches of windows that are not clipped, and the windows of each.
    pub fn stretches(&self) -> (f64, usize) {
        (self.outer.iter().map(|level| level.extent as f64).product(), self.whole.len())
    }

    /// The windows of an output and of the outputs after it, at most `most`.
    pub fn stretch(&self, number: usize, most: usize) -> Stretch {
        let (at, mut rest) = (number % self.last.extent, number / self.last.extent);
        let (mut x, mut index) = (0, 0i64);
        for level in self.outer.iter().rev() {
            let own = rest % level.extent;
            rest /= level.extent;
            x += own * level.x;
            index = index.wrapping_add((own as i64).wrapping_mul(level.index));
        }
        let Level { x: step, index: index_step, .. } = self.last;
        let (count, length, (first, own)) = if self.whole.contains(&at) {
            let along = (at as i64).wrapping_mul(index_step);
            let first = (self.start.0 + (at * step) as i64, self.start.1.wrapping_add(along));
            ((self.whole.end - at).min(most), self.longest, first)
        } else {
            let taps = self.windows.taps(at);
            (1, taps.count as usize * self.windows.x_stride, ahead(&self.windows, taps.first, self.origin))
        };
        Stretch { count, length, first: (first + x as i64) as usize, index: index.wrapping_add(own), step, index_step }
    }
}

impl Stretch {
    /// The windows from number `number` on.
    pub fn from(&self, number: usize) -> Stretch {
        let index = self.index.wrapping_add((number as i64).wrapping_mul(self.index_step));
        Stretch { count: self.count - number, first: self.first + number * self.step, index, ..*self }
    }
}

impl Level {
    fn new(axis: &ViewAxis) -> Level {
        // The stride of a single window has no effect.
        let stride = match axis.window {
            AxisWindow::Strided { stride, .. } if axis.output > 1 => stride,
            _ => 0,
        };
        let x = (stride as usize).saturating_mul(axis.x_stride);
        Level { extent: axis.output, x, index: stride.wrapping_mul(axis.index_stride) }
    }

    /// Whether the windows of this level continue those of the inner level at the same spacing.
    fn goes_on(&self, inner: &Level) -> bool {
        self.x == inner.extent.saturating_mul(inner.x) && self.index == (inner.extent as i64).wrapping_mul(inner.index)
    }
}

/// The place and the index that lie this many positions further along an axis.
fn ahead(axis: &ViewAxis, positions: i64, (place, index): (i64, i64)) -> (i64, i64) {
    let place = place.saturating_add(positions.saturating_mul(axis.x_stride as i64));
    (place, index.wrapping_add(positions.wrapping_mul(axis.index_stride)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use wgpu_pooling_plan::MaxPool;
    use wgpu_pooling_plan::{DType, IndexType};

    #[test]
    fn stretches_are_the_windows_in_the_order_of_y() {
        let pool = |kernel: [i64; 3], strides: [i64; 3]| MaxPool::new(kernel).strides(strides);
        let shape = [2, 3, 4, 5, 21];
        // The number of stretches: one for all windows, one per row, or one per window of the last axis.
        for (pool, expected) in [
            (pool([1, 1, 7], [1, 1, 7]), 1),
            (pool([1, 1, 7], [1, 1, 6]), 2 * 3 * 4 * 5),
            (pool([1, 1, 7], [2, 1, 7]), 2 * 3 * 2),
            (pool([1, 5, 21], [1, 1, 1]), 1),
            (pool([1, 2, 21], [1, 2, 1]), 2 * 3 * 4),
            (pool([4, 5, 21], [1, 1, 1]), 1),
            (pool([1, 1, 7], [1, 1, 7]).pads([0, 0, 3, 0, 0, 4]), 2 * 3 * 4 * 5 * 3),
            (pool([1, 1, 30], [1, 1, 2]).pads([0, 0, 10, 0, 0, 9]), 2 * 3 * 4 * 5 * 6),
        ] {
            let plan = pool.plan(&shape, DType::F32, Some(IndexType::I64)).unwrap();
            let plan = plan.pool().unwrap();
            let view = View::new(plan).unwrap();
            let runs = Runs::new(plan, &view).unwrap();
            let (outputs, mut number, mut count) = (plan.outputs[0].element_count() as usize, 0, 0);
            while number < outputs {
                let stretch = runs.stretch(number, outputs - number);
                for of_stretch in 0..stretch.count {
                    let own = stretch.from(of_stretch);
                    // The elements of the window one by one; the index of each element is its place.
                    let (mut rest, mut expected) = (number + of_stretch, vec![]);
                    let mut at = [0; 3];
                    for (at, axis) in at.iter_mut().zip(&plan.axes).rev() {
                        (rest, *at) = (rest / axis.output, rest % axis.output);
                    }
                    let taps = |axis: usize| {
                        let plan = &plan.axes[axis];
                        plan.window.taps(at[axis], plan.input).positions()
                    };
                    for (d, h) in taps(0).flat_map(|d| taps(1).map(move |h| (d, h))) {
                        expected.extend(taps(2).map(|w| (((rest as i64 * 4 + d) * 5 + h) * 21 + w) as usize));
                    }
                    assert_eq!((own.first..own.first + own.length).collect::<Vec<_>>(), expected, "{pool:?}");
                    assert_eq!(own.index, own.first as i64);
                }
                (number, count) = (number + stretch.count, count + 1);
            }
            assert_eq!(count, expected, "{pool:?}");
        }
        let refused = pool([1, 1, 7], [1, 1, 7]).dilations([1, 1, 2]).plan(&shape, DType::F32, None).unwrap();
        let refused = refused.pool().unwrap();
        assert!(Runs::new(refused, &View::new(refused).unwrap()).is_err());
    }
}
