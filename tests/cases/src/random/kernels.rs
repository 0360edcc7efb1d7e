//! For each kernel of the backend, drawn pools and unpools that it computes, in every kernel that applies: blocks that
//! are full and that are not, borders, long rows, many rows, windows of many lines.

use support::cpu::Turns;
use support::draw::Case;
use support::draw::bias::{
    Bias, COLUMNS, FLAT, FLAT_ROWS, INTERLEAVED, LONG_ROWS, LONG_WINDOWS, MANY_ROWS, POOLS, RUNS, SHARED,
    SHARED_PLANES, SMALL_WINDOWS, WHOLE_ROWS,
};
use support::draw::bytes::{Bytes, random};
use support::draw::compositions::CompositionCase;
use support::draw::pools::PoolCase;
use support::draw::unpools::{SCATTER, UnpoolCase};
use support::net::Net;
use wgpu_pooling::{Cpu, CpuKernel, DType, Layout, MaxPool, Plan};

/// The most taps of all windows: what the reference does in a fraction of a second.
const MOST_TAPS: u64 = 1 << 25;

/// The taps of all windows of a plan.
fn taps(plan: &Plan) -> u64 {
    match plan {
        Plan::Composition(composition) => composition.steps.iter().map(|step| taps(&step.plan)).sum(),
        plan => plan.pool().map_or(0, |pool| pool.most_taps().saturating_mul(pool.output_elements())),
    }
}

/// So many drawn cases that a kernel computes, in every kernel that applies.
fn drawn(name: &str, kernel: CpuKernel, wanted: u32, draw: impl Fn(u64, &mut Bytes<'_>) -> Case) -> Net {
    let seed = super::runner::environment("WGPU_POOLING_SEED").unwrap_or(1);
    let net = Net::new(0).only("CPU");
    let cpu = Cpu::new().with_kernel(kernel);
    let (mut number, mut computed) = (0, 0);
    while computed < wanted {
        assert!(number < 60 * u64::from(wanted), "{computed} cases of {number} are computed by {kernel:?}");
        number += 1;
        let case = draw(number, &mut Bytes(&random(seed, name, number)));
        let Ok(Some(call)) = case.call() else { continue };
        if taps(&call.plan) > MOST_TAPS || cpu.prepare(call.plan.clone()).is_err() {
            continue;
        }
        computed += 1;
        net.agree(&call).unwrap_or_else(|error| panic!("{name} {number}, seed {seed}: {error}\n{case:?}"));
    }
    println!("{name}: {net}");
    net
}

/// So many pools of each bias in turn.
fn pools(name: &str, kernel: CpuKernel, wanted: u32, biases: &[Bias]) -> Turns {
    let net = drawn(name, kernel, wanted, |number, bytes| {
        Case::Pool(PoolCase::draw(&biases[number as usize % biases.len()], bytes))
    });
    net.turns
}

const POOL: [&str; 2] = ["max_pool", "min_pool"];

#[test]
fn columns_are_those_of_the_reference() {
    let turns = pools("columns", CpuKernel::Columns, 400, &[COLUMNS, COLUMNS, COLUMNS, LONG_ROWS, MANY_ROWS]);
    turns.is_complete(POOL, &[CpuKernel::Columns, CpuKernel::Separable, CpuKernel::General]);
}

#[test]
fn flat_planes_are_those_of_the_reference() {
    let turns = pools("flat", CpuKernel::Flat, 400, &[FLAT, FLAT, FLAT, FLAT_ROWS]);
    turns.is_complete(POOL, &[CpuKernel::Flat, CpuKernel::Separable, CpuKernel::Direct, CpuKernel::General]);
}

#[test]
fn long_windows_are_those_of_the_reference() {
    let turns = pools("long windows", CpuKernel::Separable, 400, &[LONG_WINDOWS]);
    turns.is_complete(POOL, &[CpuKernel::Separable, CpuKernel::Columns, CpuKernel::General]);
}

#[test]
fn interleaved_planes_are_those_of_the_reference() {
    let turns = pools("interleaved", CpuKernel::Interleaved, 400, &[INTERLEAVED]);
    turns.is_complete(POOL, &[CpuKernel::Interleaved, CpuKernel::Columns, CpuKernel::General]);
}

#[test]
fn windows_along_rows_are_those_of_the_reference() {
    let turns = pools("global", CpuKernel::Global, 560, &[RUNS, WHOLE_ROWS, RUNS, RUNS, SHARED_PLANES]);
    turns.is_complete(POOL, &[CpuKernel::Global, CpuKernel::General]);
}

#[test]
fn what_threads_share_is_that_of_the_reference() {
    let net = drawn("shared", CpuKernel::General, 250, |number, bytes| match number % 4 {
        0 => Case::Unpool(UnpoolCase::inverse(&SHARED, bytes).decided()),
        _ => Case::Pool(PoolCase::draw(&SHARED, bytes)),
    });
    net.turns.is_complete(["max_pool", "min_pool", "max_unpool"], &[CpuKernel::General]);
}

#[test]
fn unpools_are_those_of_the_reference() {
    let net = drawn("scatter", CpuKernel::Scatter, 1600, |number, bytes| {
        let case = match number % 4 {
            0 | 1 => UnpoolCase::draw(&SCATTER, bytes),
            2 => UnpoolCase::inverse(&SMALL_WINDOWS, bytes),
            _ => UnpoolCase::inverse(&POOLS, bytes),
        };
        Case::Unpool(case.decided())
    });
    net.turns.is_complete(["max_unpool"], &[CpuKernel::Scatter, CpuKernel::General]);
}

#[test]
fn compositions_are_those_of_the_reference() {
    let biases = [FLAT, FLAT, FLAT_ROWS];
    let net = drawn("compositions", CpuKernel::Flat, 400, |number, bytes| {
        Case::Composition(CompositionCase::draw(&biases[number as usize % biases.len()], bytes))
    });
    let compositions = net.turns.operators();
    assert_eq!(compositions.len(), CompositionCase::KINDS.len(), "{compositions:?}");
    net.turns.is_complete(compositions, &[CpuKernel::Flat, CpuKernel::Separable, CpuKernel::General]);
}

#[test]
fn windows_that_are_not_neighbouring_elements_are_no_runs() {
    let global = Cpu::new().with_kernel(CpuKernel::Global);
    let applies = |pool: &MaxPool, shape: &[usize]| global.prepare(pool.plan(shape, DType::F32, None).unwrap()).is_ok();
    let pool = |kernel: &[i64], strides: &[i64]| MaxPool::new(kernel).strides(strides);
    assert!(applies(&pool(&[8], &[8]), &[1, 2, 32]));
    assert!(applies(&pool(&[2, 32], &[2, 1]), &[1, 2, 5, 32]));
    // Distances, two axes, channels side by side.
    assert!(!applies(&pool(&[4], &[8]).dilations([2]), &[1, 2, 32]));
    assert!(!applies(&pool(&[2, 8], &[2, 8]), &[1, 2, 4, 32]));
    assert!(!applies(&pool(&[2, 31], &[2, 1]), &[1, 2, 4, 32]));
    assert!(!applies(&pool(&[8], &[8]).layout(Layout::Nhwc), &[1, 32, 2]));
}
