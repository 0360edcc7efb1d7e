//! The general kernel for pools: any number of axes, any windows, any rule, one output after the other. It compares
//! elements as integers, so it also serves threads that treat subnormal floats as zeros, and by the plan's own
//! reduction, so it takes over from kernels that mirror elements and from those that are given a mirrored X.

use bytemuck::{cast_slice, cast_slice_mut};
use wgpu_pooling_plan::internal::{advance, for_each};
use wgpu_pooling_plan::{Element, ExecuteError, MAX_SPATIAL_AXES, PoolPlan, Taps, with_element};

use super::indices::IndicesMut;
use super::kernel::{Offer, OfferedPool, Operands, PoolKernel};
use super::parts::PartOf;
use super::scratch::ThreadMemory;
use super::tuning::general::{OTHER_TAPS, TAP};
use super::view::View;

/// The position of an output or of a tap along each axis.
pub(crate) type At<E> = [E; MAX_SPATIAL_AXES];

/// The greatest element so far, and its position.
struct Maximum<T> {
    value: T,
    at: At<i64>,
}

/// A pool that the general kernel computes.
#[derive(Debug)]
pub(crate) struct GeneralPool;

/// This kernel computes every pool.
pub(crate) fn offer<'a>(pool: &'a OfferedPool<'a>) -> Result<Offer<'a>, &'static str> {
    let cost = pool.cost(&[(TAP, pool.outputs() * (pool.view.most_taps() as f64 + OTHER_TAPS))]);
    Ok(Offer { mirrors: true, ..Offer::new(cost, || GeneralPool) })
}

impl PoolKernel for GeneralPool {
    fn run(
        &self,
        part: &PartOf<'_>,
        (x, y, mut indices): Operands<'_>,
        _: &mut ThreadMemory,
    ) -> Result<(), ExecuteError> {
        with_element!(part.plan.dtype(), T => {
            pool::<T>(part, cast_slice(x), cast_slice_mut(y), indices.as_mut(), None);
        });
        Ok(())
    }
}

/// Computes a part of Y, and of Indices in the order of Y. With `most`, the bits of an element, those outputs alone
/// that have these bits as they stand there: what is greatest in their windows, if that is not empty.
pub(crate) fn pool<T: Element>(
    part: &PartOf<'_>,
    x: &[T],
    y: &mut [T],
    mut indices: Option<&mut IndicesMut<'_>>,
    most: Option<u64>,
) {
    let PartOf { plan, view, part, .. } = *part;
    let extents: Vec<usize> = view.axes[1..].iter().map(|axis| axis.output).chain([view.inner]).collect();
    let mut written = 0;
    for (outer, row) in part.outer.clone().flat_map(|outer| part.rows.clone().map(move |row| (outer, row))) {
        let plane = outer * view.plane();
        let (index_of_plane, index_of_seed) = (view.index_of_plane(outer), view.index_of_seed(outer));
        for_each(&extents, &mut |at| {
            if most.is_some_and(|most| y[written].to_bits64() != most) {
                written += 1;
                return;
            }
            let (inner, rest) = at.split_last().unwrap_or((&0, &[]));
            let mut out = At::default();
            out[0] = row;
            out[1..=rest.len()].copy_from_slice(rest);
            let of_inner = (*inner as i64).wrapping_mul(view.index_c);
            let indices_of = (index_of_plane.wrapping_add(of_inner), index_of_seed.wrapping_add(of_inner));
            let (value, index) = window(plan, view, &out, &x[plane + inner..], indices_of, most);
            y[written] = value;
            if let Some(indices) = &mut indices {
                indices.set(written, index);
            }
            written += 1;
        });
    }
}

/// Computes the element of Y and the index of one window, given the index offset of its plane and the index of its
/// seed. Where the bits of the greatest element are known, the first one that has them ends the search.
pub(crate) fn window<T: Element>(
    plan: &PoolPlan,
    view: &View,
    out: &At<usize>,
    x: &[T],
    (of_plane, of_seed): (i64, i64),
    most: Option<u64>,
) -> (T, i64) {
    let axes = view.axes.len();
    let mut taps = [Taps { first: 0, count: 1, step: 1 }; MAX_SPATIAL_AXES];
    for ((taps, axis), &output) in taps.iter_mut().zip(&view.axes).zip(out) {
        *taps = axis.taps(output);
    }
    let taps = &taps[..axes];
    let empty = || (plan.empty(), view.empty_index(of_plane, taps.iter().map(|taps| taps.first)));
    if taps.iter().any(|taps| taps.count == 0) {
        let (value, index) = empty();
        return (plan.activation.apply(value), index);
    }
    let mut best: Option<Maximum<T>> = None;
    let (last, last_taps) = (&view.axes[axes - 1], taps[axes - 1]);
    let mut tap = At::<usize>::default();
    'lines: loop {
        let at = |axis: usize| taps[axis].first + tap[axis] as i64 * taps[axis].step;
        let line: usize = (0..axes - 1).map(|axis| at(axis) as usize * view.axes[axis].x_stride).sum();
        for place in last_taps.positions() {
            let v = x[line + place as usize * last.x_stride];
            if plan.replaces(best.as_ref().map(|best| best.value), v) {
                let mut won = At::default();
                (0..axes - 1).for_each(|axis| won[axis] = at(axis));
                won[axes - 1] = place;
                best = Some(Maximum { value: v, at: won });
                if most == Some(v.to_bits64()) {
                    break 'lines;
                }
            }
        }
        // The next line of taps.
        if advance(&mut tap[..axes - 1], &|axis| 0..taps[axis].count as usize).is_none() {
            break;
        }
    }
    let (value, index) = match best {
        Some(best) => {
            let along = view.axes.iter().zip(best.at).map(|(axis, place)| place.wrapping_mul(axis.index_stride));
            (best.value, along.fold(view.index_base.wrapping_add(of_plane), i64::wrapping_add))
        }
        None if plan.ignores_nan() => empty(),
        None => (plan.seed(), of_seed),
    };
    (plan.activation.apply(value), index)
}
