//! Unpools that keep indices to their own windows: an index outside is an error or skipped, in every family and build,
//! and an unpool of a pool's own indices is one dispatch.

use support::calls::{self, reference};
use support::device::gpu;
use support::splitmix::{STEP, splitmix64};
use support::tests;
use wgpu_pooling::{
    AdaptiveMaxPool, Bound, Buffers, Choice, DType, Element, ExecuteError, Family, Index, IndexFlattening, IndexType,
    Layout, Limits, MaxPool, MaxUnpool, Operand, OutOfBounds, OutsideWindow, Plan, PlanError, Pooling, Report,
    Schedule, StorageOrder, Stream, Tensor, families, select, wgpu,
};

tests! {
    gpu =>
        indices_outside_their_windows_are_errors_or_skipped_on_every_path,
        a_window_in_the_padding_has_no_element,
        a_report_is_kept_over_frames_until_it_is_cleared,
        tensors_beyond_the_limits_keep_to_windows_too;
    cpu =>
        an_unpool_of_a_pools_own_indices_is_one_dispatch,
        windows_of_four_axes_are_kept_to_on_the_cpu;
}

/// Random numbers from a seed.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        splitmix64(self.0) % end.max(1)
    }
}

fn values<T: Element>(count: usize, random: &mut Random) -> Vec<T> {
    let mask = if size_of::<T>() == 8 { u64::MAX } else { (1 << (size_of::<T>() * 8)) - 1 };
    (0..count).map(|_| T::from_bits64(random.below(u64::MAX) & mask)).collect()
}

/// The schedules of every family and build that applies, as a GPU and as a software adapter take them.
fn schedules(plan: &Plan) -> Vec<Schedule> {
    let mut schedules: Vec<Schedule> = Vec::new();
    for software in [false, true] {
        let limits = Limits { software, ..gpu().limits() };
        for family in families(plan, &limits) {
            for &build in family.builds() {
                let choice = Choice { family: Some(family), build: Some(build) };
                let Ok(schedule) = select(plan, &limits, &choice) else { continue };
                if schedules.iter().all(|other| other.dispatches() != schedule.dispatches()) {
                    schedules.push(schedule);
                }
            }
        }
    }
    schedules
}

fn unpools<T: Element, I: Index>(
    unpool: &MaxUnpool,
    shape: &[usize],
    own: Option<&Tensor<I>>,
    random: &mut Random,
) -> usize {
    let count: usize = shape.iter().product();
    let mut tried = 0;
    for rule in [OutsideWindow::Error, OutsideWindow::Skip] {
        let plan = unpool.clone().outside_window(rule).plan(shape, T::DTYPE, I::INDEX_TYPE).unwrap();
        let x = Tensor::<T>::new(shape, values(count, random)).unwrap();
        let unit = plan.index_space().unwrap().index_count();
        let schedules = schedules(&plan);
        assert!(!schedules.is_empty(), "{plan:?}");
        for spoilt in [0, 1, 7, 100] {
            let mut indices: Vec<i64> = match own {
                Some(own) => own.data().iter().map(|index| index.to_i64()).collect(),
                None => (0..count).map(|_| random.below(unit) as i64).collect(),
            };
            for _ in 0..spoilt * count / 100 + usize::from(spoilt > 0) {
                let at = random.below(count as u64) as usize;
                indices[at] = match random.below(8) {
                    0 => -1,
                    1 => unit as i64 + random.below(3) as i64,
                    2 => i64::MIN,
                    3 => indices[random.below(count as u64) as usize],
                    4 => indices[at].wrapping_add(1),
                    5 => indices[at].wrapping_sub(1),
                    _ => random.below(unit) as i64,
                };
            }
            let indices = indices.into_iter().map(I::from_i64).collect();
            let indices = Tensor::new(plan.inputs()[1].shape.clone(), indices).unwrap();
            let expected = reference::max_unpool(&plan, x.view(), indices.view());
            if let (Err(error), OutsideWindow::Error) = (&expected, rule) {
                assert!(matches!(error, ExecuteError::IndexOutsideWindow { .. }), "{error}");
            }
            for schedule in &schedules {
                let kernel = schedule.kernel();
                assert!(schedule.scratch().is_empty() && schedule.dispatches().len() <= 2, "{kernel}");
                let prepared = gpu().prepare_blocking(schedule.clone()).unwrap();
                let found = calls::max_unpool(&prepared, x.view(), indices.view());
                match (&found, &expected) {
                    (Ok(found), Ok(expected)) => {
                        let bits = |y: &Tensor<T>| y.data().iter().map(|y| y.to_bits64()).collect::<Vec<_>>();
                        assert_eq!(bits(found), bits(expected), "{kernel}, {spoilt} of 100 spoilt: {plan:?}");
                    }
                    _ => assert_eq!(found.err(), expected.clone().err(), "{kernel}, {spoilt} of 100 spoilt: {plan:?}"),
                }
                tried += 1;
            }
        }
    }
    tried
}

/// The unpool of a pool, with the pool's own indices.
fn inverse<T: Element, I: Index>(pool: &dyn Pooling, shape: &[usize], random: &mut Random) -> usize {
    let pooled = pool.plan(shape, T::DTYPE, Some(I::INDEX_TYPE)).unwrap();
    let x = Tensor::<T>::new(shape, values(shape.iter().product(), random)).unwrap();
    let (_, indices) = reference::max_pool_with_indices::<T, I>(&pooled, x.view()).unwrap();
    unpools::<T, I>(&MaxUnpool::inverse_of(pool, shape), pooled.output_shape(), Some(&indices), random)
}

fn indices_outside_their_windows_are_errors_or_skipped_on_every_path() {
    let random = &mut Random(20_260_917);
    let halves = MaxPool::new([2, 2]).strides([2, 2]);
    let thirds = MaxPool::new([3, 3]).strides([2, 2]).pads([1; 4]);
    let nhwc = |pool: &MaxPool| pool.clone().layout(Layout::Nhwc);
    let mut tried = vec![
        inverse::<f32, i64>(&halves, &[2, 3, 8, 16], random),
        inverse::<f32, i32>(&halves, &[2, 3, 9, 13], random),
        inverse::<u8, i64>(&halves, &[2, 3, 10, 35], random),
        inverse::<half::f16, i32>(&nhwc(&halves), &[2, 8, 10, 6], random),
        inverse::<f64, i64>(&nhwc(&halves).index_layout(Layout::Nhwc), &[2, 9, 8, 3], random),
        inverse::<f32, i64>(&thirds, &[2, 2, 21, 16], random),
        inverse::<half::bf16, i64>(&nhwc(&thirds), &[1, 13, 12, 4], random),
        inverse::<u8, i32>(&MaxPool::new([3, 3]).pads([1; 4]), &[1, 2, 18, 12], random),
        // Gaps between windows, and taps apart: an element inside the hull of a window is not in the window.
        inverse::<f32, i64>(&MaxPool::new([2, 2]).strides([3, 3]), &[1, 3, 12, 24], random),
        inverse::<f32, i64>(&MaxPool::new([2, 3]).dilations([3, 2]), &[1, 2, 11, 16], random),
        inverse::<f32, i32>(&AdaptiveMaxPool::new([5, 7]), &[2, 2, 13, 17], random),
        inverse::<f32, i64>(&MaxPool::new([2, 2, 2]).strides([2, 2, 2]), &[1, 2, 6, 8, 16], random),
        inverse::<f32, i64>(&MaxPool::new([3]).strides([3]).storage_order(1), &[2, 3, 40], random),
        // Some windows lie wholly in the padding, and their index is -1.
        inverse::<f32, i64>(&MaxPool::new([2, 2]).strides([2, 2]).pads([2; 4]), &[1, 2, 8, 12], random),
    ];
    let unpool = MaxUnpool::new([2, 2]).strides([2, 2]);
    tried.extend([
        unpools::<f32, i64>(&unpool, &[2, 2, 4, 8], None, random),
        unpools::<f32, i64>(&unpool.clone().output_shape([2, 2, 11, 19]), &[2, 2, 4, 8], None, random),
        unpools::<i16, i32>(&unpool.clone().flatten(IndexFlattening::Plane), &[2, 2, 4, 7], None, random),
        unpools::<f32, i64>(&unpool.clone().index_order(StorageOrder::ColumnMajor), &[2, 2, 4, 8], None, random),
        unpools::<f32, i64>(&unpool.out_of_bounds(OutOfBounds::Skip), &[2, 2, 4, 8], None, random),
        unpools::<f32, i64>(&MaxUnpool::new([3, 3]).strides([2, 2]).pads([1; 4]), &[1, 2, 5, 8], None, random),
    ]);
    println!("{} unpools", tried.iter().sum::<usize>());
}

/// The only window of the first axis lies in the padding, so no index is in it, not even that of the only line of Y.
fn a_window_in_the_padding_has_no_element() {
    let pool = MaxPool::new([2, 2]).strides([3, 2]).pads([2, 0, 0, 0]);
    let (shape, pooled) = ([1, 1, 1, 64], [1, 1, 1, 32]);
    let x = Tensor::new(pooled, (1..33).map(|value| value as f32).collect()).unwrap();
    let indices: Vec<i64> = (0..32).map(|at| if at % 5 == 1 { 2 * at } else { -1 }).collect();
    let indices = Tensor::new(pooled, indices).unwrap();
    for rule in [OutsideWindow::Error, OutsideWindow::Skip] {
        let unpool = MaxUnpool::inverse_of(&pool, &shape).outside_window(rule);
        let plan = unpool.plan(&pooled, DType::F32, IndexType::I64).unwrap();
        let expected = match rule {
            OutsideWindow::Skip => Ok(Tensor::new(shape, vec![0.0f32; 64]).unwrap()),
            _ => Err(ExecuteError::IndexOutsideWindow { position: 1, count: 7 }),
        };
        assert_eq!(reference::max_unpool::<f32>(&plan, &x, &indices), expected);
        for schedule in schedules(&plan) {
            let prepared = gpu().prepare_blocking(schedule.clone()).unwrap();
            assert_eq!(calls::max_unpool::<f32>(&prepared, &x, &indices), expected, "{}", schedule.kernel());
        }
    }
}

/// A large unpool of this rule.
fn large(rule: OutsideWindow) -> Plan {
    let pool = MaxPool::new([2, 2]).strides([2, 2]);
    let unpool = MaxUnpool::inverse_of(&pool, &[1, 8, 64, 64]).outside_window(rule);
    unpool.plan(&[1, 8, 32, 32], DType::F32, IndexType::I64).unwrap()
}

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

fn tensors_beyond_the_limits_keep_to_windows_too() {
    let pool = MaxPool::new([2, 2]).strides([2, 2]);
    let shape = [1, 2, 40, 36];
    let random = &mut Random(7);
    let x = Tensor::<f32>::new(shape, values(2880, random)).unwrap();
    let plan = pool.plan(&shape, DType::F32, Some(IndexType::I64)).unwrap();
    let (y, indices) = reference::max_pool_with_indices::<f32, i64>(&plan, x.view()).unwrap();
    for rule in OutsideWindow::ALL {
        let unpool = MaxUnpool::inverse_of(&pool, &shape).outside_window(*rule);
        let plan = unpool.plan(y.shape(), DType::F32, IndexType::I64).unwrap();
        for bad in [None, Some(11)] {
            let mut indices = indices.data().to_vec();
            if let Some(at) = bad {
                indices[at] = 0;
            }
            let indices = Tensor::new(y.shape(), indices).unwrap();
            let expected = reference::max_unpool(&plan, y.view(), indices.view());
            let mut back = vec![f32::NAN; 2880];
            let (mut values, mut places) = (y.data(), indices.data());
            let stream = Stream::new(plan.clone(), 64 << 10).source(&mut values).source(&mut places).sink(&mut back);
            let found = stream.run_blocking(gpu());
            match expected {
                Ok(expected) => {
                    found.unwrap();
                    assert_eq!(
                        bytemuck::cast_slice::<f32, u32>(&back),
                        bytemuck::cast_slice::<f32, u32>(expected.data())
                    );
                }
                Err(error) => assert_eq!(found.map(|_| ()), Err(error)),
            }
        }
    }
}
