//! Chains of device tensors: one submit, one readback, and a step that does not fit leaves the chain as it was.

use gpu_test::gpu_test;
use support::calls::{self, reference};
use support::device::gpu;
use support::tensors::tensor;
use wgpu_pooling::wgpu::{self, BufferUsages};
use wgpu_pooling::{
    AdaptiveMaxPool, Chain, Choice, DType, DeviceTensor, ExecuteError, Family, Gpu, GpuOptions, Gradient, IndexSpace,
    IndexType, Layout, MaxPool, MaxUnpool, Open, OutOfBounds, Plan, PlanError, Prepare, Prepared, Reference, Tensor,
    TensorView, TopHat, select,
};

fn prepare(plan: impl Into<Prepare>) -> Prepared {
    gpu().prepare_blocking(plan).unwrap()
}

#[gpu_test]
fn pool_unpool_pool_take_one_submit_and_one_readback() {
    let x = tensor(&[2, 3, 9, 10]);
    let pool = MaxPool::new([3, 3]).strides([2, 2]).pads([1, 1, 1, 1]);
    let plan = pool.plan(x.shape(), DType::F32, Some(IndexType::I64)).unwrap();
    let inverse = MaxUnpool::inverse_of(&pool, x.shape());
    let inverse = inverse.plan(plan.output_shape(), DType::F32, IndexType::I64).unwrap();
    let grid = AdaptiveMaxPool::new([4, 3]).plan(x.shape(), DType::F32, Some(IndexType::I32)).unwrap();

    let (y, indices) = reference::max_pool_with_indices::<f32, i64>(&plan, x.view()).unwrap();
    let back = reference::max_unpool(&inverse, y.view(), indices.view()).unwrap();
    let cells = reference::max_pool_with_indices::<f32, i32>(&grid, back.view()).unwrap();

    let steps = [prepare(plan), prepare(inverse), prepare(grid)];
    let mut chain = gpu().chain();
    let on_device = chain.upload(x.view(), Layout::Nchw).unwrap();
    let [y, indices] = chain.step(&steps[0], &[&on_device]).unwrap();
    let [back] = chain.step(&steps[1], &[&y, &indices]).unwrap();
    let [values, places] = chain.step(&steps[2], &[&back]).unwrap();
    let [values, places] = [values, places].map(|tensor| (tensor.bytes(), tensor));
    let bytes = values.0 + places.0;
    let values = chain.read_back::<f32>(&values.1).unwrap();
    let places = chain.read_back::<i32>(&places.1).unwrap();
    let results = chain.run_blocking().unwrap();
    assert_eq!((results.take(values).unwrap(), results.take(places).unwrap()), cells);
    // Two tensors and a report of 32 bytes are read back, each at a multiple of 8 bytes.
    assert!((bytes + 32..bytes + 32 + 3 * 8).contains(&results.bytes_read_back()), "{}", results.bytes_read_back());
    // A tensor that was not read back is still on the device.
    assert_eq!(gpu().download_blocking::<f32>(&on_device).unwrap(), x);
}

#[gpu_test]
fn compositions_stay_on_the_device() {
    let x = tensor(&[2, 9, 10, 3]);
    let opened = Open::new([3, 2]).layout(Layout::Nhwc);
    let gradient = Gradient::new([2, 3]).layout(Layout::Nhwc);
    let between = opened.on(&x).run_blocking(&Reference).unwrap();
    let expected = gradient.on(&between).run_blocking(&Reference).unwrap();

    let mut chain = gpu().chain();
    let on_device = chain.upload(x.view(), Layout::Nhwc).unwrap();
    let [opened, gradient] = [opened.plan(x.shape(), DType::F32, None), gradient.plan(x.shape(), DType::F32, None)]
        .map(|plan| prepare(plan.unwrap()));
    let [between] = chain.step(&opened, &[&on_device]).unwrap();
    let [y] = chain.step(&gradient, &[&between]).unwrap();
    assert_eq!((y.shape(), y.layout()), (x.shape(), Layout::Nhwc));
    let y = chain.read_back::<f32>(&y).unwrap();
    let results = chain.run_blocking().unwrap();
    // Nothing between X and Y is read back.
    assert_eq!(results.bytes_read_back(), 4 * x.data().len() as u64);
    assert_eq!(results.take(y).unwrap(), expected);
    assert_eq!(gpu().download_blocking::<f32>(&on_device).unwrap(), x);
}

#[gpu_test]
fn compositions_that_do_not_fit_are_refused() {
    let mut chain = gpu().chain();
    let x = chain.upload(tensor(&[1, 1, 4, 5]).view(), Layout::Nchw).unwrap();
    let refused = |chain: &mut Chain, by_box: TopHat, shape: [usize; 4]| {
        let prepared = prepare(by_box.plan(&shape, DType::F32, None).unwrap());
        chain.step::<1>(&prepared, &[&x]).unwrap_err()
    };
    let (expected, actual) = (vec![1, 1, 4, 6], vec![1, 1, 4, 5]);
    let error = refused(&mut chain, TopHat::new([3, 3]), [1, 1, 4, 6]);
    assert_eq!(error, ExecuteError::ShapeMismatch { what: "x", expected, actual });
    let (expected, actual) = (Layout::Nhwc, Layout::Nchw);
    let error = refused(&mut chain, TopHat::new([3, 3]).layout(Layout::Nhwc), [1, 1, 4, 5]);
    assert_eq!(error, ExecuteError::LayoutMismatch { what: "x", expected, actual });
    // The chain is as it was.
    let y = chain.read_back::<f32>(&x).unwrap();
    let results = chain.run_blocking().unwrap();
    assert_eq!(results.take(y).unwrap(), tensor(&[1, 1, 4, 5]));
}

/// A pool and its unpool, twice into the same tensors; Y and the indices are parts of one buffer.
#[gpu_test]
fn steps_write_tensors_that_exist() {
    let pool = MaxPool::new([2, 2]).strides([2, 2]);
    let shape = [1, 3, 8, 6];
    let plan = pool.plan(&shape, DType::F32, Some(IndexType::I64)).unwrap();
    let inverse = MaxUnpool::inverse_of(&pool, &shape).plan(plan.output_shape(), DType::F32, IndexType::I64).unwrap();
    let steps = [prepare(plan.clone()), prepare(inverse.clone())];

    let usage = BufferUsages::STORAGE | BufferUsages::COPY_SRC;
    let descriptor = wgpu::BufferDescriptor { label: None, size: 1024, usage, mapped_at_creation: false };
    let arena = gpu().device().create_buffer(&descriptor);
    let part = |offset, dtype| {
        DeviceTensor::from_buffer(gpu(), arena.clone(), offset, plan.output_shape(), dtype, Layout::Nchw)
    };
    let (y, indices) = (part(512, DType::F32).unwrap(), part(0, DType::I64).unwrap());
    let back = gpu().zeros_blocking(shape, DType::F32, Layout::Nchw).unwrap();
    let narrow = gpu().zeros_blocking(plan.output_shape(), DType::I32, Layout::Nchw).unwrap();
    for seed in [1.0f32, -2.0] {
        let x = Tensor::new(shape, tensor(&shape).data().iter().map(|value| value * seed).collect()).unwrap();
        let mut chain = gpu().chain();
        let on_device = chain.upload(&x, Layout::Nchw).unwrap();
        chain.step_into(&steps[0], &[&on_device], &[&y, &indices]).unwrap();
        chain.step_into(&steps[1], &[&y, &indices], &[&back]).unwrap();
        let result = chain.read_back::<f32>(&back).unwrap();
        let done = chain.run_blocking().unwrap();
        let (values, places) = reference::max_pool_with_indices::<f32, i64>(&plan, x.view()).unwrap();
        let expected = reference::max_unpool(&inverse, values.view(), places.view()).unwrap();
        assert_eq!(done.take(result).unwrap(), expected);
    }

    // What does not fit is refused, and the chain is as it was.
    let mut chain = gpu().chain();
    let x = chain.upload(&tensor(&shape), Layout::Nchw).unwrap();
    let what = "y";
    let (expected, actual) = (plan.output_shape().to_vec(), shape.to_vec());
    let refused = chain.step_into(&steps[0], &[&x], &[&back, &indices]);
    assert_eq!(refused, Err(ExecuteError::ShapeMismatch { what, expected, actual }));
    let what = "indices";
    let refused = chain.step_into(&steps[0], &[&x], &[&y, &narrow]);
    assert_eq!(refused, Err(ExecuteError::TypeMismatch { what, expected: "i64", actual: "i32" }));
    let over = DeviceTensor::from_buffer(gpu(), arena.clone(), 256, plan.output_shape(), DType::F32, Layout::Nchw);
    let refused = chain.step_into(&steps[0], &[&x], &[&over.unwrap(), &indices]);
    let (of_first, of_second) = (256..256 + 144, 0..288);
    assert_eq!(refused, Err(ExecuteError::BufferOverlap { first: "y", second: what, of_first, of_second }));
    let refused = chain.step_into(&steps[1], &[&y, &indices], &[&x.clone()]);
    assert_eq!(refused, Ok(()));
    let same = chain.step_into(&steps[0], &[&x], &[&y, &indices]);
    assert_eq!(same, Ok(()));
    let other = Gpu::new_blocking().unwrap();
    let foreign = other.zeros_blocking(plan.output_shape(), DType::F32, Layout::Nchw).unwrap();
    let refused = chain.step_into(&steps[0], &[&x], &[&foreign, &indices]);
    assert!(matches!(refused, Err(ExecuteError::OtherGpu { .. })), "{refused:?}");
    chain.run_blocking().unwrap();
}

/// PyTorch's indices in an unpool that counts through the tensor would land in wrong planes.
#[gpu_test]
fn indices_know_how_they_count() {
    let x = tensor(&[2, 3, 8, 8]);
    let pool = MaxPool::pytorch([2, 2]);
    let plan = pool.plan(x.shape(), DType::F32, Some(IndexType::I64)).unwrap();
    let planes = plan.index_space().unwrap().clone();
    let whole = IndexSpace::new(2, 3, [8, 8]);
    let onnx = MaxUnpool::new([2, 2]).strides([2, 2]).plan(plan.output_shape(), DType::F32, IndexType::I64).unwrap();
    let inverse =
        MaxUnpool::inverse_of(&pool, x.shape()).plan(plan.output_shape(), DType::F32, IndexType::I64).unwrap();
    let (_, converted) = reference::max_pool_with_indices::<f32, i64>(&plan, x.view()).unwrap();
    let converted = planes.convert::<i64>(&whole, &converted).unwrap();
    let [pool, onnx, inverse] = [plan, onnx, inverse].map(|plan: Plan| prepare(plan));

    let mut chain = gpu().chain();
    let on_device = chain.upload(&x, Layout::Nchw).unwrap();
    assert_eq!(on_device.index_space(), None);
    let [y, indices] = chain.step(&pool, &[&on_device]).unwrap();
    assert_eq!((y.index_space(), indices.index_space()), (None, Some(&planes)));
    let mismatch = |expected: &IndexSpace, actual: &IndexSpace| {
        let [expected, actual] = [expected, actual].map(IndexSpace::to_string);
        ExecuteError::Plan(PlanError::IndexSpaceMismatch { expected, actual })
    };
    let refused = chain.step::<1>(&onnx, &[&y, &indices]).unwrap_err();
    assert_eq!(refused, mismatch(&whole, &planes));
    let text = "the indices count row_major through the plane of N, C and extents [2, 3, 8, 8], Nchw, but the operator \
                counts row_major through the tensor of N, C and extents [2, 3, 8, 8], Nchw";
    assert_eq!(refused.to_string(), text);
    let [back] = chain.step(&inverse, &[&y, &indices]).unwrap();
    let converted = chain.upload(&converted, Layout::Nchw).unwrap().with_index_space(whole.clone());
    assert_eq!(chain.step::<1>(&inverse, &[&y, &converted]).unwrap_err(), mismatch(&planes, &whole));
    let [again] = chain.step(&onnx, &[&y, &converted]).unwrap();
    // A tensor that exists is taken as what its owner says, or without a word.
    let named = gpu().zeros_blocking(y.shape(), DType::I64, Layout::Nchw).unwrap().with_index_space(whole.clone());
    let refused = chain.step_into(&pool, &[&on_device], &[&y, &named]);
    assert_eq!(refused, Err(mismatch(&planes, &whole)));
    let unnamed = gpu().zeros_blocking(y.shape(), DType::I64, Layout::Nchw).unwrap();
    chain.step_into(&pool, &[&on_device], &[&y, &unnamed]).unwrap();
    assert!(chain.step::<1>(&onnx, &[&y, &unnamed.clone().with_index_space(planes)]).is_err());
    chain.step::<1>(&inverse, &[&y, &unnamed]).unwrap();
    let (back, again) = (chain.read_back::<f32>(&back).unwrap(), chain.read_back::<f32>(&again).unwrap());
    let results = chain.run_blocking().unwrap();
    assert_eq!(results.take(back).unwrap(), results.take(again).unwrap());
}

#[gpu_test]
fn bad_indices_name_the_step_and_the_offender() {
    let unpool = MaxUnpool::new([2]).strides([2]);
    let [first, second, third] =
        [[4], [8], [16]].map(|[extent]| prepare(unpool.plan(&[1, 1, extent], DType::F32, IndexType::I32).unwrap()));
    let x = tensor(&[1, 1, 4]);
    let own = |count: i32| (0..count).map(|i| 2 * i).collect::<Vec<_>>();
    let mut bad = own(8);
    bad[5] = -7;
    bad[6] = i32::MAX;
    let run = |bad: Vec<i32>| {
        let mut chain = gpu().chain();
        let x = chain.upload(x.view(), Layout::Nchw).unwrap();
        let mut indices = |values: Vec<i32>| {
            chain.upload(TensorView::new(&[1, 1, values.len()], &values).unwrap(), Layout::Nchw).unwrap()
        };
        let indices = [indices(own(4)), indices(bad), indices(own(16))];
        let [y] = chain.step(&first, &[&x, &indices[0]]).unwrap();
        let [y] = chain.step(&second, &[&y, &indices[1]]).unwrap();
        let [y] = chain.step(&third, &[&y, &indices[2]]).unwrap();
        let y = chain.read_back::<f32>(&y).unwrap();
        chain.run_blocking().map(|results| results.take(y).unwrap())
    };
    let Err(ExecuteError::InChain { step: 1, kernel, error }) = run(bad) else { panic!("the second step is at fault") };
    assert!(kernel.contains("max_unpool"), "{kernel}");
    assert_eq!(*error, ExecuteError::IndexOutOfRange { position: 5, value: -7, index_count: 16, count: 2 });
    let y = run(own(8)).unwrap();
    assert_eq!((y.data()[0], y.data()[8], y.data()[24]), (x.data()[0], x.data()[1], x.data()[3]));
}

#[gpu_test]
fn a_step_that_does_not_fit_leaves_the_chain_as_it_was() {
    let x = tensor(&[1, 2, 6]);
    let pool = MaxPool::new([2]);
    let values = prepare(pool.plan(x.shape(), DType::F32, None).unwrap());
    let indexed = prepare(pool.plan(x.shape(), DType::F32, Some(IndexType::I64)).unwrap());
    let mut chain = gpu().chain();
    let on_device = chain.upload(x.view(), Layout::Nchw).unwrap();
    let bytes = chain.upload(TensorView::new(&[1, 2, 6], &[0u8; 12]).unwrap(), Layout::Nchw).unwrap();
    let other = chain.upload(tensor(&[2, 1, 6]).view(), Layout::Nchw).unwrap();
    let nhwc = chain.upload(x.view(), Layout::Nhwc).unwrap();
    let refused = |result: Result<[DeviceTensor; 1], ExecuteError>| result.unwrap_err();
    let (what, expected) = ("x", "f32");
    assert_eq!(
        refused(chain.step::<1>(&values, &[&bytes])),
        ExecuteError::TypeMismatch { what, expected, actual: "u8" }
    );
    let (expected, actual) = (vec![1, 2, 6], vec![2, 1, 6]);
    assert_eq!(refused(chain.step::<1>(&values, &[&other])), ExecuteError::ShapeMismatch { what, expected, actual });
    let (expected, actual) = (Layout::Nchw, Layout::Nhwc);
    assert_eq!(refused(chain.step::<1>(&values, &[&nhwc])), ExecuteError::LayoutMismatch { what, expected, actual });
    let count = |what, expected, actual| {
        ExecuteError::Plan(PlanError::OperandCount { operator: "max_pool", what, expected, actual })
    };
    assert_eq!(refused(chain.step::<1>(&indexed, &[&on_device])), count("outputs", "2", 1));
    assert_eq!(refused(chain.step::<1>(&values, &[&on_device, &on_device])), count("inputs", "1", 2));
    assert_eq!(chain.step_into(&indexed, &[&on_device], &[&on_device]).unwrap_err(), count("outputs", "2", 1));
    let mismatch = ExecuteError::ReadBackType { tensor: "f32", asked: "i32" };
    assert_eq!(chain.read_back::<i32>(&on_device).unwrap_err(), mismatch);

    let [y] = chain.step(&values, &[&on_device]).unwrap();
    let y = chain.read_back::<f32>(&y).unwrap();
    let expected = reference::max_pool(&pool.plan(x.shape(), DType::F32, None).unwrap(), x.view()).unwrap();
    assert_eq!(chain.run_blocking().unwrap().take(y).unwrap(), expected);
}

#[gpu_test]
fn callers_buffers_are_tensors_too() {
    let buffer = |size, usage| {
        gpu().device().create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false })
    };
    let tensor = |size, usage, offset, shape: &[usize]| {
        DeviceTensor::from_buffer(gpu(), buffer(size, usage), offset, shape, DType::F16, Layout::Nhwc)
    };
    let storage = BufferUsages::STORAGE;
    assert_eq!(tensor(512, storage, 256, &[1, 4, 8, 4]).unwrap().bytes(), 256);
    // Three elements of two bytes are two words.
    assert_eq!(tensor(8, storage, 0, &[1, 1, 3]).unwrap().bytes(), 8);
    let what = "buffer";
    let short = ExecuteError::BufferTooShort { what, needed: 256, actual: 252 };
    assert_eq!(tensor(508, storage, 256, &[1, 4, 8, 4]).unwrap_err(), short);
    let short = ExecuteError::BufferTooShort { what, needed: 4, actual: 0 };
    assert_eq!(tensor(256, storage, 512, &[1, 1, 1]).unwrap_err(), short);
    let alignment = u64::from(gpu().device().limits().min_storage_buffer_offset_alignment);
    let misaligned = ExecuteError::BufferMisaligned { what, offset: 4, alignment };
    assert_eq!(tensor(512, storage, 4, &[1, 1, 1]).unwrap_err(), misaligned);
    let unusable = ExecuteError::BufferUsage { what, usage: "STORAGE" };
    assert_eq!(tensor(512, BufferUsages::COPY_SRC, 0, &[1, 1, 1]).unwrap_err(), unusable);
    let huge = tensor(4, storage, 0, &[usize::MAX, usize::MAX, 1]).unwrap_err();
    assert!(matches!(huge, ExecuteError::Plan(PlanError::ShapeOverflow { .. })), "{huge:?}");
    let unreadable = tensor(8, storage, 0, &[1, 1, 3]).unwrap();
    let error = gpu().download_blocking::<half::f16>(&unreadable).unwrap_err();
    assert_eq!(error, ExecuteError::BufferUsage { what: "tensor", usage: "COPY_SRC" });
}

#[gpu_test]
fn tensors_and_readbacks_stay_with_their_own() {
    let other = Gpu::new_blocking().unwrap();
    let x = tensor(&[1, 1, 8]);
    let plan = MaxPool::new([2]).plan(x.shape(), DType::F32, None).unwrap();
    let (here, there) = (prepare(plan.clone()), other.prepare_blocking(plan).unwrap());
    let abroad = other.upload_blocking(x.view(), Layout::Nchw).unwrap();
    let mut chain = gpu().chain();
    let home = chain.upload(x.view(), Layout::Nchw).unwrap();
    assert_eq!(chain.step::<1>(&here, &[&abroad]).unwrap_err(), ExecuteError::OtherGpu { what: "x" });
    let what = "pool";
    assert_eq!(chain.step::<1>(&there, &[&home]).unwrap_err(), ExecuteError::OtherGpu { what });
    let what = "tensor";
    assert_eq!(chain.read_back::<f32>(&abroad).unwrap_err(), ExecuteError::OtherGpu { what });
    // A clone is the same `Gpu`. A second `Gpu` made from the same device is another one; its buffers can be used
    // through `from_buffer`.
    let guest = Gpu::from_wgpu(gpu().device().clone(), gpu().queue().clone());
    let guests = guest.upload_blocking(x.view(), Layout::Nchw).unwrap();
    assert_eq!(chain.step::<1>(&here, &[&guests]).unwrap_err(), ExecuteError::OtherGpu { what: "x" });
    let slice = guests.slice();
    let (buffer, offset) = (slice.buffer().clone(), slice.offset());
    let brought = DeviceTensor::from_buffer(gpu(), buffer, offset, x.shape(), DType::F32, Layout::Nchw).unwrap();
    chain.step::<1>(&here, &[&brought]).unwrap();
    let twin = gpu().clone().upload_blocking(x.view(), Layout::Nchw).unwrap();
    chain.step::<1>(&here, &[&twin]).unwrap();

    let mut second = gpu().chain();
    let wanted = second.read_back::<f32>(&home).unwrap();
    let own = chain.read_back::<f32>(&home).unwrap();
    let (results, others) = (chain.run_blocking().unwrap(), second.run_blocking().unwrap());
    assert_eq!(results.take(wanted).unwrap_err(), ExecuteError::OtherChain);
    assert_eq!(results.take(own).unwrap(), x);
    drop(others);
}

#[gpu_test]
fn scratch_memory_can_be_the_callers() {
    let x = tensor(&[2, 2, 20, 20]);
    let plan: Plan = MaxPool::new([5, 5]).plan(x.shape(), DType::F32, None).unwrap();
    let choice = Choice { family: Some(Family::Separable), ..Choice::default() };
    let schedule = select(&plan, &gpu().limits(), &choice).unwrap();
    assert_eq!(schedule.scratch().iter().sum::<u64>(), schedule.scratch_bytes());
    let [needed] = *schedule.scratch() else { panic!("two passes share one buffer: {:?}", schedule.scratch()) };
    let own = gpu().prepare_blocking(schedule.clone()).unwrap();
    let bare = gpu().prepare_blocking(Prepare::from(schedule).scratch_of_the_run()).unwrap();
    let expected = calls::max_pool(&own, x.view()).unwrap();
    assert_eq!(calls::max_pool(&bare, x.view()).unwrap(), expected);

    let buffer = |size, usage| {
        gpu().device().create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false })
    };
    let storage = BufferUsages::STORAGE;
    let on_device = gpu().upload_blocking(x.view(), Layout::Nchw).unwrap();
    let y = gpu().upload_blocking(tensor(expected.shape()).view(), Layout::Nchw).unwrap();
    let encode = |scratch: &[wgpu::BufferSlice<'_>], prepared: &Prepared| {
        let mut chain = gpu().chain();
        let (x, y) = (Some(on_device.slice()), Some(y.slice()));
        let buffers = wgpu_pooling::Buffers { x, y, scratch, ..Default::default() };
        prepared.encode(chain.encoder(), buffers)?;
        chain.run_blocking().map(|_| ())
    };
    let what = "scratch[0]";
    assert_eq!(encode(&[], &bare), Err(ExecuteError::BufferMissing { what }));
    let plain = buffer(needed, BufferUsages::COPY_DST);
    let usage = ExecuteError::BufferUsage { what, usage: "STORAGE" };
    assert_eq!(encode(&[plain.slice(..)], &bare), Err(usage));
    let short = buffer(needed - 4, storage);
    let error = ExecuteError::BufferTooShort { what, needed, actual: needed - 4 };
    assert_eq!(encode(&[short.slice(..)], &own), Err(error));
    let shared = ExecuteError::BufferShared { first: "y", second: what };
    let room = buffer(needed + 65_536, storage);
    let mut chain = gpu().chain();
    let crossed = wgpu_pooling::Buffers {
        x: Some(on_device.slice()),
        y: Some(room.slice(65_536..)),
        scratch: &[room.slice(..)],
        ..Default::default()
    };
    assert_eq!(bare.encode(chain.encoder(), crossed), Err(shared));
    for prepared in [&own, &bare] {
        encode(&[room.slice(256..)], prepared).unwrap();
        assert_eq!(gpu().download_blocking::<f32>(&y).unwrap(), expected);
    }
}

#[gpu_test]
fn timings_come_where_the_device_has_them_and_nothing_fails_elsewhere() {
    let run = |gpu: &Gpu| {
        let x = tensor(&[1, 2, 30, 30]);
        let plan = MaxPool::new([3, 3]).plan(x.shape(), DType::F32, None).unwrap();
        let expected = reference::max_pool(&plan, x.view()).unwrap();
        let pool = gpu.prepare_blocking(plan).unwrap();
        let mut chain = gpu.chain().timed();
        let x = chain.upload(x.view(), Layout::Nchw).unwrap();
        let [y] = chain.step(&pool, &[&x]).unwrap();
        chain.step::<1>(&pool, &[&x]).unwrap();
        let y = chain.read_back::<f32>(&y).unwrap();
        let results = chain.run_blocking().unwrap();
        assert_eq!(results.take(y).unwrap(), expected);
        results.timings().map(<[_]>::to_vec)
    };
    let timed = Gpu::open_blocking(&GpuOptions::new().timestamps()).unwrap();
    match (run(&timed), timed.device().features().contains(wgpu::Features::TIMESTAMP_QUERY)) {
        (Some(steps), true) => {
            assert_eq!(steps.len(), 2);
            assert!(steps.iter().all(|step| step.kernel.contains("max_pool")), "{steps:?}");
            // A device may finish a step within one tick of its clock, but hardly both steps.
            assert!(steps.iter().any(|step| !step.duration.is_zero()), "{steps:?}");
        }
        (None, false) => eprintln!("this adapter has no timestamps; that the chain runs all the same was tested"),
        other => panic!("{other:?}"),
    }
    assert_eq!(run(&Gpu::new_blocking().unwrap()), None, "timestamps were not asked for");
}

#[gpu_test]
fn chains_without_steps_and_tensors_without_elements() {
    assert_eq!(gpu().chain().run_blocking().unwrap().bytes_read_back(), 0);
    let none = Tensor::new([0, 3, 4], Vec::<f32>::new()).unwrap();
    let pool = prepare(MaxPool::new([2]).plan(none.shape(), DType::F32, Some(IndexType::I64)).unwrap());
    let mut chain = gpu().chain().timed();
    let x = chain.upload(none.view(), Layout::Nchw).unwrap();
    let [y, indices] = chain.step(&pool, &[&x]).unwrap();
    let (y, indices) = (chain.read_back::<f32>(&y).unwrap(), chain.read_back::<i64>(&indices).unwrap());
    let results = chain.run_blocking().unwrap();
    assert_eq!(results.take(y).unwrap().shape(), &[0, 3, 3]);
    assert!(results.take(indices).unwrap().data().is_empty());

    // An unpool of tensors without elements, with bad indices skipped.
    let unpool = MaxUnpool::new([2]).strides([2]).out_of_bounds(OutOfBounds::Skip);
    let unpool = prepare(unpool.plan(&[0, 1, 2], DType::F32, IndexType::I32).unwrap());
    let mut chain = gpu().chain();
    let x = chain.upload(TensorView::new(&[0, 1, 2], &[0f32; 0]).unwrap(), Layout::Nchw).unwrap();
    let indices = chain.upload(TensorView::new(&[0, 1, 2], &[0i32; 0]).unwrap(), Layout::Nchw).unwrap();
    let [y] = chain.step(&unpool, &[&x, &indices]).unwrap();
    assert_eq!(y.shape(), &[0, 1, 4]);
    chain.run_blocking().unwrap();
}

#[gpu_test]
fn outputs_to_encode_into_begin_as_zeros() {
    let x = tensor(&[1, 2, 9]);
    let plan = MaxPool::new([3]).plan(x.shape(), DType::F32, Some(IndexType::I32)).unwrap();
    let (y, indices) = reference::max_pool_with_indices::<f32, i32>(&plan, x.view()).unwrap();
    let pool = prepare(plan);
    let zeros = |dtype| gpu().zeros_blocking(pool.schedule().output_shape(), dtype, Layout::Nchw).unwrap();
    let (on_device, places) = (zeros(DType::F32), zeros(DType::I32));
    assert!(gpu().download_blocking::<f32>(&on_device).unwrap().data().iter().all(|value| value.to_bits() == 0));
    let x = gpu().upload_blocking(x.view(), Layout::Nchw).unwrap();
    let mut chain = gpu().chain();
    let buffers = wgpu_pooling::Buffers {
        x: Some(x.slice()),
        y: Some(on_device.slice()),
        indices_out: Some(places.slice()),
        ..Default::default()
    };
    pool.encode(chain.encoder(), buffers).unwrap();
    let (wanted, wanted_places) =
        (chain.read_back::<f32>(&on_device).unwrap(), chain.read_back::<i32>(&places).unwrap());
    let results = chain.run_blocking().unwrap();
    assert_eq!((results.take(wanted).unwrap(), results.take(wanted_places).unwrap()), (y, indices));
    let huge = gpu().zeros_blocking([1 << 40, 1, 1], DType::F64, Layout::Nchw).unwrap_err();
    assert!(matches!(huge, ExecuteError::Plan(PlanError::ExceedsLimit { .. })), "{huge:?}");
}

#[gpu_test]
fn a_dropped_chain_submits_nothing() {
    let x = tensor(&[1, 1, 64]);
    let pool = prepare(MaxPool::new([2]).strides([2]).plan(x.shape(), DType::F32, None).unwrap());
    let (x, y) = (gpu().upload_blocking(x.view(), Layout::Nchw).unwrap(), tensor(&[1, 1, 32]));
    let on_device = gpu().upload_blocking(y.view(), Layout::Nchw).unwrap();
    let mut chain = gpu().chain();
    let buffers = wgpu_pooling::Buffers { x: Some(x.slice()), y: Some(on_device.slice()), ..Default::default() };
    pool.encode(chain.encoder(), buffers).unwrap();
    drop(chain);
    assert_eq!(gpu().download_blocking::<f32>(&on_device).unwrap(), y);
    // A submitted chain whose results nobody wants leaves the device working.
    let mut chain = gpu().chain();
    chain.step::<1>(&pool, &[&x]).unwrap();
    drop(chain.submit().unwrap());
    assert_eq!(gpu().download_blocking::<f32>(&on_device).unwrap(), y);
}
