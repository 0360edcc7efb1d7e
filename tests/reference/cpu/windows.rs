//! Random pools whose windows fill rows of X, one behind the other: the kernel `global` takes each for a plane.

use wgpu_pooling::{Cpu, CpuKernel, DType, IndexFlattening, IndexType, Layout, MaxPool, NanPolicy, Plan};

use super::{Random, agrees};
use crate::support::harness::tests;
use crate::support::nasty::{STYLES, Style};

tests! {
    cpu =>
        windows_that_fill_rows_are_planes,
        windows_that_do_not_fill_rows_are_no_planes;
}

fn windows_that_fill_rows_are_planes() {
    let mut random = Random(1);
    // Pools; of these, some with windows in several rows, some with indices, some with windows of more than 256 elements.
    let mut counts = [0; 4];
    while counts[0] < 300 {
        let axes = 1 + random.below(3);
        let window = random.of(&[2, 3, 7, 8, 9, 15, 16, 17, 40, 255, 256, 257, 700]);
        let (mut kernel, mut extents) = (vec![1; axes], vec![]);
        kernel[axes - 1] = window as i64;
        extents.extend((1..axes).map(|_| 1 + random.below(5)));
        extents.push(window * (1 + random.below(9)));
        let planes = random.of(&[[1, 1], [1, 5], [3, 1], [2, 3], [1, 70]]);
        let shape: Vec<usize> = planes.into_iter().chain(extents.iter().copied()).collect();
        let dtype = random.of(&DType::ALL);
        let indices = random.of(&[None, Some(IndexType::I32), Some(IndexType::I64)]);
        let (policy, flatten) = (random.of(NanPolicy::ALL), random.of(IndexFlattening::ALL));
        let order = random.below(2) as i64;
        let pool = MaxPool::new(kernel.clone()).strides(kernel).storage_order(order);
        let pool = pool.nan_policy(policy).flatten(flatten);
        let Ok(plan) = pool.plan(&shape, dtype, indices) else { continue };
        let plan = Plan::from(plan);
        // Indices that do not count on from row to row are left to other kernels.
        if Cpu::new().with_kernel(CpuKernel::Global).prepare(plan.clone()).is_err() {
            assert!(indices.is_some(), "{pool:?} {shape:?}");
            continue;
        }
        let rows = extents[..axes - 1].iter().product::<usize>() > 1;
        let is = [true, rows, indices.is_some(), window > 256];
        counts.iter_mut().zip(is).for_each(|(count, is)| *count += usize::from(is));
        let styles = random.of(&[&[Style::Few, Style::Zeros, Style::Subnormal][..], STYLES]);
        agrees(CpuKernel::Global, plan, styles, &mut random)
            .unwrap_or_else(|error| panic!("{error}: {pool:?} {shape:?} {dtype:?} {indices:?}"));
    }
    assert!(counts[1..].iter().all(|&count| count >= 25), "{counts:?}");
}

fn windows_that_do_not_fill_rows_are_no_planes() {
    let global = Cpu::new().with_kernel(CpuKernel::Global);
    let refuses = |pool: &MaxPool, shape: &[usize]| {
        let plan = pool.plan(shape, DType::F32, None).unwrap();
        assert!(global.prepare(plan).is_err(), "{pool:?} {shape:?}");
    };
    let pool = |kernel: &[i64], strides: &[i64]| MaxPool::new(kernel).strides(strides);
    assert!(global.prepare(pool(&[8], &[8]).plan(&[1, 2, 32], DType::F32, None).unwrap()).is_ok());
    // Elements behind the last window, gaps, elements of two windows, padding, distances, two axes, channels side by side.
    refuses(&pool(&[8], &[8]), &[1, 2, 33]);
    refuses(&pool(&[7], &[8]), &[1, 2, 32]);
    refuses(&pool(&[8], &[4]), &[1, 2, 32]);
    refuses(&pool(&[8], &[8]).pads([1, 7]), &[1, 2, 32]);
    refuses(&pool(&[4], &[8]).dilations([2]), &[1, 2, 32]);
    refuses(&pool(&[2, 8], &[2, 8]), &[1, 2, 4, 32]);
    refuses(&pool(&[1, 8], &[2, 8]), &[1, 2, 4, 32]);
    refuses(&pool(&[8], &[8]).layout(Layout::Nhwc), &[1, 32, 2]);
}
