//! Random pools whose windows are runs of neighbouring elements, for the kernel `global`: along rows, cut by borders,
//! with gaps and shared elements, and whole rows.

use support::cpu::Net;
use support::tests;
use wgpu_pooling::{
    AdaptiveMaxPool, Cpu, CpuKernel, DType, GlobalMaxPool, IndexFlattening, IndexType, Layout, MaxPool, NanPolicy,
};

use super::{EITHER, Random, agrees, either};

tests! {
    cpu =>
        windows_along_rows_are_runs,
        windows_that_are_not_neighbouring_elements_are_no_runs;
}

fn windows_along_rows_are_runs() {
    let (mut random, net) = (Random::seeded(1), Net::default());
    // Pools; of these, some with windows in several rows, with indices, with windows of more than 256 elements, one
    // behind the other, cut at an end, with gaps or common elements, of whole rows, and with rows in between.
    let mut counts = [0; 8];
    while counts[0] < 400 {
        let axes = 1 + random.below(3);
        let window = random.of(&[2, 3, 7, 8, 9, 15, 16, 17, 40, 255, 256, 257, 700]);
        let (mut kernel, mut extents) = (vec![1; axes], vec![]);
        kernel[axes - 1] = window as i64;
        extents.extend((1..axes).map(|_| 1 + random.below(5)));
        extents.push(window * (1 + random.below(9)));
        let (mut strides, mut pads) = (kernel.clone(), vec![0; 2 * axes]);
        let is_plain = random.below(3) == 0;
        if !is_plain {
            extents[axes - 1] += random.below(window);
            let any = 1 + random.below(window);
            strides[axes - 1] = random.of(&[window, window, window + 1, window.div_ceil(2), any]) as i64;
            let pad = random.of(&[0, 1, window / 2, window - 1]) as i64;
            (pads[axes - 1], pads[2 * axes - 1]) = (random.of(&[0, pad]), pad);
        }
        // Windows of whole rows, several of them.
        let whole_rows = axes > 1 && random.below(4) == 0;
        if whole_rows {
            (extents[axes - 1], pads[axes - 1], pads[2 * axes - 1]) = (window, 0, 0);
            kernel[axes - 2] = 1 + random.below(extents[axes - 2]) as i64;
            strides[axes - 2] = 1 + random.below(3) as i64;
        }
        let rows_between = axes == 3 && random.below(2) == 0;
        if rows_between {
            strides[0] = 2;
        }
        let planes = random.of(&[[1, 1], [1, 5], [3, 1], [2, 3], [1, 70]]);
        let shape: Vec<usize> = planes.into_iter().chain(extents.iter().copied()).collect();
        let dtype = random.of(&DType::ALL);
        let indices = random.of(&[None, Some(IndexType::I32), Some(IndexType::I64)]);
        let (policy, flatten) = (random.of(NanPolicy::ALL), random.of(IndexFlattening::ALL));
        let pool = MaxPool::new(kernel).strides(strides).pads(pads).ceil_mode(random.below(2) as i64);
        let pool = pool.storage_order(random.below(2) as i64).nan_policy(policy).flatten(flatten);
        let pool = pool.index_layout(random.of(&[Layout::Nchw, Layout::Nchw, Layout::Nhwc]));
        let Ok(plan) = either(pool.clone(), &mut random, &shape, dtype, indices) else { continue };
        let outputs = plan.1.outputs()[0].shape[axes + 1];
        let cut = !is_plain && !whole_rows && outputs > 1;
        if Cpu::new().with_kernel(CpuKernel::Global).prepare(plan.1.clone()).is_err() {
            continue;
        }
        let rows = extents[..axes - 1].iter().product::<usize>() > 1;
        let is = [true, rows, indices.is_some(), window > 256, is_plain, cut, whole_rows, rows_between];
        counts.iter_mut().zip(is).for_each(|(count, is)| *count += usize::from(is));
        agrees(&net, plan, &mut random)
            .unwrap_or_else(|error| panic!("{error}: {pool:?} {shape:?} {dtype:?} {indices:?}"));
    }
    assert!(counts[1..].iter().all(|&count| count >= 25), "{counts:?}");
    // Windows of different lengths.
    for outputs in [2, 7, 30] {
        let pool = AdaptiveMaxPool::new([3, outputs]);
        let plan = either(pool, &mut random, &[2, 3, 3, 1000], DType::F32, Some(IndexType::I64)).unwrap();
        agrees(&net, plan, &mut random).unwrap();
    }
    // Windows of many blocks, which threads share, mostly of floats: it matters which threads compare them.
    for _ in 0..160 {
        let shape = [1, 1 + random.below(3), 300 + random.below(300), 500 + random.below(300)];
        let pool = GlobalMaxPool::new().nan_policy(random.of(NanPolicy::ALL));
        let dtype = {
            let any = random.of(&DType::ALL);
            random.of(&[DType::F32, DType::F64, DType::F16, DType::Bf16, any])
        };
        let indices = random.of(&[None, Some(IndexType::I64)]);
        let plan = either(pool, &mut random, &shape, dtype, indices).unwrap();
        agrees(&net, plan, &mut random).unwrap_or_else(|error| panic!("{error}: {shape:?} {dtype:?} {indices:?}"));
    }
    net.is_complete(&EITHER, &[CpuKernel::Global, CpuKernel::General]);
}

fn windows_that_are_not_neighbouring_elements_are_no_runs() {
    let global = Cpu::new().with_kernel(CpuKernel::Global);
    let applies = |pool: &MaxPool, shape: &[usize]| global.prepare(pool.plan(shape, DType::F32, None).unwrap()).is_ok();
    let pool = |kernel: &[i64], strides: &[i64]| MaxPool::new(kernel).strides(strides);
    assert!(applies(&pool(&[8], &[8]), &[1, 2, 32]));
    assert!(applies(&pool(&[2, 32], &[2, 1]), &[1, 2, 5, 32]));
    // Distances, two axes, channels side by side.
    assert!(!applies(&pool(&[4], &[8]).dilations([2]), &[1, 2, 32]));
    assert!(!applies(&pool(&[2, 8], &[2, 8]), &[1, 2, 4, 32]));
    assert!(!applies(&pool(&[2, 31], &[2, 1]), &[1, 2, 4, 32]));
    assert!(!applies(&pool(&[8], &[8]).layout(Layout::Nhwc), &[1, 32, 2]));
}
