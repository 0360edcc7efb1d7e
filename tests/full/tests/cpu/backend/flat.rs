//! Random pools for the kernel `flat`, of planes that it cuts into strips of long rows and into bands of many rows, of
//! windows with several planes and of long ones, maxima and minima.

use cases::compositions::Composition;
use support::cpu::Net;
use support::tests;
use wgpu_pooling::{Cpu, CpuKernel, DType, EmptyValue, Layout, MaxPool, NanPolicy};

use super::{EITHER, Random, agrees, composed, either};

tests! {
    cpu =>
        flat_planes_are_those_of_the_reference;
}

/// A pool, and a composition by its window.
struct Drawn {
    pool: MaxPool,
    by: Composition,
    shape: Vec<usize>,
    dtype: DType,
    /// Whether outputs are apart along the rows.
    apart: bool,
}

fn drawn(random: &mut Random) -> Drawn {
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
    let (kind, iterations) = (random.below(Composition::KINDS.len()), 1 + random.below(2) as i64);
    // The last value is one of floats alone.
    let empty_value = random.of(&EmptyValue::ALL[..EmptyValue::ALL.len() - usize::from(!dtype.is_float())]);
    let kernel_shape = kernel.clone();
    let by = Composition { kind, kernel_shape, anchor: None, iterations, layout, nan_policy: policy, empty_value };
    let pool = MaxPool::new(kernel).strides(strides).dilations(dilations).pads(pads);
    Drawn { pool: pool.layout(layout).nan_policy(policy).empty_value(empty_value), by, shape, dtype, apart }
}

fn flat_planes_are_those_of_the_reference() {
    let (mut random, net) = (Random::seeded(1), Net::default());
    // Pools; of these, some of long rows, some of many rows, some whose windows have several planes, and some whose
    // outputs are apart along the rows.
    let mut counts = [0; 5];
    while counts[0] < 400 {
        let Drawn { pool, by, shape, dtype, apart } = drawn(&mut random);
        // What the reference does in a fraction of a second.
        let elements = shape.iter().product::<usize>();
        let taps = by.kernel_shape.iter().fold(elements, |taps, &extent| taps * extent as usize);
        let Ok(plan) = either(pool.clone(), &mut random, &shape, dtype, None) else { continue };
        if taps > 1 << 25 {
            continue;
        }
        if Cpu::new().with_kernel(CpuKernel::Flat).prepare(plan.1.clone()).is_err() {
            continue;
        }
        let bytes = elements * dtype.bytes() / shape[0];
        let is = [true, shape.iter().any(|&extent| extent > 8192), bytes > 256 << 10, shape.len() > 4, apart];
        counts.iter_mut().zip(is).for_each(|(count, is)| *count += usize::from(is));
        agrees(&net, plan, &mut random).unwrap_or_else(|error| panic!("{error}: {pool:?} {shape:?} {dtype:?}"));
        if taps <= 1 << 22 {
            composed(&net, &by, (&shape, dtype), &mut random)
                .unwrap_or_else(|error| panic!("{error}: {by:?} {shape:?} {dtype:?}"));
        }
    }
    assert!(counts[1..].iter().all(|&count| count >= 5), "{counts:?}");
    net.is_complete(&EITHER, &[CpuKernel::Flat, CpuKernel::Separable, CpuKernel::Direct, CpuKernel::General]);
    net.is_complete(&Composition::KINDS, &[CpuKernel::Flat, CpuKernel::Separable, CpuKernel::General]);
}
