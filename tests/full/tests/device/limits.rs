//! Tensors larger than a binding and grids larger than a device's: schedules made for small limits give the same bits.
//! A schedule for small limits runs on any larger device, so every machine can test it; a device that was opened with
//! small limits is tested too.

use gpu_test::gpu_test;
use support::call::{Call, same};
use support::device::{POISON, gpu};
use support::draw::Case;
use support::draw::bias::{DIVIDED, PLANES};
use support::draw::bytes::{Bytes, random};
use support::draw::pools::PoolCase;
use support::draw::unpools::{UNPOOLS, UnpoolCase, Unpools};
use wgpu_pooling::TestHooks;
use wgpu_pooling::{
    AdaptiveMaxPool, Choice, DType, ExecuteError, Family, Gpu, GpuOptions, IndexType, Layout, Limits, MaxPool,
    MaxUnpool, NanPolicy, Plan, PlanError, families, select, wgpu,
};

use super::agree::{Undone, call, every_family};

/// Bindings of 6 KiB and nine workgroups a dispatch.
const SMALL: Limits = Limits {
    max_buffer_bytes: 1 << 30,
    max_binding_bytes: 6 << 10,
    max_workgroups_per_dimension: 3,
    max_storage_buffers: 8,
    software: false,
};

/// Drawn cases in every family that applies under small limits: planes, rows and windows larger than a binding, outputs
/// that end inside words and inside the outputs of an invocation, and unpools whose last source is another dispatch's.
#[gpu_test]
fn tensors_beyond_a_binding_give_the_same_bits_in_every_family() {
    let (mut dispatches, mut computed) = (0, 0);
    for number in 0..220 {
        let bytes = &mut Bytes(&random(1, "beyond a binding", number));
        let case = match number % 10 {
            0..6 => Case::Pool(PoolCase::draw(&DIVIDED, bytes)),
            6 => Case::Pool(PoolCase::draw(&PLANES, bytes)),
            7 => {
                Case::Unpool(UnpoolCase::draw(&Unpools { most_extent: |_| 24, axes: &[2], ..UNPOOLS }, bytes).decided())
            }
            _ => Case::Unpool(UnpoolCase::inverse(&DIVIDED, bytes).decided()),
        };
        // Where bindings hold too little for every family, calls take tiles.
        let Ok(Some(call)) = case.call() else { continue };
        if call.plan.outputs()[0].element_count() == 0 || families(&call.plan, &SMALL).is_empty() {
            continue;
        }
        computed += 1;
        dispatches += every_family(gpu(), &call, &SMALL);
    }
    println!("{dispatches} dispatches of {computed} cases");
    assert!(computed > 150 && dispatches > 20 * computed, "{dispatches} of {computed}: the limits did not bite");
}

/// One call of a backend gives the reference's bits, or its error.
fn agrees(gpu: &Gpu, call: &Call) {
    same(&call.expected(), &call.on(gpu)).unwrap_or_else(|error| panic!("{error}: {:?}", &call.plan));
}

/// A device that really has small limits, as a caller's device may have.
fn small_device(binding: u64) -> Gpu {
    let limits = wgpu::Limits {
        max_storage_buffer_binding_size: binding,
        max_compute_workgroups_per_dimension: 7,
        ..wgpu::Limits::defaults()
    };
    Gpu::open_blocking(&GpuOptions::new().limits(limits).poison(POISON)).unwrap()
}

#[gpu_test]
fn a_device_with_small_bindings_computes_the_same() {
    let gpu = small_device(128 << 10);
    assert_eq!((gpu.limits().max_binding_bytes, gpu.limits().max_workgroups_per_dimension), (128 << 10, 7));
    let pool = MaxPool::new([3, 3]).strides([2, 2]).pads([1, 1, 1, 1]);
    for shape in [[2, 9, 60, 61], [1, 1, 301, 257]] {
        agrees(&gpu, &call(pool.plan(&shape, DType::F32, Some(IndexType::I64)).unwrap()));
    }
    assert!(gpu.limits().max_binding_bytes < 301 * 257 * 4);
}

#[gpu_test]
fn what_no_kernel_can_cut_is_computed_in_tiles() {
    let gpu = small_device(16 << 10);
    // Five axes: along the outermost one a window reaches over more than a binding.
    let pool = MaxPool::new([2, 2, 1, 2, 3]).pads([1, 0, 0, 1, 0, 0, 1, 0, 0, 1]);
    let shape = [1, 1, 3, 4, 5, 20, 30];
    let plan = pool.plan(&shape, DType::F32, Some(IndexType::I64)).unwrap();
    let refused = select(&plan, &gpu.limits(), &Choice::default());
    assert!(matches!(refused, Err(PlanError::ExceedsLimit { .. })), "{refused:?}");
    agrees(&gpu, &call(plan));
}

#[gpu_test]
fn what_is_read_back_may_exceed_the_largest_buffer() {
    let limits = wgpu::Limits {
        max_buffer_size: 256 << 10,
        max_storage_buffer_binding_size: 128 << 10,
        ..wgpu::Limits::downlevel_defaults()
    };
    let gpu = Gpu::open_blocking(&GpuOptions::new().limits(limits).poison(POISON)).unwrap();
    // Y takes half of the largest buffer, the indices take all of it.
    let plan = MaxPool::new([2]).pads([0, 1]).plan(&[1, 1, 1 << 15], DType::F32, Some(IndexType::I64)).unwrap();
    assert_eq!(plan.outputs()[1].bytes(), 256 << 10);
    agrees(&gpu, &call(plan));
}

#[test]
fn a_dispatch_has_at_most_two_to_the_thirty_one_taps() {
    // These are schedules only: no tensor of this size is allocated.
    let limits = Limits { max_buffer_bytes: 8 << 30, max_binding_bytes: 8 << 30, ..Limits::WEBGPU };
    let plans: [(Plan, u64); 2] = [
        (MaxPool::new([31, 31]).plan(&[1, 64, 2_048, 2_048], DType::F32, None).unwrap(), 31 * 31),
        (AdaptiveMaxPool::new([80, 80]).plan(&[30, 64, 1_024, 1_024], DType::F32, None).unwrap(), 14 * 14),
    ];
    for (plan, taps) in plans {
        let schedule = select(&plan, &limits, &Choice { family: Some(Family::Direct), ..Choice::default() }).unwrap();
        for dispatch in schedule.dispatches() {
            let outputs: u64 = dispatch.grid().iter().map(|&groups| u64::from(groups)).product::<u64>() * 64;
            // A grid is rounded up by less than one of its rows.
            let surplus = u64::from(dispatch.grid()[0]) * 64;
            assert!((outputs - surplus.min(outputs)) * taps <= 1 << 31, "{:?}", dispatch.grid());
        }
        assert!(schedule.dispatches().len() > 1);
        let slices = schedule.slices();
        assert!(slices.len() > 1, "a one-shot call submits in between");
        assert_eq!(
            slices.iter().cloned().flatten().collect::<Vec<_>>(),
            Vec::from_iter(0..schedule.dispatches().len())
        );
        for slice in slices.into_iter().filter(|slice| slice.len() > 1) {
            let work: u64 = schedule.dispatches()[slice].iter().map(|dispatch| dispatch.work()).sum();
            assert!(work <= 1 << 31);
        }
    }
}

#[test]
fn more_than_a_buffer_or_a_count_can_hold_is_an_error_with_the_numbers() {
    let limits = Limits { max_buffer_bytes: 1 << 20, ..SMALL };
    let plan: Plan = MaxPool::new([2]).plan(&[1, 1, 1 << 19], DType::F32, None).unwrap();
    let error = PlanError::ExceedsLimit { what: "bytes of x (max_buffer_bytes)", needed: 2 << 20, limit: 1 << 20 };
    assert_eq!(select(&plan, &limits, &Choice::default()), Err(error));
    let huge = Limits { max_buffer_bytes: u64::MAX, max_binding_bytes: u64::MAX, ..Limits::WEBGPU };
    let plan: Plan = MaxPool::new([2]).plan(&[1, 1, 1 << 33], DType::U8, None).unwrap();
    let error = PlanError::ExceedsLimit { what: "elements of x", needed: 1 << 33, limit: 1 << 31 };
    assert_eq!(select(&plan, &huge, &Choice::default()), Err(error));
}

#[gpu_test]
fn four_storage_buffers_suffice_but_for_indices_on_more_than_three_axes() {
    let gpu =
        &Gpu::open_blocking(&GpuOptions::new().limits(wgpu::Limits::downlevel_defaults()).poison(POISON)).unwrap();
    let limits = &gpu.limits();
    assert_eq!(limits.max_storage_buffers, 4);
    let pool = |kernel: &[i64]| MaxPool::new(kernel);
    let shape = [2, 3, 40, 50];
    for plan in [
        pool(&[3, 3]).pads([1; 4]).plan(&shape, DType::F32, Some(IndexType::I64)),
        pool(&[13, 13]).nan_policy(NanPolicy::SeedLowest).plan(&shape, DType::F16, Some(IndexType::I32)),
        pool(&[2, 2]).layout(Layout::Nhwc).plan(&shape, DType::U8, Some(IndexType::I64)),
        AdaptiveMaxPool::new([3, 7]).plan(&shape, DType::F64, Some(IndexType::I64)),
    ] {
        every_family(gpu, &call(plan.unwrap()), limits);
    }

    let halves = pool(&[2, 2]).strides([2, 2]);
    let pooled = call(halves.plan(&shape, DType::F32, Some(IndexType::I64)).unwrap());
    let undone = Undone::new(&MaxUnpool::inverse_of(&halves, &shape), &pooled);
    agrees(gpu, &undone.with(&undone.own));
    // The first bad index is found also where a dispatch of its own writes the report, as with four storage buffers.
    let mut wrong = undone.own.clone();
    (wrong[77], wrong[500]) = (-7, 1 << 40);
    let wrong = undone.with(&wrong);
    agrees(gpu, &wrong);
    let refused = wrong.on(gpu);
    assert!(
        matches!(refused, Err(ExecuteError::IndexOutOfRange { position: 77, value: -7, count: 2, .. })),
        "{refused:?}"
    );

    // Where there are several passes, the last one binds one buffer more if it writes indices.
    let four = pool(&[2; 4]).plan(&[1, 1, 4, 4, 4, 4], DType::F32, Some(IndexType::I64)).unwrap();
    let refused = select(&four, limits, &Choice::default());
    assert_eq!(refused, Err(PlanError::ExceedsLimit { what: "max_storage_buffers", needed: 5, limit: 4 }));
    // Tiles would not help, so a call does not try them.
    let expected = PlanError::ExceedsLimit { what: "max_storage_buffers", needed: 5, limit: 4 };
    assert_eq!(call(four).on(gpu), Err(ExecuteError::Plan(expected)));
    let values = pool(&[2; 4]).plan(&[1, 1, 4, 4, 4, 4], DType::F32, None).unwrap();
    assert!(select(&values, limits, &Choice::default()).is_ok());
}
