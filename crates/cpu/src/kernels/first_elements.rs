//! The first element of each plane of an unpool, where an index of it may say that nothing won.

use std::ops::Range;

use bytemuck::Pod;
use wgpu_pooling_plan::internal::for_each;
use wgpu_pooling_plan::{Taps, UnpoolPlan};

use super::indices::Indices;
use super::view::{Distances, unpool_planes};

/// Writes the first elements of these planes again, which lie side by side in Y, from the sources alone whose windows
/// `have` them. `base` gives the index of a plane's first element.
pub(crate) fn put_first_elements<W: Pod>(
    (plan, have): (&UnpoolPlan, &[Taps]),
    base: impl Fn(usize) -> i64,
    planes: Range<usize>,
    x: &[W],
    indices: Indices<'_>,
    y: &mut [W],
) {
    let [plane, _] = unpool_planes(plan);
    let [of_x, of_index] = [plan.layout(), plan.space.layout].map(|it| Distances::new(it, plan.channels, plane));
    let counts: Vec<usize> = have.iter().map(|sources| sources.count as usize).collect();
    for (plane, y) in planes.zip(y) {
        let (n, c, base) = (plane / plan.channels, plane % plan.channels, base(plane));
        *y = W::zeroed();
        for_each(&counts, &mut |at| {
            let along = have.iter().zip(at).zip(&plan.x_extents);
            let position = along.fold(0, |position, ((sources, &at), extent)| {
                position * extent + (sources.first + at as i64 * sources.step) as usize
            });
            if indices.get(of_index.at(n, c, position)) == base {
                *y = x[of_x.at(n, c, position)];
            }
        });
    }
}
