//! Maxima by a monotone queue, whose work does not depend on the window: for windows that nothing computes tap by tap.

use std::collections::VecDeque;

use wgpu_pooling::{Element, Layout};
use wgpu_pooling_plan::{AxisWindow, PoolAxis, PoolPlan};

/// The winners of a pool's windows, each a position in X: the first of the greatest. Windows are not dilated, each has
/// an element, and X has no NaN.
///
/// # Panics
/// If windows are dilated or adaptive.
pub fn winners<T: Element>(plan: &PoolPlan, x: &[T]) -> Vec<usize> {
    let mut inner = if plan.layout() == Layout::Nhwc { plan.channels } else { 1 };
    let mut found: Vec<usize> = (0..x.len()).collect();
    for axis in plan.axes.iter().rev() {
        found = along(axis, inner, x, &found);
        inner *= axis.output;
    }
    found
}

/// The winners along one axis of what won before. The places of the axis are `inner` elements apart.
fn along<T: Element>(axis: &PoolAxis, inner: usize, x: &[T], before: &[usize]) -> Vec<usize> {
    let PoolAxis { input, output, window } = *axis;
    let AxisWindow::Strided { dilation: 1, .. } = window else { panic!("{window:?} has gaps") };
    let outer = before.len() / (input * inner);
    let mut found = vec![0; outer * output * inner];
    for (line, first) in (0..outer).flat_map(|block| (0..inner).map(move |inside| (block, inside))) {
        let (mut queue, mut next) = (VecDeque::new(), 0);
        for place in 0..output {
            let taps = axis.taps(place);
            while next < (taps.first + taps.count) as usize {
                let own = before[(line * input + next) * inner + first];
                while queue.back().is_some_and(|&(_, other): &(usize, usize)| x[own].greater(x[other])) {
                    queue.pop_back();
                }
                queue.push_back((next, own));
                next += 1;
            }
            while queue.front().is_some_and(|&(other, _)| other < taps.first as usize) {
                queue.pop_front();
            }
            found[(line * output + place) * inner + first] = queue[0].1;
        }
    }
    found
}
