//! Many threads on one GPU: one-shot calls, chains and encoded runs mixed, each with its own answer; errors, dropped
//! futures and prepared schedules that all threads share among them.

use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Waker};
use std::time::{Duration, Instant};

use gpu_test::gpu_test;
use support::calls::reference;
use support::device::gpu;
use support::harness::join_all;
use support::tensors::seeded as tensor;
use wgpu_pooling::{
    AdaptiveMaxPool, Backend, Buffers, Build, Chain, Choice, DType, Dilate, ExecuteError, Family, Gpu, Gradient,
    IndexType, Layout, MaxPool, MaxUnpool, Prepare, Prepared, Reference, Submitted, Tensor, TensorView, select, wgpu,
};

const THREADS: usize = 8;
const OPERATIONS: usize = 200;

/// The operations that the threads mix.
const KINDS: [fn(&Work, &Gpu); 10] = [
    Work::one_shot,
    Work::peaks,
    Work::chain,
    Work::unpool,
    Work::encode,
    Work::error,
    Work::awaited,
    Work::executed,
    Work::drop,
    Work::composed,
];

/// A pool, its inverse and a grid of one shape, with what the reference makes of them.
struct Work {
    pool: MaxPool,
    x: Tensor<f32>,
    pooled: (Tensor<f32>, Tensor<i64>),
    unpooled: Tensor<f32>,
    cells: Tensor<f32>,
    gradient: Tensor<f32>,
    /// Shared by all threads.
    prepared: [Prepared; 3],
}

impl Work {
    fn new(gpu: &Gpu, number: usize) -> Work {
        let of = number as i64;
        let pool = MaxPool::new([2 + of % 3, 3]).strides([1 + of % 2, 2]).pads([1, 0, 0, 1]);
        let shape = [1 + number % 2, 1 + number % 5, 7 + number, 9];
        let x = tensor(&shape, number);
        let plan = pool.plan(&shape, DType::F32, Some(IndexType::I64)).unwrap();
        let pooled = reference::max_pool_with_indices::<f32, i64>(&plan, x.view()).unwrap();
        let inverse = MaxUnpool::inverse_of(&pool, &shape);
        let inverse = inverse.plan(plan.output_shape(), DType::F32, IndexType::I64).unwrap();
        let unpooled = reference::max_unpool(&inverse, pooled.0.view(), pooled.1.view()).unwrap();
        let grid = AdaptiveMaxPool::new([3, 2]).plan(&shape, DType::F32, None).unwrap();
        let cells = reference::max_pool(&grid, unpooled.view()).unwrap();
        let prepare = |plan: wgpu_pooling::Plan| gpu.prepare_blocking(plan).unwrap();
        let prepared = [prepare(plan), prepare(inverse), prepare(grid)];
        let gradient = Gradient::new([2, 3]).on(&x).run_blocking(&Reference).unwrap();
        Work { pool, x, pooled, unpooled, cells, gradient, prepared }
    }

    fn one_shot(&self, gpu: &Gpu) {
        let pooled = self.pool.on(self.x.view()).with_indices::<i64>().run_blocking(&gpu);
        assert_eq!(pooled.as_ref(), Ok(&self.pooled));
    }

    fn unpool(&self, gpu: &Gpu) {
        let inverse = MaxUnpool::inverse_of(&self.pool, self.x.shape());
        let (y, indices) = &self.pooled;
        assert_eq!(inverse.on(y.view(), indices.view()).run_blocking(&gpu).as_ref(), Ok(&self.unpooled));
    }

    /// The inverse on bytes, in a generic build and in the one that is selected.
    fn executed(&self, gpu: &Gpu) {
        let inverse = MaxUnpool::inverse_of(&self.pool, self.x.shape());
        let (x, indices) = &self.pooled;
        let plan = inverse.plan(x.shape(), DType::F32, IndexType::I64).unwrap();
        for choice in [Choice::default(), Choice { build: Some(Build::Generic), ..Choice::default() }] {
            let mut y = tensor(self.x.shape(), 3);
            let inputs = [x.into(), indices.into()];
            gpu.with_choice(choice).run_blocking(&plan, &inputs, &mut [(&mut y).into()]).unwrap();
            assert_eq!(y, self.unpooled);
        }
    }

    /// Pool, unpool and grid without leaving the device.
    fn chain(&self, gpu: &Gpu) {
        let [pool, inverse, grid] = &self.prepared;
        let mut chain = gpu.chain();
        let x = chain.upload(self.x.view(), Layout::Nchw).unwrap();
        let [y, indices] = chain.step(pool, &[&x]).unwrap();
        let [back] = chain.step(inverse, &[&y, &indices]).unwrap();
        let [cells] = chain.step(grid, &[&back]).unwrap();
        let cells = chain.read_back::<f32>(&cells).unwrap();
        assert_eq!(chain.run_blocking().unwrap().take(cells).as_ref(), Ok(&self.cells));
    }

    /// The pool, encoded into an encoder of the thread's own.
    fn encode(&self, gpu: &Gpu) {
        let x = gpu.upload_blocking(self.x.view(), Layout::Nchw).unwrap();
        let (y, indices) = &self.pooled;
        let outputs = (
            gpu.upload_blocking(tensor(y.shape(), 1).view(), Layout::Nchw).unwrap(),
            gpu.upload_blocking(
                Tensor::new(indices.shape(), vec![0i64; indices.data().len()]).unwrap().view(),
                Layout::Nchw,
            )
            .unwrap(),
        );
        let mut encoder = gpu.device().create_command_encoder(&Default::default());
        let buffers = Buffers {
            x: Some(x.slice()),
            y: Some(outputs.0.slice()),
            indices_out: Some(outputs.1.slice()),
            ..Buffers::default()
        };
        self.prepared[0].encode(&mut encoder, buffers).unwrap();
        gpu.exclusive(|| gpu.queue().submit([encoder.finish()]));
        assert_eq!(gpu.download_blocking::<f32>(&outputs.0).as_ref(), Ok(y));
        assert_eq!(gpu.download_blocking::<i64>(&outputs.1).as_ref(), Ok(indices));
    }

    /// Peaks by the values of the device.
    fn peaks(&self, gpu: &Gpu) {
        let peaks = || Dilate::new([3, 3]).on(&self.x).peaks().threshold(0.0);
        assert_eq!(peaks().run_blocking(gpu), peaks().run_blocking(&Reference));
    }

    /// Bad indices of this thread alone.
    fn error(&self, gpu: &Gpu) {
        let inverse = MaxUnpool::inverse_of(&self.pool, self.x.shape());
        let (y, indices) = &self.pooled;
        let mut bad = indices.data().to_vec();
        bad[0] = -5;
        let bad = TensorView::new(indices.shape(), &bad).unwrap();
        let unit = self.x.data().len() as u64;
        let expected = ExecuteError::IndexOutOfRange { position: 0, value: -5, index_count: unit, count: 1 };
        assert_eq!(inverse.on(y.view(), bad).run_blocking(&gpu), Err(expected));
    }

    /// A call that another thread wakes.
    fn awaited(&self, gpu: &Gpu) {
        let pooled = pollster::block_on(self.pool.on(self.x.view()).with_indices::<i64>().run(&gpu));
        assert_eq!(pooled.as_ref(), Ok(&self.pooled));
    }

    /// A plan of several steps in a call, and in a chain.
    fn composed(&self, gpu: &Gpu) {
        let by_box = Gradient::new([2, 3]);
        assert_eq!(by_box.on(&self.x).run_blocking(&gpu).as_ref(), Ok(&self.gradient));
        let mut chain = gpu.chain();
        let x = chain.upload(self.x.view(), Layout::Nchw).unwrap();
        let plan = by_box.plan(self.x.shape(), DType::F32, None).unwrap();
        let [y] = chain.step(&gpu.prepare_blocking(Prepare::from(plan).cached()).unwrap(), &[&x]).unwrap();
        let y = chain.read_back::<f32>(&y).unwrap();
        assert_eq!(chain.run_blocking().unwrap().take(y).as_ref(), Ok(&self.gradient));
    }

    /// A call that nobody waits for.
    fn drop(&self, gpu: &Gpu) {
        let mut future = pin!(self.pool.on(self.x.view()).run(&gpu));
        let _ = future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    }
}

#[gpu_test]
fn eight_threads_mix_two_hundred_operations_each() {
    let work: Vec<Work> = (0..10).map(|number| Work::new(gpu(), number)).collect();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|thread| {
                let work = &work;
                scope.spawn(move || {
                    for number in 0..OPERATIONS {
                        // Every kind comes together with every shape: the shape moves on by one more with each round of
                        // kinds.
                        let shape = thread * 3 + number + number / KINDS.len();
                        KINDS[(thread + number) % KINDS.len()](&work[shape % work.len()], gpu());
                    }
                })
            })
            .collect();
        join_all(threads);
    });
}

#[gpu_test]
fn gpus_live_side_by_side_and_one_that_is_lost_disturbs_no_other() {
    let gpus = [(); 3].map(|()| Gpu::new_blocking().unwrap());
    std::thread::scope(|scope| {
        let threads: Vec<_> = gpus
            .iter()
            .enumerate()
            .map(|(number, gpu)| {
                scope.spawn(move || {
                    let work = Work::new(gpu, number);
                    for round in 0..20 {
                        if number == 1 && round == 10 {
                            gpu.device().destroy();
                            let error = work.pool.on(work.x.view()).run_blocking(&gpu).unwrap_err();
                            assert!(matches!(error, ExecuteError::DeviceLost(_)), "{error:?}");
                            return;
                        }
                        work.one_shot(gpu);
                        work.chain(gpu);
                    }
                })
            })
            .collect();
        join_all(threads);
    });
}

/// A chain whose only submit keeps the device busy for about this long.
fn long_chain(gpu: &Gpu, busy: Duration) -> Chain {
    let plan = MaxPool::new([33, 33]).plan(&[1, 16, 128, 128], DType::F32, None).unwrap();
    let choice = Choice { family: Some(Family::Direct), ..Choice::default() };
    let pool = gpu.prepare_blocking(select(&plan, &gpu.limits(), &choice).unwrap()).unwrap();
    let x = gpu.upload_blocking(tensor(&[1, 16, 128, 128], 3).view(), Layout::Nchw).unwrap();
    let chain_of = |steps: usize| {
        let mut chain = gpu.chain();
        for _ in 0..steps {
            chain.step::<1>(&pool, &[&x]).unwrap();
        }
        chain
    };
    let step = || {
        let begin = Instant::now();
        chain_of(1).run_blocking().unwrap();
        begin.elapsed().as_secs_f64()
    };
    // The first run compiles, and other threads may be at work beside any run, so the shortest one counts.
    let shortest = step().min(step()).min(step());
    chain_of((busy.as_secs_f64() / shortest).clamp(1.0, 500.0) as usize)
}

/// The context of a GL device is one thread's at a time, and wgpu panics where another waits for it longer than six
/// seconds.
#[gpu_test]
fn threads_wait_for_each_other_for_as_long_as_it_takes() {
    let gpu = gpu();
    // On other backends threads do not wait for each other, so a short time shows as much as a long one.
    let seconds = if gpu.adapter_info().backend == wgpu::Backend::Gl { 12 } else { 1 };
    let chain = long_chain(gpu, Duration::from_secs(seconds));
    let work: Vec<Work> = (0..3).map(|number| Work::new(gpu, number)).collect();
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|thread| {
                let (work, over) = (&work, &over);
                scope.spawn(move || {
                    let mut number = thread;
                    while !over.load(Ordering::Relaxed) {
                        KINDS[number % KINDS.len()](&work[number % work.len()], gpu);
                        gpu.trim();
                        number += 1;
                    }
                })
            })
            .collect();
        let submitted = chain.submit();
        let results = submitted.and_then(Submitted::results_blocking);
        over.store(true, Ordering::Relaxed);
        join_all(threads);
        results.unwrap();
    });
}
