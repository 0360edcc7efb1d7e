//! The specialised kernels against the reference, bit by bit.
//!
//! Each kernel is compiled for its window, which takes longer than running a case. The kernels therefore run on a fixed
//! list of configurations: every way in which a kernel reads, compares and writes, with every element type for which
//! this way differs.

use support::calls::{self, reference};
use support::device::gpu;
use support::splitmix::{STEP, splitmix64};
use support::tests;
use wgpu_pooling::{
    Activation, AdaptiveMaxPool, Build, Choice, DType, Element, EmptyIndex, EmptyValue, Family, GlobalMaxPool, Index,
    IndexFlattening, IndexType, Layout, Limits, MaxPool, MaxUnpool, Minimum, NanPolicy, Plan, Pooling, Schedule,
    StorageOrder, Tensor, UnpoolSpace, select,
};

tests! {
    gpu =>
        blocks_along_the_last_axis,
        words_of_small_elements_in_odd_rows,
        blocks_of_every_index_convention,
        thread_tiles_of_several_lines,
        blocks_of_channels,
        blocks_in_several_dispatches,
        planes_reduced_in_two_dispatches,
        windows_shared_by_teams,
        windows_that_slide,
        unpools_by_cells,
        unpools_in_rows_that_begin_within_words,
        unpools_of_windows_that_overlap;
    cpu =>
        the_list_is_short;
}

/// Elements that tell kernels apart: ties everywhere, and the special values of each type: NaN of several payloads,
/// infinities, both zeros, subnormals, the largest and the smallest.
fn bits<T: Element>(count: usize, seed: u64) -> Vec<T> {
    let special: &[u64] = match T::DTYPE {
        DType::F32 => {
            &[0x7fc0_0000, 0xffc0_1234, 0x7f80_0001, 0x7f80_0000, 0xff80_0000, 0, 0x8000_0000, 1, 0x8000_0001]
        }
        DType::F16 => &[0x7e00, 0xfe01, 0x7c01, 0x7c00, 0xfc00, 0, 0x8000, 1, 0x8001],
        DType::Bf16 => &[0x7fc0, 0xffc1, 0x7f81, 0x7f80, 0xff80, 0, 0x8000, 1, 0x8001],
        DType::F64 => &[
            0x7ff8_0000_0000_0000,
            0xfff8_0000_0000_0001,
            0x7ff0_0000_0000_0001,
            0x7ff0_0000_0000_0000,
            0xfff0_0000_0000_0000,
            0,
            0x8000_0000_0000_0000,
            1,
            0x8000_0000_0000_0001,
        ],
        _ => &[0, 0x8080_8080_8080_8080, 0x7f7f_7f7f_7f7f_7f7f, u64::MAX, 1],
    };
    let mut state = seed;
    let mut next = move || {
        let number = splitmix64(state);
        state = state.wrapping_add(STEP);
        number
    };
    let ordinary = |random: u64| match T::DTYPE {
        DType::F32 => u64::from((random as i8 as f32 / 16.0).to_bits()),
        DType::F16 => u64::from(half::f16::from_f32(random as i8 as f32 / 16.0).to_bits()),
        DType::Bf16 => u64::from(half::bf16::from_f32(random as i8 as f32 / 16.0).to_bits()),
        DType::F64 => (random as i8 as f64 / 16.0).to_bits(),
        _ => (random as i8 / 8) as i64 as u64,
    };
    let mask = if size_of::<T>() == 8 { u64::MAX } else { (1 << (size_of::<T>() * 8)) - 1 };
    let value = |random: u64| match random >> 61 {
        0 => special[(random >> 8) as usize % special.len()],
        _ => ordinary(random),
    };
    // In floats a fifth of the elements, side by side, are NaN of both signs.
    let nan = |random: u64| T::DTYPE.nan_bits() | (random >> 63) << (size_of::<T>() * 8 - 1);
    let is_missing = |at: usize| T::DTYPE.is_float() && (2 * count..3 * count).contains(&(5 * at));
    let bits = |at: usize, random: u64| if is_missing(at) { nan(random) } else { value(random) & mask };
    (0..count).map(|at| T::from_bits64(bits(at, next()))).collect()
}

fn same<T: Element>(what: &str, found: &Tensor<T>, expected: &Tensor<T>) {
    assert_eq!(found.shape(), expected.shape(), "{what}");
    let bits = |tensor: &Tensor<T>| tensor.data().iter().map(|value| value.to_bits64()).collect::<Vec<u64>>();
    let (found, expected) = (bits(found), bits(expected));
    if let Some(at) = (0..found.len()).find(|&at| found[at] != expected[at]) {
        panic!("{what}: element {at} of {} is {:#x}, not {:#x}", found.len(), found[at], expected[at]);
    }
}

/// The schedule that a GPU takes, and that of a software adapter if it is another one.
fn schedules(plan: &Plan, limits: &Limits, choice: &Choice) -> Vec<Schedule> {
    let select = |software| {
        let limits = Limits { software, ..*limits };
        select(plan, &limits, choice).unwrap_or_else(|error| panic!("{plan:?}: {error}"))
    };
    let (hardware, software) = (select(false), select(true));
    if hardware.dispatches() == software.dispatches() { vec![hardware] } else { vec![hardware, software] }
}

fn with_indices<T: Element, I: Index>(family: Family, plan: &Plan, limits: &Limits) {
    let choice = Choice { family: Some(family), build: None };
    for schedule in schedules(plan, limits, &choice) {
        is_right::<T, I>(plan, schedule);
    }
}

fn is_right<T: Element, I: Index>(plan: &Plan, schedule: Schedule) {
    let count = plan.input_shape().iter().product();
    let x = Tensor::<T>::new(plan.input_shape(), bits(count, count as u64)).unwrap();
    let what =
        format!("{} with {} on {:?}", schedule.kernel(), schedule.dispatches()[0].key().name(), plan.input_shape());
    let prepared = gpu().prepare_blocking(schedule).unwrap();
    if plan.index_type().is_none() {
        let y = calls::max_pool::<T>(&prepared, x.view()).unwrap();
        same(&what, &y, &reference::max_pool(plan, x.view()).unwrap());
        return;
    }
    let (y, indices) = calls::max_pool_with_indices::<T, I>(&prepared, x.view()).unwrap();
    let (expected_y, expected_indices) = reference::max_pool_with_indices::<T, I>(plan, x.view()).unwrap();
    same(&what, &y, &expected_y);
    same(&what, &indices, &expected_indices);
}

fn of_type<T: Element>(family: Family, plan: &Plan, limits: &Limits) {
    match plan.index_type() {
        Some(IndexType::I64) => with_indices::<T, i64>(family, plan, limits),
        _ => with_indices::<T, i32>(family, plan, limits),
    }
}

fn agrees_within(
    limits: &Limits,
    family: Family,
    pool: &dyn Pooling,
    shape: &[usize],
    dtype: DType,
    indices: Option<IndexType>,
) {
    // Minima take the same kernels with another constant.
    let plan = match shape.iter().sum::<usize>() % 3 {
        0 => Minimum::of(pool).plan(shape, dtype, indices).unwrap(),
        _ => pool.plan(shape, dtype, indices).unwrap(),
    };
    let run = match dtype {
        DType::F32 => of_type::<f32>,
        DType::F16 => of_type::<half::f16>,
        DType::Bf16 => of_type::<half::bf16>,
        DType::F64 => of_type::<f64>,
        DType::I8 => of_type::<i8>,
        DType::U8 => of_type::<u8>,
        DType::I16 => of_type::<i16>,
        DType::U16 => of_type::<u16>,
        DType::I32 => of_type::<i32>,
        DType::U32 => of_type::<u32>,
        DType::I64 => of_type::<i64>,
        DType::U64 => of_type::<u64>,
    };
    run(family, &plan, limits);
}

fn agrees(family: Family, pool: &dyn Pooling, shape: &[usize], dtype: DType, indices: Option<IndexType>) {
    agrees_within(&gpu().limits(), family, pool, shape, dtype, indices);
}

const NONE: Option<IndexType> = None;
const I32: Option<IndexType> = Some(IndexType::I32);
const I64: Option<IndexType> = Some(IndexType::I64);

fn blocks_along_the_last_axis() {
    let run =
        |pool: &dyn Pooling, shape: &[usize], dtype, indices| agrees(Family::ThreadTile, pool, shape, dtype, indices);
    let halves = MaxPool::new([2, 2]).strides([2, 2]);
    run(&halves, &[2, 3, 6, 64], DType::F32, I64);
    run(&halves.clone().activation(Activation::Relu), &[2, 3, 6, 64], DType::F16, NONE);
    run(&halves, &[2, 3, 6, 64], DType::U8, I64);
    run(&halves, &[1, 2, 7, 13], DType::F64, I32);
    // Windows that overlap, in padding on both sides, with every NaN policy.
    let thirds = MaxPool::new([3, 3]).pads([1, 1, 1, 1]);
    run(&thirds, &[2, 2, 9, 24], DType::F16, I32);
    run(&thirds.clone().nan_policy(NanPolicy::PropagateLast), &[2, 2, 9, 24], DType::F32, I64);
    run(&thirds.clone().nan_policy(NanPolicy::SeedLowest).strides([2, 2]), &[1, 3, 9, 15], DType::F32, I32);
    let ignoring = thirds.nan_policy(NanPolicy::Ignore).empty_value(EmptyValue::Nan);
    run(&ignoring, &[2, 2, 9, 24], DType::F32, NONE);
    run(&ignoring.empty_index(EmptyIndex::UnitBase), &[2, 2, 9, 25], DType::F16, I32);
    // Dilated, where the first taps that lie inside differ from row to row and from column to column.
    run(&MaxPool::new([2, 3]).dilations([5, 3]).pads([4, 5, 4, 4]), &[1, 2, 9, 11], DType::F32, I32);
    // One and three axes, strides beyond the window, and adaptive windows that are all alike.
    run(&MaxPool::new([2]).strides([5]).pads([1, 0]), &[2, 3, 41], DType::U32, NONE);
    run(&MaxPool::new([2, 3, 1]).strides([1, 2, 3]).pads([1, 1, 0, 0, 1, 0]), &[1, 2, 4, 5, 12], DType::I32, I32);
    run(&AdaptiveMaxPool::new([7, 7]), &[2, 3, 14, 14], DType::F32, I64);
}

/// Rows that are not a whole number of words: words of outputs cross the ends of rows, planes and dispatches.
fn words_of_small_elements_in_odd_rows() {
    let run = |pool: &MaxPool, shape: &[usize], dtype, indices| agrees(Family::ThreadTile, pool, shape, dtype, indices);
    let thirds = MaxPool::new([3, 3]).pads([1, 1, 1, 1]);
    run(&thirds, &[2, 3, 5, 7], DType::U8, I64);
    // Dilated windows, and windows over three axes.
    run(&MaxPool::new([2, 3]).strides([3, 3]).dilations([2, 2]).pads([1; 4]), &[1, 3, 11, 41], DType::I16, NONE);
    run(&MaxPool::new([3, 2, 3]).pads([1, 0, 1, 1, 0, 1]), &[1, 2, 4, 3, 11], DType::F16, I64);
}

fn blocks_of_every_index_convention() {
    let run = |pool: &MaxPool, shape: &[usize]| agrees(Family::ThreadTile, pool, shape, DType::F32, I64);
    let halves = MaxPool::new([2, 2]).strides([2, 2]);
    run(&halves.clone().index_order(StorageOrder::ColumnMajor), &[2, 3, 4, 16]);
    run(&halves.index_layout(Layout::Nhwc), &[2, 3, 4, 16]);
}

fn thread_tiles_of_several_lines() {
    let run = |pool: &MaxPool, shape: &[usize], dtype, indices| agrees(Family::ThreadTile, pool, shape, dtype, indices);
    let of = |kernel: &[i64]| MaxPool::new(kernel);
    // Columns taller than one thread tile, with as much padding as a load of four elements allows, and more.
    run(&of(&[5, 9]).pads([4, 8, 4, 8]), &[1, 2, 19, 44], DType::F32, I64);
    run(&of(&[5, 9]).pads([4, 4, 4, 4]), &[1, 2, 19, 44], DType::U8, I64);
    // Strides of two and three, and a dilation that puts the lines of one thread tile apart.
    run(&of(&[3, 2]).strides([2, 3]).dilations([3, 1]), &[1, 2, 29, 40], DType::I32, I64);
    // Windows over three axes, whose lines are not visited in the order of positions, with ties everywhere.
    run(&of(&[3, 3, 3]).pads([1; 6]), &[1, 2, 5, 9, 10], DType::F32, I64);
    // NHWC, where channels lie between the elements of a line, and SeedLowest, under which a window may have no winner.
    let channels = of(&[3, 3]).pads([1; 4]).layout(Layout::Nhwc).nan_policy(NanPolicy::SeedLowest);
    run(&channels, &[2, 9, 11, 3], DType::F32, I64);
}

fn blocks_of_channels() {
    let run = |pool: &MaxPool, shape: &[usize], dtype, indices| {
        agrees(Family::ThreadTile, &pool.clone().layout(Layout::Nhwc), shape, dtype, indices);
    };
    let halves = MaxPool::new([2, 2]).strides([2, 2]);
    run(&halves.index_layout(Layout::Nhwc), &[2, 4, 6, 6], DType::F32, I32);
    let thirds = MaxPool::new([3, 3]).pads([1, 1, 1, 1]);
    run(&thirds, &[2, 3, 6, 16], DType::U8, I32);
    run(&thirds, &[2, 19, 7, 8], DType::F16, I32);
}

/// Bindings of 21 KiB: outputs are cut into dispatches, each with its own part of X.
fn blocks_in_several_dispatches() {
    let limits = Limits { max_binding_bytes: 21 << 10, ..gpu().limits() };
    let run = |pool: &MaxPool, shape: [usize; 4], dtype, indices| {
        let plan = pool.plan(&shape, dtype, indices).unwrap();
        let choice = Choice { family: Some(Family::ThreadTile), build: None };
        let schedule = select(&plan, &limits, &choice).unwrap_or_else(|error| panic!("{shape:?}: {error}"));
        assert!(schedule.dispatches().len() > 2, "{}", schedule.kernel());
        agrees_within(&limits, Family::ThreadTile, pool, &shape, dtype, indices);
    };
    let stem = MaxPool::new([3, 3]).strides([2, 2]).pads([1, 1, 1, 1]);
    run(&MaxPool::new([2, 2]).strides([2, 2]), [3, 211, 3, 6], DType::F32, I64);
    run(&stem.dilations([1, 2]), [3, 9, 63, 63], DType::U8, I32);
}

fn planes_reduced_in_two_dispatches() {
    let run =
        |pool: &dyn Pooling, shape: &[usize], dtype, indices| agrees(Family::Reducing, pool, shape, dtype, indices);
    let global = GlobalMaxPool::new();
    // Neither the planes nor their parts nor X are whole vectors of four words.
    run(&global, &[3, 1, 67, 65], DType::F32, I64);
    run(&global, &[3, 1, 67, 65], DType::F64, I32);
    run(&MaxPool::new([70, 90]).nan_policy(NanPolicy::SeedLowest), &[2, 3, 70, 90], DType::Bf16, I64);
    // Parts of X in bindings of their own.
    let limits = Limits { max_binding_bytes: 40 << 10, ..gpu().limits() };
    agrees_within(&limits, Family::Reducing, &global, &[5, 67, 11, 13], DType::F16, I32);
    // The maximum at several positions of a plane whose parts may differ in size.
    for elements in [72, 4_096, 4_097, 9_000, 300_000] {
        for at in [0, 63, 64, 71, elements / 2, elements - 1] {
            let mut data = vec![0u8; elements];
            data[at] = 1;
            let x = Tensor::new([1, 1, elements], data).unwrap();
            let plan = global.plan(x.shape(), DType::U8, I32).unwrap();
            let choice = Choice { family: Some(Family::Reducing), build: None };
            let schedule = select(&plan, &gpu().limits(), &choice).unwrap();
            assert_eq!(schedule.dispatches().len(), 2);
            let prepared = gpu().prepare_blocking(schedule).unwrap();
            let (y, indices) = calls::max_pool_with_indices::<u8, i32>(&prepared, x.view()).unwrap();
            assert_eq!((y.data(), indices.data()), (&[1][..], &[at as i32][..]), "{at} of {elements}");
        }
    }
    // Planes of equal elements, all of them NaN in one case. In the second plane one element differs.
    for value in [f32::NAN, f32::NEG_INFINITY, -0.0, 5.0] {
        let mut data = vec![value; 2 * 100 * 100];
        data[100 * 100 + 7] = 6.0;
        let x = Tensor::new([1, 2, 100, 100], data).unwrap();
        let plan = global.plan(x.shape(), DType::F32, I64).unwrap();
        let choice = Choice { family: Some(Family::Reducing), build: None };
        let schedule = select(&plan, &gpu().limits(), &choice).unwrap();
        let prepared = gpu().prepare_blocking(schedule).unwrap();
        let (y, indices) = calls::max_pool_with_indices::<f32, i64>(&prepared, x.view()).unwrap();
        let (expected_y, expected_indices) = reference::max_pool_with_indices::<f32, i64>(&plan, x.view()).unwrap();
        same("a plane of one value", &y, &expected_y);
        same("a plane of one value", &indices, &expected_indices);
    }
}

/// Whole planes and windows that a team of a few invocations shares. The rows of a window begin and end at every offset
/// within four words.
fn windows_shared_by_teams() {
    let run = |pool: &dyn Pooling, shape: &[usize], dtype, indices| agrees(Family::Teamed, pool, shape, dtype, indices);
    run(&GlobalMaxPool::new(), &[5, 7, 7, 7], DType::F16, I64);
    // Rows that begin at any offset, windows whose sizes differ, and windows that lie wholly in the padding.
    run(&AdaptiveMaxPool::new([3, 2]), &[2, 3, 57, 83], DType::U8, I64);
    run(&MaxPool::new([4, 40]).strides([4, 40]).pads([5, 41, 5, 41]), &[2, 3, 9, 70], DType::F64, I32);
    let propagate = MaxPool::new([19, 41]).strides([7, 43]).nan_policy(NanPolicy::PropagateLast);
    run(&propagate, &[2, 3, 41, 90], DType::F32, I32);
    // Windows over three axes, dilated.
    run(&MaxPool::new([3, 5, 33]).dilations([2, 3, 1]).strides([2, 4, 9]), &[1, 2, 9, 21, 99], DType::U8, I32);
    let limits = Limits { max_binding_bytes: 48 << 10, ..gpu().limits() };
    agrees_within(&limits, Family::Teamed, &AdaptiveMaxPool::new([3, 2]), &[33, 3, 16, 43], DType::F32, I64);
}

fn windows_that_slide() {
    let run =
        |pool: &dyn Pooling, shape: &[usize], dtype, indices| agrees(Family::Sliding, pool, shape, dtype, indices);
    let same = |kernel: i64| MaxPool::new([kernel, kernel]).pads([kernel / 2; 4]);
    // Strips: what values alone do not tell, and words that channels share.
    run(&same(13).nan_policy(NanPolicy::PropagateLast), &[2, 3, 20, 22], DType::F32, NONE);
    run(&same(8), &[2, 3, 20, 24], DType::F16, NONE);
    run(
        &same(8).nan_policy(NanPolicy::Ignore).empty_value(EmptyValue::LowestFinite),
        &[2, 3, 20, 24],
        DType::F32,
        NONE,
    );
    run(&same(9).nan_policy(NanPolicy::Ignore), &[2, 3, 20, 25], DType::F32, I64);
    // Along one axis, where nearly half of the series is missing.
    run(&MaxPool::new([71]).pads([70, 0]).nan_policy(NanPolicy::Ignore), &[1, 2, 999], DType::F16, I32);
    run(&same(9).layout(Layout::Nhwc), &[2, 20, 20, 3], DType::U8, I32);
    // Rows that are not whole vectors of lanes, of even and of odd length.
    run(&same(6).nan_policy(NanPolicy::SeedLowest), &[2, 1, 19, 21], DType::Bf16, I32);
    run(&same(5), &[2, 2, 33, 36], DType::U8, I64);
    // Strides that divide a window or do not, and dilation: outputs that share taps lie apart.
    run(&MaxPool::new([3, 9]).strides([5, 4]).pads([1, 8, 2, 0]), &[1, 3, 41, 67], DType::F16, I64);
    run(&MaxPool::new([7, 9]).dilations([4, 6]).strides([2, 4]).pads([9, 20, 3, 17]), &[1, 2, 41, 67], DType::F32, I64);
    // Three axes, and long windows whose levels do not divide the window.
    run(&MaxPool::new([5, 4, 3]).pads([2, 3, 1, 2, 0, 1]).strides([1, 2, 1]), &[2, 2, 9, 13, 11], DType::F32, I64);
    run(&MaxPool::new([2_003]).pads([2_002, 1_000]), &[1, 2, 3_000], DType::F32, I32);
    // Elements and positions of different sizes, so that their bound ranges begin at different multiples of the
    // alignment.
    let limits = Limits { max_binding_bytes: 20 << 10, ..gpu().limits() };
    agrees_within(&limits, Family::Sliding, &same(9), &[4, 32, 10, 8], DType::F32, I64);
    agrees_within(&limits, Family::Sliding, &same(7), &[4, 32, 10, 8], DType::F16, I32);
    agrees_within(&limits, Family::Sliding, &same(5), &[1, 2, 101, 43], DType::I64, I32);
}

/// Unpools a pool's output with the kernel that writes cells: with the pool's own indices, then with one index
/// replaced, then with all indices shifted.
fn unpools<T: Element, I: Index>(pool: &MaxPool, shape: &[usize]) {
    let pooled = pool.plan(shape, T::DTYPE, Some(I::INDEX_TYPE)).unwrap();
    let count = shape.iter().product();
    let x = Tensor::<T>::new(shape, bits(count, count as u64)).unwrap();
    let (y, indices) = reference::max_pool_with_indices::<T, I>(&pooled, x.view()).unwrap();
    let plan = MaxUnpool::inverse_of(pool, shape).plan(y.shape(), T::DTYPE, I::INDEX_TYPE).unwrap();
    let choice = Choice { family: Some(Family::Gather), build: Some(Build::Specialised) };
    for schedule in schedules(&plan, &gpu().limits(), &choice) {
        unpools_with(schedule, &plan, &y, &indices, shape);
    }
}

fn unpools_with<T: Element, I: Index>(
    schedule: Schedule,
    plan: &Plan,
    y: &Tensor<T>,
    indices: &Tensor<I>,
    shape: &[usize],
) {
    let cells = schedule.dispatches().iter().find(|dispatch| dispatch.key().name().contains("cells"));
    let what = format!("{} on {shape:?}", cells.expect("the cells are written by one kernel").key().name());
    let prepared = gpu().prepare_blocking(schedule).unwrap();
    let expected = reference::max_unpool(plan, y.view(), indices.view()).unwrap();
    same(&what, &calls::max_unpool(&prepared, y.view(), indices.view()).unwrap(), &expected);

    // One index is replaced by another one of the tensor. All pairs would be too many, so both come from the ends and
    // from between.
    let data = indices.data();
    for at in [0, data.len() / 3, data.len() - 1] {
        for from in [data.len() - 1, 0, data.len() / 2] {
            let mut foreign = data.to_vec();
            foreign[at] = data[from];
            let foreign = Tensor::new(indices.shape(), foreign).unwrap();
            let expected = reference::max_unpool(plan, y.view(), foreign.view()).unwrap();
            same(&what, &calls::max_unpool(&prepared, y.view(), foreign.view()).unwrap(), &expected);
        }
    }
    // All indices are shifted by a small step or by a row, so that many lie just beside their window, above all behind
    // the end of a row.
    let count = shape.iter().product::<usize>() as i64;
    for step in [-1, 1, 2, shape[shape.len() - 1] as i64] {
        let moved: Vec<I> = data.iter().map(|index| I::from_i64((index.to_i64() + step).clamp(0, count - 1))).collect();
        let moved = Tensor::new(indices.shape(), moved).unwrap();
        match reference::max_unpool(plan, y.view(), moved.view()) {
            Ok(expected) => same(&what, &calls::max_unpool(&prepared, y.view(), moved.view()).unwrap(), &expected),
            Err(expected) => assert_eq!(calls::max_unpool(&prepared, y.view(), moved.view()), Err(expected), "{what}"),
        }
    }
}

/// An unpool whose first source in each row has its window before the output, with indices in range and indices out of
/// range.
fn before_the_output<T: Element, I: Index>() {
    let unpool = MaxUnpool::new([1]).strides([2]).pads([2, 0]).output_shape([2, 1, 4]);
    let plan = unpool.unpool_space(UnpoolSpace::OutputShape).plan(&[2, 1, 2], T::DTYPE, I::INDEX_TYPE).unwrap();
    let choice = Choice { family: Some(Family::Gather), build: Some(Build::Specialised) };
    let schedule = select(&plan, &gpu().limits(), &choice).unwrap();
    let prepared = gpu().prepare_blocking(schedule).unwrap();
    let x = Tensor::<T>::new([2, 1, 2], bits(4, 4)).unwrap();
    for indices in [[1, 0, 5, 4], [0, 0, 2, 4], [0, 0, 1 << 20, 4], [-1, 0, 5, 4]] {
        let indices = Tensor::new([2, 1, 2], indices.map(I::from_i64).to_vec()).unwrap();
        let found = calls::max_unpool(&prepared, x.view(), indices.view());
        match reference::max_unpool(&plan, x.view(), indices.view()) {
            Ok(expected) => same("sources before the output", &found.unwrap(), &expected),
            Err(expected) => assert_eq!(found, Err(expected)),
        }
    }
}

fn unpools_by_cells() {
    let halves = MaxPool::new([2, 2]).strides([2, 2]);
    unpools::<f32, i64>(&halves, &[2, 3, 8, 16]);
    unpools::<f32, i64>(&MaxPool::openvino([2, 2]).strides([2, 2]), &[2, 3, 8, 16]);
    unpools::<f64, i64>(&halves.clone().index_order(StorageOrder::ColumnMajor), &[1, 3, 6, 8]);
    unpools::<f32, i64>(&halves.layout(Layout::Nhwc).index_layout(Layout::Nhwc), &[2, 6, 8, 3]);
    // Windows that leave gaps.
    unpools::<f32, i64>(&MaxPool::new([2]).strides([3]), &[2, 3, 31]);
    // Sources whose windows lie wholly before the output: their indices are never in their own window, and are applied
    // and checked all the same.
    before_the_output::<u8, i32>();
    // An axis of one element with a larger stride.
    unpools::<f32, i32>(&MaxPool::new([1, 2]).strides([2, 2]), &[1, 2, 1, 8]);
}

/// Elements smaller than a word in rows that are not whole words: a word may hold elements of two rows, of two planes
/// or of two batch items.
fn unpools_in_rows_that_begin_within_words() {
    let halves = MaxPool::new([2, 2]).strides([2, 2]);
    unpools::<u8, i32>(&halves, &[2, 2, 5, 7]);
    unpools::<half::f16, i32>(&halves.clone().nan_policy(NanPolicy::SeedLowest), &[2, 2, 6, 67]);
    unpools::<half::f16, i64>(&halves, &[2, 2, 6, 67]);
    unpools::<i8, i64>(&MaxPool::new([2, 3]).strides([3, 4]), &[2, 2, 6, 35]);
    unpools::<half::bf16, i32>(&MaxPool::new([2, 2, 2]).strides([2, 2, 2]), &[2, 2, 5, 4, 35]);
}

/// Windows that overlap or begin in the padding: an output looks at the sources of all neighbouring windows that may
/// cover it.
fn unpools_of_windows_that_overlap() {
    let square = |kernel: i64, stride: i64, pad: i64| MaxPool::new([kernel; 2]).strides([stride; 2]).pads([pad; 4]);
    let thirds = square(3, 2, 1);
    unpools::<f32, i64>(&thirds, &[2, 2, 21, 16]);
    unpools::<f32, i64>(&thirds.clone().nan_policy(NanPolicy::SeedLowest), &[2, 2, 21, 16]);
    unpools::<u8, i32>(&square(3, 1, 1), &[1, 2, 18, 12]);
    unpools::<half::f16, i32>(&square(7, 4, 3), &[1, 2, 37, 26]);
    unpools::<i64, i32>(&thirds.clone().flatten(IndexFlattening::Plane), &[2, 3, 18, 13]);
    unpools::<f32, i64>(&thirds.layout(Layout::Nhwc), &[2, 17, 9, 3]);
    unpools::<f32, i32>(&MaxPool::new([2, 3, 3]).strides([2, 2, 2]).pads([0, 1, 1, 0, 1, 1]), &[1, 2, 5, 9, 13]);
}

/// Compiling takes most of the time, so the list has to stay short: the tests `random` draw the geometries that are not
/// on it.
fn the_list_is_short() {
    let source = include_str!("kernels.rs");
    let listed = ["\n    run(", "\n    agrees_within(", "\n    unpools::<", "\n    before_the_output::<"];
    let listed: usize = listed.iter().map(|call| source.matches(call).count()).sum();
    // Two of these lines are calls of functions that all configurations go through.
    assert!((40..=74).contains(&listed), "{listed}");
}
