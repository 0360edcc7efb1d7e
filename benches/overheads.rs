//! What a call costs besides moving bytes: planning, selecting, composing a shader, and the reference beside a one-shot call.
//! Ratios within one run are what counts; every answer is verified before it is timed.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use wgpu_pooling::{Choice, DType, Gpu, IndexType, Limits, MaxPool, Plan, Tensor, reference, select, wgsl};

const SHAPE: [usize; 4] = [1, 8, 56, 56];

fn pool() -> MaxPool {
    MaxPool::new([3, 3]).strides([2, 2]).pads([1, 1, 1, 1])
}

fn pure(c: &mut Criterion) {
    let plan = || pool().plan(&SHAPE, DType::F32, Some(IndexType::I64)).expect("a valid pool");
    assert_eq!(plan().output_shape(), &[1, 8, 28, 28]);
    c.bench_function("plan", |b| b.iter(|| black_box(plan())));
    let plan: Plan = plan().into();
    let schedule = || select(&plan, &Limits::WEBGPU, &Choice::default()).expect("a small tensor");
    c.bench_function("select", |b| b.iter(|| black_box(schedule())));
    let schedule = schedule();
    let key = *schedule.dispatches()[0].key();
    c.bench_function("wgsl", |b| b.iter(|| black_box(wgsl(&key))));
}

fn computing(c: &mut Criterion) {
    let count = SHAPE.iter().product::<usize>();
    let data = (0..count).map(|i| ((i * 7919) % 251) as f32).collect();
    let x = Tensor::new(SHAPE, data).expect("the data fits its shape");
    let plan = pool().plan(&SHAPE, DType::F32, Some(IndexType::I64)).expect("a valid pool");
    let on_cpu = || reference::max_pool_with_indices::<f32, i64>(&plan, x.view()).expect("the plan's own tensor");
    c.bench_function("reference", |b| b.iter(|| black_box(on_cpu())));
    let gpu = match Gpu::new_blocking() {
        Ok(gpu) => gpu,
        Err(error) => {
            eprintln!("the GPU is left out: {error}");
            return;
        }
    };
    let prepared = gpu.prepare_blocking(plan.clone()).expect("the plan fits the device");
    let on_gpu = || prepared.max_pool_with_indices_blocking::<f32, i64>(x.view()).expect("the device answers");
    assert_eq!(on_gpu(), on_cpu(), "GPU and CPU agree");
    c.bench_function("prepared, upload to readback", |b| b.iter(|| black_box(on_gpu())));
    let one_shot = || gpu.max_pool_with_indices_blocking::<f32, i64>(&pool(), x.view()).expect("the device answers");
    c.bench_function("one-shot", |b| b.iter(|| black_box(one_shot())));
}

criterion_group!(benches, pure, computing);
criterion_main!(benches);
