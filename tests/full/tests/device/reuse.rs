//! Buffers and preparations that calls leave for later ones: they never show in an answer, are bounded, and can be
//! freed.

use std::pin::pin;
use std::task::{Context, Waker};

use gpu_test::gpu_test;
use support::calls::{self, reference};
use support::harness::join_all;
use support::tensors::seeded as tensor;
use wgpu_pooling::TestHooks;
use wgpu_pooling::{
    Buffers, Build, Choice, DType, ExecuteError, Family, Gpu, GpuOptions, IndexType, Layout, MaxPool, MaxUnpool, Open,
    OutOfBounds, Prepare, Prepared, Reference, Tensor, select,
};

/// Devices that no other test uses: one with outputs as they come, and one with poisoned outputs.
fn gpus() -> [Gpu; 2] {
    [GpuOptions::new(), GpuOptions::new().poison(support::device::POISON)]
        .map(|options| Gpu::open_blocking(&options).unwrap())
}

/// A pool with indices, the same pool without, and the inverse, each compared with the reference.
fn check(gpu: &Gpu, shape: [usize; 4], seed: usize) {
    let x = tensor(&shape, seed);
    let pool = MaxPool::new([2, 2]).strides([2, 2]);
    let plan = pool.plan(&shape, DType::F32, Some(IndexType::I64)).unwrap();
    let (y, indices) = reference::max_pool_with_indices::<f32, i64>(&plan, x.view()).unwrap();
    assert_eq!(pool.on(x.view()).run_blocking(&gpu).as_ref(), Ok(&y), "{shape:?}");
    let pooled = pool.on(x.view()).with_indices::<i64>().run_blocking(&gpu).unwrap();
    assert_eq!((&pooled.0, &pooled.1), (&y, &indices), "{shape:?}");
    let inverse = MaxUnpool::inverse_of(&pool, &shape);
    let plan = inverse.plan(y.shape(), DType::F32, IndexType::I64).unwrap();
    let back = reference::max_unpool(&plan, y.view(), indices.view()).unwrap();
    assert_eq!(inverse.on(y.view(), indices.view()).run_blocking(&gpu).as_ref(), Ok(&back), "{shape:?}");
}

#[gpu_test]
fn answers_in_used_buffers_are_those_in_fresh_ones() {
    for gpu in gpus() {
        // Smaller tensors use buffers that larger ones have filled, and packed tensors end within a word.
        for (seed, extents) in [(9, 31), (8, 30), (9, 30), (6, 4), (31, 9), (7, 5)].into_iter().enumerate() {
            check(&gpu, [2, 3, extents.0, extents.1], seed);
            let bytes = Tensor::new([1, 1, extents.0, extents.1], vec![seed as u8 + 1; extents.0 * extents.1]).unwrap();
            let y = MaxPool::new([2, 3]).on(bytes.view()).run_blocking(&gpu).unwrap();
            assert!(y.data().iter().all(|&byte| byte == seed as u8 + 1));
        }
    }
}

#[gpu_test]
fn what_a_failed_or_dropped_call_had_is_in_nobody_elses_answer() {
    for gpu in gpus() {
        let shape = [1, 2, 8, 8];
        let pool = MaxPool::new([2, 2]).strides([2, 2]);
        let inverse = MaxUnpool::inverse_of(&pool, &shape);
        let y = tensor(&[1, 2, 4, 4], 3);
        let bad = Tensor::new(y.shape(), vec![i64::MIN; 32]).unwrap();
        for seed in 0..6 {
            let failed = inverse.on(y.view(), bad.view()).run_blocking(&gpu);
            assert!(matches!(failed, Err(ExecuteError::IndexOutOfRange { count: 32, .. })), "{failed:?}");
            check(&gpu, shape, seed);
            let skips = inverse.clone().out_of_bounds(OutOfBounds::Skip);
            let zeros = skips.on(y.view(), bad.view()).run_blocking(&gpu).unwrap();
            assert!(zeros.data().iter().all(|&value| value == 0.0));
            {
                // Submitted, and dropped before there is an answer.
                let x = tensor(&shape, 100 + seed);
                let mut call = pin!(pool.on(x.view()).run(&gpu));
                let _ = call.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            }
            check(&gpu, shape, seed);
        }
    }
}

#[gpu_test]
fn tensors_that_the_caller_holds_are_nobody_elses() {
    for gpu in gpus() {
        let x = tensor(&[1, 2, 8, 8], 1);
        let pool = MaxPool::new([2, 2]).strides([2, 2]);
        let prepared = gpu.prepare_blocking(pool.plan(x.shape(), DType::F32, None).unwrap()).unwrap();
        let expected = calls::max_pool(&prepared, x.view()).unwrap();
        let mut chain = gpu.chain();
        let on_device = chain.upload(x.view(), Layout::Nchw).unwrap();
        let [y] = chain.step(&prepared, &[&on_device]).unwrap();
        let wanted = chain.read_back::<f32>(&y).unwrap();
        let results = chain.run_blocking().unwrap();
        // Results that are still held keep their staging buffer.
        for seed in 0..4 {
            check(&gpu, [1, 2, 8, 8], seed);
        }
        assert_eq!(results.take(wanted).unwrap(), expected);
        drop(results);
        check(&gpu, [1, 2, 8, 8], 5);
        assert_eq!(gpu.download_blocking::<f32>(&on_device).unwrap(), x);
        assert_eq!(gpu.download_blocking::<f32>(&y).unwrap(), expected);
    }
}

#[gpu_test]
fn what_is_kept_is_bounded_and_can_be_freed() {
    let gpu = Gpu::new_blocking().unwrap();
    assert_eq!(gpu.idle_bytes(), 0);
    // Much to upload, little to compute.
    let pool = MaxPool::new([1, 1]).strides([1, 1 << 16]);
    let mut most = 0;
    for mebibytes in [1, 30, 3, 20, 70, 9, 25, 40] {
        let x = Tensor::new([1, 1, mebibytes, 1 << 20], vec![mebibytes as u8; mebibytes << 20]).unwrap();
        let y = pool.on(x.view()).run_blocking(&gpu).unwrap();
        assert!(y.data().len() == mebibytes * 16 && y.data().iter().all(|&byte| byte == mebibytes as u8));
        most = most.max(gpu.idle_bytes());
        assert!(gpu.idle_bytes() <= (64 + 8) << 20, "{} bytes", gpu.idle_bytes());
    }
    assert!(most > 32 << 20, "{most} bytes");
    gpu.trim();
    assert_eq!(gpu.idle_bytes(), 0);
    // More plans and more sizes than the plan cache and the buffer pool keep.
    for extent in 2..100 {
        check(&gpu, [1, 1, extent, 2], extent);
    }
    assert!((1..=8 << 20).contains(&gpu.idle_bytes()), "{} bytes", gpu.idle_bytes());
    let clone = gpu.clone();
    clone.trim();
    assert_eq!(gpu.idle_bytes(), 0);
    check(&gpu, [1, 1, 9, 9], 0);

    // A streaming run leaves no buffer in the buffer pool.
    gpu.trim();
    let x = tensor(&[4, 4, 16, 16], 0);
    let plan = MaxPool::new([2, 2]).plan(x.shape(), DType::F32, None).unwrap();
    let (mut x, mut y) = (x.view(), vec![0.0f32; 4 * 4 * 15 * 15]);
    wgpu_pooling::Stream::new(plan, 64 << 10).source(&mut x).sink(&mut y).run_blocking(&gpu).unwrap();
    assert_eq!(gpu.idle_bytes(), 0);
}

/// More scratch memory than a kept preparation may have is the run's, from the buffer pool; what a caller prepares has
/// its own.
#[gpu_test]
fn large_scratch_memory_is_taken_again_by_the_next_call() {
    for gpu in gpus() {
        let (x, by_box) = (tensor(&[1, 1, 640, 512], 3), Open::new([2, 2]));
        let expected = by_box.on(&x).run_blocking(&Reference).unwrap();
        let mut idle = None;
        for _ in 0..3 {
            assert_eq!(by_box.on(&x).run_blocking(&gpu).as_ref(), Ok(&expected));
            // X, Y, what lies between and the staging buffer, each once.
            assert_eq!(*idle.get_or_insert(gpu.idle_bytes()), gpu.idle_bytes());
        }
        let plan = by_box.plan(x.shape(), DType::F32, None).unwrap();
        let bytes = plan.inputs()[0].bytes();
        let idle = idle.expect("a call");
        assert!((4 * bytes..5 * bytes).contains(&idle), "{idle} bytes");
        let prepared = gpu.prepare_blocking(Prepare::from(plan).cached()).unwrap();
        let on_device = gpu.upload_blocking(x.view(), Layout::Nchw).unwrap();
        let y = gpu.zeros_blocking(x.shape(), DType::F32, Layout::Nchw).unwrap();
        let mut encoder = gpu.device().create_command_encoder(&Default::default());
        let buffers = Buffers { x: Some(on_device.slice()), y: Some(y.slice()), ..Buffers::default() };
        prepared.encode(&mut encoder, buffers).unwrap();
        gpu.queue().submit([encoder.finish()]);
        assert_eq!(gpu.download_blocking::<f32>(&y).unwrap(), expected);
    }
}

#[gpu_test]
fn equal_plans_share_a_preparation_and_its_scratch_memory() {
    let gpu = Gpu::new_blocking().unwrap();
    let sliding = gpu.with_choice(Choice { family: Some(Family::Sliding), build: None });
    let tensors = [tensor(&[1, 2, 24, 24], 1), tensor(&[1, 2, 24, 24], 2)];
    let pool = MaxPool::new([9, 9]).dilations([2, 1]);
    let plan = pool.plan(tensors[0].shape(), DType::F32, Some(IndexType::I64)).unwrap();
    let prepared = sliding.prepare_blocking(Prepare::from(plan.clone()).cached()).unwrap();
    assert!(prepared.schedule().scratch_bytes() > 0 && prepared.schedule().dispatches().len() > 1);
    let mut chain = sliding.chain();
    let mut wanted = Vec::new();
    for x in &tensors {
        let again = sliding.prepare_blocking(Prepare::from(plan.clone()).cached()).unwrap();
        assert!(std::ptr::eq(again.schedule(), prepared.schedule()));
        let x = chain.upload(x.view(), Layout::Nchw).unwrap();
        // Both steps are in one submission, and the preparation is dropped before it.
        let [y, indices] = chain.step(&again, &[&x]).unwrap();
        wanted.push((chain.read_back::<f32>(&y).unwrap(), chain.read_back::<i64>(&indices).unwrap()));
    }
    let results = chain.run_blocking().unwrap();
    for ((y, indices), x) in wanted.into_iter().zip(&tensors) {
        let expected = reference::max_pool_with_indices::<f32, i64>(&plan, x.view()).unwrap();
        assert_eq!((results.take(y).unwrap(), results.take(indices).unwrap()), expected);
    }
    // One-shot calls take the same; another choice of kernels has its own, and trimming forgets all.
    let pipelines = gpu.pipeline_count();
    pool.on(tensors[0].view()).with_indices::<i64>().run_blocking(&sliding).unwrap();
    assert_eq!(gpu.pipeline_count(), pipelines);
    let other = gpu.prepare_blocking(Prepare::from(plan.clone()).cached()).unwrap();
    assert!(!std::ptr::eq(other.schedule(), prepared.schedule()));
    gpu.trim();
    let fresh = sliding.prepare_blocking(Prepare::from(plan.clone()).cached()).unwrap();
    assert!(!std::ptr::eq(fresh.schedule(), prepared.schedule()));
    // A device that is lost has no preparation to give.
    gpu.loss_notifier()("the test says so".to_owned());
    let lost = sliding.prepare_blocking(Prepare::from(plan).cached());
    assert!(matches!(lost, Err(ExecuteError::DeviceLost(_))), "{lost:?}");
}

/// A pool whose pipeline serves no other window.
fn specialised(gpu: &Gpu, kernel: [i64; 2]) -> Prepared {
    let plan = MaxPool::new(kernel).plan(&[1, 1, 12, 12], DType::F32, None).unwrap();
    let choice = Choice { family: Some(Family::Direct), build: Some(Build::Specialised) };
    let schedule = select(&plan, &gpu.limits(), &choice).unwrap();
    assert_eq!(schedule.dispatches().len(), 1);
    gpu.prepare_blocking(schedule).unwrap()
}

#[gpu_test]
fn pipelines_that_nobody_holds_are_bounded_and_can_be_freed() {
    let gpu = Gpu::new_blocking().unwrap();
    let most = if gpu.limits().software { 32 } else { 128 };
    let x = tensor(&[1, 1, 12, 12], 7);
    let runs_right = |prepared: &Prepared, kernel: [i64; 2]| {
        let plan = MaxPool::new(kernel).plan(x.shape(), DType::F32, None).unwrap();
        assert_eq!(calls::max_pool(&prepared, x.view()), reference::max_pool(&plan, x.view()), "{kernel:?}");
    };
    // The first pipeline of all, and so the least recently used.
    let held = specialised(&gpu, [1, 1]);
    let kernels = || (1..=12).flat_map(|rows| (1..=12).map(move |columns| [rows, columns])).take(most + 16).skip(1);
    for (number, kernel) in kernels().enumerate() {
        drop(specialised(&gpu, kernel));
        assert_eq!(gpu.pipeline_count(), number + 2);
        assert_eq!(gpu.resident_pipeline_count(), (number + 2).min(1 + most));
    }
    assert_eq!(gpu.pipeline_count(), most + 16);

    // The pipelines that were used last are still there, and so is one that somebody holds. The one that was used first
    // is compiled again.
    for kernel in kernels().skip(15) {
        drop(specialised(&gpu, kernel));
    }
    let shared = specialised(&gpu, [1, 1]);
    assert_eq!(gpu.pipeline_count(), most + 16);
    let again = specialised(&gpu, [1, 2]);
    assert_eq!((gpu.pipeline_count(), gpu.resident_pipeline_count()), (most + 17, most + 1));
    for (prepared, kernel) in [(&held, [1, 1]), (&shared, [1, 1]), (&again, [1, 2])] {
        runs_right(prepared, kernel);
    }

    // Freeing leaves the pipelines that somebody holds, and these are shared as before.
    gpu.trim();
    assert_eq!(gpu.resident_pipeline_count(), 2);
    drop((held, again));
    gpu.trim();
    assert_eq!(gpu.resident_pipeline_count(), 1);
    runs_right(&shared, [1, 1]);
    runs_right(&specialised(&gpu, [1, 1]), [1, 1]);
    assert_eq!(gpu.pipeline_count(), most + 17);
    drop(shared);
    gpu.trim();
    assert_eq!(gpu.resident_pipeline_count(), 0);
    runs_right(&specialised(&gpu, [1, 1]), [1, 1]);
    assert_eq!((gpu.pipeline_count(), gpu.resident_pipeline_count()), (most + 18, 1));
}

#[gpu_test]
fn threads_that_want_one_kernel_compile_it_once() {
    let gpu = Gpu::new_blocking().unwrap();
    for round in 1..=8 {
        let start = std::sync::Barrier::new(4);
        let prepared: Vec<Prepared> = std::thread::scope(|scope| {
            let prepare = || {
                start.wait();
                specialised(&gpu, [3, round])
            };
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(prepare)).collect();
            join_all(threads)
        });
        assert_eq!((gpu.pipeline_count() as i64, gpu.resident_pipeline_count() as i64), (round, round));
        drop(prepared);
    }
}

#[gpu_test]
fn freeing_while_other_threads_compute_disturbs_nobody() {
    for gpu in gpus() {
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|thread| {
                    let gpu = &gpu;
                    scope.spawn(move || {
                        for round in 0..20 {
                            check(gpu, [1, 1 + (thread + round) % 3, 8, 6], round);
                            if round % 4 == thread {
                                gpu.trim();
                            }
                        }
                    })
                })
                .collect();
            join_all(threads);
        });
    }
}
