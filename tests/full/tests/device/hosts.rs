//! A host that takes nothing but values from the library (examples/bare_wgpu/host.rs) computes what the library does.

use gpu_test::gpu_test;
use support::call::{Call, same};
use support::device::gpu;
use support::net::hosted;
use wgpu_pooling::{
    Activation, AdaptiveMaxPool, Choice, DType, GlobalMaxPool, IndexType, Layout, Limits, MaxPool, MaxUnpool,
    OutOfBounds, OutsideWindow, Pooling, Schedule, families, select,
};

use super::agree::{Undone, call};

/// Bindings of 6 KiB and three workgroups along a dimension, so that schedules are cut.
const SMALL: Limits = Limits {
    max_buffer_bytes: 1 << 30,
    max_binding_bytes: 6 << 10,
    max_workgroups_per_dimension: 3,
    max_storage_buffers: 8,
    software: false,
};

/// Executes a plan in every family and build that applies, and cut into small bindings, and compares what it writes.
/// Returns the number of schedules.
fn check(call: &Call) -> usize {
    let (plan, expected) = (&call.plan, call.expected());
    let choices = families(plan, &gpu().limits()).into_iter().flat_map(|family| {
        family.builds().iter().map(move |&build| Choice { family: Some(family), build: Some(build) })
    });
    let whole = choices.map(|choice| select(plan, &gpu().limits(), &choice)).collect::<Vec<_>>();
    let schedules = whole.into_iter().chain([select(plan, &SMALL, &Choice::default())]).flatten();
    let check = |schedule: Schedule| {
        let found = call.outcome(|x, y| hosted(&schedule, plan, x, y));
        same(&expected, &found).unwrap_or_else(|error| panic!("{}: {error}: {plan:?}", schedule.kernel()));
    };
    schedules.map(check).count()
}

fn pool(pool: &dyn Pooling, shape: &[usize], dtype: DType, index_type: IndexType) -> usize {
    let plan = |indices| call(pool.plan(shape, dtype, indices).unwrap());
    check(&plan(Some(index_type))) + check(&plan(None))
}

#[gpu_test]
fn pools_of_every_family_run_on_a_bare_device() {
    let of = |kernel: &[i64]| MaxPool::new(kernel);
    let schedules = [
        pool(&of(&[3, 3]).pads([1; 4]).strides([2, 2]), &[2, 3, 13, 21], DType::F32, IndexType::I64),
        pool(&of(&[2, 3, 3]), &[2, 2, 4, 9, 15], DType::F16, IndexType::I32),
        pool(&of(&[9, 9]).pads([4; 4]).activation(Activation::Relu), &[1, 4, 20, 23], DType::U8, IndexType::I64),
        pool(&of(&[3, 3]).layout(Layout::Nhwc), &[1, 8, 9, 6], DType::F64, IndexType::I32),
        pool(&GlobalMaxPool::new(), &[2, 2, 80, 70], DType::I16, IndexType::I64),
        // Its windows are in a table.
        pool(&AdaptiveMaxPool::new([7, 70]), &[1, 2, 40, 1_700], DType::F32, IndexType::I32),
    ];
    assert!(schedules.iter().all(|&schedules| schedules >= 6), "{schedules:?}");
    println!("{} schedules", schedules.iter().sum::<usize>());
}

fn unpool(pool: &MaxPool, out_of_bounds: OutOfBounds, shape: &[usize], dtype: DType, index_type: IndexType) -> usize {
    let pooled = call(pool.plan(shape, dtype, Some(index_type)).unwrap());
    let of_rule = |&rule: &OutsideWindow| {
        let unpool = MaxUnpool::inverse_of(pool, shape).out_of_bounds(out_of_bounds).outside_window(rule);
        let undone = Undone::new(&unpool, &pooled);
        check(&undone.with(&undone.own))
    };
    OutsideWindow::ALL.iter().map(of_rule).sum()
}

#[gpu_test]
fn unpools_run_on_a_bare_device() {
    let halves = MaxPool::new([2, 2]).strides([2, 2]);
    let schedules = [
        unpool(&halves, OutOfBounds::Error, &[2, 3, 12, 20], DType::F32, IndexType::I64),
        unpool(
            &MaxPool::new([3, 3]).strides([2, 2]).pads([1; 4]),
            OutOfBounds::Skip,
            &[1, 4, 17, 21],
            DType::Bf16,
            IndexType::I32,
        ),
        unpool(&halves.layout(Layout::Nhwc), OutOfBounds::Error, &[1, 8, 10, 5], DType::U8, IndexType::I64),
    ];
    assert!(schedules.iter().all(|&schedules| schedules >= 2), "{schedules:?}");
    println!("{} schedules", schedules.iter().sum::<usize>());

    // A bad index is in the report.
    let plan = MaxUnpool::new([2]).strides([2]).plan(&[1, 1, 2], DType::F32, IndexType::I32).unwrap();
    check(&Call::unpool(plan, &[5, 6], &[9, 3]));
}
