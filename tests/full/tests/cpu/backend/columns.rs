//! Random pools for the kernel `columns`: more rows of outputs than are computed together and fewer; rows with several
//! blocks of columns; windows that are found in many rows together and one by one; more rows of X than are listed;
//! channels that are columns and channels along rows of columns.

use support::cpu::Net;
use support::tests;
use wgpu_pooling::{
    Activation, AdaptiveMaxPool, Cpu, CpuKernel, DType, IndexFlattening, IndexType, Layout, MaxPool, NanPolicy, Plan,
};

use super::{EITHER, Random, agrees, either};

tests! {
    cpu =>
        columns_are_those_of_the_reference;
}

/// The plan of an adaptive pool, or of one whose windows are all alike, if X has such.
fn pool(
    random: &mut Random,
    shape: &[usize],
    dtype: DType,
    indices: Option<IndexType>,
) -> Option<(&'static str, Plan)> {
    let axes = shape.len() - 2;
    let layout = random.of(&[Layout::Nchw, Layout::Nchw, Layout::Nhwc]);
    let mut shape = shape.to_vec();
    if layout == Layout::Nhwc {
        shape[1..].rotate_left(1);
    }
    let extents = &shape[if layout == Layout::Nhwc { 1 } else { 2 }..][..axes];
    let (policy, flatten) = (random.of(NanPolicy::ALL), random.of(IndexFlattening::ALL));
    // One of which gives something else if it is applied twice, and some with bounds that are subnormal in f32.
    let clip = |[min, max]: [u32; 2]| Activation::Clip { min: f32::from_bits(min), max: f32::from_bits(max) };
    let (twice, tiny) = (Activation::Clip { min: 6.0, max: 0.0 }, [[0x8000_0009, 0x0040_0000], [3, 0x7F80_0000]]);
    let activation = match dtype.is_float() {
        true if random.below(2) == 0 => random.of(&[Activation::Relu, twice, clip(tiny[0]), clip(tiny[1])]),
        true => Activation::Identity,
        false => Activation::Identity,
    };
    let plan = if random.below(2) == 0 {
        let outputs: Vec<i64> = extents.iter().map(|extent| 1 + random.below(*extent) as i64).collect();
        let pool = AdaptiveMaxPool::new(outputs).layout(layout).nan_policy(policy).flatten(flatten);
        either(pool, random, &shape, dtype, indices)
    } else {
        let numbers = |random: &mut Random, end: usize| (0..axes).map(|_| 1 + random.below(end) as i64).collect();
        let widest = random.of(&[4, 4, 20, 100]);
        let (kernel, strides, dilations): (Vec<i64>, Vec<i64>, Vec<i64>) =
            (numbers(random, widest), numbers(random, 6), numbers(random, 2));
        let pad = |random: &mut Random, axis: usize| random.below(1 + (kernel[axis] - 1) as usize) as i64;
        let pads: Vec<i64> = (0..2 * axes).map(|number| pad(random, number % axes)).collect();
        let pool = MaxPool::new(kernel).strides(strides).dilations(dilations).pads(pads).nan_policy(policy);
        let pool = pool.layout(layout).index_layout(random.of(&[layout, Layout::Nchw]));
        let pool = pool.activation(activation).flatten(flatten).storage_order(random.below(2) as i64);
        either(pool, random, &shape, dtype, indices)
    };
    plan.ok()
}

fn columns_are_those_of_the_reference() {
    let (mut random, net) = (Random::seeded(1), Net::default());
    // Pools; of these, some of long rows, of very long rows, of many rows, of few rows, and with indices.
    let mut counts = [0; 6];
    while counts[0] < 400 {
        let axes = 1 + random.below(3);
        let mut shape = vec![1 + random.below(3), random.of(&[1, 2, 5, 17, 70])];
        shape.extend((0..axes).map(|_| 1 + random.below([700, 40, 12][axes - 1])));
        match random.below(8) {
            0 => *shape.last_mut().unwrap() = 1000 + random.below(3000),
            // Several blocks of columns.
            2 | 3 => {
                shape = vec![1; axes + 1];
                shape[axes] = 1 + random.below(4);
                shape.push(9000 + random.below(30_000));
            }
            1 if axes == 2 => shape = vec![1, 1, 4000 + random.below(3000), 1 + random.below(6)],
            _ => {}
        }
        let elements = shape.iter().product::<usize>();
        let dtype = random.of(&DType::ALL);
        let indices = random.of(&[None, Some(IndexType::I32), Some(IndexType::I64)]);
        let Some(plan) = pool(&mut random, &shape, dtype, indices).filter(|_| elements < 100_000) else { continue };
        let taps: u64 = elements as u64 * plan.1.outputs()[0].element_count();
        if taps > 1 << 32 || Cpu::new().with_kernel(CpuKernel::Columns).prepare(plan.1.clone()).is_err() {
            continue;
        }
        let rows = shape[..shape.len() - 1].iter().product::<usize>();
        let is =
            [true, shape.last() > Some(&900), shape.last() > Some(&20_000), rows > 4096, rows < 8, indices.is_some()];
        counts.iter_mut().zip(is).for_each(|(count, is)| *count += usize::from(is));
        agrees(&net, plan.clone(), &mut random).unwrap_or_else(|error| panic!("{error}: {plan:?}"));
    }
    assert!(counts[1..].iter().all(|&count| count >= 10), "{counts:?}");
    net.is_complete(&EITHER, &[CpuKernel::Columns, CpuKernel::Separable, CpuKernel::General]);
}
