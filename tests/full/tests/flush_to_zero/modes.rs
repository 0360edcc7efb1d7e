//! The tests: what is expected is computed on a thread in the default mode, then everything is computed again where
//! some threads, or all, are in the other mode.

use std::sync::OnceLock;

use cases::case::{Case, Outcome, same};
use cases::nasty::{STYLES, Style, elements};
use rayon::{ThreadPool, ThreadPoolBuilder};
use support::cpu::ways;
use support::tests;
use wgpu_pooling::{
    Activation, AdaptiveMaxPool, Backend, CpuKernel, DType, GlobalMaxPool, IndexType, Layout, MaxPool, MaxUnpool,
    NanPolicy, Plan, Pooling, Reference, Run, SimdLevel, with_element,
};

use crate::flags::{KNOWN, subnormals_are_zeros, take_subnormals_for_zeros};

tests! {
    cpu if KNOWN =>
        the_modes_are_what_they_are_called,
        pools_in_single_precision,
        pools_in_double_precision,
        pools_in_half_precision,
        pools_in_brain_floats,
        activations,
        unpools;
}

/// Threads of a pool of three that take subnormals for zeros: all, the caller alone, all but the caller.
const HOSTS: [[bool; 3]; 3] = [[true; 3], [true, false, false], [false, true, true]];

/// A pool for each host.
fn hosts() -> &'static [ThreadPool; 3] {
    static POOLS: OnceLock<[ThreadPool; 3]> = OnceLock::new();
    POOLS.get_or_init(|| {
        HOSTS.map(|flushes| {
            let start = move |thread: usize| {
                if flushes[thread] {
                    take_subnormals_for_zeros();
                }
            };
            ThreadPoolBuilder::new().num_threads(3).start_handler(start).build().unwrap()
        })
    })
}

/// Runs a call on a pool's first thread, whose work the others share.
fn on_caller<R: Send>(host: &ThreadPool, call: impl Fn() -> R + Sync) -> R {
    let results = host.broadcast(|thread| (thread.index() == 0).then(&call));
    results.into_iter().flatten().next().expect("the pool has a first thread")
}

/// Whether a thread compares subnormals as zeros is asked of each thread.
fn the_modes_are_what_they_are_called() {
    assert!(!subnormals_are_zeros(), "what is expected is computed in the default mode");
    for (host, flushes) in hosts().iter().zip(HOSTS) {
        assert_eq!(host.broadcast(|_| subnormals_are_zeros()), flushes);
        assert_eq!(on_caller(host, subnormals_are_zeros), flushes[0]);
    }
}

/// Every kernel, level and host gives what the reference gives in the default mode; so does the reference.
#[track_caller]
fn agree(case: &Case, expected: &Outcome) {
    let levels = SimdLevel::available();
    for (host, flushes) in hosts().iter().zip(HOSTS) {
        for &level in levels {
            for (name, prepared) in ways(&case.plan, &[level]).unwrap() {
                // The general kernel has no vector instructions of its own.
                if prepared.kernel() == CpuKernel::General && level != levels[0] {
                    continue;
                }
                let run = || case.outcome(|inputs, outputs| prepared.run_blocking(inputs, outputs));
                same(expected, &on_caller(host, run))
                    .unwrap_or_else(|error| panic!("{name}, threads {flushes:?}: {error}: {:?}", case.plan));
            }
        }
    }
    let of_reference = || case.outcome(|inputs, outputs| Reference.run_blocking(&case.plan, inputs, outputs));
    same(expected, &on_caller(&hosts()[0], of_reference))
        .unwrap_or_else(|error| panic!("the reference: {error}: {:?}", case.plan));
}

/// A plan on data that are subnormal most of the time.
fn case(plan: Plan, seed: u64) -> Case {
    let spec = &plan.inputs()[0];
    let count = spec.element_count() as usize;
    let styles = [STYLES, &[Style::Subnormal; 9]].concat();
    let x = with_element!(spec.dtype, T => bytemuck::cast_slice(&elements::<T>(count, seed, &styles)).to_vec());
    Case::new(plan, vec![x])
}

/// A pool with and without indices. Gives its outputs.
#[track_caller]
fn pool(shape: &[usize], dtype: DType, pool: impl Pooling) -> Vec<Vec<u8>> {
    let with = case(pool.plan(shape, dtype, Some(IndexType::I64)).unwrap(), shape.iter().sum::<usize>() as u64);
    let expected = with.expected();
    agree(&with, &expected);
    let without = Case { plan: pool.plan(shape, dtype, None).unwrap(), ..with.clone() };
    agree(&without, &expected.clone().map(|outputs| outputs[..1].to_vec()));
    expected.unwrap()
}

/// Pools of every kind, some so large that threads share them, under each policy for NaN.
#[track_caller]
fn all_pools(dtype: DType) {
    for &policy in NanPolicy::ALL {
        let window = |kernel: &[i64], strides: &[i64]| MaxPool::new(kernel).strides(strides).nan_policy(policy);
        pool(&[2, 5, 151, 130], dtype, window(&[2, 2], &[2, 2]));
        pool(&[2, 5, 151, 130], dtype, window(&[3, 3], &[2, 2]).pads([1; 4]));
        pool(&[1, 3, 150, 130], dtype, window(&[3, 3], &[1, 1]).pads([1; 4]));
        pool(&[1, 2, 60, 90], dtype, window(&[7, 7], &[1, 1]).pads([3; 4]));
        pool(&[1, 3, 60, 90], dtype, window(&[3, 4], &[2, 3]).dilations([3, 2]));
        pool(&[2, 3, 40_001], dtype, window(&[5], &[2]).pads([2, 2]));
        pool(&[1, 2, 21, 40, 50], dtype, window(&[2, 3, 2], &[2, 1, 2]));
        pool(&[1, 90, 130, 19], dtype, window(&[3, 3], &[2, 2]).layout(Layout::Nhwc));
        pool(&[1, 1, 500, 401], dtype, GlobalMaxPool::new().nan_policy(policy));
        pool(&[8, 300, 7, 7], dtype, GlobalMaxPool::new().nan_policy(policy));
        pool(&[2, 5, 30, 120], dtype, window(&[1, 12], &[1, 12]));
        pool(&[1, 5, 100, 111], dtype, AdaptiveMaxPool::new([6, 7]).nan_policy(policy));
    }
}

fn pools_in_single_precision() {
    all_pools(DType::F32);
}

fn pools_in_double_precision() {
    all_pools(DType::F64);
}

fn pools_in_half_precision() {
    all_pools(DType::F16);
}

fn pools_in_brain_floats() {
    all_pools(DType::Bf16);
}

const FLOATS: [DType; 4] = [DType::F32, DType::F64, DType::F16, DType::Bf16];

/// Activations that move bits and calculate nothing, with bounds that are subnormal in f32.
fn exact() -> [Activation; 3] {
    let subnormal = |bits: u32| f32::from_bits(bits);
    let clip = |min, max| Activation::Clip { min, max };
    [Activation::Relu, clip(subnormal(0x8000_0009), subnormal(0x0040_0000)), clip(subnormal(3), f32::INFINITY)]
}

fn activations() {
    for dtype in FLOATS {
        for activation in exact() {
            for &policy in NanPolicy::ALL {
                let window = |kernel: i64| MaxPool::new([kernel, kernel]).activation(activation).nan_policy(policy);
                pool(&[1, 5, 100, 70], dtype, window(2).strides([2, 2]));
                pool(&[1, 5, 60, 70], dtype, window(3).pads([1; 4]));
            }
        }
    }
}

fn unpools() {
    for dtype in FLOATS {
        let (shape, window) = ([2, 5, 100, 70], MaxPool::new([3, 3]).strides([2, 2]));
        let outputs = pool(&shape, dtype, window.clone());
        let pooled = window.plan(&shape, dtype, None).unwrap();
        for activation in exact().into_iter().chain([Activation::Identity]) {
            let unpool = MaxUnpool::inverse_of(&window, &shape).activation(activation);
            let plan = unpool.plan(pooled.output_shape(), dtype, IndexType::I64).unwrap();
            let unpooled = Case::new(plan, outputs.clone());
            agree(&unpooled, &unpooled.expected());
        }
    }
}
