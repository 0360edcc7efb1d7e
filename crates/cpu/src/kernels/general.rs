//! The general kernel for pools: any number of axes, any windows, any rule, one output after the other. It compares
//! elements as integers, so it also serves threads that treat subnormal floats as zeros.

use wgpu_pooling_plan::internal::activate;
use wgpu_pooling_plan::{Element, MAX_SPATIAL_AXES, PoolPlan, Taps};

use super::indices::IndicesMut;
use super::parts::Part;
use super::view::View;

/// The position of an output or of a tap along each axis.
pub(crate) type At<E> = [E; MAX_SPATIAL_AXES];

/// The greatest element so far, and its position.
struct Maximum<T> {
    value: T,
    at: At<i64>,
}

/// Computes a part of Y, and of Indices in the order of Y.
pub(crate) fn pool<T: Element>(
    plan: &PoolPlan,
    view: &View,
    part: &Part,
    x: &[T],
    y: &mut [T],
    mut indices: Option<&mut IndicesMut<'_>>,
) {
    let mut out = At::default();
    let axes = view.axes.len();
    let mut written = 0;
    for outer in part.outer.clone() {
        let plane = outer * view.plane();
        let (index_of_plane, index_of_seed) = (view.index_of_plane(outer), view.index_of_seed(outer));
        out[..axes].fill(0);
        out[0] = part.rows.start;
        while out[0] < part.rows.end {
            for inner in 0..view.inner {
                let of_inner = (inner as i64).wrapping_mul(view.index_c);
                let indices_of = (index_of_plane.wrapping_add(of_inner), index_of_seed.wrapping_add(of_inner));
                let (value, index) = window(plan, view, &out, &x[plane + inner..], indices_of);
                y[written] = value;
                if let Some(indices) = &mut indices {
                    indices.set(written, index);
                }
                written += 1;
            }
            step(&mut out[..axes], |axis| if axis == 0 { usize::MAX } else { view.axes[axis].output });
        }
    }
}

/// Increments the position like an odometer, the last axis fastest. The first axis has no end.
fn step(at: &mut [usize], extent: impl Fn(usize) -> usize) {
    for axis in (0..at.len()).rev() {
        at[axis] += 1;
        if axis == 0 || at[axis] < extent(axis) {
            return;
        }
        at[axis] = 0;
    }
}

/// Computes the element of Y and the index of one window, given the index offset of its plane and the index of its
/// seed.
pub(crate) fn window<T: Element>(
    plan: &PoolPlan,
    view: &View,
    out: &At<usize>,
    x: &[T],
    (of_plane, of_seed): (i64, i64),
) -> (T, i64) {
    let axes = view.axes.len();
    let mut taps = [Taps { first: 0, count: 1, step: 1 }; MAX_SPATIAL_AXES];
    for ((taps, axis), &output) in taps.iter_mut().zip(&view.axes).zip(out) {
        *taps = axis.taps(output);
    }
    let taps = &taps[..axes];
    if taps.iter().any(|taps| taps.count == 0) {
        let index = view.empty_index(of_plane, taps.iter().map(|taps| taps.first));
        return (activate(plan.activation, plan.empty()), index);
    }
    let mut best: Option<Maximum<T>> = None;
    let (last, last_taps) = (&view.axes[axes - 1], taps[axes - 1]);
    let mut tap = At::<i64>::default();
    loop {
        let at = |axis: usize| taps[axis].first + tap[axis] * taps[axis].step;
        let line: usize = (0..axes - 1).map(|axis| at(axis) as usize * view.axes[axis].x_stride).sum();
        for place in last_taps.positions() {
            let v = x[line + place as usize * last.x_stride];
            if plan.replaces(best.as_ref().map(|best| best.value), v) {
                let mut won = At::default();
                (0..axes - 1).for_each(|axis| won[axis] = at(axis));
                won[axes - 1] = place;
                best = Some(Maximum { value: v, at: won });
            }
        }
        // The next line of taps.
        let Some(axis) = (0..axes - 1).rev().find(|&axis| tap[axis] + 1 < taps[axis].count) else { break };
        tap[axis] += 1;
        tap[axis + 1..axes].fill(0);
    }
    let (value, index) = match best {
        Some(best) => {
            let along = view.axes.iter().zip(best.at).map(|(axis, place)| place.wrapping_mul(axis.index_stride));
            (best.value, along.fold(view.index_base.wrapping_add(of_plane), i64::wrapping_add))
        }
        None => (plan.lowest(), of_seed),
    };
    (activate(plan.activation, value), index)
}
