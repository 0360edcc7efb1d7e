//! Tests that need the internals of schedules and of the device.

use std::sync::{Arc, OnceLock};
use wgpu_pooling_plan::Tiling;

use crate::TestHooks;
use crate::family::Family;
use crate::schedule::Schedule;
use crate::{
    AdaptiveMaxPool, Build, Choice, DType, EmptyIndex, ExecuteError, Gpu, GpuOptions, IndexType, Layout, MaxPool,
    MaxUnpool, NanPolicy, OutOfBounds, Plan, PlanError, Pooling, Prepare, StorageOrder, Tensor, select, stream_bytes,
    uniform,
};
use support::calls::{self, reference};

const POISON: u32 = 0xA5C3_96E7;

fn gpu() -> Option<&'static Gpu> {
    static SHARED: OnceLock<Gpu> = OnceLock::new();
    if std::env::var("WGPU_POOLING_SKIP_GPU").is_ok_and(|value| value == "1") {
        eprintln!("WGPU_POOLING_SKIP_GPU=1: nothing is tested on a GPU");
        return None;
    }
    Some(SHARED.get_or_init(|| {
        Gpu::open_blocking(&GpuOptions::new().poison(POISON))
            .unwrap_or_else(|error| panic!("{error}\nInstall a Vulkan driver, for example mesa-vulkan-drivers."))
    }))
}

/// Runs an unpool without its last step, so that Y shows whether the step changes anything; `None` if it is not
/// gathered.
fn settles(gpu: &Gpu, unpool: &MaxUnpool, x: &Tensor<f32>, indices: &Tensor<i64>) -> Option<bool> {
    // The last step writes the report, too.
    let unpool = unpool.clone().out_of_bounds(OutOfBounds::Skip);
    let plan = unpool.plan(x.shape(), DType::F32, IndexType::I64).unwrap();
    let expected = reference::max_unpool(&plan, x.view(), indices.view()).unwrap();
    let choice = Choice { family: Some(Family::Gather), ..Choice::default() };
    let mut schedule: Schedule = select(&plan, &gpu.limits(), &choice).ok()?;
    // Every run leaves the scratch memory clear for the next one.
    let prepared = gpu.prepare_blocking(schedule.clone()).unwrap();
    for _ in 0..3 {
        assert_eq!(calls::max_unpool(&prepared, x.view(), indices.view()).as_ref(), Ok(&expected));
    }
    let last = schedule.dispatches.pop().unwrap();
    assert!(last.key.name().starts_with("unpool settle"), "{}", last.key.name());
    let y = calls::max_unpool(&gpu.prepare_blocking(schedule).unwrap(), x.view(), indices.view());
    Some(y.unwrap() != expected)
}

fn tensor(shape: &[usize]) -> Tensor<f32> {
    let count = shape.iter().product::<usize>();
    Tensor::new(shape, (0..count).map(|i| ((i * 7919) % 23) as f32 - 11.0).collect()).unwrap()
}

/// A separate device for one test, which keeps at most this many idle pipelines.
fn keeping(most_idle: usize) -> Option<Gpu> {
    let mut gpu = gpu().map(|_| Gpu::open_blocking(&GpuOptions::new()).unwrap())?;
    Arc::get_mut(&mut Arc::get_mut(&mut gpu.inner).unwrap().pipelines).unwrap().most_idle = most_idle;
    Some(gpu)
}

#[test]
fn one_shot_calls_with_many_windows_leave_few_pipelines() {
    let Some(gpu) = keeping(3) else { return };
    let gpu = gpu.with_choice(Choice { family: None, build: Some(Build::Specialised) });
    let x = tensor(&[1, 1, 64, 64]);
    for columns in 1..=20 {
        let pool = MaxPool::new([1, columns]);
        let plan = pool.plan(x.shape(), DType::F32, None).unwrap();
        assert_eq!(pool.on(x.view()).run_blocking(&gpu), reference::max_pool(&plan, x.view()));
        // The kept preparations, with one pipeline each, and the idle pipelines.
        assert!(gpu.resident_pipeline_count() <= 8 + 3, "{} pipelines", gpu.resident_pipeline_count());
    }
    assert!(gpu.pipeline_count() >= 20, "{} pipelines", gpu.pipeline_count());
    gpu.trim();
    assert_eq!(gpu.resident_pipeline_count(), 0);
}

/// A kernel is compiled for as long as the test holds its place among the pipelines.
#[test]
fn calls_go_on_while_a_kernel_is_compiled_for_them_and_its_thread_ends_with_the_gpu() {
    let Some(gpu) = keeping(8) else { return };
    let x = tensor(&[1, 1, 64, 64]);
    let pools = [MaxPool::new([3, 3]), MaxPool::new([2, 3])];
    let plans = pools.each_ref().map(|pool| pool.plan(x.shape(), DType::F32, None).unwrap());
    let selected = select(&plans[0], &gpu.limits(), &Choice::default()).unwrap();
    let slot = gpu.inner.pipelines.slot(selected.dispatches[0].key());
    let held = pollster::block_on(slot.lock());
    let build =
        |plan: &crate::Plan| gpu.prepare_blocking(Prepare::from(plan.clone()).cached()).unwrap().schedule().build();
    while gpu.inner.compiler.ordered().len() < 2 {
        assert!(plans.iter().all(|plan| build(plan) == Build::Generic));
    }
    for (pool, plan) in pools.iter().zip(&plans) {
        assert_eq!(pool.on(&x).run_blocking(&gpu), reference::max_pool(plan, x.view()));
    }
    assert_eq!(gpu.pipeline_count(), 1, "only the generic kernel");
    let names: Vec<String> = gpu.inner.compiler.ordered().iter().map(|it| it.key().name().to_owned()).collect();
    assert_eq!((names[0].as_str(), names.len()), (selected.dispatches[0].key().name(), 2), "{names:?}");
    drop(held);
    gpu.warm_up_blocking(&[]).unwrap();
    assert!(plans.iter().all(|plan| build(plan) == Build::Specialised));
    assert_eq!(gpu.pipeline_count(), 3);

    // A Gpu that is dropped while its thread has work leaves no thread behind.
    let Some(gpu) = keeping(8) else { return };
    let build =
        |plan: &crate::Plan| gpu.prepare_blocking(Prepare::from(plan.clone()).cached()).unwrap().schedule().build();
    while gpu.inner.compiler.ordered().is_empty() {
        assert_eq!(build(&plans[0]), Build::Generic);
    }
    let pipelines = Arc::downgrade(&gpu.inner.pipelines);
    drop(gpu);
    assert!(pipelines.upgrade().is_none(), "the thread has the pipelines still");
}

#[test]
fn kernels_that_cannot_be_compiled_displace_none_that_can() {
    let Some(gpu) = keeping(3) else { return };
    let schedule = |columns: i64| {
        let plan = MaxPool::new([1, columns]).plan(&[1, 1, 8, 32], DType::F32, None).unwrap();
        let choice = Choice { family: Some(Family::Direct), build: Some(Build::Specialised) };
        select(&plan, &gpu.limits(), &choice).unwrap()
    };
    gpu.warm_up_blocking(&[schedule(1), schedule(2)]).unwrap();
    let too_long = gpu.device().limits().max_uniform_buffer_binding_size as usize + 1;
    for columns in 3..=20 {
        let mut schedule = schedule(columns);
        schedule.dispatches[0].uniform.resize(too_long, 0);
        let refused = gpu.warm_up_blocking(&[schedule]);
        assert!(matches!(refused, Err(ExecuteError::Plan(PlanError::ExceedsLimit { .. }))), "{refused:?}");
    }
    gpu.warm_up_blocking(&[schedule(1), schedule(2)]).unwrap();
    assert_eq!((gpu.pipeline_count(), gpu.resident_pipeline_count()), (2, 2));
}

#[test]
fn indices_of_the_matching_pool_leave_nothing_to_settle() {
    let Some(gpu) = gpu() else { return };
    let pools: Vec<(Box<dyn Pooling>, Vec<usize>)> = vec![
        (Box::new(MaxPool::new([2, 2]).strides([2, 2])), vec![2, 3, 8, 7]),
        (Box::new(MaxPool::new([3, 3]).strides([2, 2]).pads([1, 1, 1, 1])), vec![1, 2, 9, 10]),
        (Box::new(MaxPool::new([2, 3]).dilations([3, 2]).pads([1, 0, 0, 2])), vec![1, 2, 9, 10]),
        // Windows wholly in padding, whose index is -1.
        (Box::new(MaxPool::new([2]).dilations([3]).pads([1, 1])), vec![2, 2, 2]),
        (Box::new(MaxPool::new([2, 2]).storage_order(1)), vec![2, 2, 5, 6]),
        (Box::new(MaxPool::new([2, 2]).layout(Layout::Nhwc)), vec![2, 5, 6, 3]),
        (Box::new(MaxPool::new([2, 2]).layout(Layout::Nhwc).index_layout(Layout::Nhwc)), vec![2, 5, 6, 3]),
        (Box::new(MaxPool::new([2, 2, 2]).strides([2, 2, 2])), vec![1, 2, 4, 5, 6]),
        (Box::new(AdaptiveMaxPool::new([3, 9])), vec![1, 2, 7, 5]),
    ];
    let settled = pools.iter().map(|(pool, shape)| {
        let x = tensor(shape);
        let plan = pool.plan(shape, DType::F32, Some(IndexType::I64)).unwrap();
        let (y, indices) = reference::max_pool_with_indices::<f32, i64>(&plan, x.view()).unwrap();
        settles(gpu, &MaxUnpool::inverse_of(pool.as_ref(), shape), &y, &indices)
    });
    let settled: Vec<Option<bool>> = settled.collect();
    // Windows that are dilated or adaptive are not gathered.
    assert_eq!(settled.iter().filter(|it| **it == Some(false)).count(), 6, "{settled:?}");
    assert!(!settled.contains(&Some(true)), "{settled:?}");
}

#[test]
fn one_index_outside_its_own_window_is_settled() {
    let Some(gpu) = gpu() else { return };
    let unpool = MaxUnpool::new([2, 2]).strides([2, 2]);
    let x = tensor(&[2, 2, 2, 3]);
    // Each index names the first element of its own window: rows of 6, planes of 24.
    let own: Vec<i64> = (0..24).map(|i| (i / 6) * 24 + (i % 6 / 3) * 12 + (i % 3) * 2).collect();
    let at = |position: usize, index: i64| {
        let mut indices = own.clone();
        indices[position] = index;
        Tensor::new([2, 2, 2, 3], indices).unwrap()
    };
    assert_eq!(settles(gpu, &unpool, &x, &at(0, 7)), Some(false), "7 is in the window of the first");
    assert_eq!(settles(gpu, &unpool, &x, &at(0, 2)), Some(false), "the source of the window beside comes later");
    // The window beside, the window below, the next channel, the next batch item.
    for (position, index) in [(0, 3), (0, 13), (23, 25), (5, 71), (12, 1)] {
        assert_eq!(settles(gpu, &unpool, &x, &at(position, index)), Some(true), "{index} at {position}");
    }
}

/// Bad indices, equal ones and scattered ones in turn: nothing of a run is left for the next one.
#[test]
fn runs_of_an_unpool_leave_scratch_memory_clear() {
    let Some(gpu) = gpu() else { return };
    for layout in [Layout::Nchw, Layout::Nhwc] {
        let unpool = MaxUnpool::new([3, 2]).strides([2, 2]).pads([1, 0, 0, 0]).layout(layout);
        let shape = [2, 5, 7, 6];
        let plan = unpool.plan(&shape, DType::F16, IndexType::I32).unwrap();
        let Plan::Unpool(of) = &plan else { panic!("{plan:?}") };
        let (count, limit) = (shape.iter().product::<usize>() as i32, of.space.index_count() as i32);
        let x = Tensor::new(shape, (0..count).map(|i| half::f16::from_f32(i as f32 - 90.0)).collect()).unwrap();
        let scattered = |i: i32| (i * 7_919).rem_euclid(limit);
        let sets: [Vec<i32>; 3] = [
            (0..count).map(|i| if i % 50 == 7 { limit + i } else { scattered(i) }).collect(),
            vec![3; count as usize],
            (0..count).map(scattered).collect(),
        ];
        for (family, build) in [
            (Family::Gather, Build::Generic),
            (Family::Gather, Build::Specialised),
            (Family::ClaimEmit, Build::Generic),
        ] {
            let choice = Choice { family: Some(family), build: Some(build) };
            let prepared = gpu.prepare_blocking(select(&plan, &gpu.limits(), &choice).unwrap()).unwrap();
            for set in sets.iter().chain(&sets) {
                let indices = Tensor::new(shape, set.clone()).unwrap();
                let expected = reference::max_unpool(&plan, x.view(), indices.view());
                let y = calls::max_unpool(&prepared, x.view(), indices.view());
                assert!(y == expected, "{choice:?}, {layout:?}: {:?}, {:?}", y.err(), expected.err());
            }
        }
    }
}

#[test]
fn flat_indices_past_32_bits_are_exact_on_the_device() {
    let Some(gpu) = gpu() else { return };
    let shape = [2, 3, 4, 5];
    let x = tensor(&shape);
    // Dilated, so that some windows lie wholly in padding and every kind of index is made.
    for &empty in EmptyIndex::ALL {
        for order in [StorageOrder::RowMajor, StorageOrder::ColumnMajor] {
            let pool = MaxPool::new([2, 2]).dilations([5, 1]).pads([2, 1, 2, 1]).empty_index(empty).index_order(order);
            let plan = pool.plan(&shape, DType::F32, Some(IndexType::I64)).unwrap();
            assert!(plan.has_empty_windows());
            let Plan::Pool(mut plan) = plan else { unreachable!("a pool") };
            // The same small tensor, numbered as if it were a corner of one with 10^17 elements.
            if let Some(indices) = &mut plan.indices {
                indices.space.extents = vec![300_000_007, 70_000_001];
            }
            let plan = Plan::Pool(plan);
            let (y, indices) = reference::max_pool_with_indices::<f32, i64>(&plan, x.view()).unwrap();
            assert!(indices.data().iter().any(|&index| index > 1 << 50));
            let prepared = gpu.prepare_blocking(plan).unwrap();
            let result = calls::max_pool_with_indices::<f32, i64>(&prepared, x.view()).unwrap();
            assert_eq!(result, (y, indices), "{empty:?} {order:?}");
        }
    }
}

#[test]
fn the_base_of_a_slice_is_added_in_64_bits() {
    let Some(gpu) = gpu() else { return };
    let x = tensor(&[1, 2, 6]);
    let plan = MaxPool::new([2]).plan(x.shape(), DType::F32, Some(IndexType::I64)).unwrap();
    let (_, indices) = reference::max_pool_with_indices::<f32, i64>(&plan, x.view()).unwrap();
    for base in [0xFFFF_FFFDu64, 1 << 32, (1 << 40) + 0xFFFF_FFFF] {
        let mut schedule = select(&plan, &gpu.limits(), &Choice::default()).unwrap();
        for dispatch in &mut schedule.dispatches {
            let mut uniform: uniform::Pool = bytemuck::pod_read_unaligned(&dispatch.uniform);
            uniform.index_base = uniform::pair(base);
            dispatch.uniform = bytemuck::bytes_of(&uniform).to_vec();
        }
        let prepared = gpu.prepare_blocking(schedule).unwrap();
        let (_, based) = calls::max_pool_with_indices::<f32, i64>(&prepared, x.view()).unwrap();
        let expected: Vec<i64> = indices.data().iter().map(|index| index + base as i64).collect();
        assert_eq!(based.data(), expected, "base {base:#x}");
    }
}

#[test]
fn slices_that_are_submitted_one_by_one_give_the_same() {
    let Some(gpu) = gpu() else { return };
    let x = tensor(&[2, 3, 30, 31]);
    let pool = MaxPool::new([3, 3]).strides([2, 2]);
    let plan = pool.plan(x.shape(), DType::F32, Some(IndexType::I64)).unwrap();
    let pooled = reference::max_pool_with_indices::<f32, i64>(&plan, x.view()).unwrap();
    let inverse = MaxUnpool::inverse_of(&pool, x.shape());
    let inverse = inverse.plan(plan.output_shape(), DType::F32, IndexType::I64).unwrap();
    let unpooled = reference::max_unpool(&inverse, pooled.0.view(), pooled.1.view()).unwrap();
    let small = crate::Limits { max_binding_bytes: 6 << 10, max_workgroups_per_dimension: 3, ..gpu.limits() };
    // Dispatches that claim to be long become separate slices.
    let sliced = |plan: crate::Plan, limits: &crate::Limits| {
        let mut schedule = select(&plan, limits, &Choice::default()).unwrap();
        for dispatch in &mut schedule.dispatches {
            dispatch.iterations = 1 << 31;
        }
        assert!(schedule.dispatches.len() > 1 && schedule.slices().len() == schedule.dispatches.len());
        gpu.prepare_blocking(schedule).unwrap()
    };
    let prepared = sliced(plan, &small);
    assert_eq!(calls::max_pool_with_indices::<f32, i64>(&prepared, x.view()).as_ref(), Ok(&pooled));
    for limits in [gpu.limits(), small] {
        let prepared = sliced(inverse.clone(), &limits);
        let y = calls::max_unpool(&prepared, pooled.0.view(), pooled.1.view());
        assert_eq!(y.as_ref(), Ok(&unpooled));
    }
}

#[test]
fn slices_of_one_schedule_from_several_threads_do_not_share_scratch_memory() {
    let Some(gpu) = gpu() else { return };
    let plan = MaxPool::new([5, 5]).plan(&[1, 3, 30, 31], DType::F32, None).unwrap();
    let choice = Choice { family: Some(Family::Separable), ..Choice::default() };
    let mut schedule = select(&plan, &gpu.limits(), &choice).unwrap();
    for dispatch in &mut schedule.dispatches {
        dispatch.iterations = 1 << 31;
    }
    assert!(schedule.slices().len() > 1 && schedule.scratch_bytes() > 0);
    let prepared = gpu.prepare_blocking(schedule).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (plan, prepared) = (&plan, &prepared);
            scope.spawn(move || {
                let mut x = tensor(plan.input_shape()).into_data();
                x.rotate_left(thread * 97);
                let x = Tensor::new(plan.input_shape(), x).unwrap();
                let expected = reference::max_pool(plan, x.view()).unwrap();
                for _ in 0..50 {
                    assert_eq!(calls::max_pool(&prepared, x.view()).as_ref(), Ok(&expected));
                }
            });
        }
    });
}

#[test]
fn a_tile_of_a_tensor_past_2_to_the_40_elements_has_its_indices() {
    let Some(gpu) = gpu() else { return };
    for &empty in EmptyIndex::ALL {
        for order in [StorageOrder::RowMajor, StorageOrder::ColumnMajor] {
            // Windows wholly in padding at either end of the rows.
            let pool = MaxPool::new([3, 2]).pads([1, 4, 1, 5]).nan_policy(NanPolicy::SeedLowest).empty_index(empty);
            let pool = pool.index_order(order);
            let shape = [2, 3, (1 << 40) + 7, 11];
            let plan = pool.plan(&shape, DType::F32, Some(IndexType::I64)).unwrap();
            let tiling = Tiling::new(&plan, 40 << 10, |tile| stream_bytes(tile, &gpu.limits())).unwrap();
            for number in [0, tiling.len() / 2, tiling.len() - 1] {
                let tile = tiling.tile(number).unwrap();
                let mut x = tensor(tile.plan().input_shape()).into_data();
                // Windows with nothing above the lowest value have the index of their plane's first element.
                x[..20].fill(f32::NEG_INFINITY);
                let x = Tensor::new(tile.plan().input_shape(), x).unwrap();
                let plan = tile.plan().clone();
                let expected = reference::max_pool_with_indices::<f32, i64>(&plan, x.view()).unwrap();
                let prepared = gpu.prepare_blocking(plan).unwrap();
                let result = calls::max_pool_with_indices::<f32, i64>(&prepared, x.view()).unwrap();
                assert_eq!(result, expected, "{empty:?} {order:?} {:?}", tile.output());
            }
        }
    }
}
