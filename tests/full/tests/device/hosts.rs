//! A host that takes nothing but values from the library (examples/bare_wgpu/host.rs) computes what the library does.

use support::calls::reference;
use support::device::{POISON, gpu};
use support::tests;
use wgpu_pooling::{
    Activation, AdaptiveMaxPool, Choice, Dispatch, Element, GlobalMaxPool, Index, Layout, Limits, MaxPool, MaxUnpool,
    Operand, OutOfBounds, OutsideWindow, Plan, Pooling, Report, Tensor, families, select,
};

use super::host::{Contents, execute};

tests! {
    gpu =>
        pools_of_every_family_run_on_a_bare_device,
        unpools_run_on_a_bare_device;
}

/// Bindings of 6 KiB and three workgroups along a dimension, so that schedules are cut.
const SMALL: Limits = Limits {
    max_buffer_bytes: 1 << 30,
    max_binding_bytes: 6 << 10,
    max_workgroups_per_dimension: 3,
    max_storage_buffers: 8,
    software: false,
};

/// Elements of few bit patterns, so that windows tie.
fn data<T: Element>(shape: &[usize]) -> Tensor<T> {
    let count = shape.iter().product::<usize>();
    let bytes: Vec<u8> = (0..count * size_of::<T>()).map(|at| (at * at * 31 / 7 % 61) as u8).collect();
    Tensor::new(shape, bytemuck::pod_collect_to_vec(&bytes)).unwrap()
}

/// A tensor's bytes on the device: whole words, zeros after the last element.
fn bytes<T: bytemuck::NoUninit>(elements: &[T]) -> Vec<u8> {
    let mut bytes = bytemuck::cast_slice(elements).to_vec();
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

/// The same for an input, in which the bytes after the last element may be anything.
fn input<T: bytemuck::NoUninit>(elements: &[T]) -> Vec<u8> {
    let mut bytes: Vec<u8> = bytemuck::cast_slice(elements).to_vec();
    bytes.resize(bytes.len().next_multiple_of(4), 0x7e);
    bytes
}

/// Executes a plan in every family and build that applies, and cut into small bindings, and compares what it writes.
/// Outputs, report and scratch memory are poisoned before. Returns the number of schedules.
fn check(plan: &Plan, inputs: Contents, expected: &Contents) -> usize {
    let gpu = gpu();
    let choices = families(plan, &gpu.limits()).into_iter().flat_map(|family| {
        family.builds().iter().map(move |&build| Choice { family: Some(family), build: Some(build) })
    });
    let whole = choices.map(|choice| (select(plan, &gpu.limits(), &choice), choice)).collect::<Vec<_>>();
    let cut = (select(plan, &SMALL, &Choice::default()), Choice::default());
    let mut schedules = 0;
    for (schedule, choice) in whole.into_iter().chain([cut]) {
        let Ok(schedule) = schedule else { continue };
        let mut inputs = inputs.clone();
        for operand in schedule.operands().into_iter().filter(|operand| *operand != Operand::Tables) {
            let words = schedule.operand_bytes(operand).unwrap() as usize / 4;
            // A report that is kept over several runs is zero before the first one.
            let zero = operand == Operand::Report && schedule.keeps_report();
            let contents = vec![if zero { 0 } else { POISON }; words];
            inputs.entry(operand).or_insert_with(|| bytemuck::cast_slice(&contents).to_vec());
        }
        let offsets = schedule.dispatches().iter().flat_map(Dispatch::bindings).map(|(_, range)| range.offset);
        assert!(offsets.into_iter().all(|offset| offset.is_multiple_of(256)), "{choice:?}, {}", schedule.kernel());
        let mut written = execute(gpu.device(), gpu.queue(), &schedule, &inputs).unwrap();
        if let Some(report) = written.remove(&Operand::Report) {
            let checked = Report::from_bytes(&report).unwrap().check(plan);
            assert_eq!(checked, Ok(()), "{choice:?}, {}", schedule.kernel());
        }
        assert!(written == *expected, "{choice:?}, {}: {plan:?}", schedule.kernel());
        schedules += 1;
    }
    schedules
}

fn pool<T: Element, I: Index>(pool: &dyn Pooling, shape: &[usize]) -> usize {
    let x = data::<T>(shape);
    let inputs = Contents::from([(Operand::X, input(x.data()))]);
    let plan = pool.plan(shape, T::DTYPE, Some(I::INDEX_TYPE)).unwrap();
    let (y, indices) = reference::max_pool_with_indices::<T, I>(&plan, x.view()).unwrap();
    let expected = Contents::from([(Operand::Y, bytes(y.data())), (Operand::IndicesOut, bytes(indices.data()))]);
    let with_indices = check(&plan, inputs.clone(), &expected);
    let plan = pool.plan(shape, T::DTYPE, None).unwrap();
    let expected = Contents::from([(Operand::Y, bytes(y.data()))]);
    with_indices + check(&plan, inputs, &expected)
}

fn pools_of_every_family_run_on_a_bare_device() {
    let of = |kernel: &[i64]| MaxPool::new(kernel);
    let schedules = [
        pool::<f32, i64>(&of(&[3, 3]).pads([1; 4]).strides([2, 2]), &[2, 3, 13, 21]),
        pool::<half::f16, i32>(&of(&[2, 3, 3]), &[2, 2, 4, 9, 15]),
        pool::<u8, i64>(&of(&[9, 9]).pads([4; 4]).activation(Activation::Relu), &[1, 4, 20, 23]),
        pool::<f64, i32>(&of(&[3, 3]).layout(Layout::Nhwc), &[1, 8, 9, 6]),
        pool::<i16, i64>(&GlobalMaxPool::new(), &[2, 2, 80, 70]),
        // Its windows are in a table.
        pool::<f32, i32>(&AdaptiveMaxPool::new([7, 70]), &[1, 2, 40, 1_700]),
    ];
    assert!(schedules.iter().all(|&schedules| schedules >= 6), "{schedules:?}");
    println!("{} schedules", schedules.iter().sum::<usize>());
}

fn unpool<T: Element, I: Index>(pool: &MaxPool, out_of_bounds: OutOfBounds, shape: &[usize]) -> usize {
    let pooled = pool.plan(shape, T::DTYPE, Some(I::INDEX_TYPE)).unwrap();
    let (y, indices) = reference::max_pool_with_indices::<T, I>(&pooled, data::<T>(shape).view()).unwrap();
    let inputs = Contents::from([(Operand::X, input(y.data())), (Operand::Indices, input(indices.data()))]);
    let of_rule = |&rule: &OutsideWindow| {
        let unpool = MaxUnpool::inverse_of(pool, shape).out_of_bounds(out_of_bounds).outside_window(rule);
        let plan = unpool.plan(pooled.output_shape(), T::DTYPE, I::INDEX_TYPE).unwrap();
        let expected = reference::max_unpool(&plan, y.view(), indices.view()).unwrap();
        check(&plan, inputs.clone(), &Contents::from([(Operand::Y, bytes(expected.data()))]))
    };
    OutsideWindow::ALL.iter().map(of_rule).sum()
}

fn unpools_run_on_a_bare_device() {
    let halves = MaxPool::new([2, 2]).strides([2, 2]);
    let schedules = [
        unpool::<f32, i64>(&halves, OutOfBounds::Error, &[2, 3, 12, 20]),
        unpool::<half::bf16, i32>(
            &MaxPool::new([3, 3]).strides([2, 2]).pads([1; 4]),
            OutOfBounds::Skip,
            &[1, 4, 17, 21],
        ),
        unpool::<u8, i64>(&halves.layout(Layout::Nhwc), OutOfBounds::Error, &[1, 8, 10, 5]),
    ];
    assert!(schedules.iter().all(|&schedules| schedules >= 2), "{schedules:?}");
    println!("{} schedules", schedules.iter().sum::<usize>());

    // A bad index is in the report, and the good ones are in Y.
    let plan = MaxUnpool::new([2]).strides([2]).plan(&[1, 1, 2], f32::DTYPE, i32::INDEX_TYPE).unwrap();
    let schedule = select(&plan, &gpu().limits(), &Choice::default()).unwrap();
    let inputs = [(Operand::X, input(&[5.0f32, 6.0])), (Operand::Indices, input(&[9i32, 3]))];
    let written = execute(gpu().device(), gpu().queue(), &schedule, &Contents::from(inputs)).unwrap();
    assert_eq!(written[&Operand::Y], bytes(&[0.0f32, 0.0, 0.0, 6.0]));
    let error = Report::from_bytes(&written[&Operand::Report]).unwrap().check(&plan).unwrap_err();
    assert_eq!(error.to_string(), "indices[0] is 9, outside the valid range [0, 4); 1 such indices in all");
}
