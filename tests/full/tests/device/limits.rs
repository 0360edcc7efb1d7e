//! Tensors larger than a binding and grids larger than a device's: schedules made for small limits give the same bits.
//! A schedule for small limits runs on any larger device, so every machine can test it; a device that was opened with
//! small limits is tested too.

use support::call::{Call, same};
use support::device::{POISON, gpu};
use support::tests;
use wgpu_pooling::test_hooks::TestHooks;
use wgpu_pooling::{
    Activation, AdaptiveMaxPool, Choice, DType, EmptyIndex, ExecuteError, Family, Gpu, GpuOptions, IndexType, Layout,
    Limits, MaxPool, MaxUnpool, NanPolicy, OutOfBounds, Plan, PlanError, Pooling, families, select, wgpu,
};

use super::agree::{Undone, call, every_family};

tests! {
    gpu =>
        pools_beyond_a_binding_give_the_same_bits_in_every_family,
        layouts_conventions_and_empty_windows_survive_cutting,
        unpools_beyond_a_binding_give_the_same_bits_and_the_same_errors,
        a_device_with_small_bindings_computes_the_same,
        what_no_kernel_can_cut_is_computed_in_tiles,
        what_is_read_back_may_exceed_the_largest_buffer,
        four_storage_buffers_suffice_but_for_indices_on_more_than_three_axes;
    cpu =>
        a_dispatch_has_at_most_two_to_the_thirty_one_taps,
        more_than_a_buffer_or_a_count_can_hold_is_an_error_with_the_numbers;
}

/// Bindings of 6 KiB and nine workgroups a dispatch.
const SMALL: Limits = Limits {
    max_buffer_bytes: 1 << 30,
    max_binding_bytes: 6 << 10,
    max_workgroups_per_dimension: 3,
    max_storage_buffers: 8,
    software: false,
};

/// Runs a pool with and without indices in every family that applies under the limits, and returns the number of
/// dispatches.
fn check(
    gpu: &Gpu,
    pool: &dyn Pooling,
    shape: &[usize],
    (dtype, index_type): (DType, IndexType),
    limits: &Limits,
) -> usize {
    let run = |indices| {
        let plan = pool.plan(shape, dtype, indices).unwrap();
        let found = families(&plan, limits);
        assert!(found.contains(&Family::Accumulating) || shape.len() > 5, "{found:?}");
        every_family(gpu, &call(plan), limits)
    };
    run(Some(index_type)) + run(None)
}

fn pools_beyond_a_binding_give_the_same_bits_in_every_family() {
    let gpu = gpu();
    let mut dispatches = 0;
    for &policy in NanPolicy::ALL {
        let pool = MaxPool::new([3, 2]).strides([2, 1]).pads([1, 0, 1, 1]).nan_policy(policy);
        // Many planes; a plane larger than a binding; rows almost as large as a binding.
        dispatches += check(gpu, &pool, &[3, 20, 17, 13], (DType::F32, IndexType::I64), &SMALL);
        dispatches += check(gpu, &pool, &[1, 2, 71, 97], (DType::F32, IndexType::I32), &SMALL);
        dispatches += check(gpu, &pool, &[1, 1, 9, 2_900], (DType::F16, IndexType::I64), &SMALL);
        dispatches += check(gpu, &pool, &[2, 3, 67, 101], (DType::U8, IndexType::I64), &SMALL);
        dispatches += check(gpu, &pool, &[1, 2, 41, 43], (DType::I64, IndexType::I32), &SMALL);
        // Three axes: a window reaches over planes that do not fit into one binding together.
        let deep = MaxPool::new([3, 2, 3]).dilations([1, 2, 1]).pads([1, 0, 1, 1, 2, 0]).nan_policy(policy);
        dispatches += check(gpu, &deep, &[1, 2, 5, 30, 29], (DType::F32, IndexType::I64), &SMALL);
        dispatches += check(gpu, &deep, &[1, 1, 4, 61, 57], (DType::U8, IndexType::I32), &SMALL);
        // Rows that are not whole words: a dispatch may begin inside a line, also inside the outputs of an invocation.
        let flat = MaxPool::new([3, 3]).pads([1, 1, 1, 0]).nan_policy(policy);
        dispatches += check(gpu, &flat, &[5, 12, 9, 11], (DType::F16, IndexType::I32), &SMALL);
        let odd = MaxPool::new([2, 3, 3]).pads([1, 1, 1, 0, 1, 0]).nan_policy(policy);
        dispatches += check(gpu, &odd, &[5, 4, 3, 9, 11], (DType::F16, IndexType::I32), &SMALL);
        // Windows larger than a binding.
        let global = MaxPool::new([50, 60]).nan_policy(policy);
        dispatches += check(gpu, &global, &[1, 2, 50, 60], (DType::F32, IndexType::I64), &SMALL);
        dispatches += check(gpu, &global, &[1, 1, 50, 62], (DType::F64, IndexType::I64), &SMALL);
    }
    assert!(dispatches > 1_000, "{dispatches} dispatches: the limits did not bite");
    println!("{dispatches} dispatches");
}

fn layouts_conventions_and_empty_windows_survive_cutting() {
    let gpu = gpu();
    for index_layout in [Layout::Nchw, Layout::Nhwc] {
        let pool = MaxPool::new([3, 3]).strides([2, 2]).layout(Layout::Nhwc).index_layout(index_layout);
        check(gpu, &pool, &[9, 11, 13, 6], (DType::F32, IndexType::I64), &SMALL);
        check(gpu, &pool, &[5, 13, 11, 7], (DType::U8, IndexType::I32), &SMALL);
    }
    let empties = [EmptyIndex::MinusOne, EmptyIndex::OrtUnderflow, EmptyIndex::ClampedStart, EmptyIndex::UnitBase];
    for empty in empties {
        let pool = MaxPool::new([2, 2]).dilations([9, 1]).pads([4, 3, 4, 3]).empty_index(empty).storage_order(1);
        check(gpu, &pool, &[2, 15, 8, 31], (DType::F32, IndexType::I64), &SMALL);
    }
    check(gpu, &AdaptiveMaxPool::new([37, 23]), &[2, 3, 61, 40], (DType::F32, IndexType::I64), &SMALL);
    check(gpu, &AdaptiveMaxPool::new([2, 3]), &[1, 2, 91, 80], (DType::Bf16, IndexType::I32), &SMALL);
    check(gpu, &AdaptiveMaxPool::new([700]), &[2, 9, 410], (DType::F32, IndexType::I64), &SMALL);
    // Rows and planes of which a binding holds at most one, and dilated windows that leave some of them out.
    for dilation in [1, 2, 3] {
        let pool = MaxPool::new([3, 3]).dilations([dilation, dilation]).pads([2, 2, 2, 2]);
        check(gpu, &pool, &[1, 1, 5, 1_530], (DType::F32, IndexType::I64), &SMALL);
        check(gpu, &pool, &[1, 2, 3, 3_000], (DType::F64, IndexType::I64), &SMALL);
        let deep = MaxPool::new([3, 3, 3]).dilations([dilation; 3]).pads([3; 6]);
        let deep = deep.layout(Layout::Nhwc).index_layout(Layout::Nhwc);
        check(gpu, &deep, &[1, 4, 40, 41, 2], (DType::F32, IndexType::I64), &SMALL);
    }
    // More axes than one pass reduces.
    check(
        gpu,
        &MaxPool::new([2, 2, 2, 2]).strides([1, 2, 1, 1]),
        &[1, 2, 5, 6, 7, 8],
        (DType::F32, IndexType::I64),
        &SMALL,
    );
    let relu = MaxPool::new([2, 2]).activation(Activation::Relu);
    check(gpu, &relu, &[1, 3, 40, 45], (DType::F32, IndexType::I64), &SMALL);
}

fn unpools_beyond_a_binding_give_the_same_bits_and_the_same_errors() {
    let mut dispatches = 0;
    let mut check = |call: &Call| dispatches += every_family(gpu(), call, &SMALL);
    let pool = MaxPool::new([2, 3]).strides([2, 2]).pads([1, 0, 0, 1]);
    for shape in [[2, 7, 31, 33], [1, 1, 61, 97]] {
        let unpool = MaxUnpool::inverse_of(&pool, &shape);
        let of = |unpool: &MaxUnpool, dtype| {
            Undone::new(unpool, &call(pool.plan(&shape, dtype, Some(IndexType::I64)).unwrap()))
        };
        let (floats, bytes) = (of(&unpool, DType::F32), of(&unpool, DType::U8));
        check(&floats.with(&floats.own));
        // Other indices, with repeats: the last source in order wins, whichever dispatch reads it.
        let (sources, count) = (floats.own.len(), shape.iter().product::<usize>() as i64);
        let mut scattered: Vec<i64> = (0..sources as i64).map(|i| i * 7_919 % (count / 3)).collect();
        check(&floats.with(&scattered));
        check(&bytes.with(&scattered));
        let clipped = unpool.clone().activation(Activation::Clip { min: 0.5, max: 90.0 });
        check(&of(&clipped, DType::U8).with(&scattered));
        // Bad indices in the last part only, then in all parts.
        scattered[sources - 3] = 1 << 40;
        check(&floats.with(&scattered));
        scattered.iter_mut().step_by(5).for_each(|index| *index = -2 - *index);
        check(&bytes.with(&scattered));
        check(&of(&unpool.out_of_bounds(OutOfBounds::Skip), DType::F32).with(&scattered));
    }
    let nhwc = MaxPool::new([2, 2]).strides([2, 2]).layout(Layout::Nhwc);
    let shape = [9, 14, 15, 6];
    let pooled = call(nhwc.plan(&shape, DType::F32, Some(IndexType::I32)).unwrap());
    let undone = Undone::new(&MaxUnpool::inverse_of(&nhwc, &shape), &pooled);
    check(&undone.with(&undone.own));
    assert!(dispatches > 300, "{dispatches} dispatches: the limits did not bite");
    println!("{dispatches} dispatches");
}

/// One call of a backend gives the reference's bits, or its error.
fn agrees(gpu: &Gpu, call: &Call) {
    same(&call.expected(), &call.on(gpu)).unwrap_or_else(|error| panic!("{error}: {:?}", call.plan()));
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

fn a_device_with_small_bindings_computes_the_same() {
    let gpu = small_device(128 << 10);
    assert_eq!((gpu.limits().max_binding_bytes, gpu.limits().max_workgroups_per_dimension), (128 << 10, 7));
    let pool = MaxPool::new([3, 3]).strides([2, 2]).pads([1, 1, 1, 1]);
    for shape in [[2, 9, 60, 61], [1, 1, 301, 257]] {
        agrees(&gpu, &call(pool.plan(&shape, DType::F32, Some(IndexType::I64)).unwrap()));
    }
    assert!(gpu.limits().max_binding_bytes < 301 * 257 * 4);
}

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

fn four_storage_buffers_suffice_but_for_indices_on_more_than_three_axes() {
    let gpu =
        &Gpu::open_blocking(&GpuOptions::new().limits(wgpu::Limits::downlevel_defaults()).poison(POISON)).unwrap();
    let limits = &gpu.limits();
    assert_eq!(limits.max_storage_buffers, 4);
    let pool = |kernel: &[i64]| MaxPool::new(kernel);
    check(gpu, &pool(&[3, 3]).pads([1; 4]), &[2, 3, 40, 50], (DType::F32, IndexType::I64), limits);
    check(
        gpu,
        &pool(&[13, 13]).pads([6; 4]).nan_policy(NanPolicy::SeedLowest),
        &[1, 2, 40, 50],
        (DType::F16, IndexType::I32),
        limits,
    );
    check(
        gpu,
        &pool(&[2, 2]).strides([2, 2]).layout(Layout::Nhwc),
        &[2, 3, 40, 50],
        (DType::U8, IndexType::I64),
        limits,
    );
    check(gpu, &AdaptiveMaxPool::new([3, 7]), &[1, 2, 40, 50], (DType::F64, IndexType::I64), limits);

    let shape = [2, 3, 40, 50];
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
