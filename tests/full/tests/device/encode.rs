//! Encoding into the caller's own encoder, with the caller's buffers: nothing is submitted, and what does not fit is an
//! error before wgpu sees it.

use gpu_test::gpu_test;
use support::calls::reference;
use support::device::{POISON, gpu};
use support::tensors::tensor;
use wgpu_pooling::wgpu::{self, BufferUsages};
use wgpu_pooling::{
    Buffers, Choice, DType, Element, ExecuteError, IndexType, Limits, MaxPool, MaxUnpool, OutsideWindow, Plan,
    Prepared, Tensor, families, select,
};

const STORAGE: BufferUsages = BufferUsages::STORAGE.union(BufferUsages::COPY_SRC).union(BufferUsages::COPY_DST);

fn buffer(words: usize, usage: BufferUsages) -> wgpu::Buffer {
    let descriptor = wgpu::BufferDescriptor { label: None, size: words as u64 * 4, usage, mapped_at_creation: false };
    let buffer = gpu().device().create_buffer(&descriptor);
    if usage.contains(BufferUsages::COPY_DST) {
        gpu().queue().write_buffer(&buffer, 0, bytemuck::cast_slice(&vec![POISON; words]));
    }
    buffer
}

fn read(buffer: &wgpu::Buffer) -> Vec<u32> {
    let staging = buffer_of(buffer.size(), BufferUsages::MAP_READ | BufferUsages::COPY_DST);
    let mut encoder = gpu().device().create_command_encoder(&Default::default());
    encoder.copy_buffer_to_buffer(buffer, 0, &staging, 0, buffer.size());
    gpu().queue().submit([encoder.finish()]);
    staging.map_async(wgpu::MapMode::Read, .., |result| result.expect("the buffer can be mapped"));
    gpu().device().poll(wgpu::PollType::wait_indefinitely()).expect("the device answers");
    bytemuck::pod_collect_to_vec(&staging.get_mapped_range(..).expect("the buffer is mapped"))
}

fn buffer_of(size: u64, usage: BufferUsages) -> wgpu::Buffer {
    gpu().device().create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false })
}

/// A pool and its unpool in one encoder, between slices of larger buffers.
#[gpu_test]
fn a_chain_on_the_device_needs_one_submit_and_leaves_the_surroundings_alone() {
    let pool = MaxPool::new([2, 2]).strides([2, 2]);
    let x = tensor(&[1, 3, 8, 6]);
    let plan = pool.plan(x.shape(), DType::F32, Some(IndexType::I64)).unwrap();
    let unpool = MaxUnpool::inverse_of(&pool, x.shape());
    let unpool = unpool.plan(plan.output_shape(), DType::F32, IndexType::I64).unwrap();
    let (y, indices) = reference::max_pool_with_indices::<f32, i64>(&plan, x.view()).unwrap();
    let back = reference::max_unpool(&unpool, y.view(), indices.view()).unwrap();

    // Every slice begins 64 words into its buffer and ends 64 words before its end.
    let edge = 256u64;
    let around = |words: usize| buffer(words + 128, STORAGE);
    let [x_buffer, y_buffer, back_buffer] = [144, 36, 144].map(around);
    let [indices_buffer, report] = [72, 8].map(around);
    gpu().queue().write_buffer(&x_buffer, edge, bytemuck::cast_slice(x.data()));
    let prepare = |plan: wgpu_pooling::Plan| gpu().prepare_blocking(plan).unwrap();
    let steps: [Prepared; 2] = [prepare(plan), prepare(unpool)];
    let mut encoder = gpu().device().create_command_encoder(&Default::default());
    let none = Buffers::default();
    let first = Buffers {
        x: Some(x_buffer.slice(edge..)),
        y: Some(y_buffer.slice(edge..)),
        indices_out: Some(indices_buffer.slice(edge..)),
        ..none
    };
    steps[0].encode(&mut encoder, first).unwrap();
    let second = Buffers {
        x: Some(y_buffer.slice(edge..)),
        indices: Some(indices_buffer.slice(edge..)),
        y: Some(back_buffer.slice(edge..)),
        report: Some(report.slice(edge..)),
        ..none
    };
    // The other is in a pass of the caller's.
    let mut pass = encoder.begin_compute_pass(&Default::default());
    steps[1].encode_pass(&mut pass, second).unwrap();
    drop(pass);
    assert!(read(&y_buffer).iter().all(|&word| word == POISON), "nothing was submitted yet");
    gpu().queue().submit([encoder.finish()]);

    let check = |buffer: &wgpu::Buffer, expected: &[u32]| {
        let words = read(buffer);
        assert_eq!(&words[64..64 + expected.len()], expected);
        assert!(words[..64].iter().chain(&words[64 + expected.len()..]).all(|&word| word == POISON));
    };
    check(&y_buffer, bytemuck::cast_slice(y.data()));
    check(&indices_buffer, bytemuck::cast_slice(indices.data()));
    check(&back_buffer, bytemuck::cast_slice(back.data()));
    check(&report, &[0; 8]);
}

#[gpu_test]
fn a_packed_tensor_owns_its_last_word_and_nothing_behind_it() {
    let x = Tensor::new([1, 1, 6], vec![1u8, 9, 2, 8, 3, 7]).unwrap();
    let plan = MaxPool::new([2]).plan(x.shape(), DType::U8, None).unwrap();
    let prepared = gpu().prepare_blocking(plan).unwrap();
    let (input, output) = (buffer(2, STORAGE), buffer(4, STORAGE));
    gpu().queue().write_buffer(&input, 0, &[1, 9, 2, 8, 3, 7, 0xEE, 0xEE]);
    let mut encoder = gpu().device().create_command_encoder(&Default::default());
    let buffers = Buffers { x: Some(input.slice(..)), y: Some(output.slice(..)), ..Buffers::default() };
    prepared.encode(&mut encoder, buffers).unwrap();
    gpu().queue().submit([encoder.finish()]);
    let words = read(&output);
    let bytes: &[u8] = bytemuck::cast_slice(&words);
    assert_eq!(&bytes[..8], &[9, 9, 8, 8, 7, 0, 0, 0]);
    assert_eq!(&words[2..], &[POISON; 2]);
}

/// A pool and its unpool, bound once. Each frame has other elements.
#[gpu_test]
fn buffers_are_bound_once_and_recorded_any_number_of_times() {
    let pool = MaxPool::new([3, 3]).strides([2, 2]).pads([1, 1, 1, 1]);
    let shape = [2, 3, 9, 10];
    let plan = pool.plan(&shape, DType::F32, Some(IndexType::I64)).unwrap();
    let inverse = MaxUnpool::inverse_of(&pool, &shape);
    let inverse = inverse.plan(plan.output_shape(), DType::F32, IndexType::I64).unwrap();
    let [prepared, unpool] =
        [plan.clone(), inverse.clone()].map(|plan: wgpu_pooling::Plan| gpu().prepare_blocking(plan).unwrap());
    let y_words = plan.output_shape().iter().product();
    let [x, y, back] = [540, y_words, 540].map(|words| buffer(words, STORAGE));
    let (indices, report) = (buffer(2 * y_words, STORAGE), buffer(8, STORAGE));
    let none = Buffers::default();
    let (of_x, of_y, of_indices) = (Some(x.slice(..)), Some(y.slice(..)), Some(indices.slice(..)));
    let pooled = Buffers { x: of_x, y: of_y, indices_out: of_indices, ..none };
    let unpooled =
        Buffers { x: of_y, indices: of_indices, y: Some(back.slice(..)), report: Some(report.slice(..)), ..none };
    let (pooled, unpooled) = (prepared.bind(pooled).unwrap(), unpool.bind(unpooled).unwrap());
    assert_eq!(pooled.schedule().kernel(), prepared.schedule().kernel());
    // The buffers and preparations are kept by what was bound.
    drop((prepared, unpool));
    for frame in 0..3 {
        let values = (0..540).map(|number| ((number * 37 + frame * 101) % 83) as f32 - 40.0).collect();
        let frame = Tensor::new(shape, values).unwrap();
        gpu().queue().write_buffer(&x, 0, bytemuck::cast_slice(frame.data()));
        let mut encoder = gpu().device().create_command_encoder(&Default::default());
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pooled.encode(&mut pass).unwrap();
        unpooled.clone().encode(&mut pass).unwrap();
        drop(pass);
        gpu().queue().submit([encoder.finish()]);
        let (expected, places) = reference::max_pool_with_indices::<f32, i64>(&plan, frame.view()).unwrap();
        assert_eq!(read(&y), bytemuck::cast_slice::<f32, u32>(expected.data()));
        let expected = reference::max_unpool(&inverse, expected.view(), places.view()).unwrap();
        assert_eq!(read(&back), bytemuck::cast_slice::<f32, u32>(expected.data()));
        assert_eq!(read(&report), [0; 8]);
    }
}

/// Y and Indices in one buffer, in every family and build, whole and cut.
#[gpu_test]
fn outputs_may_be_parts_of_one_buffer_that_do_not_overlap() {
    let plan = MaxPool::new([3, 3]).plan(&[2, 3, 40, 36], DType::F32, Some(IndexType::I64)).unwrap();
    let x = tensor(plan.input_shape());
    let (expected, places) = reference::max_pool_with_indices::<f32, i64>(&plan, x.view()).unwrap();
    let (y_bytes, indices_bytes) = (expected.data().len() as u64 * 4, places.data().len() as u64 * 8);
    // Y lies behind Indices.
    let behind = (256 + indices_bytes).next_multiple_of(256);
    let arena = buffer((behind + y_bytes) as usize / 4, STORAGE);
    let input = buffer(x.data().len(), STORAGE);
    gpu().queue().write_buffer(&input, 0, bytemuck::cast_slice(x.data()));
    let buffers = |y: u64, indices: u64| Buffers {
        x: Some(input.slice(..)),
        y: Some(arena.slice(y..y + y_bytes)),
        indices_out: Some(arena.slice(indices..indices + indices_bytes)),
        ..Buffers::default()
    };
    let cut = Limits { max_binding_bytes: 8 << 10, ..gpu().limits() };
    for limits in [gpu().limits(), cut] {
        for family in families(&plan, &limits) {
            for &build in family.builds() {
                let choice = Choice { family: Some(family), build: Some(build) };
                let prepared = gpu().prepare_blocking(select(&plan, &limits, &choice).unwrap()).unwrap();
                gpu().queue().write_buffer(&arena, 0, &vec![0xA5; arena.size() as usize]);
                let mut encoder = gpu().device().create_command_encoder(&Default::default());
                prepared.encode(&mut encoder, buffers(behind, 256)).unwrap();
                gpu().queue().submit([encoder.finish()]);
                let words = read(&arena);
                let [of_y, of_indices] = [(behind, y_bytes), (256, indices_bytes)]
                    .map(|(begin, bytes)| &words[begin as usize / 4..(begin + bytes) as usize / 4]);
                assert_eq!(of_y, bytemuck::cast_slice::<f32, u32>(expected.data()), "{family:?} {build:?}");
                assert_eq!(of_indices, bytemuck::cast_slice::<i64, u32>(places.data()), "{family:?} {build:?}");
                assert_eq!(words[..64], [0xA5A5_A5A5; 64], "{family:?} {build:?}");
            }
        }
    }
    let prepared = gpu().prepare_blocking(plan).unwrap();
    let mut encoder = gpu().device().create_command_encoder(&Default::default());
    let (first, second) = ("y", "indices_out");
    let (of_first, of_second) = (256..256 + y_bytes, 256 + 256..512 + indices_bytes);
    let overlap = ExecuteError::BufferOverlap { first, second, of_first, of_second };
    assert_eq!(prepared.encode(&mut encoder, buffers(256, 512)), Err(overlap.clone()));
    assert_eq!(prepared.bind(buffers(256, 512)).map(|_| ()), Err(overlap));
}

/// Ranges of one buffer, each at a multiple of 256 bytes, with 256 bytes between them.
fn ranges<const N: usize>(bytes: [u64; N]) -> ([std::ops::Range<u64>; N], u64) {
    let mut end = 0;
    let ranges = bytes.map(|bytes| {
        let begin = (end + 256u64).next_multiple_of(256);
        end = begin + bytes;
        begin..end
    });
    (ranges, end + 256)
}

/// X, Y and Indices of a pool, then those of its unpool with the report, in one buffer: in every family and build,
/// whole and cut. What lies between the tensors is not written.
#[gpu_test]
fn inputs_may_lie_beside_outputs_where_they_are_bound_as_writable() {
    in_one_buffer::<f32>();
    in_one_buffer::<u8>();
}

fn in_one_buffer<T: Element>() {
    let pool = MaxPool::new([3, 3]).strides([2, 2]);
    let shape = [2, 3, 40, 36];
    let plan = pool.plan(&shape, T::DTYPE, Some(IndexType::I64)).unwrap();
    let x = Tensor::new(shape, (0..8640).map(|number| T::from_bits64(number * number % 97)).collect()).unwrap();
    let (y, indices) = reference::max_pool_with_indices::<T, i64>(&plan, &x).unwrap();
    let of_indices = bytemuck::cast_slice(indices.data());
    let [of_x, of_y] = [&x, &y].map(|tensor| bytemuck::cast_slice(tensor.data()));
    runs_in_one_buffer(&plan, [of_x, of_y, of_indices]);
    for rule in OutsideWindow::ALL {
        let unpool = MaxUnpool::inverse_of(&pool, &shape).outside_window(*rule);
        let unpool = unpool.plan(plan.output_shape(), T::DTYPE, IndexType::I64).unwrap();
        let back = reference::max_unpool(&unpool, &y, &indices).unwrap();
        runs_in_one_buffer(&unpool, [of_y, bytemuck::cast_slice(back.data()), of_indices]);
    }
}

/// Runs a plan whose X, Y and indices have these bytes in ranges of one buffer.
fn runs_in_one_buffer(plan: &Plan, contents: [&[u8]; 3]) {
    let unpools = matches!(plan, Plan::Unpool(_));
    let sizes = [contents[0].len(), contents[1].len(), contents[2].len(), 32];
    let ([x, y, indices, report], size) = ranges(sizes.map(|bytes| bytes.next_multiple_of(4) as u64));
    let arena = buffer(size as usize / 4, STORAGE);
    let slice = |range: &std::ops::Range<u64>| Some(arena.slice(range.clone()));
    let buffers = Buffers {
        x: slice(&x),
        y: slice(&y),
        indices: slice(&indices).filter(|_| unpools),
        indices_out: slice(&indices).filter(|_| !unpools),
        report: slice(&report).filter(|_| unpools),
        ..Buffers::default()
    };
    let mut expected = vec![0xA5; size as usize];
    let at = |range: &std::ops::Range<u64>| range.start as usize..range.end as usize;
    for (range, bytes) in [&x, &y, &indices].into_iter().zip(contents) {
        expected[at(range)].fill(0);
        expected[at(range)][..bytes.len()].copy_from_slice(bytes);
    }
    expected[at(&report)].fill(if unpools { 0 } else { 0xA5 });
    let cut = Limits { max_binding_bytes: 16 << 10, ..gpu().limits() };
    let limits = [gpu().limits(), cut];
    for (limits, family) in
        limits.iter().flat_map(|limits| families(plan, limits).into_iter().map(move |it| (limits, it)))
    {
        for &build in family.builds() {
            let choice = Choice { family: Some(family), build: Some(build) };
            let Ok(schedule) = select(plan, limits, &choice) else { continue };
            let refused = gpu().prepare_blocking(schedule.clone()).unwrap().bind(buffers);
            assert!(matches!(refused, Err(ExecuteError::BufferShared { first: "x", .. })), "{refused:?}");
            let prepared = gpu().prepare_blocking(schedule.with_writable_inputs()).unwrap();
            let mut before = expected.clone();
            before[at(&y)].fill(0xA5);
            if !unpools {
                before[at(&indices)].fill(0xA5);
            }
            gpu().queue().write_buffer(&arena, 0, &before);
            let mut encoder = gpu().device().create_command_encoder(&Default::default());
            prepared.encode(&mut encoder, buffers).unwrap();
            gpu().queue().submit([encoder.finish()]);
            assert!(bytemuck::cast_slice::<u32, u8>(&read(&arena)) == expected, "{plan:?}, {choice:?}, {limits:?}");
            // One of them a step to the left overlaps its neighbour.
            let overlapping = Buffers { y: slice(&(x.end.next_multiple_of(256) - 256..size)), ..buffers };
            let refused = prepared.bind(overlapping);
            assert!(matches!(refused, Err(ExecuteError::BufferOverlap { first: "x", second: "y", .. })), "{refused:?}");
        }
    }
}

#[gpu_test]
fn buffers_that_do_not_fit_are_errors_before_anything_is_encoded() {
    let plan = MaxPool::new([2]).plan(&[1, 1, 70], DType::F32, None).unwrap();
    let prepared = gpu().prepare_blocking(plan).unwrap();
    let refused = |x: Option<wgpu::BufferSlice<'_>>, y: Option<wgpu::BufferSlice<'_>>| {
        let mut encoder = gpu().device().create_command_encoder(&Default::default());
        let buffers = Buffers { x, y, ..Buffers::default() };
        let error = prepared.encode(&mut encoder, buffers).unwrap_err();
        assert_eq!(prepared.bind(buffers).map(|_| ()), Err(error.clone()));
        error
    };
    let (x, y, large) = (buffer(70, STORAGE), buffer(69, STORAGE), buffer(256, STORAGE));
    let unusable = buffer(70, BufferUsages::COPY_DST);
    let (x, y) = (Some(x.slice(..)), Some(y.slice(..)));
    assert_eq!(refused(None, y), ExecuteError::BufferMissing { what: "x" });
    assert_eq!(refused(x, None), ExecuteError::BufferMissing { what: "y" });
    let short = large.slice(..4 * 69);
    assert_eq!(refused(Some(short), y), ExecuteError::BufferTooShort { what: "x", needed: 280, actual: 276 });
    let alignment = u64::from(gpu().device().limits().min_storage_buffer_offset_alignment);
    assert_eq!(refused(Some(large.slice(4..)), y), ExecuteError::BufferMisaligned { what: "x", offset: 4, alignment });
    let usage = "STORAGE";
    assert_eq!(refused(Some(unusable.slice(..)), y), ExecuteError::BufferUsage { what: "x", usage });
    let (front, back) = (large.slice(..280), large.slice(512..));
    assert_eq!(refused(Some(front), Some(back)), ExecuteError::BufferShared { first: "x", second: "y" });

    // Bad indices have to be reported somewhere, unless they are to be skipped.
    let unpool = MaxUnpool::new([2]).strides([2]).plan(&[1, 1, 4], DType::F32, IndexType::I32).unwrap();
    let prepared = gpu().prepare_blocking(unpool).unwrap();
    let [x, indices, y] = [4, 4, 8].map(|words| buffer(words, STORAGE));
    let mut encoder = gpu().device().create_command_encoder(&Default::default());
    let buffers =
        Buffers { x: Some(x.slice(..)), indices: Some(indices.slice(..)), y: Some(y.slice(..)), ..Buffers::default() };
    assert_eq!(prepared.encode(&mut encoder, buffers), Err(ExecuteError::BufferMissing { what: "report" }));
    assert_eq!(prepared.read_report([0; 8]), Ok(()));
    let bad = ExecuteError::IndexOutOfRange { position: 2, value: -1, index_count: 8, count: 1 };
    assert_eq!(prepared.read_report([1, !2, u32::MAX, u32::MAX, 0, 0, 0, 0]), Err(bad));
    let pool = gpu().prepare_blocking(MaxPool::new([2]).plan(&[1, 1, 70], DType::F32, None).unwrap()).unwrap();
    let (planned, called) = ("pool", "report");
    assert_eq!(pool.read_report([0; 8]), Err(ExecuteError::OperatorMismatch { planned, called }));
}
