//! Random pools for the kernel `flat`, of planes that it cuts into strips of long rows and into bands of many rows, of
//! windows with several planes and of long ones, maxima and minima.

use cases::nasty::{STYLES, Style};
use support::tests;
use wgpu_pooling::{Cpu, CpuKernel, DType, Layout, MaxPool, Minimum, NanPolicy, Pooling};

use super::{Random, agrees};

tests! {
    cpu =>
        flat_planes_are_those_of_the_reference;
}

fn pool(random: &mut Random) -> (MaxPool, Vec<usize>, DType, bool) {
    let axes = 2 + random.below(2);
    let dtype = random.of(&DType::ALL);
    let layout = random.of(&[Layout::Nchw, Layout::Nhwc]);
    let policy = random.of(NanPolicy::ALL);
    let mut kernel: Vec<i64> = (0..axes).map(|_| 1 + random.below(5) as i64).collect();
    if random.below(3) == 0 {
        // Windows along the last two axes that are reduced in steps.
        kernel[axes - 2..].iter_mut().for_each(|extent| *extent = 1 + random.below(125) as i64);
    }
    let dilations: Vec<i64> = (0..axes).map(|_| 1 + random.below(3) as i64).collect();
    let mut strides: Vec<i64> = (0..axes).map(|_| 1 + random.below(2) as i64).collect();
    strides[axes - 1] = random.of(&[1, 1, 2, 2, 3, 4]);
    let reach = |axis: usize| (kernel[axis] - 1) * dilations[axis];
    let pads: Vec<i64> = (0..2 * axes).map(|pad| random.below(1 + reach(pad % axes) as usize) as i64).collect();
    let most = if axes == 2 { random.of(&[12, 60, 300]) } else { 20 };
    let mut extents: Vec<usize> = (0..axes).map(|_| 1 + random.below(most)).collect();
    if axes == 2 && random.below(4) == 0 {
        extents = vec![1 + random.below(6), 1000 + random.below(9000)];
    }
    let channels = random.of(&[0, 1, 1, 2, 3, 17]);
    let shape: Vec<usize> = match layout {
        Layout::Nchw => [1 + random.below(2), channels].into_iter().chain(extents).collect(),
        Layout::Nhwc => [1 + random.below(2)].into_iter().chain(extents).chain([channels]).collect(),
    };
    let apart = strides[axes - 1] > 1;
    let pool = MaxPool::new(kernel).strides(strides).dilations(dilations).pads(pads);
    (pool.layout(layout).nan_policy(policy), shape, dtype, apart)
}

fn flat_planes_are_those_of_the_reference() {
    let mut random = Random(1);
    // Pools; of these, some of long rows, some of many rows, some whose windows have several planes, some whose outputs
    // are apart along the rows, and minima.
    let mut counts = [0; 6];
    while counts[0] < 400 {
        let (pool, shape, dtype, apart) = pool(&mut random);
        let smallest = random.below(2) == 0;
        let own: Box<dyn Pooling> = if smallest { Box::new(Minimum::of(pool.clone())) } else { Box::new(pool.clone()) };
        let Ok(plan) = own.plan(&shape, dtype, None) else { continue };
        if Cpu::new().with_kernel(CpuKernel::Flat).prepare(plan.clone()).is_err() {
            continue;
        }
        let bytes = shape.iter().product::<usize>() * dtype.bytes() / shape[0];
        let is = [true, shape.iter().any(|&extent| extent > 8192), bytes > 256 << 10, shape.len() > 4, apart, smallest];
        counts.iter_mut().zip(is).for_each(|(count, is)| *count += usize::from(is));
        // No NaN at all, few, and many.
        let styles = random.of(&[&[Style::Few, Style::Zeros, Style::Subnormal][..], &RARELY_NAN, STYLES]);
        agrees(CpuKernel::Flat, plan, styles, &mut random)
            .unwrap_or_else(|error| panic!("{error}: {pool:?} {shape:?} {dtype:?}"));
    }
    assert!(counts[1..].iter().all(|&count| count >= 5), "{counts:?}");
}

/// One run of a hundred has NaN.
const RARELY_NAN: [Style; 100] = {
    let mut styles = [Style::Few; 100];
    styles[0] = Style::Special;
    styles
};
