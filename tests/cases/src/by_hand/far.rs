//! Windows that reach far beyond the tensor: every number of a plan is valid by itself, but sums and products of them
//! exceed 32 bits, or 64.

use wgpu_pooling::{MaxPool, MaxUnpool};

use super::both::{pools_in, unpools_in};

/// In every build of the kernels.
const BUILDS: u32 = u32::MAX;

/// A tensor whose elements are their own positions.
fn counted(shape: &[usize]) -> (Vec<f32>, Vec<i64>) {
    let count = shape.iter().product::<usize>() as u16;
    ((0..count).map(f32::from).collect(), (0..i64::from(count)).collect())
}

/// Checks a pool that leaves X as it is: of every window one tap lies inside, the output's own element.
#[track_caller]
fn leaves_all_as_it_is(pool: &MaxPool, shape: &[usize]) {
    let (x, indices) = counted(shape);
    pools_in::<f32, i64>(BUILDS, pool, (shape, &x), (shape, &x), (shape, &indices));
}

#[test]
fn taps_so_far_apart_that_one_of_them_meets_the_input() {
    let far = (1 << 29) - 1;
    leaves_all_as_it_is(&MaxPool::new([5, 1]).dilations([far, 1]).pads([0, 0, 4 * far, 0]), &[1, 1, 64, 64]);
    let far = 1 << 28;
    leaves_all_as_it_is(&MaxPool::new([9]).dilations([far]).pads([far, 7 * far]), &[1, 1, 4096]);
    leaves_all_as_it_is(&MaxPool::new([64, 1]).dilations([far, 1]).pads([0, 0, 63 * far, 0]), &[1, 1, 64, 64]);
    leaves_all_as_it_is(&MaxPool::new([1 << 24]).dilations([512]).pads([0, ((1 << 24) - 1) * 512]), &[1, 1, 512]);
    leaves_all_as_it_is(&MaxPool::new([1 << 31]).dilations([1 << 8]).pads([0, ((1 << 31) - 1) << 8]), &[1, 1, 256]);
}

/// The first tap of each window is the output's own element, the others lie 4000 positions behind it: a box from the
/// first tap to the last one has 64 billion positions.
#[test]
fn windows_that_reach_far_along_every_axis() {
    let pool = MaxPool::new([2, 2, 2]).dilations([4000; 3]).pads([0, 0, 0, 4000, 4000, 4000]);
    leaves_all_as_it_is(&pool, &[1, 2, 5, 4, 3]);
}

/// Kernels whose product exceeds 64 bits. Window `o` of an axis holds the elements up to `o`, so the last of them is
/// the maximum; the unpool of all of them brings every element back.
#[test]
fn kernels_whose_product_wraps() {
    let kernel = 1 << 22;
    let pads = [kernel - 1, kernel - 1, kernel - 1, 15, 15, 15];
    let (shape, pooled) = ([1, 1, 16, 16, 16], [1, 1, 31, 31, 31]);
    let (x, _) = counted(&shape);
    let mut indices = Vec::new();
    for depth in 0..31i64 {
        for row in 0..31i64 {
            indices.extend((0..31i64).map(|column| (depth.min(15) * 16 + row.min(15)) * 16 + column.min(15)));
        }
    }
    let y: Vec<f32> = indices.iter().map(|&index| x[index as usize]).collect();
    let pool = MaxPool::new([kernel; 3]).pads(pads);
    pools_in::<f32, i64>(BUILDS, &pool, (&shape, &x), (&pooled, &y), (&pooled, &indices));

    let unpool = MaxUnpool::new([kernel; 3]).pads(pads);
    unpools_in(BUILDS, &unpool, (&pooled, &y), (&pooled, &indices), Ok((&shape, &x)));
}
