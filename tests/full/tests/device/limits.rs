//! Tensors larger than a binding and grids larger than a device's: schedules made for small limits give the same bits.
//! A schedule for small limits runs on any larger device, so every machine can test it; a device that was opened with
//! small limits is tested too.

use support::calls::{self, reference};
use support::device::{POISON, gpu};
use support::tests;
use wgpu_pooling::test_hooks::TestHooks;
use wgpu_pooling::{
    Activation, AdaptiveMaxPool, Choice, DType, Element, EmptyIndex, ExecuteError, Family, Gpu, GpuOptions, Index,
    IndexType, Layout, Limits, MaxPool, MaxUnpool, NanPolicy, OutOfBounds, Plan, PlanError, Pooling, Tensor, families,
    select, wgpu,
};

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

/// Data with ties, NaN, infinities and zeros of both signs among what random bits give.
pub fn data<T: Element>(shape: &[usize], seed: u64) -> Tensor<T> {
    let count = shape.iter().product::<usize>();
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut bytes = Vec::with_capacity(count * size_of::<T>());
    for _ in 0..count {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // Few values, so that windows tie.
        let word = match (state >> 60) as u8 {
            0 => u64::MAX,
            1 => 0x8000_8000_8000_8000,
            2 => 0,
            _ => (state >> 32) & 0x4104_4104_4104_4104,
        };
        bytes.extend_from_slice(&word.to_le_bytes()[..size_of::<T>()]);
    }
    Tensor::new(shape, bytemuck::pod_collect_to_vec(&bytes)).unwrap()
}

/// Runs a pool in every family that applies under the limits, compares bit by bit, and returns the number of
/// dispatches.
fn check<T: Element, I: Index>(gpu: &Gpu, pool: &dyn Pooling, shape: &[usize], limits: &Limits) -> usize {
    let x = data::<T>(shape, shape.iter().sum::<usize>() as u64);
    let bits = |tensor: &Tensor<T>| -> Vec<u8> { bytemuck::cast_slice(tensor.data()).to_vec() };
    let mut dispatches = 0;
    for with_indices in [true, false] {
        let plan = pool.plan(shape, T::DTYPE, with_indices.then_some(I::INDEX_TYPE)).unwrap();
        let found = families(&plan, limits);
        assert!(found.contains(&Family::Accumulating) || shape.len() > 5, "{found:?}");
        for family in found {
            let choice = Choice { family: Some(family), ..Choice::default() };
            let schedule = select(&plan, limits, &choice).unwrap();
            schedule.check(limits).unwrap();
            dispatches += schedule.dispatches().len();
            let prepared = gpu.prepare_blocking(schedule).unwrap();
            if with_indices {
                let (y, indices) = calls::max_pool_with_indices::<T, I>(&prepared, x.view()).unwrap();
                let expected = reference::max_pool_with_indices::<T, I>(&plan, x.view()).unwrap();
                assert!(bits(&y) == bits(&expected.0), "Y, {family:?}, {plan:?}");
                assert!(indices == expected.1, "indices, {family:?}, {plan:?}");
            } else {
                let y = calls::max_pool(&prepared, x.view()).unwrap();
                let expected = reference::max_pool(&plan, x.view()).unwrap();
                assert!(bits(&y) == bits(&expected), "Y alone, {family:?}, {plan:?}");
            }
        }
    }
    dispatches
}

fn pools_beyond_a_binding_give_the_same_bits_in_every_family() {
    let gpu = gpu();
    let mut dispatches = 0;
    for &policy in NanPolicy::ALL {
        let pool = MaxPool::new([3, 2]).strides([2, 1]).pads([1, 0, 1, 1]).nan_policy(policy);
        // Many planes; a plane larger than a binding; rows almost as large as a binding.
        dispatches += check::<f32, i64>(gpu, &pool, &[3, 20, 17, 13], &SMALL);
        dispatches += check::<f32, i32>(gpu, &pool, &[1, 2, 71, 97], &SMALL);
        dispatches += check::<half::f16, i64>(gpu, &pool, &[1, 1, 9, 2_900], &SMALL);
        dispatches += check::<u8, i64>(gpu, &pool, &[2, 3, 67, 101], &SMALL);
        dispatches += check::<i64, i32>(gpu, &pool, &[1, 2, 41, 43], &SMALL);
        // Three axes: a window reaches over planes that do not fit into one binding together.
        let deep = MaxPool::new([3, 2, 3]).dilations([1, 2, 1]).pads([1, 0, 1, 1, 2, 0]).nan_policy(policy);
        dispatches += check::<f32, i64>(gpu, &deep, &[1, 2, 5, 30, 29], &SMALL);
        dispatches += check::<u8, i32>(gpu, &deep, &[1, 1, 4, 61, 57], &SMALL);
        // Rows that are not whole words: a dispatch may begin inside a line, also inside the outputs of an invocation.
        let flat = MaxPool::new([3, 3]).pads([1, 1, 1, 0]).nan_policy(policy);
        dispatches += check::<half::f16, i32>(gpu, &flat, &[5, 12, 9, 11], &SMALL);
        let odd = MaxPool::new([2, 3, 3]).pads([1, 1, 1, 0, 1, 0]).nan_policy(policy);
        dispatches += check::<half::f16, i32>(gpu, &odd, &[5, 4, 3, 9, 11], &SMALL);
        // Windows larger than a binding.
        let global = MaxPool::new([50, 60]).nan_policy(policy);
        dispatches += check::<f32, i64>(gpu, &global, &[1, 2, 50, 60], &SMALL);
        dispatches += check::<f64, i64>(gpu, &global, &[1, 1, 50, 62], &SMALL);
    }
    assert!(dispatches > 1_000, "{dispatches} dispatches: the limits did not bite");
    println!("{dispatches} dispatches");
}

fn layouts_conventions_and_empty_windows_survive_cutting() {
    let gpu = gpu();
    for index_layout in [Layout::Nchw, Layout::Nhwc] {
        let pool = MaxPool::new([3, 3]).strides([2, 2]).layout(Layout::Nhwc).index_layout(index_layout);
        check::<f32, i64>(gpu, &pool, &[9, 11, 13, 6], &SMALL);
        check::<u8, i32>(gpu, &pool, &[5, 13, 11, 7], &SMALL);
    }
    let empties = [EmptyIndex::MinusOne, EmptyIndex::OrtUnderflow, EmptyIndex::ClampedStart, EmptyIndex::UnitBase];
    for empty in empties {
        let pool = MaxPool::new([2, 2]).dilations([9, 1]).pads([4, 3, 4, 3]).empty_index(empty).storage_order(1);
        check::<f32, i64>(gpu, &pool, &[2, 15, 8, 31], &SMALL);
    }
    check::<f32, i64>(gpu, &AdaptiveMaxPool::new([37, 23]), &[2, 3, 61, 40], &SMALL);
    check::<half::bf16, i32>(gpu, &AdaptiveMaxPool::new([2, 3]), &[1, 2, 91, 80], &SMALL);
    check::<f32, i64>(gpu, &AdaptiveMaxPool::new([700]), &[2, 9, 410], &SMALL);
    // Rows and planes of which a binding holds at most one, and dilated windows that leave some of them out.
    for dilation in [1, 2, 3] {
        let pool = MaxPool::new([3, 3]).dilations([dilation, dilation]).pads([2, 2, 2, 2]);
        check::<f32, i64>(gpu, &pool, &[1, 1, 5, 1_530], &SMALL);
        check::<f64, i64>(gpu, &pool, &[1, 2, 3, 3_000], &SMALL);
        let deep = MaxPool::new([3, 3, 3]).dilations([dilation; 3]).pads([3; 6]);
        let deep = deep.layout(Layout::Nhwc).index_layout(Layout::Nhwc);
        check::<f32, i64>(gpu, &deep, &[1, 4, 40, 41, 2], &SMALL);
    }
    // More axes than one pass reduces.
    check::<f32, i64>(gpu, &MaxPool::new([2, 2, 2, 2]).strides([1, 2, 1, 1]), &[1, 2, 5, 6, 7, 8], &SMALL);
    let relu = MaxPool::new([2, 2]).activation(Activation::Relu);
    check::<f32, i64>(gpu, &relu, &[1, 3, 40, 45], &SMALL);
}

/// Runs an unpool in every family that applies under the limits.
fn check_unpool<T: Element, I: Index>(
    unpool: &MaxUnpool,
    x: &Tensor<T>,
    indices: &Tensor<I>,
    limits: &Limits,
) -> usize {
    let plan = unpool.plan(x.shape(), T::DTYPE, I::INDEX_TYPE).unwrap();
    let expected = reference::max_unpool(&plan, x.view(), indices.view());
    let mut dispatches = 0;
    for family in families(&plan, limits) {
        let choice = Choice { family: Some(family), ..Choice::default() };
        let schedule = select(&plan, limits, &choice).unwrap();
        schedule.check(limits).unwrap();
        dispatches += schedule.dispatches().len();
        let result = calls::max_unpool(&gpu().prepare_blocking(schedule).unwrap(), x.view(), indices.view());
        match (&expected, &result) {
            (Ok(expected), Ok(y)) => {
                let bytes = |tensor: &Tensor<T>| -> Vec<u8> { bytemuck::cast_slice(tensor.data()).to_vec() };
                assert!(bytes(expected) == bytes(y), "{family:?}, {plan:?}");
            }
            (expected, result) => assert_eq!(expected.as_ref().err(), result.as_ref().err(), "{family:?}, {plan:?}"),
        }
    }
    assert!(dispatches > 0, "{plan:?}");
    dispatches
}

fn unpools_beyond_a_binding_give_the_same_bits_and_the_same_errors() {
    let mut dispatches = 0;
    let pool = MaxPool::new([2, 3]).strides([2, 2]).pads([1, 0, 0, 1]);
    for shape in [[2, 7, 31, 33], [1, 1, 61, 97]] {
        let x = data::<f32>(&shape, 11);
        let plan = pool.plan(&shape, DType::F32, Some(IndexType::I64)).unwrap();
        let (y, indices) = reference::max_pool_with_indices::<f32, i64>(&plan, x.view()).unwrap();
        let unpool = MaxUnpool::inverse_of(&pool, &shape);
        dispatches += check_unpool(&unpool, &y, &indices, &SMALL);
        // Other indices, with repeats: the last source in order wins, whichever dispatch reads it.
        let count = x.data().len() as i64;
        let scattered: Vec<i64> = (0..indices.data().len() as i64).map(|i| i * 7_919 % (count / 3)).collect();
        let scattered = Tensor::new(indices.shape(), scattered).unwrap();
        dispatches += check_unpool(&unpool, &y, &scattered, &SMALL);
        let bytes = Tensor::new(y.shape(), (0..y.data().len()).map(|i| (i * 31 % 255) as u8).collect()).unwrap();
        dispatches += check_unpool(&unpool, &bytes, &scattered, &SMALL);
        let clipped = unpool.clone().activation(Activation::Clip { min: 0.5, max: 90.0 });
        dispatches += check_unpool(&clipped, &bytes, &scattered, &SMALL);
        // Bad indices in the last part only, then in all parts.
        let mut bad = scattered.data().to_vec();
        let last = bad.len() - 3;
        bad[last] = 1 << 40;
        dispatches += check_unpool(&unpool, &y, &Tensor::new(y.shape(), bad.clone()).unwrap(), &SMALL);
        bad.iter_mut().step_by(5).for_each(|index| *index = -2 - *index);
        dispatches += check_unpool(&unpool, &bytes, &Tensor::new(y.shape(), bad.clone()).unwrap(), &SMALL);
        let skips = unpool.clone().out_of_bounds(OutOfBounds::Skip);
        dispatches += check_unpool(&skips, &y, &Tensor::new(y.shape(), bad).unwrap(), &SMALL);
    }
    let nhwc = MaxPool::new([2, 2]).strides([2, 2]).layout(Layout::Nhwc);
    let shape = [9, 14, 15, 6];
    let x = data::<f32>(&shape, 3);
    let plan = nhwc.plan(&shape, DType::F32, Some(IndexType::I32)).unwrap();
    let (y, indices) = reference::max_pool_with_indices::<f32, i32>(&plan, x.view()).unwrap();
    dispatches += check_unpool(&MaxUnpool::inverse_of(&nhwc, &shape), &y, &indices, &SMALL);
    assert!(dispatches > 300, "{dispatches} dispatches: the limits did not bite");
    println!("{dispatches} dispatches");
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
    for shape in [vec![2, 9, 60, 61], vec![1, 1, 301, 257]] {
        let x = data::<f32>(&shape, 5);
        let plan = pool.plan(&shape, DType::F32, Some(IndexType::I64)).unwrap();
        let (y, indices) = reference::max_pool_with_indices::<f32, i64>(&plan, x.view()).unwrap();
        let pooled = pool.on(x.view()).with_indices::<i64>().run_blocking(&gpu).unwrap();
        assert!(bytemuck::cast_slice::<f32, u32>(pooled.0.data()) == bytemuck::cast_slice::<f32, u32>(y.data()));
        assert!(pooled.1 == indices);
    }
    assert!(gpu.limits().max_binding_bytes < 301 * 257 * 4);
}

fn what_no_kernel_can_cut_is_computed_in_tiles() {
    let gpu = small_device(16 << 10);
    // Five axes: along the outermost one a window reaches over more than a binding.
    let pool = MaxPool::new([2, 2, 1, 2, 3]).pads([1, 0, 0, 1, 0, 0, 1, 0, 0, 1]);
    let shape = [1, 1, 3, 4, 5, 20, 30];
    let x = data::<f32>(&shape, 21);
    let plan = pool.plan(&shape, DType::F32, Some(IndexType::I64)).unwrap();
    let refused = select(&plan, &gpu.limits(), &Choice::default());
    assert!(matches!(refused, Err(PlanError::ExceedsLimit { .. })), "{refused:?}");
    let (y, indices) = reference::max_pool_with_indices::<f32, i64>(&plan, x.view()).unwrap();
    let pooled = pool.on(x.view()).with_indices::<i64>().run_blocking(&gpu).unwrap();
    assert!(bytemuck::cast_slice::<f32, u32>(pooled.0.data()) == bytemuck::cast_slice::<f32, u32>(y.data()));
    assert!(pooled.1 == indices);
}

fn what_is_read_back_may_exceed_the_largest_buffer() {
    let limits = wgpu::Limits {
        max_buffer_size: 256 << 10,
        max_storage_buffer_binding_size: 128 << 10,
        ..wgpu::Limits::downlevel_defaults()
    };
    let gpu = Gpu::open_blocking(&GpuOptions::new().limits(limits).poison(POISON)).unwrap();
    // Y takes half of the largest buffer, the indices take all of it.
    let x = data::<f32>(&[1, 1, 1 << 15], 9);
    let pool = MaxPool::new([2]).pads([0, 1]);
    let plan = pool.plan(x.shape(), DType::F32, Some(IndexType::I64)).unwrap();
    let (y, indices) = reference::max_pool_with_indices::<f32, i64>(&plan, x.view()).unwrap();
    assert_eq!(indices.data().len() * 8, 256 << 10);
    let pooled = pool.on(x.view()).with_indices::<i64>().run_blocking(&gpu).unwrap();
    assert!(bytemuck::cast_slice::<f32, u32>(pooled.0.data()) == bytemuck::cast_slice::<f32, u32>(y.data()));
    assert!(pooled.1 == indices);
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
    check::<f32, i64>(gpu, &pool(&[3, 3]).pads([1; 4]), &[2, 3, 40, 50], limits);
    check::<half::f16, i32>(
        gpu,
        &pool(&[13, 13]).pads([6; 4]).nan_policy(NanPolicy::SeedLowest),
        &[1, 2, 40, 50],
        limits,
    );
    check::<u8, i64>(gpu, &pool(&[2, 2]).strides([2, 2]).layout(Layout::Nhwc), &[2, 3, 40, 50], limits);
    check::<f64, i64>(gpu, &AdaptiveMaxPool::new([3, 7]), &[1, 2, 40, 50], limits);

    let shape = [2, 3, 40, 50];
    let x = data::<f32>(&shape, 3);
    let halves = pool(&[2, 2]).strides([2, 2]);
    let (y, indices) = halves.on(x.view()).with_indices::<i64>().run_blocking(&gpu).unwrap();
    let unpool = MaxUnpool::inverse_of(&halves, &shape);
    let plan = unpool.plan(y.shape(), DType::F32, IndexType::I64).unwrap();
    let expected = reference::max_unpool(&plan, y.view(), indices.view()).unwrap();
    let back = unpool.on(y.view(), indices.view()).run_blocking(&gpu).unwrap();
    assert!(bytemuck::cast_slice::<f32, u32>(back.data()) == bytemuck::cast_slice::<f32, u32>(expected.data()));
    // The first bad index is found also where a dispatch of its own writes the report, as with four storage buffers.
    let mut wrong = indices.data().to_vec();
    (wrong[77], wrong[500]) = (-7, 1 << 40);
    let wrong = Tensor::new(indices.shape(), wrong).unwrap();
    let refused = unpool.on(y.view(), wrong.view()).run_blocking(&gpu).unwrap_err();
    assert_eq!(refused, reference::max_unpool(&plan, y.view(), wrong.view()).unwrap_err());
    assert!(matches!(refused, ExecuteError::IndexOutOfRange { position: 77, value: -7, count: 2, .. }), "{refused:?}");

    // Where there are several passes, the last one binds one buffer more if it writes indices.
    let four = pool(&[2; 4]).plan(&[1, 1, 4, 4, 4, 4], DType::F32, Some(IndexType::I64)).unwrap();
    let refused = select(&four, limits, &Choice::default());
    assert_eq!(refused, Err(PlanError::ExceedsLimit { what: "max_storage_buffers", needed: 5, limit: 4 }));
    // Tiles would not help, so a call does not try them.
    let tensor = data::<f32>(&[1, 1, 4, 4, 4, 4], 9);
    let refused = pool(&[2; 4]).on(tensor.view()).with_indices::<i64>().run_blocking(&gpu);
    let expected = PlanError::ExceedsLimit { what: "max_storage_buffers", needed: 5, limit: 4 };
    assert_eq!(refused, Err(ExecuteError::Plan(expected)));
    let values = pool(&[2; 4]).plan(&[1, 1, 4, 4, 4, 4], DType::F32, None).unwrap();
    assert!(select(&values, limits, &Choice::default()).is_ok());
}
