//! Unpools that keep indices to their own windows: an unpool of a pool's own indices is one dispatch, and reports are
//! kept over frames. Drawn cases (tests/cases) have every rule in every family.

use gpu_test::gpu_test;
use support::call::{Call, same};
use support::calls::reference;
use support::device::gpu;
use support::net::Net;
use wgpu_pooling::{
    Bound, Buffers, Choice, DType, ExecuteError, Family, IndexType, Limits, MaxPool, MaxUnpool, Operand, OutsideWindow,
    Plan, PlanError, Report, Tensor, select, wgpu,
};

/// The only window of the first axis lies in the padding, so no index is in it, not even that of the only line of Y.
#[gpu_test]
fn a_window_in_the_padding_has_no_element() {
    let pool = MaxPool::new([2, 2]).strides([3, 2]).pads([2, 0, 0, 0]);
    let (shape, pooled) = ([1, 1, 1, 64], [1, 1, 1, 32]);
    let x: Vec<u64> = (1..33).map(|value| u64::from((value as f32).to_bits())).collect();
    let indices: Vec<i64> = (0..32).map(|at| if at % 5 == 1 { 2 * at } else { -1 }).collect();
    for rule in [OutsideWindow::Error, OutsideWindow::Skip] {
        let unpool = MaxUnpool::inverse_of(&pool, &shape).outside_window(rule);
        let plan = unpool.plan(&pooled, DType::F32, IndexType::I64).unwrap();
        let expected = match rule {
            OutsideWindow::Skip => Ok(vec![vec![0; 256]]),
            _ => Err(ExecuteError::IndexOutsideWindow { position: 1, count: 7 }),
        };
        let call = Call::unpool(plan, &x, &indices);
        Net::new(u32::MAX).each(&call, |outcome| same(&expected, outcome)).unwrap();
    }
}

/// A large unpool of this rule.
fn large(rule: OutsideWindow) -> Plan {
    let pool = MaxPool::new([2, 2]).strides([2, 2]);
    let unpool = MaxUnpool::inverse_of(&pool, &[1, 8, 64, 64]).outside_window(rule);
    unpool.plan(&[1, 8, 32, 32], DType::F32, IndexType::I64).unwrap()
}

#[test]
fn an_unpool_of_a_pools_own_indices_is_one_dispatch() {
    for software in [false, true] {
        let limits = Limits { software, ..Limits::WEBGPU };
        for (rule, operands) in [
            (OutsideWindow::Error, vec![Operand::X, Operand::Y, Operand::Indices, Operand::Report]),
            (OutsideWindow::Skip, vec![Operand::X, Operand::Y, Operand::Indices]),
        ] {
            let schedule = select(&large(rule), &limits, &Choice::default()).unwrap();
            assert_eq!((schedule.family(), schedule.dispatches().len()), (Family::Gather, 1));
            assert_eq!((schedule.operands(), schedule.scratch_bytes()), (operands, 0));
            assert_eq!(schedule.keeps_report(), rule == OutsideWindow::Error);
        }
    }
    let general = Choice { family: Some(Family::ClaimEmit), build: None };
    let refused = select(&large(OutsideWindow::Skip), &Limits::WEBGPU, &general);
    assert!(matches!(refused, Err(PlanError::KernelDoesNotApply { .. })), "{refused:?}");
}

#[test]
fn windows_of_four_axes_are_kept_to_on_the_cpu() {
    let unpool = MaxUnpool::new([2; 4]).strides([2; 4]).outside_window(OutsideWindow::Skip);
    let plan = unpool.plan(&[1, 1, 1, 1, 1, 2], DType::U8, IndexType::I32).unwrap();
    let refused = select(&plan, &Limits::WEBGPU, &Choice::default());
    assert!(matches!(refused, Err(PlanError::NotOnGpu { .. })), "{refused:?}");
    let x = Tensor::new([1, 1, 1, 1, 1, 2], vec![5u8, 6]).unwrap();
    let indices = Tensor::new(x.shape(), vec![3i32, 2]).unwrap();
    let y = reference::max_unpool(&plan, x.view(), indices.view()).unwrap();
    assert!(y.data().iter().enumerate().all(|(at, &y)| y == if at == 2 { 6 } else { 0 }), "{:?}", y.data());
}

#[gpu_test]
fn a_report_is_kept_over_frames_until_it_is_cleared() {
    let plan = large(OutsideWindow::Error);
    let count: usize = plan.input_shape().iter().product();
    let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
    let buffer = |size| {
        gpu().device().create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false })
    };
    let [indices, report] = [8 * count as u64, 32].map(buffer);
    let bound = |plan: &Plan, indices: &wgpu::Buffer| {
        let elements = plan.input_shape().iter().product::<usize>() as u64;
        let [x, y] = [4 * elements, 16 * elements].map(buffer);
        let buffers = Buffers {
            x: Some(x.slice(..)),
            indices: Some(indices.slice(..8 * elements)),
            y: Some(y.slice(..)),
            report: Some(report.slice(..)),
            ..Buffers::default()
        };
        gpu().prepare_blocking(plan.clone()).unwrap().bind(buffers).unwrap()
    };
    let (first, zeros) = (bound(&plan, &indices), buffer(8 * count as u64));
    let shared = |bad: &[usize], also: Option<&Bound>| {
        // The first element of each window, but for bad indices.
        let own = |at: usize| (at / 1024 * 4096 + at % 1024 / 32 * 128 + at % 32 * 2) as i64;
        let words: Vec<i64> = (0..count).map(|at| if bad.contains(&at) { own(at) + 2 } else { own(at) }).collect();
        gpu().queue().write_buffer(&indices, 0, bytemuck::cast_slice(&words));
        let mut encoder = gpu().device().create_command_encoder(&Default::default());
        let mut pass = encoder.begin_compute_pass(&Default::default());
        for bound in [Some(&first), also].into_iter().flatten() {
            bound.encode(&mut pass).unwrap();
        }
        drop(pass);
        gpu().queue().submit([encoder.finish()]);
        let staging = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let descriptor = wgpu::BufferDescriptor { label: None, size: 32, usage: staging, mapped_at_creation: false };
        let staging = gpu().device().create_buffer(&descriptor);
        let mut encoder = gpu().device().create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(&report, 0, &staging, 0, 32);
        gpu().queue().submit([encoder.finish()]);
        staging.map_async(wgpu::MapMode::Read, .., |result| result.unwrap());
        gpu().device().poll(wgpu::PollType::wait_indefinitely()).unwrap();
        Report::from_bytes(&staging.get_mapped_range(..).unwrap()).unwrap().check(&plan)
    };
    let fault = |position, count| Err(ExecuteError::IndexOutsideWindow { position, count });
    let frame = |bad: &[usize]| shared(bad, None);
    assert_eq!(frame(&[]), Ok(()));
    assert_eq!(frame(&[700, 77]), fault(77, 2));
    assert_eq!(frame(&[]), fault(77, 2), "nobody has cleared it");
    assert_eq!(frame(&[5000]), fault(77, 3));
    gpu().queue().write_buffer(&report, 0, &[0; 32]);
    assert_eq!(frame(&[]), Ok(()));
    assert_eq!(frame(&[count - 1]), fault(count as u64 - 1, 1));

    // Of another unpool with the same report three of four indices are bad. It keeps the faults of both.
    let unpool = MaxUnpool::new([2, 2]).strides([2, 2]).outside_window(OutsideWindow::Error);
    let other = bound(&unpool.plan(&[1, 1, 2, 2], DType::F32, IndexType::I64).unwrap(), &zeros);
    assert_eq!(shared(&[], Some(&other)), fault(1, 4));
    // An unpool that does not keep its report clears that of the other.
    let clearing = bound(&large(OutsideWindow::Scatter), &zeros);
    assert_eq!(shared(&[700], Some(&clearing)), Ok(()));
}
