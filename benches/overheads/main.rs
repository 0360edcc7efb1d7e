//! What a call costs besides computing: planning, selecting and composing a shader; encoding into an encoder; a call
//! from slices to vectors beside a bare round trip of the same bytes; the reference; and small calls of the CPU
//! backend.
//!
//! Only ratios within one run can be compared; every answer is verified before it is timed. The package `roofline`
//! measures the kernels themselves.

mod bare;
#[allow(dead_code, reason = "roofline uses the rest")]
#[path = "../roofline/src/set.rs"]
mod set;

use std::convert::Infallible;
use std::hint::black_box;
use std::time::{Duration, Instant};

use bare::RoundTrip;
use criterion::measurement::WallTime;
use criterion::{BatchSize, BenchmarkGroup, BenchmarkId, Criterion, criterion_group, criterion_main};
use set::Set;
use wgpu_pooling::wgpu::ComputePass;
use wgpu_pooling::{
    Backend, Choice, Cpu, DType, Gpu, IndexType, Layout, Limits, MaxPool, MaxUnpool, Operand, OutsideWindow, Plan,
    Prepared, PreparedPlan, Reference, Tensor, select, wgpu, wgsl,
};

/// From a tiny tensor, for which a call is all overhead, to one of a few MiB, for which the bytes begin to count.
const SHAPES: [[usize; 4]; 3] = [[1, 1, 8, 8], [1, 8, 56, 56], [1, 64, 112, 112]];

fn pool() -> MaxPool {
    MaxPool::new([3, 3]).strides([2, 2]).pads([1, 1, 1, 1])
}

fn plan(shape: &[usize]) -> Plan {
    pool().plan(shape, DType::F32, Some(IndexType::I64)).expect("a valid pool")
}

fn tensor(shape: [usize; 4]) -> Tensor<f32> {
    let data = (0..shape.iter().product::<usize>()).map(|i| ((i * 7919) % 251) as f32).collect();
    Tensor::new(shape, data).expect("the data fits its shape")
}

/// The name of a benchmark by its shape.
fn by(shape: [usize; 4]) -> String {
    shape.map(|extent| extent.to_string()).join("x")
}

/// A device, or `None` and a message that the GPU is left out.
fn gpu() -> Option<Gpu> {
    match Gpu::new_blocking() {
        Ok(gpu) => Some(gpu),
        Err(error) => {
            eprintln!("the GPU is left out: {error}");
            None
        }
    }
}

fn pure(c: &mut Criterion) {
    let mut group = c.benchmark_group("planning");
    let shape = SHAPES[1];
    assert_eq!(plan(&shape).output_shape(), &[1, 8, 28, 28]);
    group.bench_function("plan", |b| b.iter(|| black_box(plan(&shape))));
    let unpool = || MaxUnpool::inverse_of(&pool(), &shape);
    let unpooled = || unpool().plan(&[1, 8, 28, 28], DType::F32, IndexType::I64).expect("a valid unpool");
    assert_eq!(unpooled().output_shape(), &shape);
    group.bench_function("plan an unpool", |b| b.iter(|| black_box(unpooled())));
    for (name, plan) in [("select", plan(&shape)), ("select for an unpool", unpooled())] {
        let schedule = || select(&plan, &Limits::WEBGPU, &Choice::default()).expect("a small tensor");
        group.bench_function(name, |b| b.iter(|| black_box(schedule())));
    }
    let schedule = select(&plan(&shape), &Limits::WEBGPU, &Choice::default()).expect("a small tensor");
    let key = schedule.dispatches()[0].key().clone();
    group.bench_function("wgsl", |b| b.iter(|| black_box(wgsl(&key))));
}

fn on_the_cpu(c: &mut Criterion) {
    let mut group = c.benchmark_group("reference");
    for shape in &SHAPES[..2] {
        let x = tensor(*shape);
        let computed = || pool().on(&x).with_indices::<i64>().run_blocking(&Reference).expect("an answer");
        let (y, indices) = computed();
        assert!(y.data().iter().zip(indices.data()).all(|(&y, &index)| x.data()[index as usize] == y));
        group.bench_function(BenchmarkId::new("max_pool_with_indices", by(*shape)), |b| {
            b.iter(|| black_box(computed()))
        });
    }
}

/// Calls of the CPU backend so small that they stay in the caller's thread: prepared, into slices that exist; prepared,
/// into new tensors; and planned each time.
fn small_calls(c: &mut Criterion) {
    let cpu = Cpu::new();
    let pool = MaxPool::new([2, 2]).strides([2, 2]);
    for shape in [[1, 1, 4, 4], [1, 1, 64, 64], [1, 3, 64, 64]] {
        let mut group = c.benchmark_group(format!("CPU backend, 2x2 {}", by(shape)));
        let x = tensor(shape);
        let plan = pool.plan(&shape, DType::F32, Some(IndexType::I64)).expect("a valid pool");
        let one_shot = || pool.on(&x).with_indices::<i64>();
        let expected = one_shot().run_blocking(&Reference).expect("an answer");
        let spoilt = expected.0.data().len();
        let mut y = Tensor::new(expected.0.shape(), vec![f32::NAN; spoilt]).expect("the data fits its shape");
        let mut at = Tensor::new(expected.1.shape(), vec![-1i64; spoilt]).expect("the data fits its shape");

        let values = pool.plan(&shape, DType::F32, None).expect("a valid pool");
        let values = cpu.prepare(values).expect("a small tensor");
        let mut into_slice =
            || values.run_blocking(&[(&x).into()], &mut [black_box(&mut y).into()]).expect("an answer");
        into_slice();
        group.bench_function("values, prepared, into a slice", |b| b.iter(&mut into_slice));
        assert_eq!(y, expected.0, "the CPU backend and the reference agree");

        let prepared = cpu.prepare(plan).expect("a small tensor");
        let mut into_slices = || {
            let outputs = &mut [black_box(&mut y).into(), (&mut at).into()];
            prepared.run_blocking(&[(&x).into()], outputs).expect("an answer");
        };
        into_slices();
        group.bench_function("indices, prepared, into slices", |b| b.iter(&mut into_slices));
        assert_eq!((&y, &at), (&expected.0, &expected.1), "the CPU backend and the reference agree");
        let new_tensors = || prepared.call_blocking::<(Tensor<f32>, Tensor<i64>)>(&[(&x).into()]).expect("an answer");
        group.bench_function("indices, prepared, new tensors", |b| b.iter(|| black_box(new_tensors())));
        group.bench_function("indices, planned each time", |b| {
            b.iter(|| black_box(one_shot().run_blocking(&cpu).expect("an answer")))
        });
    }
}

/// Encodes into an encoder that is thrown away: nothing is submitted, so only the host's work is timed.
fn encoding(c: &mut Criterion) {
    let Some(gpu) = gpu() else { return };
    let mut group = c.benchmark_group("encode");
    let shape = SHAPES[1];
    let pool = gpu.prepare_blocking(plan(&shape)).expect("the plan fits the device");
    let unpool = MaxUnpool::inverse_of(&self::pool(), &shape);
    let [unpool, own_windows] = [OutsideWindow::Scatter, OutsideWindow::Error].map(|rule| {
        let unpool = unpool.clone().outside_window(rule);
        let plan = unpool.plan(pool.schedule().output_shape(), DType::F32, IndexType::I64).expect("a valid unpool");
        gpu.prepare_blocking(plan).expect("the plan fits the device")
    });
    let encoder = || gpu.device().create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    group.bench_function("an empty encoder", |b| b.iter(|| black_box(encoder().finish())));
    group.bench_function("an empty pass", |b| {
        b.iter(|| {
            let mut encoder = encoder();
            drop(encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default()));
            black_box(encoder.finish())
        });
    });
    let recording = |group: &mut BenchmarkGroup<'_, WallTime>, name: String, record: Record<'_>| {
        group.bench_function(name, |b| b.iter_batched(encoder, |new| recorded(new, record), BatchSize::SmallInput));
    };
    // Dispatches of one kernel whose bind groups exist: nothing that records can be faster.
    let bare = RoundTrip::new(&gpu, 4096, 4096);
    let bare_buffers = bare.buffers();
    for dispatches in [16, 16 * dispatches_of(&unpool)] {
        let record = |pass: &mut ComputePass<'_>| (0..dispatches).for_each(|_| bare.record(&bare_buffers, pass));
        recording(&mut group, format!("{dispatches} bare dispatches into an open pass"), &record);
    }
    let prepared = [("a pool", &pool), ("an unpool", &unpool), ("an unpool in own windows", &own_windows)];
    for (name, prepared) in prepared {
        let tensors = buffers_for(&gpu, prepared);
        group.bench_function(name, |b| {
            b.iter(|| {
                let mut encoder = encoder();
                prepared.encode(&mut encoder, tensors.buffers()).expect("the buffers are as large as they have to be");
                black_box(encoder.finish())
            });
        });
        let encode = |pass: &mut ComputePass<'_>| {
            (0..16).for_each(|_| prepared.encode_pass(pass, tensors.buffers()).expect("as above"));
        };
        recording(&mut group, format!("{name}, 16 times into an open pass"), &encode);
        let bound = prepared.bind(tensors.buffers()).expect("as above");
        let encode = |pass: &mut ComputePass<'_>| (0..16).for_each(|_| bound.encode(pass).expect("the device lives"));
        recording(&mut group, format!("{name}, bound, 16 times into an open pass"), &encode);
        let dispatches = 16 * dispatches_of(prepared);
        let bare = |pass: &mut ComputePass<'_>| (0..dispatches).for_each(|_| bare.record(&bare_buffers, pass));
        let [bound, bare] = fastest(&encoder, [&encode, &bare]);
        println!("{name}, bound: {:.2} of the time of {dispatches} bare dispatches", bound.div_duration_f64(bare));
    }
}

type Record<'a> = &'a dyn Fn(&mut ComputePass<'_>);

/// Recording alone, once the encoder exists and without `finish`, in which wgpu hands the commands to the driver.
fn recorded(mut encoder: wgpu::CommandEncoder, record: Record<'_>) -> wgpu::CommandEncoder {
    let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
    record(&mut pass);
    drop(pass);
    encoder
}

/// The shortest times that recording takes, of several rounds in which both take their turn.
fn fastest(encoder: &dyn Fn() -> wgpu::CommandEncoder, both: [Record<'_>; 2]) -> [Duration; 2] {
    let mut fastest = [Duration::MAX; 2];
    for _ in 0..200 {
        for (fastest, record) in fastest.iter_mut().zip(both) {
            let encoder = encoder();
            let begin = Instant::now();
            let encoder = recorded(encoder, record);
            *fastest = begin.elapsed().min(*fastest);
            drop(encoder);
        }
    }
    fastest
}

/// The buffers of a schedule.
fn buffers_for(gpu: &Gpu, prepared: &Prepared) -> Set {
    let buffer = |_: &str, size| {
        let (label, usage, mapped_at_creation) = (Some("a benchmark's tensor"), wgpu::BufferUsages::STORAGE, false);
        Ok(gpu.device().create_buffer(&wgpu::BufferDescriptor { label, size, usage, mapped_at_creation }))
    };
    Set::new(prepared.schedule(), buffer).unwrap_or_else(|never: Infallible| match never {})
}

/// The dispatches of a run: one that clears scratch memory is left out.
fn dispatches_of(prepared: &Prepared) -> usize {
    let schedule = prepared.schedule();
    schedule.dispatches().len() - usize::from(schedule.clears_scratch())
}

/// Calls from slices to vectors, and what wgpu itself takes to move the same bytes there and back.
fn round_trips(c: &mut Criterion) {
    let Some(gpu) = gpu() else { return };
    for shape in SHAPES {
        let mut group = c.benchmark_group(format!("round trip {}", by(shape)));
        let x = tensor(shape);
        let prepared = gpu.prepare_blocking(plan(&shape)).expect("the plan fits the device");
        let one_shot = |on: &dyn Backend| pool().on(&x).with_indices::<i64>().run_blocking(on).expect("an answer");
        let expected = one_shot(&Reference);

        let schedule = prepared.schedule();
        let down =
            schedule.operand_bytes(Operand::Y).unwrap_or(0) + schedule.operand_bytes(Operand::IndicesOut).unwrap_or(0);
        let up = bytemuck::cast_slice(x.data());
        let bare = RoundTrip::new(&gpu, up.len() as u64, down);
        let kept = bare.buffers();
        let there_and_back = bare.run(&kept, up);
        assert!(there_and_back.len() as u64 == down && there_and_back == bare.run(&bare.buffers(), up));
        assert!(bare.moved(up, &there_and_back), "the copy has moved what was given to it");
        group.bench_function("bare, buffers kept", |b| b.iter(|| black_box(bare.run(&kept, up))));
        group.bench_function("bare, buffers made each time", |b| b.iter(|| black_box(bare.run(&bare.buffers(), up))));

        let prepared_call = || prepared.call_blocking::<(Tensor<f32>, Tensor<i64>)>(&[(&x).into()]).expect("an answer");
        assert_eq!(prepared_call(), expected, "GPU and CPU agree");
        group.bench_function("prepared", |b| b.iter(|| black_box(prepared_call())));
        assert_eq!(one_shot(&gpu), expected, "GPU and CPU agree");
        group.bench_function("one-shot", |b| b.iter(|| black_box(one_shot(&gpu))));

        let chained = || {
            let mut chain = gpu.chain();
            let x = chain.upload(&x, Layout::Nchw).expect("the device has room");
            let [y, indices] = chain.step(&prepared, &[&x]).expect("the plan's own tensor");
            let y = chain.read_back::<f32>(&y).expect("values");
            let indices = chain.read_back::<i64>(&indices).expect("indices");
            let results = chain.run_blocking().expect("an answer");
            (results.take(y).expect("values"), results.take(indices).expect("indices"))
        };
        assert_eq!(chained(), expected, "GPU and CPU agree");
        group.bench_function("a chain of one step", |b| b.iter(|| black_box(chained())));
    }
}

criterion_group!(benches, pure, on_the_cpu, small_calls, encoding, round_trips);
criterion_main!(benches);
