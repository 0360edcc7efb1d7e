//! Random unpools: channels and positions that fill the blocks of the kernel `scatter` and do not, indices that repeat, that are
//! skipped, that lie in another plane and outside.

use wgpu_pooling::{Cpu, CpuKernel, DType, IndexType, Layout, MaxPool, MaxUnpool, OutOfBounds, Plan, SimdLevel};

use super::{Random, pools};
use crate::support::case::{Case, same};
use crate::support::harness::tests;

tests! {
    cpu =>
        unpools_are_those_of_the_reference;
}

/// An unpool and its indices: of each plane some element, and some that are not what the unpool expects.
fn case(random: &mut Random) -> Option<(Case, bool)> {
    let (layout, index_layout) = random.of(&[
        (Layout::Nhwc, Layout::Nchw),
        (Layout::Nhwc, Layout::Nchw),
        (Layout::Nhwc, Layout::Nhwc),
        (Layout::Nchw, Layout::Nchw),
    ]);
    let (batch, channels) = (1 + random.below(2), random.of(&[1, 3, 16, 64, 127, 128, 129, 300]));
    let extents = random.of(&[[1, 1], [3, 5], [9, 14], [8, 16], [3, 43], [17, 19]]);
    let shape = match layout {
        Layout::Nchw => vec![batch, channels, extents[0], extents[1]],
        Layout::Nhwc => vec![batch, extents[0], extents[1], channels],
    };
    let (dtype, index_type) = (random.of(&DType::ALL), random.of(&[IndexType::I32, IndexType::I64]));
    let rule = random.of(&[OutOfBounds::Error, OutOfBounds::Skip]);
    // The inverse of a pool with windows in padding skips indices of -1.
    let skips = random.below(3) == 0;
    let unpool = if skips {
        let large = match layout {
            Layout::Nchw => vec![batch, channels, 2 * extents[0] - 2, 2 * extents[1]],
            Layout::Nhwc => vec![batch, 2 * extents[0] - 2, 2 * extents[1], channels],
        };
        let pool = MaxPool::new([2, 2]).strides([2, 2]).dilations([1, 1]).pads([2, 0, 0, 0]);
        MaxUnpool::inverse_of(&pool.layout(layout).index_layout(index_layout), &large)
    } else {
        MaxUnpool::new([2, 2]).strides([2, 2]).layout(layout).index_layout(index_layout)
    };
    let plan = unpool.out_of_bounds(rule).plan(&shape, dtype, index_type).ok()?;
    let plan = Plan::from(plan);
    let y_plane = plan.outputs()[0].element_count() as usize / batch / channels;
    let plane = extents[0] * extents[1];
    let bad = random.of(&[0, 0, 1, 3]);
    let mut indices: Vec<i64> = (0..batch * channels * plane)
        .map(|place| {
            let (outer, position) = (place / (channels * plane), place % (channels * plane));
            let at = random.below(y_plane);
            let (first, step) = match index_layout {
                Layout::Nchw => ((outer * channels + position / plane) * y_plane, 1),
                Layout::Nhwc => (outer * channels * y_plane + position % channels, channels),
            };
            (first + at * step) as i64
        })
        .collect();
    if skips {
        (0..20).for_each(|_| indices[random.below(batch * channels * plane)] = -1);
    }
    for _ in 0..bad {
        let other = random.below(batch * channels * y_plane) as i64;
        let place = random.below(indices.len());
        indices[place] = random.of(&[other, other, -1, -2, i32::MAX.into(), i32::MIN.into()]);
    }
    let x = (0..shape.iter().product::<usize>() * dtype.bytes()).map(|_| random.below(256) as u8).collect();
    let indices = match index_type {
        IndexType::I32 => indices.iter().flat_map(|index| (*index as i32).to_ne_bytes()).collect(),
        IndexType::I64 => indices.iter().flat_map(|index| index.to_ne_bytes()).collect(),
    };
    Some((Case::new(plan, vec![x, indices]), skips))
}

fn unpools_are_those_of_the_reference() {
    let mut random = Random(1);
    // Unpools; of these, some that fail, and some that skip.
    let mut counts = [0; 3];
    while counts[0] < 600 {
        let Some((case, skips)) = case(&mut random) else { continue };
        let expected = case.expected();
        let is = [true, expected.is_err(), skips];
        counts.iter_mut().zip(is).for_each(|(count, is)| *count += usize::from(is));
        for &level in SimdLevel::available() {
            let cpu = Cpu::new().with_kernel(CpuKernel::Scatter).with_simd(level).unwrap();
            let threads = random.of(&[0, 2]);
            let run = || case.outcome(|inputs, outputs| cpu.execute(&case.plan, inputs, outputs));
            let actual = pools()[threads].install(run);
            same(&expected, &actual).unwrap_or_else(|error| panic!("{error}: {level:?} {:?}", case.plan));
        }
    }
    assert!(counts[1..].iter().all(|&count| count >= 30), "{counts:?}");
}
