//! Random pools for the kernel `interleaved`: fewer planes than a vector has lanes, as many, and several blocks of
//! them; planes that are smaller than a vector and larger; leading axes that are counted among the planes; indices
//! across batch items.

use support::cpu::Net;
use support::tests;
use wgpu_pooling::{Cpu, CpuKernel, DType, IndexFlattening, IndexType, MaxPool, NanPolicy};

use super::{EITHER, Random, agrees, either};

tests! {
    cpu =>
        interleaved_planes_are_those_of_the_reference;
}

fn pool(random: &mut Random) -> (MaxPool, Vec<usize>, DType, Option<IndexType>, bool) {
    let axes = 1 + random.below(3);
    let dtype = random.of(&DType::ALL);
    let numbers = |random: &mut Random, end: usize| (0..axes).map(|_| 1 + random.below(end) as i64).collect();
    let (mut kernel, mut strides): (Vec<i64>, Vec<i64>) = (numbers(random, 4), numbers(random, 6));
    let dilations: Vec<i64> = numbers(random, 2);
    let reach = |kernel: &[i64], axis: usize| (kernel[axis] - 1) * dilations[axis];
    // The first axis has a window for each position.
    let folded = axes > 1 && random.below(3) == 0;
    if folded {
        (kernel[0], strides[0]) = (1, 1);
    }
    let pads: Vec<i64> =
        (0..2 * axes).map(|pad| random.below(1 + reach(&kernel, pad % axes) as usize) as i64).collect();
    let extents: Vec<usize> = (0..axes).map(|_| 1 + random.below([200, 30, 9][axes - 1])).collect();
    let planes = random.of(&[(1, 1), (1, 15), (2, 8), (3, 11), (1, 64), (5, 13), (1, 300), (4, 257), (2, 1100)]);
    let most = 60_000 / extents.iter().product::<usize>().max(1);
    let channels = planes.1.min(most / planes.0 + 1);
    let shape = [planes.0, channels].into_iter().chain(extents).collect();
    let indices = random.of(&[None, Some(IndexType::I32), Some(IndexType::I64)]);
    let (policy, flatten) = (random.of(NanPolicy::ALL), random.of(IndexFlattening::ALL));
    let order = random.below(2) as i64;
    let pool = MaxPool::new(kernel).strides(strides).dilations(dilations).pads(pads).storage_order(order);
    (pool.nan_policy(policy).flatten(flatten), shape, dtype, indices, folded)
}

fn interleaved_planes_are_those_of_the_reference() {
    let (mut random, net) = (Random::seeded(1), Net::default());
    // Pools; of these, some with several blocks of planes, some of planes smaller than a vector, some with indices, and
    // some whose first axis is counted among the planes.
    let mut counts = [0; 5];
    while counts[0] < 400 {
        let (pool, shape, dtype, indices, folded) = pool(&mut random);
        let Ok(plan) = either(pool.clone(), &mut random, &shape, dtype, indices) else { continue };
        if Cpu::new().with_kernel(CpuKernel::Interleaved).prepare(plan.1.clone()).is_err() {
            continue;
        }
        let plane = shape[2..].iter().product::<usize>() * dtype.bytes();
        let is = [true, shape[0] * shape[1] > 256, plane < 64, indices.is_some(), folded];
        counts.iter_mut().zip(is).for_each(|(count, is)| *count += usize::from(is));
        agrees(&net, plan, &mut random)
            .unwrap_or_else(|error| panic!("{error}: {pool:?} {shape:?} {dtype:?} {indices:?}"));
    }
    assert!(counts[1..].iter().all(|&count| count >= 20), "{counts:?}");
    net.is_complete(&EITHER, &[CpuKernel::Interleaved, CpuKernel::Columns, CpuKernel::General]);
}
