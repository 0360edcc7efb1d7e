//! Random unpools: channels and positions that fill the blocks of the kernel `scatter` and do not, indices that repeat,
//! that are skipped, that lie in another plane and outside; and a pool's own indices, kept to their windows.

use cases::case::Case;
use support::cpu::Net;
use support::tests;
use wgpu_pooling::{
    Activation, AdaptiveMaxPool, CpuKernel, DType, IndexFlattening, IndexType, Layout, MaxPool, MaxUnpool, OutOfBounds,
    OutsideWindow,
};

use super::{Random, all_agree};

const UNPOOL: &str = "unpool";

tests! {
    cpu =>
        unpools_are_those_of_the_reference,
        unpools_of_own_windows_are_those_of_the_reference;
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
    // Bounds that are subnormal in f32.
    let tiny = Activation::Clip { min: f32::from_bits(3), max: f32::from_bits(0x0040_0000) };
    let activation = random.of(&[Activation::Identity, Activation::Relu, tiny]);
    let plan = unpool.activation(activation).out_of_bounds(rule).plan(&shape, dtype, index_type).ok()?;
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

fn agrees(net: &Net, case: &Case, random: &mut Random) {
    all_agree(net, UNPOOL, (case, random), |backend, x, y| backend.run_blocking(&case.plan, x, y))
        .unwrap_or_else(|error| panic!("{error}: {:?}", case.plan));
}

fn unpools_are_those_of_the_reference() {
    let (mut random, net) = (Random::seeded(1), Net::default());
    // Unpools; of these, some that fail, and some that skip.
    let mut counts = [0; 3];
    while counts[0] < 600 {
        let Some((case, skips)) = case(&mut random) else { continue };
        let expected = case.expected();
        let is = [true, expected.is_err(), skips];
        counts.iter_mut().zip(is).for_each(|(count, is)| *count += usize::from(is));
        agrees(&net, &case, &mut random);
    }
    net.is_complete(&[UNPOOL], &[CpuKernel::Scatter, CpuKernel::General]);
    assert!(counts[1..].iter().all(|&count| count >= 30), "{counts:?}");
}

/// A pool's unpool, of which indices are kept to their windows, and how many of them are not in theirs any more.
fn of_own_windows(random: &mut Random) -> Option<(Case, usize)> {
    let axes = random.of(&[1, 2, 2, 2, 3]);
    let (layout, index_layout) = random.of(&[
        (Layout::Nchw, Layout::Nchw),
        (Layout::Nchw, Layout::Nchw),
        (Layout::Nhwc, Layout::Nchw),
        (Layout::Nhwc, Layout::Nhwc),
    ]);
    let (batch, channels) = (1 + random.below(2), random.of(&[1, 2, 3, 5, 16, 65]));
    let extents: Vec<usize> = (0..axes).map(|_| 1 + random.below(if axes == 3 { 9 } else { 24 })).collect();
    let outer = |inner: &[usize]| match layout {
        Layout::Nchw => [&[batch, channels], inner].concat(),
        Layout::Nhwc => [&[batch], inner, &[channels]].concat(),
    };
    let shape = outer(&extents);
    let mut some = |of: &[i64]| -> Vec<i64> { (0..axes).map(|_| random.of(of)).collect() };
    let (kernel, strides, dilations) = (some(&[1, 2, 2, 3, 5, 70]), some(&[1, 2, 3]), some(&[1, 1, 1, 2, 3]));
    let pads = some(&[0, 0, 1, 3]).repeat(2);
    let flatten = random.of(&[IndexFlattening::Tensor, IndexFlattening::Tensor, IndexFlattening::Batch]);
    let outside = random.of(&[OutsideWindow::Error, OutsideWindow::Skip]);
    let (dtype, index_type) = (random.of(&DType::ALL), random.of(&[IndexType::I32, IndexType::I64]));
    let indices = Some(index_type);
    let (pool, unpool) = if random.below(4) == 0 {
        let outputs: Vec<i64> = extents.iter().map(|&extent| 1 + random.below(extent) as i64).collect();
        let pool = AdaptiveMaxPool::new(outputs).layout(layout).index_layout(index_layout).flatten(flatten);
        (pool.plan(&shape, dtype, indices).ok()?, MaxUnpool::inverse_of(&pool, &shape))
    } else {
        let pool = MaxPool::new(kernel).strides(strides).dilations(dilations).pads(pads);
        let pool = pool.ceil_mode(random.below(2) as i64).layout(layout).index_layout(index_layout);
        let pool = pool.flatten(flatten);
        (pool.plan(&shape, dtype, indices).ok()?, MaxUnpool::inverse_of(&pool, &shape))
    };
    let x = (0..shape.iter().product::<usize>() * dtype.bytes()).map(|_| random.below(256) as u8).collect();
    let plan = unpool.outside_window(outside).plan(pool.output_shape(), dtype, index_type).ok()?;
    let mut pooled = Case::new(pool, vec![x]).expected().ok()?;
    let bytes = index_type.bytes();
    let moved = random.of(&[0, 0, 1, 2]);
    for _ in 0..moved {
        let at = random.below(pooled[1].len() / bytes) * bytes;
        // A neighbour of the element, in a row, in a column or among the channels.
        let by = random.of(&[1, -1, extents[axes - 1] as i64, -(extents[axes - 1] as i64), channels as i64]);
        let index = &mut pooled[1][at..at + bytes];
        let before = index.iter().rev().fold(0u64, |all, &byte| all << 8 | u64::from(byte));
        index.copy_from_slice(&before.wrapping_add(by as u64).to_le_bytes()[..bytes]);
    }
    Some((Case::new(plan, pooled), moved))
}

fn unpools_of_own_windows_are_those_of_the_reference() {
    let (mut random, net) = (Random::seeded(2), Net::default());
    // Unpools; of these, some that fail, and some of which indices were moved and are in their windows still, or are
    // skipped.
    let mut counts = [0; 3];
    while counts[0] < 1000 {
        let Some((case, moved)) = of_own_windows(&mut random) else { continue };
        let expected = case.expected();
        let is = [true, expected.is_err(), moved > 0 && expected.is_ok()];
        counts.iter_mut().zip(is).for_each(|(count, is)| *count += usize::from(is));
        agrees(&net, &case, &mut random);
    }
    net.is_complete(&[UNPOOL], &[CpuKernel::Scatter, CpuKernel::General]);
    assert!(counts[1..].iter().all(|&count| count >= 100), "{counts:?}");
}
