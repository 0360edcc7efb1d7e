//! The kernels of two families against the reference, bit by bit, on what draws do not aim at: maxima at the ends of
//! parts, planes of equal elements, indices just beside their windows. Drawn cases (tests/cases) run in all families.

use gpu_test::gpu_test;
use support::call::Call;
use support::device::gpu;
use wgpu_pooling::{
    Build, Choice, DType, Family, GlobalMaxPool, IndexFlattening, IndexType, Layout, MaxPool, MaxUnpool, NanPolicy,
    StorageOrder, UnpoolSpace, select,
};

use super::agree::{Undone, call, is_right, schedules};

#[gpu_test]
fn planes_reduced_in_two_dispatches() {
    let global = GlobalMaxPool::new();
    // The maximum at several positions of a plane whose parts may differ in size.
    let choice = Choice { family: Some(Family::Reducing), build: None };
    for elements in [72, 4_096, 4_097, 9_000, 300_000] {
        let plan = global.plan(&[1, 1, elements], DType::U8, Some(IndexType::I32)).unwrap();
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
    let plan = global.plan(&[1, 2, 100, 100], DType::F32, Some(IndexType::I64)).unwrap();
    let calls = [f32::NAN, f32::NEG_INFINITY, -0.0, 5.0].map(|value| {
        let mut x = vec![value; 2 * 100 * 100];
        x[100 * 100 + 7] = 6.0;
        Call::new(plan.clone(), vec![bytemuck::cast_slice(&x).to_vec()])
    });
    is_right(gpu(), select(&plan, &gpu().limits(), &choice).unwrap(), &calls);
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

#[gpu_test]
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
#[gpu_test]
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
#[gpu_test]
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
