//! The specialised kernels against the reference, bit by bit.
//!
//! Each kernel is compiled for its window, which takes longer than running a case. The kernels therefore run on a fixed
//! list of configurations: every way in which a kernel reads, compares and writes, with every element type for which
//! this way differs.

use support::call::Call;
use support::device::gpu;
use support::tests;
use wgpu_pooling::{
    Activation, AdaptiveMaxPool, Build, Choice, DType, EmptyIndex, EmptyValue, Family, GlobalMaxPool, IndexFlattening,
    IndexType, Layout, Limits, MaxPool, MaxUnpool, Minimum, NanPolicy, Pooling, StorageOrder, UnpoolSpace, select,
};

use super::agree::{Undone, call, is_right, schedules};

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
    let call = call(plan);
    for schedule in schedules(call.plan(), limits, &Choice { family: Some(family), build: None }) {
        is_right(gpu(), schedule, std::slice::from_ref(&call));
    }
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
    let choice = Choice { family: Some(Family::Reducing), build: None };
    for elements in [72, 4_096, 4_097, 9_000, 300_000] {
        let plan = global.plan(&[1, 1, elements], DType::U8, I32).unwrap();
        let calls = [0, 63, 64, 71, elements / 2, elements - 1].map(|at| {
            let mut x = vec![0; elements];
            x[at] = 1;
            Call::new(plan.clone(), vec![x])
        });
        let schedule = select(&plan, &gpu().limits(), &choice).unwrap();
        assert_eq!(schedule.dispatches().len(), 2);
        is_right(gpu(), schedule, &calls);
    }
    // Planes of equal elements, all of them NaN in one case. In the second plane one element differs.
    let plan = global.plan(&[1, 2, 100, 100], DType::F32, I64).unwrap();
    let calls = [f32::NAN, f32::NEG_INFINITY, -0.0, 5.0].map(|value| {
        let mut x = vec![value; 2 * 100 * 100];
        x[100 * 100 + 7] = 6.0;
        Call::new(plan.clone(), vec![bytemuck::cast_slice(&x).to_vec()])
    });
    is_right(gpu(), select(&plan, &gpu().limits(), &choice).unwrap(), &calls);
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
fn unpools(dtype: DType, index_type: IndexType, pool: &MaxPool, shape: &[usize]) {
    let pooled = call(pool.plan(shape, dtype, Some(index_type)).unwrap());
    let undone = Undone::new(&MaxUnpool::inverse_of(pool, shape), &pooled);
    let own = &undone.own;
    let mut all = vec![own.clone()];
    // One index is replaced by another one of the tensor. All pairs would be too many, so both come from the ends and
    // from between.
    for at in [0, own.len() / 3, own.len() - 1] {
        for from in [own.len() - 1, 0, own.len() / 2] {
            let mut foreign = own.clone();
            foreign[at] = own[from];
            all.push(foreign);
        }
    }
    // All indices are shifted by a small step or by a row, so that many lie just beside their window, above all behind
    // the end of a row.
    let count = shape.iter().product::<usize>() as i64;
    for step in [-1, 1, 2, shape[shape.len() - 1] as i64] {
        all.push(own.iter().map(|index| (index + step).clamp(0, count - 1)).collect());
    }
    let calls: Vec<Call> = all.iter().map(|indices| undone.with(indices)).collect();
    for schedule in schedules(&undone.plan, &gpu().limits(), &CELLS) {
        let names: Vec<String> =
            schedule.dispatches().iter().map(|dispatch| dispatch.key().name().to_string()).collect();
        assert!(names.iter().any(|name| name.contains("cells")), "{names:?}");
        is_right(gpu(), schedule, &calls);
    }
}

const CELLS: Choice = Choice { family: Some(Family::Gather), build: Some(Build::Specialised) };

/// An unpool whose first source in each row has its window before the output, with indices in range and indices out of
/// range.
fn before_the_output() {
    let unpool = MaxUnpool::new([1]).strides([2]).pads([2, 0]).output_shape([2, 1, 4]);
    let unpool = unpool.unpool_space(UnpoolSpace::OutputShape);
    let plan = unpool.plan(&[2, 1, 2], DType::U8, IndexType::I32).unwrap();
    let indices = [[1, 0, 5, 4], [0, 0, 2, 4], [0, 0, 1 << 20, 4], [-1, 0, 5, 4]];
    let calls = indices.map(|indices| Call::unpool(plan.clone(), &[7, 8, 9, 1], &indices));
    is_right(gpu(), select(&plan, &gpu().limits(), &CELLS).unwrap(), &calls);
}

fn unpools_by_cells() {
    let halves = MaxPool::new([2, 2]).strides([2, 2]);
    unpools(DType::F32, IndexType::I64, &halves, &[2, 3, 8, 16]);
    unpools(DType::F32, IndexType::I64, &MaxPool::openvino([2, 2]).strides([2, 2]), &[2, 3, 8, 16]);
    unpools(DType::F64, IndexType::I64, &halves.clone().index_order(StorageOrder::ColumnMajor), &[1, 3, 6, 8]);
    unpools(DType::F32, IndexType::I64, &halves.layout(Layout::Nhwc).index_layout(Layout::Nhwc), &[2, 6, 8, 3]);
    // Windows that leave gaps.
    unpools(DType::F32, IndexType::I64, &MaxPool::new([2]).strides([3]), &[2, 3, 31]);
    // Sources whose windows lie wholly before the output: their indices are never in their own window, and are applied
    // and checked all the same.
    before_the_output();
    // An axis of one element with a larger stride.
    unpools(DType::F32, IndexType::I32, &MaxPool::new([1, 2]).strides([2, 2]), &[1, 2, 1, 8]);
}

/// Elements smaller than a word in rows that are not whole words: a word may hold elements of two rows, of two planes
/// or of two batch items.
fn unpools_in_rows_that_begin_within_words() {
    let halves = MaxPool::new([2, 2]).strides([2, 2]);
    unpools(DType::U8, IndexType::I32, &halves, &[2, 2, 5, 7]);
    unpools(DType::F16, IndexType::I32, &halves.clone().nan_policy(NanPolicy::SeedLowest), &[2, 2, 6, 67]);
    unpools(DType::F16, IndexType::I64, &halves, &[2, 2, 6, 67]);
    unpools(DType::I8, IndexType::I64, &MaxPool::new([2, 3]).strides([3, 4]), &[2, 2, 6, 35]);
    unpools(DType::Bf16, IndexType::I32, &MaxPool::new([2, 2, 2]).strides([2, 2, 2]), &[2, 2, 5, 4, 35]);
}

/// Windows that overlap or begin in the padding: an output looks at the sources of all neighbouring windows that may
/// cover it.
fn unpools_of_windows_that_overlap() {
    let square = |kernel: i64, stride: i64, pad: i64| MaxPool::new([kernel; 2]).strides([stride; 2]).pads([pad; 4]);
    let thirds = square(3, 2, 1);
    unpools(DType::F32, IndexType::I64, &thirds, &[2, 2, 21, 16]);
    unpools(DType::F32, IndexType::I64, &thirds.clone().nan_policy(NanPolicy::SeedLowest), &[2, 2, 21, 16]);
    unpools(DType::U8, IndexType::I32, &square(3, 1, 1), &[1, 2, 18, 12]);
    unpools(DType::F16, IndexType::I32, &square(7, 4, 3), &[1, 2, 37, 26]);
    unpools(DType::I64, IndexType::I32, &thirds.clone().flatten(IndexFlattening::Plane), &[2, 3, 18, 13]);
    unpools(DType::F32, IndexType::I64, &thirds.layout(Layout::Nhwc), &[2, 17, 9, 3]);
    unpools(
        DType::F32,
        IndexType::I32,
        &MaxPool::new([2, 3, 3]).strides([2, 2, 2]).pads([0, 1, 1, 0, 1, 1]),
        &[1, 2, 5, 9, 13],
    );
}

/// Compiling takes most of the time, so the list has to stay short: the tests `random` draw the geometries that are not
/// on it.
fn the_list_is_short() {
    let source = include_str!("kernels.rs");
    let listed = ["\n    run(", "\n    agrees_within(", "\n    unpools(", "\n    before_the_output("];
    let listed: usize = listed.iter().map(|call| source.matches(call).count()).sum();
    // Two of these lines are calls of functions that all configurations go through.
    assert!((40..=74).contains(&listed), "{listed}");
}
