//! What calls on a device promise beyond the bits that the conformance tests compare.

use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::task::{Context, Poll, Wake, Waker};

use gpu_test::gpu_test;
use support::calls::{self, reference};
use support::device::gpu;
use support::harness::join_all;
use support::tensors::tensor;
use wgpu_pooling::{
    AdaptiveMaxPool, Build, Choice, DType, ExecuteError, Family, GlobalMaxPool, Gpu, GpuOptions, IndexType, Layout,
    Limits, MaxPool, MaxUnpool, OutOfBounds, Plan, PlanError, Pooling, PreparedPlan, Tensor, TensorView, families,
    select, wgpu,
};

/// Runs a pool in every family and build that applies and compares with the reference.
fn agrees(pool: &impl Pooling, x: &Tensor<f32>) {
    let plan = pool.plan(x.shape(), DType::F32, Some(IndexType::I64)).unwrap();
    let (y, indices) = reference::max_pool_with_indices::<f32, i64>(&plan, x.view()).unwrap();
    let families = families(&plan, &gpu().limits());
    assert!(!families.is_empty());
    for family in families {
        for &build in family.builds() {
            let choice = Choice { family: Some(family), build: Some(build) };
            let schedule = select(&plan, &gpu().limits(), &choice).unwrap();
            let kernel = schedule.kernel();
            let prepared = gpu().prepare_blocking(schedule).unwrap();
            let (gpu_y, gpu_indices) = calls::max_pool_with_indices::<f32, i64>(&prepared, x.view()).unwrap();
            assert_eq!(gpu_y, y, "{kernel}");
            assert_eq!(gpu_indices, indices, "{kernel}");
        }
    }
}

#[gpu_test]
fn windows_too_long_for_one_invocation_are_cut_into_parts() {
    // 9000 taps along one axis take two levels of parts. Maxima tie, so a wrong order of the parts shows.
    let x = tensor(&[1, 2, 9_000]);
    agrees(&GlobalMaxPool::new(), &x);
    agrees(&AdaptiveMaxPool::new([2]), &x);
    agrees(&MaxPool::new([8_000]).strides([999]).pads([500, 0]), &x);
    agrees(&GlobalMaxPool::new(), &tensor(&[2, 1, 120, 90]));
}

#[gpu_test]
fn errors_of_a_call_are_the_same_on_both_paths() {
    let x = tensor(&[1, 1, 4]);
    let plan = MaxPool::new([2]).plan(&[1, 1, 5], DType::F32, None).unwrap();
    let prepared = gpu().prepare_blocking(plan.clone()).unwrap();
    let expected = ExecuteError::ShapeMismatch { what: "x", expected: vec![1, 1, 5], actual: vec![1, 1, 4] };
    assert_eq!(calls::max_pool(&prepared, x.view()), Err(expected.clone()));
    assert_eq!(reference::max_pool(&plan, x.view()), Err(expected));

    let bytes = Tensor::new([1, 1, 5], vec![0u8; 5]).unwrap();
    // The type that is asked for is looked at first.
    let expected = ExecuteError::TypeMismatch { what: "y", expected: "f32", actual: "u8" };
    assert_eq!(calls::max_pool(&prepared, bytes.view()), Err(expected.clone()));
    assert_eq!(reference::max_pool(&plan, bytes.view()), Err(expected));

    let count = |what, expected, actual| {
        ExecuteError::Plan(PlanError::OperandCount { operator: "max_pool", what, expected, actual })
    };
    let expected = count("outputs", "1", 2);
    let five = tensor(&[1, 1, 5]);
    assert_eq!(calls::max_pool_with_indices::<f32, i64>(&prepared, five.view()), Err(expected.clone()));
    assert_eq!(reference::max_pool_with_indices::<f32, i64>(&plan, five.view()), Err(expected));

    let indices = Tensor::new([1, 1, 5], vec![0i64; 5]).unwrap();
    assert_eq!(calls::max_unpool(&prepared, five.view(), indices.view()), Err(count("inputs", "1", 2)));
}

#[gpu_test]
fn bad_indices_are_reported_with_the_first_offender_and_write_nothing() {
    let unpool = MaxUnpool::new([2]).strides([2]);
    let x = tensor(&[1, 2, 3]);
    let unit = 12;
    // The low word of the last row's bad index is a valid index; its high word is not zero.
    for (indices, position, value, count) in [
        ([0, 1, 12, 3, 4, -1], 2, 12, 2),
        ([i64::MIN, 1, 2, 3, 4, 5], 0, i64::MIN, 1),
        ([0, 1, 2, 3, 4, (1 << 32) + 3], 5, (1 << 32) + 3, 1),
    ] {
        let indices = Tensor::new([1, 2, 3], indices.to_vec()).unwrap();
        let expected = ExecuteError::IndexOutOfRange { position, value, index_count: unit, count };
        let plan = unpool.plan(x.shape(), DType::F32, IndexType::I64).unwrap();
        assert_eq!(reference::max_unpool(&plan, x.view(), indices.view()), Err(expected.clone()));
        assert_eq!(unpool.on(x.view(), indices.view()).run_blocking(&gpu()), Err(expected));

        let skipping = unpool.clone().out_of_bounds(OutOfBounds::Skip);
        let plan = skipping.plan(x.shape(), DType::F32, IndexType::I64).unwrap();
        let expected = reference::max_unpool(&plan, x.view(), indices.view()).unwrap();
        assert_eq!(skipping.on(x.view(), indices.view()).run_blocking(&gpu()), Ok(expected));
    }
    let narrow = Tensor::new([1, 2, 3], vec![0, 1, 2, -7, 4, 5]).unwrap();
    assert_eq!(
        unpool.on(x.view(), narrow.view()).run_blocking(&gpu()),
        Err(ExecuteError::IndexOutOfRange { position: 3, value: -7, index_count: unit, count: 1 })
    );
}

#[gpu_test]
fn indices_of_another_shape_are_refused() {
    let unpool = MaxUnpool::new([2]).strides([2]);
    let (x, indices) = (tensor(&[1, 2, 3]), Tensor::new([1, 2, 2], vec![0i64; 4]).unwrap());
    let expected = ExecuteError::ShapeMismatch { what: "indices", expected: vec![1, 2, 3], actual: vec![1, 2, 2] };
    let plan = unpool.plan(x.shape(), DType::F32, IndexType::I64).unwrap();
    assert_eq!(reference::max_unpool(&plan, x.view(), indices.view()), Err(expected.clone()));
    assert_eq!(unpool.on(x.view(), indices.view()).run_blocking(&gpu()), Err(expected));
}

#[test]
fn tensors_beyond_the_limits_are_refused_before_anything_is_allocated() {
    let plan = MaxPool::new([2, 2]).strides([2, 2]).plan(&[64, 64, 512, 512], DType::F32, None).unwrap();
    let needed = 64 * 64 * 512 * 512 * 4;
    let limit = Limits::WEBGPU.max_buffer_bytes;
    assert_eq!(
        select(&plan, &Limits::WEBGPU, &Choice::default()),
        Err(PlanError::ExceedsLimit { what: "bytes of x (max_buffer_bytes)", needed, limit })
    );
}

#[gpu_test]
fn empty_outputs_need_no_device_work() {
    let none = Tensor::new([0, 3, 4], Vec::<f32>::new()).unwrap();
    let (y, indices) = MaxPool::new([2]).on(none.view()).with_indices::<i64>().run_blocking(&gpu()).unwrap();
    assert_eq!((y.shape(), indices.shape()), (&[0, 3, 3][..], &[0, 3, 3][..]));
    let y = AdaptiveMaxPool::new([0]).on(tensor(&[1, 2, 5]).view()).run_blocking(&gpu()).unwrap();
    assert_eq!(y.shape(), &[1, 2, 0]);
}

#[gpu_test]
fn many_threads_share_one_gpu() {
    let pool = MaxPool::new([3, 3]).strides([2, 2]).pads([1, 1, 1, 1]);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|thread| {
                let pool = &pool;
                scope.spawn(move || {
                    for round in 0..20 {
                        let x = tensor(&[1, 1 + thread, 9 + round, 11]);
                        let plan = pool.plan(x.shape(), DType::F32, Some(IndexType::I32)).unwrap();
                        let expected = reference::max_pool_with_indices::<f32, i32>(&plan, x.view()).unwrap();
                        assert_eq!(pool.on(x.view()).with_indices::<i32>().run_blocking(&gpu()), Ok(expected));
                    }
                })
            })
            .collect();
        join_all(threads);
    });
}

/// A waker that counts and lets a thread sleep: the smallest runtime there is.
#[derive(Default)]
struct Alarm {
    woken: Mutex<bool>,
    bell: Condvar,
    wakes: AtomicUsize,
}

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        self.wakes.fetch_add(1, Ordering::SeqCst);
        *self.woken.lock().unwrap() = true;
        self.bell.notify_one();
    }
}

#[gpu_test]
fn futures_complete_without_a_runtime_and_nobody_polling_the_device() {
    let x = tensor(&[1, 3, 40, 40]);
    let pool = MaxPool::new([2, 2]);
    let mut future = pin!(pool.on(x.view()).run(gpu()));
    let alarm = Arc::new(Alarm::default());
    let waker = Waker::from(Arc::clone(&alarm));
    let y = loop {
        if let Poll::Ready(result) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            break result.unwrap();
        }
        let mut woken = alarm.woken.lock().unwrap();
        while !*woken {
            woken = alarm.bell.wait(woken).unwrap();
        }
        *woken = false;
    };
    let plan = pool.plan(x.shape(), DType::F32, None).unwrap();
    assert_eq!(y, reference::max_pool(&plan, x.view()).unwrap());
}

/// Runs that were polled once overlap on the device: nothing of a run waits for a second poll but its answer.
#[gpu_test]
fn a_run_is_submitted_by_its_first_poll() {
    let xs = [tensor(&[1, 3, 40, 40]), tensor(&[1, 3, 40, 40])];
    let plan = MaxPool::new([2, 2]).plan(&[1, 3, 40, 40], DType::F32, None).unwrap();
    let prepared = gpu().prepare_blocking(plan.clone()).unwrap();
    let inputs = xs.each_ref().map(|x| [x.into()]);
    let mut runs = inputs.each_ref().map(|inputs| prepared.call::<Tensor<f32>>(inputs));
    let context = &mut Context::from_waker(Waker::noop());
    let mut answers = runs.each_mut().map(|run| run.as_mut().poll(context));
    gpu().device().poll(wgpu::PollType::wait_indefinitely()).unwrap();
    for ((run, answer), x) in runs.iter_mut().zip(&mut answers).zip(&xs) {
        if answer.is_pending() {
            *answer = run.as_mut().poll(context);
        }
        assert_eq!(*answer, Poll::Ready(reference::max_pool(&plan, x)));
    }
}

#[gpu_test]
fn a_dropped_future_leaves_the_gpu_usable() {
    let x = tensor(&[1, 1, 64]);
    let pool = MaxPool::new([2]);
    for _ in 0..5 {
        let mut future = Box::pin(pool.on(x.view()).run(gpu()));
        // The first poll submits; the answer is then thrown away.
        let _ = future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        drop(future);
    }
    let plan = pool.plan(x.shape(), DType::F32, None).unwrap();
    assert_eq!(pool.on(x.view()).run_blocking(&gpu()).unwrap(), reference::max_pool(&plan, x.view()).unwrap());
}

#[gpu_test]
fn a_lost_device_is_an_error_and_a_new_one_works() {
    let pool = MaxPool::new([2]);
    let x = tensor(&[1, 1, 8]);
    let lost = Gpu::new_blocking().unwrap();
    let prepared = lost.prepare_blocking(pool.plan(x.shape(), DType::F32, None).unwrap()).unwrap();
    assert!(calls::max_pool(&prepared, x.view()).is_ok());
    lost.device().destroy();
    let error = calls::max_pool(&prepared, x.view()).unwrap_err();
    assert!(matches!(&error, ExecuteError::DeviceLost(reason) if reason.trim() == reason), "{error:?}");
    assert!(matches!(pool.on(x.view()).run_blocking(&lost), Err(ExecuteError::DeviceLost(_))));
    assert!(pool.on(x.view()).run_blocking(&Gpu::new_blocking().unwrap()).is_ok());
}

#[gpu_test]
fn a_device_lost_in_flight_ends_the_call() {
    let lost = Gpu::new_blocking().unwrap();
    let x = tensor(&[1, 1, 4_096]);
    let pool = MaxPool::new([2]);
    let prepared = lost.prepare_blocking(pool.plan(x.shape(), DType::F32, None).unwrap()).unwrap();
    let inputs = [x.view().into()];
    let mut future = prepared.call::<Tensor<f32>>(&inputs);
    // The first poll submits; depending on how fast the device is, the answer is there or the device is lost.
    let first = future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    lost.device().destroy();
    let result = match first {
        Poll::Ready(result) => result,
        Poll::Pending => {
            let alarm = Arc::new(Alarm::default());
            let waker = Waker::from(Arc::clone(&alarm));
            loop {
                if let Poll::Ready(result) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
                    break result;
                }
                let mut woken = alarm.woken.lock().unwrap();
                while !*woken {
                    woken = alarm.bell.wait(woken).unwrap();
                }
                *woken = false;
            }
        }
    };
    assert!(matches!(result, Ok(_) | Err(ExecuteError::DeviceLost(_))), "{result:?}");
    assert!(matches!(calls::max_pool(&prepared, x.view()), Err(ExecuteError::DeviceLost(_))));
}

#[gpu_test]
fn a_schedule_for_a_larger_device_is_refused() {
    // One row more than the device can bind. No tensor of this size is allocated.
    let device = gpu().limits();
    let limit = device.max_binding_bytes.min(device.max_buffer_bytes);
    let rows = limit as usize / 4096 + 1;
    let plan = MaxPool::new([1]).plan(&[rows, 1, 1024], DType::F32, None).unwrap();
    let limits = Limits { max_buffer_bytes: u64::MAX, max_binding_bytes: u64::MAX, ..device };
    let schedule = select(&plan, &limits, &Choice::default()).unwrap();
    let what = match device.max_buffer_bytes <= device.max_binding_bytes {
        true => "bytes of x (max_buffer_bytes)",
        false => "bytes of x (max_binding_bytes)",
    };
    let refused = PlanError::ExceedsLimit { what, needed: rows as u64 * 4096, limit };
    assert_eq!(gpu().prepare_blocking(schedule).map(|_| ()), Err(ExecuteError::Plan(refused)));
}

#[gpu_test]
fn a_callers_device_is_taken_as_it_is() {
    let opened = Gpu::new_blocking().unwrap();
    let guest = Gpu::from_wgpu(opened.device().clone(), opened.queue().clone());
    assert_eq!(guest.adapter_info().name, opened.adapter_info().name);
    let x = TensorView::new(&[1, 1, 4], &[1.0f32, 5.0, 3.0, 2.0]).unwrap();
    assert_eq!(MaxPool::new([2]).strides([2]).on(x).run_blocking(&guest).unwrap().data(), &[5.0, 3.0]);
}

#[gpu_test]
fn an_adapter_that_is_not_there_is_an_error_that_says_what_was_found() {
    let error = Gpu::open_blocking(&GpuOptions::new().adapter_name("no such adapter")).unwrap_err();
    let ExecuteError::NoAdapter(text) = &error else { panic!("{error:?}") };
    let name = gpu().adapter_info().name;
    assert!(text.contains("no such adapter") && text.contains(name.as_str()), "{text}");
    assert!(matches!(
        Gpu::open_blocking(&GpuOptions::new().backends(wgpu::Backends::empty())),
        Err(ExecuteError::NoAdapter(_))
    ));
}

#[gpu_test]
fn pipelines_can_be_compiled_ahead() {
    let own = Gpu::new_blocking().unwrap();
    let limits = own.limits();
    let plans: [Plan; 2] = [
        MaxPool::new([2, 2]).plan(&[1, 1, 8, 8], DType::U8, Some(IndexType::I64)).unwrap(),
        MaxUnpool::new([2, 2]).strides([2, 2]).plan(&[1, 1, 4, 4], DType::U8, IndexType::I64).unwrap(),
    ];
    let schedules = plans.map(|plan| select(&plan, &limits, &Choice::default()).unwrap());
    own.warm_up_blocking(&schedules).unwrap();
    let warm = own.pipeline_count();
    assert!(warm >= 2, "{warm}");
    for schedule in schedules {
        own.prepare_blocking(schedule).unwrap();
    }
    assert_eq!(own.pipeline_count(), warm, "nothing was left to compile");
}

#[gpu_test]
fn a_refused_encode_leaves_the_callers_encoder_as_it_was() {
    let x = tensor(&[1, 1, 64]);
    let plan = MaxPool::new([2]).strides([2]).plan(x.shape(), DType::F32, None).unwrap();
    let expected = reference::max_pool(&plan, x.view()).unwrap();
    let pool = gpu().prepare_blocking(plan).unwrap();
    let x = gpu().upload_blocking(x.view(), Layout::Nchw).unwrap();
    let y = gpu().upload_blocking(expected.view(), Layout::Nchw).unwrap();
    let gone = gpu().upload_blocking(expected.view(), Layout::Nchw).unwrap();
    gone.slice().buffer().destroy();
    let mut encoder = gpu().device().create_command_encoder(&Default::default());
    let buffers = |y| wgpu_pooling::Buffers { x: Some(x.slice()), y: Some(y), ..Default::default() };
    let refused = pool.encode(&mut encoder, buffers(gone.slice()));
    assert!(matches!(refused, Err(ExecuteError::Device(_))), "{refused:?}");
    pool.encode(&mut encoder, buffers(y.slice())).unwrap();
    // The host finishes and submits without an error of its own.
    let scope = gpu().device().push_error_scope(wgpu::ErrorFilter::Validation);
    gpu().queue().submit([encoder.finish()]);
    assert!(pollster::block_on(scope.pop()).is_none());
    assert_eq!(gpu().download_blocking::<f32>(&y).unwrap(), expected);
}

#[gpu_test]
fn pipelines_are_compiled_once() {
    let own = Gpu::new_blocking().unwrap();
    let x = tensor(&[1, 1, 8, 8]);
    for kernel in [2, 3, 4] {
        MaxPool::new([kernel, kernel]).on(x.view()).run_blocking(&own).unwrap();
    }
    assert_eq!(own.pipeline_count(), 1, "one generic pipeline serves every window");
    let plan = MaxPool::new([2, 2]).plan(x.shape(), DType::F32, None).unwrap();
    let choice = Choice { family: Some(Family::Separable), build: Some(Build::Generic) };
    let schedule = select(&plan, &own.limits(), &choice).unwrap();
    own.prepare_blocking(schedule).unwrap();
    assert_eq!(own.pipeline_count(), 3);
}
