//! Attributes and shapes that no plan or schedule can have: each gives a typed error with the numbers at fault, at once
//! and without large allocations.

use std::alloc::{GlobalAlloc, Layout as Allocation, System};
use std::cell::Cell;

use support::calls::reference;
use wgpu_pooling::{
    AdaptiveMaxPool, Attribute, AutoPad, Backend, CeilRule, Choice, DType, Dilate, EmptyIndex, ExecuteError, Family,
    GlobalMaxPool, Gradient, IndexFlattening, IndexSpace, IndexType, Layout, Limits, MAX_SPATIAL_AXES, MaxPool,
    MaxUnpool, PadsLimit, Plan, PlanError, Pooling, Reference, SizeRounding, StorageOrder, Stream, TensorMut,
    TensorRef, TensorView, TopHat, UnpoolSpace, families, select, stream_bytes,
};
use wgpu_pooling_plan::{AxisWindow, Region, Tiling};

/// The system's allocator, which also counts what each thread allocates.
struct Watched;

thread_local! {
    /// Allocations: the bytes of the largest, and how many.
    static ASKED: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Watched {
    unsafe fn alloc(&self, allocation: Allocation) -> *mut u8 {
        let (largest, count) = ASKED.get();
        ASKED.set((largest.max(allocation.size()), count + 1));
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(allocation) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, allocation: Allocation) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, allocation) }
    }
}

#[global_allocator]
static ALLOCATOR: Watched = Watched;

/// No call of this file allocates more bytes at once, or more often. A schedule has at most 16,384 dispatches with two
/// allocations each, and a search for tiles tries some dozens of schedules. Unit tests of `select` count the windows
/// that planning visits.
const MOST_BYTES: usize = 16 << 20;
const MOST_ALLOCATIONS: usize = 4 << 20;

/// Runs a call whose allocations must stay small, whatever its numbers are.
#[track_caller]
fn modestly<R>(call: impl FnOnce() -> R) -> R {
    ASKED.take();
    let result = call();
    let (largest, count) = ASKED.take();
    assert!(largest < MOST_BYTES, "{largest} bytes were asked for at once");
    assert!(count < MOST_ALLOCATIONS, "{count} allocations");
    result
}

/// Checks that planning gives this error, with indices and without.
#[track_caller]
fn pool_refused(pool: &impl Pooling, shape: &[usize], expected: PlanError) {
    for indices in [None, Some(IndexType::I32), Some(IndexType::I64)] {
        let planned = modestly(|| pool.plan(shape, DType::F32, indices));
        assert_eq!(planned.map(|plan| plan.output_shape().to_vec()), Err(expected.clone()), "{indices:?} indices");
    }
}

#[track_caller]
fn unpool_refused(unpool: &MaxUnpool, shape: &[usize], expected: PlanError) {
    let planned = modestly(|| unpool.plan(shape, DType::F32, IndexType::I64));
    assert_eq!(planned.map(|plan| plan.output_shape().to_vec()), Err(expected));
}

/// Checks that every operator refuses a shape, whatever its indices count through.
#[track_caller]
fn shape_refused(shape: &[usize], expected: &PlanError) {
    let ones = || vec![1; shape.len().saturating_sub(2)];
    for &flatten in IndexFlattening::ALL {
        pool_refused(&MaxPool::new(ones()).flatten(flatten), shape, expected.clone());
        pool_refused(&AdaptiveMaxPool::new(ones()).flatten(flatten), shape, expected.clone());
        pool_refused(&GlobalMaxPool::new().flatten(flatten), shape, expected.clone());
        unpool_refused(&MaxUnpool::new(ones()).flatten(flatten), shape, expected.clone());
    }
}

fn length(attribute: &'static str, expected: usize, actual: usize) -> PlanError {
    PlanError::AttributeLength { attribute, expected, actual }
}

fn not_positive(attribute: &'static str, axis: usize, value: i64) -> PlanError {
    PlanError::NotPositive { attribute, axis, value }
}

fn negative(attribute: &'static str, axis: usize, value: i64) -> PlanError {
    PlanError::Negative { attribute, axis, value }
}

const MOST: i64 = i64::MAX;
const SQUARE: [usize; 4] = [1, 1, 4, 4];

/// The lists of attributes, each with its length for two axes and what becomes of a value below the least.
#[test]
fn lists_have_a_value_for_each_axis_and_none_below_the_least() {
    type Below = fn(&'static str, usize, i64) -> PlanError;
    let lists: [(_, _, Below, &[i64]); 4] = [
        ("kernel_shape", 2, not_positive, &[0, -1, i64::MIN]),
        ("strides", 2, not_positive, &[0, -1, i64::MIN]),
        ("dilations", 2, not_positive, &[0, -1, i64::MIN]),
        ("pads", 4, negative, &[-1, i64::MIN]),
    ];
    for (attribute, expected, below, values) in lists {
        let refused = |list: Vec<i64>, error: PlanError| {
            let list = [(attribute, Attribute::Ints(list))];
            pool_refused(&MaxPool::new([2, 2]).with_attributes(list.clone()).unwrap(), &SQUARE, error.clone());
            if attribute != "dilations" {
                unpool_refused(&MaxUnpool::new([2, 2]).with_attributes(list).unwrap(), &SQUARE, error);
            }
        };
        for actual in [0, 1, expected - 1, expected + 1, 100_000] {
            refused(vec![1; actual], length(attribute, expected, actual));
        }
        for (axis, &value) in (0..expected).flat_map(|axis| values.iter().map(move |value| (axis, value))) {
            let mut list = vec![1; expected];
            list[axis] = value;
            refused(list, below(attribute, axis, value));
        }
    }
    pool_refused(&AdaptiveMaxPool::new([2]), &SQUARE, length("output_size", 2, 1));
    pool_refused(&AdaptiveMaxPool::new([2; 3]), &SQUARE, length("output_size", 2, 3));
    unpool_refused(&MaxUnpool::new([2, 2]).output_shape([8, 8]), &SQUARE, length("output_shape", 4, 2));
    for value in [-1, i64::MIN] {
        pool_refused(&AdaptiveMaxPool::new([value, 2]), &SQUARE, negative("output_size", 0, value));
        let unpool = MaxUnpool::new([2, 2]).output_shape([1, 1, 5, value]);
        unpool_refused(&unpool, &SQUARE, negative("output_shape", 3, value));
    }
    // A kernel of one tap under SAME_* padding does not use its dilation, but the dilation is checked all the same.
    let same = MaxPool::new([1, 1]).auto_pad(AutoPad::SameUpper).dilations([1, 0]);
    pool_refused(&same, &SQUARE, not_positive("dilations", 1, 0));
    let words = |attribute, expected, actual| length(attribute, expected, actual).to_string();
    assert_eq!(words("pads", 4, 2), "pads has 2 values, expected 4 (all begins, then all ends)");
    assert_eq!(words("strides", 2, 3), "strides has 3 values, expected 2 (one for each spatial axis)");
    assert_eq!(words("output_shape", 4, 2), "output_shape has 2 values, expected 4 (N, C and the spatial extents)");
    assert_eq!(words("activation_params", 1, 2), "activation_params has 2 values, expected 1 at most");
}

#[test]
fn errors_spell_a_type_as_it_is_parsed() {
    for dtype in DType::ALL {
        let name = dtype.to_string();
        assert_eq!((name.as_str(), name.parse()), (dtype.name(), Ok(dtype)));
        let length = PlanError::ByteLength { dtype, shape: vec![1], expected: 8, actual: 0 }.to_string();
        let activation = PlanError::ActivationType { activation: "Tanh", dtype }.to_string();
        assert!(length.starts_with(&format!("{name} elements")), "{length}");
        assert_eq!(activation, format!("Tanh is not defined for {name}"));
    }
    let index = PlanError::EmptyIndexOverflow { index: 1, index_type: IndexType::I32 }.to_string();
    assert_eq!(index, "the index 1 of an empty window does not fit i32");
    let unknown = "F32".parse::<DType>().unwrap_err().to_string();
    let names = DType::ALL.map(DType::name).join(", ");
    assert_eq!(unknown, format!("dtype: unknown value \"F32\", expected {names}"));
}

/// The numbers are those of `TensorProto.DataType` in onnx.proto.
#[test]
fn types_have_the_numbers_of_onnx() {
    use DType::{Bf16, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
    let numbers = [1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 13, 16];
    let dtypes = [F32, U8, I8, U16, I16, I32, I64, F16, F64, U32, U64, Bf16];
    let numbered: Vec<_> = numbers.into_iter().zip(dtypes).collect();
    let found: Vec<_> = (-40..40).filter_map(|number| Some((number, DType::from_onnx(number)?))).collect();
    assert_eq!(found, numbered);
    assert!(numbered.iter().all(|(number, dtype)| dtype.to_onnx() == *number));
}

#[test]
fn pads_beside_auto_pad_or_above_a_limit() {
    let pool = || MaxPool::new([3, 2]);
    for (auto_pad, name) in AutoPad::ALL.iter().zip(["NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"]).skip(1) {
        let beside = PlanError::PadsWithAutoPad { auto_pad: name, position: 3, value: 1 };
        pool_refused(&pool().auto_pad(*auto_pad).pads([0, 0, 0, 1]), &SQUARE, beside);
    }
    // `Ort` wants pads below the kernel, here 2; `Torch` wants pads of at most half the kernel, here 3.
    let above = |position, value, limit| PlanError::PadExceedsLimit { position, value, limit };
    pool_refused(&pool().pads_limit(PadsLimit::Ort).pads([2, 2, 0, 0]), &SQUARE, above(1, 2, 1));
    pool_refused(&pool().pads_limit(PadsLimit::Torch).pads([0, 0, 2, 0]), &SQUARE, above(2, 2, 1));
}

#[test]
fn ranks_and_extents() {
    for shape in [&[][..], &[4], &[1, 4], &[1; 13], &[1; 64], &[usize::MAX; 64]] {
        shape_refused(shape, &PlanError::Rank { rank: shape.len(), max_spatial: MAX_SPATIAL_AXES });
    }
    let zero = |axis, shape: &[usize]| PlanError::ZeroExtent { axis, shape: shape.to_vec() };
    for (shape, axis) in [([1, 1, 4, 0], 1), ([0, 1, 0, 4], 0), ([1, 0, 0, 0], 0)] {
        shape_refused(&shape, &zero(axis, &shape));
        pool_refused(&AdaptiveMaxPool::new([0, 0]), &shape, zero(axis, &shape));
    }
    // In NHWC the last axis is C and may be 0, the one before it may not.
    pool_refused(&GlobalMaxPool::new().layout(Layout::Nhwc), &[1, 4, 0, 1], zero(1, &[1, 4, 0, 1]));
    assert!(GlobalMaxPool::new().layout(Layout::Nhwc).plan(&[1, 4, 1, 0], DType::F32, None).is_ok());
}

#[test]
fn numbers_and_combinations_that_no_attribute_has() {
    let two = || MaxPool::new([2, 2]);
    for value in [2, -1, MOST] {
        let unknown = |attribute, expected| PlanError::UnknownValue { attribute, value: value.to_string(), expected };
        let ceil_mode = unknown("ceil_mode", "0 (floor) or 1 (ceil)");
        pool_refused(&two().ceil_mode(value), &SQUARE, ceil_mode.clone());
        let storage_order = unknown("storage_order", "0 (row major) or 1 (column major)");
        pool_refused(&two().storage_order(value), &SQUARE, storage_order.clone());
        let from_onnx = |name| {
            let attributes = [("kernel_shape", Attribute::Ints(vec![2, 2])), (name, Attribute::Int(value))];
            MaxPool::from_onnx(attributes)
        };
        assert_eq!(from_onnx("ceil_mode"), Err(ceil_mode));
        assert_eq!(from_onnx("storage_order"), Err(storage_order));
    }
    let nhwc = two().index_layout(Layout::Nhwc);
    let excluded = |second| PlanError::Combination { first: "index_layout NHWC", second };
    pool_refused(&nhwc.clone().flatten(IndexFlattening::Plane), &SQUARE, excluded("flatten plane"));
    pool_refused(&nhwc.storage_order(1), &SQUARE, excluded("index_order column_major (storage_order 1)"));
    // AdaptiveMaxPool counts through planes unless told otherwise.
    pool_refused(&AdaptiveMaxPool::new([1, 1]).index_layout(Layout::Nhwc), &SQUARE, excluded("flatten plane"));
    let unpool = MaxUnpool::new([2, 2]).index_layout(Layout::Nhwc);
    unpool_refused(&unpool.clone().flatten(IndexFlattening::Plane), &SQUARE, excluded("flatten plane"));
    let unpool = unpool.index_order(StorageOrder::ColumnMajor);
    unpool_refused(&unpool, &SQUARE, excluded("index_order column_major (storage_order 1)"));
}

#[test]
fn nodes_with_attributes_that_the_operator_does_not_have() {
    let kernel = || ("kernel_shape", Attribute::Ints(vec![2]));
    let text = |value: &str| Attribute::String(value.to_owned());
    let pool = |name, value| MaxPool::from_onnx([kernel(), (name, value)]).map(|_| ());
    let unpool = |name, value| MaxUnpool::from_onnx([kernel(), (name, value)]).map(|_| ());
    for value in ["FULL", "same_upper", "SAME", "", "NOTSET\0"] {
        let expected = "NOTSET, VALID, SAME_UPPER, SAME_LOWER";
        let error = PlanError::UnknownValue { attribute: "auto_pad", value: value.to_owned(), expected };
        assert_eq!(pool("auto_pad", text(value)), Err(error));
    }
    for value in ["relu", "Elu", ""] {
        let expected = "Relu, Tanh, Sigmoid, LeakyRelu, Clip, HardSigmoid";
        let error = PlanError::UnknownValue { attribute: "activation", value: value.to_owned(), expected };
        assert_eq!(pool("activation", text(value)), Err(error.clone()));
        assert_eq!(unpool("activation", text(value)), Err(error));
    }
    let unknown = |operator, name: &str| Err(PlanError::UnknownAttribute { operator, name: name.to_owned() });
    assert_eq!(pool("count_include_pad", Attribute::Int(0)), unknown("MaxPool", "count_include_pad"));
    assert_eq!(pool("Strides", Attribute::Ints(vec![1])), unknown("MaxPool", "Strides"));
    assert_eq!(unpool("dilations", Attribute::Ints(vec![1])), unknown("MaxUnpool", "dilations"));
    assert_eq!(unpool("output_shape", Attribute::Ints(vec![1, 1, 4])), unknown("MaxUnpool", "output_shape"));
    let kind = |name: &str, expected, actual| Err(PlanError::AttributeKind { name: name.to_owned(), expected, actual });
    assert_eq!(pool("strides", Attribute::Int(1)), kind("strides", "integers", "an integer"));
    assert_eq!(pool("ceil_mode", Attribute::Ints(vec![1])), kind("ceil_mode", "an integer", "integers"));
    assert_eq!(pool("auto_pad", Attribute::Int(0)), kind("auto_pad", "a string", "an integer"));
    assert_eq!(unpool("pads", text("0")), kind("pads", "integers", "a string"));
    assert_eq!(unpool("activation_params", Attribute::Ints(vec![1])), kind("activation_params", "floats", "integers"));
    let missing = |operator, attribute| Err(PlanError::MissingAttribute { operator, attribute });
    let none: [(&str, Attribute); 0] = [];
    assert_eq!(MaxPool::from_onnx(none.clone()).map(|_| ()), missing("MaxPool", "kernel_shape"));
    assert_eq!(MaxUnpool::from_onnx(none).map(|_| ()), missing("MaxUnpool", "kernel_shape"));
    // Parameters without an activation, too many parameters, and a NaN parameter.
    let parameters = || ("activation_params", Attribute::Floats(vec![1.0, f32::NAN]));
    assert_eq!(MaxPool::from_onnx([kernel(), parameters()]).map(|_| ()), missing("MaxPool", "activation"));
    let with = |name| MaxUnpool::from_onnx([kernel(), parameters(), ("activation", text(name))]).map(|_| ());
    let length = PlanError::AttributeLength { attribute: "activation_params", expected: 1, actual: 2 };
    assert_eq!(with("LeakyRelu"), Err(length));
    assert_eq!(with("Clip"), Err(PlanError::ActivationParameter { position: 1 }));
}

#[test]
fn extents_whose_product_no_computer_holds() {
    let overflow = |shape: &[usize]| PlanError::ShapeOverflow { shape: shape.to_vec() };
    // The last two wrap to 0 and to 4 in 64 bits.
    for shape in [[1, 1, usize::MAX], [usize::MAX; 3], [1 << 21; 3], [1 << 32, 1 << 32, 1], [4, (1 << 62) + 1, 1]] {
        shape_refused(&shape, &overflow(&shape));
        unpool_refused(&MaxUnpool::inverse_of(&MaxPool::new([1]), &shape), &shape, overflow(&shape));
        assert_eq!(TensorView::<u8>::new(&shape, &[]), Err(overflow(&shape)));
    }
    // An extent of zero does not excuse the others.
    for shape in [[0, 1, 1 << 40, 1 << 40], [1, 0, 1 << 40, 1 << 40], [0, usize::MAX, 8, 8], [0, 1, usize::MAX, 2]] {
        shape_refused(&shape, &overflow(&shape));
    }
    // A small input can ask for as many outputs: one element with a million million pads on each side of three axes.
    let far = 1_000_000_000_000;
    let extent = 2 * far as usize + 1;
    pool_refused(&MaxPool::new([1; 3]).pads([far; 6]), &[1; 5], overflow(&[1, 1, extent, extent, extent]));
    // An output whose extent is 0 on one axis and too large on the others.
    let most = MOST as usize;
    pool_refused(&AdaptiveMaxPool::new([MOST, MOST, 0]), &[1; 5], overflow(&[1, 1, most, most, 0]));
    pool_refused(&AdaptiveMaxPool::new([MOST]), &[1, 1, 5], overflow(&[1, 1, most]));
    let unpool = MaxUnpool::new([1]).output_shape([1, 1, MOST]);
    for unpool in [MaxUnpool::new([MOST]), unpool.clone(), unpool.unpool_space(UnpoolSpace::OutputShape)] {
        unpool_refused(&unpool, &[1; 3], overflow(&[1, 1, most]));
    }
}

#[test]
fn a_plan_counts_the_bytes_of_its_tensors() {
    // 8 bytes an element in X, Y and the indices. Planning gives an error, or a plan whose sum is right.
    for elements in [1 << 50, 1 << 57, 1 << 59, (1 << 60) - 1] {
        let (shape, sum) = ([1, 1, elements], 24 * elements as u128);
        let pooled = MaxPool::new([1]).plan(&shape, DType::F64, Some(IndexType::I64));
        let unpooled = MaxUnpool::new([1]).plan(&shape, DType::F64, IndexType::I64);
        for plan in [pooled, unpooled].into_iter().flatten() {
            assert_eq!(u128::from(plan.bytes()), sum);
        }
    }
}

#[test]
fn attributes_whose_positions_do_not_fit_64_bits() {
    // Kernel, stride, dilation and pads, on 8 elements: pads on both sides, pads on one side, a kernel that fills the
    // padding, and effective kernels of (MOST - 1) * MOST + 1 and 2 * MOST + 1.
    let rows = [
        (2, 1, 1, [MOST, MOST]),
        (2, 1, 1, [MOST, 0]),
        (2, 1, 1, [0, MOST]),
        (MOST, 1, 1, [0, MOST]),
        (MOST, 1, MOST, [0, 0]),
        (3, 1, MOST, [0, 0]),
    ];
    let overflow = |kernel, stride, dilation, pads| PlanError::GeometryOverflow {
        axis: 0,
        input: 8,
        kernel,
        stride,
        dilation,
        pads,
    };
    for (kernel, stride, dilation, pads) in rows {
        let pool = MaxPool::new([kernel]).strides([stride]).dilations([dilation]).pads(pads);
        pool_refused(&pool, &[1, 1, 8], overflow(kernel, stride, dilation, pads));
    }
    // The literal ceiling keeps a window that starts a stride behind the input.
    let literal = MaxPool::new([2]).strides([MOST]).ceil_rule(CeilRule::CeilLiteral);
    pool_refused(&literal, &[1, 1, 8], overflow(2, MOST, 1, [0, 0]));
    // The inferred extents are (8 - 1) * MOST + 2, 7 * 1 + MOST, and 7 - 2 * MOST + 1.
    let unpool = |kernel, stride, pads: [i64; 2]| MaxUnpool::new([kernel]).strides([stride]).pads(pads);
    for (kernel, stride, pads) in [(2, MOST, [0, 0]), (MOST, 1, [0, 0]), (1, 1, [MOST, MOST])] {
        unpool_refused(&unpool(kernel, stride, pads), &[1, 1, 8], overflow(kernel, stride, 1, pads));
    }
    let below = PlanError::InferredNotPositive { axis: 0, inferred: 8 - MOST };
    unpool_refused(&unpool(1, 1, [MOST, 0]), &[1, 1, 8], below.clone());
    unpool_refused(&unpool(1, 1, [MOST, 0]).output_shape([1, 1, 8]), &[1, 1, 8], below);
}

#[test]
fn kernels_that_exceed_the_padded_input() {
    let exceeds =
        |axis, effective_kernel, padded_input| PlanError::KernelExceedsInput { axis, effective_kernel, padded_input };
    pool_refused(&MaxPool::new([MOST]), &[1, 1, 8], exceeds(0, MOST, 8));
    pool_refused(&MaxPool::new([2]).dilations([1_000_000_000]), &[1, 1, 8], exceeds(0, 1_000_000_001, 8));
    pool_refused(&MaxPool::new([2, 9]).pads([0, 1, 0, 1]), &[1, 1, 4, 4], exceeds(1, 9, 6));
    pool_refused(&MaxPool::new([9]).strides([2]), &[1, 1, 4], exceeds(0, 9, 4));
    // With a stride this long the floor division gives 0 windows, which is allowed unless the options require one.
    let long = MaxPool::new([9]).strides([MOST]);
    assert_eq!(long.plan(&[1, 1, 8], DType::F32, None).map(|plan| plan.output_shape()[2]), Ok(0));
    pool_refused(&long.size_rounding(SizeRounding::FloorPositive), &[1, 1, 8], exceeds(0, 9, 8));
}

#[test]
fn unpools_without_a_place_for_their_output() {
    // The inferred extent is (1 - 1) * 1 - 2 + 2 = 0.
    let inferred = |axis, inferred| PlanError::InferredNotPositive { axis, inferred };
    unpool_refused(&MaxUnpool::new([2]).pads([1, 1]), &[1; 3], inferred(0, 0));
    unpool_refused(&MaxUnpool::new([9, 1]).pads([0, 3, 0, 0]), &[1, 1, 2, 2], inferred(1, -1));
    let outer = |given, expected| PlanError::OutputShapeOuter { given, expected };
    unpool_refused(&MaxUnpool::new([2]).output_shape([2, 3, 4]), &[1, 3, 2], outer([2, 3], [1, 3]));
    unpool_refused(&MaxUnpool::new([2]).output_shape([1, 9, 4]), &[1, 3, 2], outer([1, 9], [1, 3]));
    // `output_shape` begins with N and C in NHWC as well.
    let nhwc = MaxUnpool::new([2]).layout(Layout::Nhwc).output_shape([1, 4, 3]);
    unpool_refused(&nhwc, &[1, 2, 3], outer([1, 4], [1, 3]));
    let too_small = |axis, given, inferred| PlanError::OutputShapeTooSmall { axis, given, inferred };
    unpool_refused(&MaxUnpool::new([2, 2]).output_shape([1, 1, 5, 4]), &SQUARE, too_small(1, 4, 5));
    let zero = MaxUnpool::new([2]).output_shape([1, 1, 0]);
    unpool_refused(&zero, &[1; 3], too_small(0, 0, 2));
}

#[test]
fn large_attributes_that_are_right_are_planned_and_their_schedules_refused_or_small() {
    let schedules = |plan: Plan| {
        modestly(|| {
            for family in std::iter::once(None).chain(Family::ALL.iter().copied().map(Some)) {
                // The result is a typed error or a schedule; neither takes a loop over every element.
                let _ = select(&plan, &Limits::WEBGPU, &Choice { family, ..Choice::default() });
            }
            families(&plan, &Limits::WEBGPU).len()
        })
    };
    let plan = |pool: &dyn Pooling, shape: &[usize]| -> (Vec<usize>, usize) {
        let plan = modestly(|| pool.plan(shape, DType::F32, Some(IndexType::I64))).unwrap();
        (plan.output_shape().to_vec(), schedules(plan))
    };
    // Two taps 10^9 apart: 5 + 10^9 - 10^9 - 1 + 1 windows.
    let apart = 1_000_000_000;
    let wide = MaxPool::new([2]).dilations([apart]).pads([0, apart]).empty_index(EmptyIndex::ClampedStart);
    assert_eq!(plan(&wide, &[1, 1, 5]), (vec![1, 1, 5], 4));
    // One window over 8 elements and far - 16 pads.
    let far = MOST / 8;
    let all = MaxPool::new([far - 8]).pads([far - 16, 0]);
    assert_eq!(plan(&all, &[1, 1, 8]), (vec![1, 1, 1], 5));
    // Pads that make more windows than a device can count.
    let many = MaxPool::new([1]).pads([1 << 40, 0]);
    assert_eq!(plan(&many, &[1, 1, 8]), (vec![1, 1, (1 << 40) + 8], 0));
    let strided = MaxPool::new([2]).strides([MOST]);
    assert_eq!(plan(&strided, &[1, 1, 8]), (vec![1, 1, 1], 4));
    assert_eq!(plan(&AdaptiveMaxPool::new([1 << 50]), &[1, 1, 5]), (vec![1, 1, 1 << 50], 0));
    // A table of windows that just fits the limits.
    assert_eq!(plan(&AdaptiveMaxPool::new([(1 << 24) - 1]), &[1, 1, 35]), (vec![1, 1, (1 << 24) - 1], 4));
    assert_eq!(plan(&AdaptiveMaxPool::new([0]), &[1, 1, 1 << 50]).0, [1, 1, 0]);
    assert_eq!(plan(&GlobalMaxPool::new(), &[1, 1, 1 << 50]), (vec![1, 1, 1], 0));
    assert_eq!(plan(&MaxPool::new([1; 10]), &[1; 12]), (vec![1; 12], 4));
    let huge = GlobalMaxPool::new().plan(&[1, 1, 1 << 50], DType::F32, None).unwrap();
    assert_eq!(not_selected(&huge, &Limits::WEBGPU), exceeds("elements of x", 1 << 50, 1 << 31));
    let unpool = MaxUnpool::new([1 << 50]).plan(&[1; 3], DType::F32, IndexType::I64).unwrap();
    assert_eq!(schedules(unpool.clone()), 0);
    assert_eq!(not_selected(&unpool, &Limits::WEBGPU), exceeds("elements of y", 1 << 50, 1 << 31));
}

/// Why no schedule of a plan keeps to these limits.
fn not_selected(plan: &Plan, limits: &Limits) -> Option<PlanError> {
    modestly(|| select(plan, limits, &Choice::default())).err()
}

fn exceeds(what: &'static str, needed: u64, limit: u64) -> Option<PlanError> {
    Some(PlanError::ExceedsLimit { what, needed, limit })
}

#[test]
fn tiles_of_hostile_plans_are_found_or_refused_with_next_to_nothing_allocated() {
    let pools: [(&dyn Pooling, &[usize]); 6] = [
        (&AdaptiveMaxPool::new([1 << 24]), &[1, 1, 35]),
        (&AdaptiveMaxPool::new([1 << 50]), &[1, 1, 5]),
        (&GlobalMaxPool::new(), &[1, 1, 1 << 50]),
        (&MaxPool::new([1]).pads([1 << 40, 0]), &[1, 1, 8]),
        (&MaxPool::new([1 << 20]), &[1 << 10, 1 << 10, 1 << 24]),
        (&MaxPool::new([2; 10]).pads([1; 20]), &[1, 1, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8]),
    ];
    let plans = pools.map(|(pool, shape)| pool.plan(shape, DType::F32, Some(IndexType::I64)).unwrap());
    let hats = [([1 << 20], [1, 1, 1 << 30]), ([1 << 40], [1, 1, 1 << 30]), ([3], [1 << 20, 1 << 20, 9])]
        .map(|(kernel, shape)| TopHat::new(kernel).plan(&shape, DType::F32, None).unwrap());
    for plan in plans.into_iter().chain(hats) {
        let shape = plan.input_shape();
        let unlimited = Limits { max_buffer_bytes: u64::MAX, max_binding_bytes: u64::MAX, ..Limits::WEBGPU };
        // The last tilings are for the CPU, which has no limits.
        for limits in [Some(Limits::WEBGPU), Some(unlimited), None] {
            for budget in [0, 1 << 20, 1 << 30, u64::MAX] {
                let tiling = modestly(|| {
                    Tiling::new(&plan, budget, |tile| match &limits {
                        Some(limits) => stream_bytes(tile, limits),
                        None => Reference.stream_bytes(tile),
                    })
                });
                let Ok(tiling) = tiling else { continue };
                assert!(tiling.peak_bytes() <= budget && !tiling.is_empty(), "{shape:?} in {budget} bytes");
                modestly(|| [0, tiling.len() / 2, tiling.len() - 1].map(|number| tiling.tile(number).is_some()));
            }
        }
    }
}

#[test]
fn any_limits_give_a_schedule_that_keeps_to_them_or_an_error() {
    let shape = [2, 3, 40, 50];
    let plans: [Plan; 5] = [
        MaxPool::new([3, 3]).plan(&shape, DType::F32, Some(IndexType::I64)).unwrap(),
        MaxPool::new([30, 30]).plan(&shape, DType::U8, None).unwrap(),
        AdaptiveMaxPool::new([7, 3]).plan(&shape, DType::F64, Some(IndexType::I32)).unwrap(),
        MaxUnpool::new([2, 2]).plan(&shape, DType::F16, IndexType::I64).unwrap(),
        MaxUnpool::new([3, 3]).strides([2, 2]).plan(&shape, DType::F32, IndexType::I32).unwrap(),
    ];
    let edges = [0, 1, 2, 3, 4, 255, 4096, u64::from(u32::MAX), u64::MAX];
    let (mut tried, mut scheduled) = (0, 0);
    for plan in &plans {
        for field in 0..4 {
            for first in edges {
                for others in [None, Some(first), Some(u64::MAX)] {
                    let of = |number, usual: u64| if number == field { first } else { others.unwrap_or(usual) };
                    let limits = Limits {
                        max_buffer_bytes: of(0, Limits::WEBGPU.max_buffer_bytes),
                        max_binding_bytes: of(1, Limits::WEBGPU.max_binding_bytes),
                        max_workgroups_per_dimension: of(2, 65_535) as u32,
                        max_storage_buffers: of(3, 8) as u32,
                        software: first % 2 == 1,
                    };
                    let found = families(plan, &limits);
                    tried += 1;
                    let selected = modestly(|| select(plan, &limits, &Choice::default()));
                    if let Err(PlanError::ExceedsLimit { what, needed, limit }) = &selected {
                        assert!(needed > limit, "{needed} {what} in {limit}, {limits:?}");
                    }
                    let family = selected.as_ref().ok().map(|schedule| schedule.family());
                    assert_eq!(found.first().copied(), family, "{selected:?}, {limits:?}");
                    let Ok(schedule) = selected else { continue };
                    scheduled += 1;
                    assert_eq!(schedule.check(&limits), Ok(()));
                    let groups = schedule.dispatches().iter().flat_map(|dispatch| dispatch.grid()).max();
                    assert!(groups <= Some(limits.max_workgroups_per_dimension), "{limits:?}");
                }
            }
        }
    }
    println!("{tried} limits tried, {scheduled} schedules");
}

#[test]
fn conventions_answer_whatever_they_are_asked() {
    // A space without channels, in a convention that no plan has; then fewer coordinates than axes, and more.
    let space = IndexSpace::new(1, 0, [4]).with_layout(Layout::Nhwc).with_flatten(IndexFlattening::Plane);
    assert_eq!(space.decode(3, 0, 0), Some((0, 0, vec![3])));
    let space = IndexSpace::new(2, 3, [4, 5]);
    assert_eq!(space.encode(1, 2, &[3]), space.encode(1, 2, &[3, 0]));
    assert_eq!(space.encode(1, 2, &[3, 4, 99]), space.encode(1, 2, &[3, 4]));
    let huge = IndexSpace::new(usize::MAX, usize::MAX, [usize::MAX; 64]);
    assert_eq!(huge.index_count(), u64::MAX);
    for index in [i64::MIN, -1, 0, i64::MAX] {
        let _ = huge.decode(index, usize::MAX, usize::MAX);
        let _ = huge.encode(usize::MAX, usize::MAX, &[index; 64]);
        assert_eq!(IndexSpace::new(0, 0, []).decode(index, 0, 0), None);
    }
    // Windows that no plan has.
    for number in [i64::MIN, -1, 0, 1, i64::MAX] {
        let window = AxisWindow::Strided { kernel: number, stride: number, dilation: number, pad_begin: number };
        for extent in [0, 1, usize::MAX] {
            let taps = window.taps(extent, extent);
            let _ = (taps.positions().take(3).count(), window.most_taps(extent));
        }
    }
    for extent in [0, 1, usize::MAX] {
        let part = AxisWindow::Adaptive { input: 7, output: 3, first_input: extent, first_output: extent };
        for (input, output) in [(extent, extent), (extent, 1), (i64::MAX as usize, 1), (1, extent)] {
            for window in [AxisWindow::adaptive(input, output), part] {
                let _ = (window.taps(extent, input), window.most_taps(input));
            }
        }
    }
    assert_eq!(AxisWindow::adaptive(i64::MAX as usize, 1).taps(usize::MAX, i64::MAX as usize).first, i64::MAX);
    // Boxes that no tensor has.
    let all = 0..usize::MAX;
    let region = Region { batch: all.clone(), channels: all.clone(), spatial: vec![all, 1..3] };
    assert_eq!(region.elements(), u64::MAX);
    assert_eq!(region.runs(&[usize::MAX; 4], Layout::Nchw).next(), Some((1, 2)));
    let far = usize::MAX - 1..usize::MAX;
    let region = Region { batch: far.clone(), channels: far.clone(), spatial: vec![far.clone(), far] };
    assert_eq!(region.runs(&[usize::MAX; 4], Layout::Nhwc).collect::<Vec<_>>(), [(u64::MAX, 1)]);
}

#[test]
fn buffers_whose_words_exceed_32_bits_are_refused_or_cut_whatever_the_limits_say() {
    let endless = Limits { max_buffer_bytes: u64::MAX, max_binding_bytes: u64::MAX, ..Limits::WEBGPU };
    // A table of 2^31 windows has two words for each window, and two more in front of them.
    let plan = AdaptiveMaxPool::new([1 << 31]).plan(&[1, 1, 35], DType::U8, None).unwrap();
    assert_eq!(not_selected(&plan, &endless), exceeds("words of window tables", (1 << 32) + 2, 1 << 32));
    // Each of the 2^31 accumulators has three pairs of words.
    let endless = Limits { max_workgroups_per_dimension: u32::MAX, ..endless };
    let plan = MaxPool::new([1, 1]).plan(&[1, 1, 1 << 16, 1 << 15], DType::U8, None).unwrap();
    let choice = Choice { family: Some(Family::Accumulating), ..Choice::default() };
    let schedule = modestly(|| select(&plan, &endless, &choice)).unwrap();
    assert!(schedule.scratch()[0] / 8 <= 1 << 32 && schedule.dispatches().len() >= 4, "{:?}", schedule.scratch());
}

#[test]
fn tensors_without_elements_are_not_visited_item_by_item() {
    // A million million batch items without channels.
    let shape = [1 << 40, 0, 4];
    let x = TensorView::<f32>::new(&shape, &[]).unwrap();
    let indices = TensorView::<i64>::new(&shape, &[]).unwrap();
    let plan = MaxPool::new([2]).plan(&shape, DType::F32, None).unwrap();
    assert_eq!(modestly(|| reference::max_pool(&plan, x)).unwrap().shape(), [1 << 40, 0, 3]);
    let plan = MaxUnpool::new([2]).plan(&shape, DType::F32, IndexType::I64).unwrap();
    assert_eq!(modestly(|| reference::max_unpool(&plan, x, indices)).unwrap().shape(), [1 << 40, 0, 5]);
    let space = IndexSpace::new(1 << 40, 0, [4]);
    assert_eq!(modestly(|| space.convert::<i64>(&space, indices)).unwrap().shape(), shape);
    let pool = MaxPool::new([1]);
    assert_eq!(modestly(|| pool.on(x).peaks().run_blocking(&Reference)).map(|peaks| peaks.len()), Ok(0));
}

#[test]
fn windows_of_peaks_may_reach_far() {
    let x = TensorView::new(&[1, 1, 4], &[3u8, 7, 7, 1]).unwrap();
    let peaks = |extent| {
        let pool = MaxPool::new([extent]).auto_pad(AutoPad::SameUpper);
        modestly(|| pool.on(x).peaks().run_blocking(&Reference)).map(|peaks| peaks.positions().to_vec())
    };
    assert_eq!(peaks(1 << 40), Ok(vec![0, 0, 1]));
    let far = MaxPool::new([1, 1]).dilations([MOST, MOST]);
    let x_of_two = TensorView::new(&[1, 1, 2, 2], &[3u8, 7, 7, 1]).unwrap();
    assert_eq!(modestly(|| far.on(x_of_two).peaks().run_blocking(&Reference)).map(|peaks| peaks.len()), Ok(4));
    let error = not_positive("kernel_shape", 0, i64::MIN);
    assert_eq!(peaks(i64::MIN), Err(ExecuteError::Plan(error)));
    assert!(matches!(peaks(MOST), Ok(_) | Err(ExecuteError::Plan(PlanError::GeometryOverflow { .. }))));
}

#[test]
fn a_proposed_budget_is_the_least_whose_tiles_read_seldom() {
    let of = |kernel: [i64; 2], shape: [usize; 4]| MaxPool::new(kernel).plan(&shape, DType::U8, None).unwrap();
    let reads = |plan: &Plan, budget: u64| {
        let tiling = Tiling::new(plan, budget, |tile| Reference.stream_bytes(tile)).unwrap();
        let elements = tiling.tile(0).unwrap().input().elements() as f64;
        tiling.len() as f64 * elements / plan.inputs()[0].element_count() as f64
    };
    assert_eq!(Stream::proposed_budget(&of([3, 3], [1, 1, 100, 120]), &Reference), Ok(64 << 20));
    let long = of([1 << 26, 1], [1, 1, 1 << 30, 1]);
    let proposed = Stream::proposed_budget(&long, &Reference).unwrap();
    assert!(reads(&long, proposed) <= 4.0 && reads(&long, proposed / 2) > 4.0, "{proposed}");
    let unpool = MaxUnpool::new([2]).strides([2]).plan(&[1, 1, 1 << 28], DType::U8, IndexType::I64).unwrap();
    assert_eq!(Stream::proposed_budget(&unpool, &Reference), Ok(256 << 20));
}

#[test]
fn amounts_that_saturate_are_not_told_as_numbers() {
    let text = |needed, limit| PlanError::ExceedsLimit { what: "bytes", needed, limit }.to_string();
    assert_eq!(text(5, 4), "bytes: 5 needed, but the limit is 4");
    assert_eq!(text(u64::MAX, 4), "bytes: 2^64 or more needed, but the limit is 4");
    assert_eq!(text(u64::MAX, u64::MAX), "bytes: 2^64 or more needed, but the limit is 2^64 - 1");
}

/// Boxes, anchors and iterations that no composition can have, and the largest that one can.
#[test]
fn compositions_refuse_boxes_without_numbers_that_fit() {
    let refused = |by_box: &TopHat, shape: &[usize], expected: PlanError| {
        assert_eq!(modestly(|| by_box.plan(shape, DType::U8, None)).map(|_| ()), Err(expected));
    };
    let anchor = |axis, anchor, extent| PlanError::AnchorOutside { axis, anchor, extent };
    let two = || TopHat::new([2, 2]);
    refused(&TopHat::new([2]), &SQUARE, length("kernel_shape", 2, 1));
    refused(&TopHat::new([2, 0]), &SQUARE, not_positive("kernel_shape", 1, 0));
    refused(&TopHat::new([i64::MIN, 2]), &SQUARE, not_positive("kernel_shape", 0, i64::MIN));
    refused(&two().anchor([0, 2]), &SQUARE, anchor(1, 2, 2));
    refused(&two().anchor([-2, 0]), &SQUARE, anchor(0, -2, 2));
    refused(&two().anchor([0]), &SQUARE, length("anchor", 2, 1));
    for iterations in [0, i64::MIN] {
        refused(&two().iterations(iterations), &SQUARE, PlanError::Iterations { iterations });
    }
    refused(&two(), &[1, 1, 0, 4], PlanError::ZeroExtent { axis: 0, shape: vec![1, 1, 0, 4] });
    for (extent, iterations) in [(MOST, 1), (2, MOST), (MOST, MOST), (1 << 40, 1 << 40)] {
        let by_box = TopHat::new([extent; 2]).iterations(iterations);
        let error = PlanError::BoxOverflow { axis: 0, extent, iterations };
        refused(&by_box, &SQUARE, error.clone());
        pool_refused(&Dilate::new([extent; 2]).iterations(iterations), &SQUARE, error);
    }
    for (extent, iterations) in [(1 << 60, 1), (2, i64::MAX / 8), (1, MOST)] {
        for anchor in [0, -1, extent - 1] {
            let by_box = TopHat::new([extent; 2]).iterations(iterations).anchor([anchor; 2]);
            assert!(modestly(|| by_box.plan(&SQUARE, DType::U8, None)).is_ok(), "{extent} {iterations} {anchor}");
        }
    }
    let gradient = Gradient::new([2, 2]);
    let indices = gradient.plan(&SQUARE, DType::U8, Some(IndexType::I64)).unwrap_err();
    assert_eq!(indices.to_string(), "the composition Gradient excludes indices, which pools alone have");
    let plan = gradient.plan(&SQUARE, DType::U8, None).unwrap();
    let (x, mut y) = ([0u8; 16], [7u8; 16]);
    let x = |shape: &'static [usize]| TensorRef::new(DType::U8, shape, &x[..shape.iter().product()]).unwrap();
    let mut run = |inputs: &[TensorRef<'_>]| {
        let y = TensorMut::new(DType::U8, &SQUARE, &mut y).unwrap();
        Reference.run_blocking(&plan, inputs, &mut [y])
    };
    let (operator, what) = ("gradient", "inputs");
    let count = |actual| ExecuteError::Plan(PlanError::OperandCount { operator, what, expected: "1", actual });
    assert_eq!(run(&[]), Err(count(0)));
    assert_eq!(run(&[x(&SQUARE), x(&SQUARE)]), Err(count(2)));
    let (expected, actual) = (SQUARE.to_vec(), vec![1, 1, 4, 3]);
    assert_eq!(run(&[x(&[1, 1, 4, 3])]), Err(ExecuteError::ShapeMismatch { what: "x", expected, actual }));
    let floats = TensorRef::new(DType::F16, &[1, 1, 2, 4], &[0; 16]).unwrap();
    assert_eq!(run(&[floats]), Err(ExecuteError::TypeMismatch { what: "x", expected: "u8", actual: "f16" }));
    assert_eq!(y, [7; 16], "nothing was written");
}
