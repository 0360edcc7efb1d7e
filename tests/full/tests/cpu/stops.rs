//! Calls that the caller stops, and calls that need no thread but the caller's.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};

use support::calls;
use wgpu_pooling::{
    Backend, Cpu, CpuKernel, DType, Device, ExecuteError, IndexType, MaxPool, MaxUnpool, Stream, Tensor, TensorView,
};

/// A backend that asks to stop from the `n`th time on that it is asked.
fn stopping(n: u64) -> Cpu {
    let asked = Arc::new(AtomicU64::new(0));
    Cpu::new().stop_when(move || asked.fetch_add(1, Ordering::Relaxed) + 1 >= n)
}

#[test]
fn a_stream_stops_between_tiles_and_between_boxes_of_sources() {
    let plan = MaxPool::new([2]).strides([2]).plan(&[1, 1, 400], DType::F32, None).unwrap();
    let x = vec![1.0f32; 400];
    let pool =
        |cpu: &Cpu, y: &mut Vec<f32>| Stream::new(plan.clone(), 120).source(&mut &x[..]).sink(y).run_blocking(cpu);
    let mut y = vec![0.0; 200];
    assert_eq!(pool(&stopping(1), &mut y), Err(ExecuteError::Interrupted));
    assert_eq!(y, [0.0; 200]);
    assert_eq!(pool(&stopping(8), &mut y), Err(ExecuteError::Interrupted));
    let written = y.iter().filter(|&&value| value == 1.0).count();
    assert!((10..200).contains(&written), "{written} elements were written");
    assert!(pool(&stopping(u64::MAX), &mut y).is_ok());

    let unpool = MaxUnpool::new([2]).strides([2]).plan(&[1, 1, 200], DType::F32, IndexType::I64).unwrap();
    let indices: Vec<i64> = (0..200).map(|at| 2 * at).collect();
    for n in [1, 15, 40] {
        let (mut values, mut positions) = (&x[..200], &indices[..]);
        let mut y = vec![0.0f32; 400];
        let stream = Stream::new(unpool.clone(), 240).source(&mut values).source(&mut positions).sink(&mut y);
        let stopped = stream.run_blocking(&stopping(n));
        assert_eq!(stopped, Err(ExecuteError::Interrupted), "{n}");
    }
}

#[test]
fn a_stream_chooses_its_kernels_by_itself() {
    // A tile can need another kernel than the whole.
    let plan = MaxPool::new([2, 2]).plan(&[1, 1, 9, 9], DType::U8, None).unwrap();
    let x: Vec<u8> = (0..81).collect();
    let mut y = vec![0u8; 64];
    let cpu = Cpu::new().with_kernel(CpuKernel::General);
    Stream::new(plan, 40).source(&mut &x[..]).sink(&mut y).run_blocking(&cpu).unwrap();
    let expected: Vec<u8> = (0..64).map(|at| (at / 8 + 1) * 9 + at % 8 + 1).collect();
    assert_eq!(y, expected);
}

#[test]
fn a_future_is_ready_at_once() {
    let device = Device::from(Cpu::new());
    let x = Tensor::new([1, 1, 3], vec![3.0f32, 1.0, 2.0]).unwrap();
    let pool = MaxPool::new([2]);
    let mut call = pin!(pool.on(&x).run(&device));
    let Poll::Ready(y) = call.as_mut().poll(&mut Context::from_waker(Waker::noop())) else { panic!("it waits") };
    assert_eq!(y.unwrap().data(), &[3.0, 2.0]);
    let plan = pool.plan(&[1, 1, 3], DType::F32, None).unwrap();
    let mut call = pin!(device.prepare(plan));
    let Poll::Ready(prepared) = call.as_mut().poll(&mut Context::from_waker(Waker::noop())) else { panic!("it waits") };
    let mut y = [0.0; 2];
    calls::max_pool_into(&prepared.unwrap(), TensorView::from(&x), &mut y).unwrap();
    assert_eq!(y, [3.0, 2.0]);
}

#[test]
fn the_name_says_what_computes() {
    let name = Device::from(Cpu::new()).name();
    assert!(name.contains("thread") && name.ends_with(Cpu::new().simd().name()), "{name}");
}
