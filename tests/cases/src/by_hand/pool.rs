//! MaxPool: windows without elements, and maxima that start from the lowest value.

#[cfg(feature = "gpu")]
use wgpu_pooling::{Choice, Limits, select};
use wgpu_pooling::{
    DType, EmptyIndex, EmptyValue, IndexFlattening, IndexType, Layout, MaxPool, NanPolicy, PlanError, StorageOrder,
    TensorView,
};

use super::both::{Number, for_every_dtype, numbers, pools};
use support::calls::reference;

/// Two taps, 3 apart, on 2 elements padded by 1 on both sides: the effective kernel is (2 - 1) * 3 + 1 = 4 = 2 + 1 + 1,
/// so there is one window. It starts at -1, and its taps -1 and 2 are both in the padding.
fn straddling() -> MaxPool {
    MaxPool::new([2]).dilations([3]).pads([1, 1])
}

#[test]
fn a_window_wholly_in_padding_is_minus_infinity_at_minus_one() {
    fn of<T: Number>() {
        let x = numbers::<T>(&[3.0, 4.0, 5.0, 6.0]);
        let nothing = T::from_bits64(match T::DTYPE {
            DType::F32 => 0xFF80_0000,
            DType::F16 => 0xFC00,
            DType::Bf16 => 0xFF80,
            DType::F64 => 0xFFF0_0000_0000_0000,
            DType::I8 => 0x80,
            DType::I16 => 0x8000,
            DType::I32 => 0x8000_0000,
            DType::I64 => 0x8000_0000_0000_0000,
            DType::U8 | DType::U16 | DType::U32 | DType::U64 => 0,
        });
        // -1 in every convention: plane 1 does not add its offset of 2.
        for &flatten in IndexFlattening::ALL {
            let pool = straddling().flatten(flatten);
            pools::<T, i64>(&pool, (&[1, 2, 2], &x), (&[1, 2, 1], &[nothing; 2]), (&[1, 2, 1], &[-1, -1]));
            pools::<T, i32>(&pool, (&[2, 1, 2], &x), (&[2, 1, 1], &[nothing; 2]), (&[2, 1, 1], &[-1, -1]));
        }
    }
    for_every_dtype!(of);
}

/// A row of 16, windows of nine taps that are three apart, and so are the windows: the seventh begins at the last
/// element. A kernel that computes windows at all positions has two more, which begin behind the row.
#[test]
fn windows_that_begin_behind_a_row_between_two_outputs() {
    let pool = MaxPool::new([1, 9]).dilations([1, 3]).strides([1, 3]).pads([0, 3, 0, 24]);
    let mut x = [0.0f32; 16];
    x[15] = f32::NAN;
    let mut y = [0.0f32; 7];
    y[6] = f32::NAN;
    // The first window begins three before the row, and so with the same element as the second.
    pools::<f32, i64>(&pool, (&[1, 1, 1, 16], &x), (&[1, 1, 1, 7], &y), (&[1, 1, 1, 7], &[0, 0, 3, 6, 9, 12, 15]));
}

#[test]
fn the_other_values_of_a_window_wholly_in_padding() {
    fn of<T: Number>() {
        let x = numbers::<T>(&[3.0, 4.0]);
        // f16 and bf16 are computed in f32: -FLT_MAX is below their lowest finite value and rounds to minus infinity.
        let (finite, widened) = match T::DTYPE {
            DType::F32 => (0xFF7F_FFFF, 0xFF7F_FFFF),
            DType::F16 => (0xFBFF, 0xFC00),
            DType::Bf16 => (0xFF7F, 0xFF80),
            DType::F64 => (0xFFEF_FFFF_FFFF_FFFF, 0xFFEF_FFFF_FFFF_FFFF),
            DType::I8 => (0x80, 0x80),
            DType::I16 => (0x8000, 0x8000),
            DType::I32 => (0x8000_0000, 0x8000_0000),
            DType::I64 => (0x8000_0000_0000_0000, 0x8000_0000_0000_0000),
            DType::U8 | DType::U16 | DType::U32 | DType::U64 => (0, 0),
        };
        for (value, bits) in [(EmptyValue::LowestFinite, finite), (EmptyValue::LowestWidened, widened)] {
            let y = [T::from_bits64(bits)];
            pools::<T, i64>(&straddling().empty_value(value), (&[1, 1, 2], &x), (&[1, 1, 1], &y), (&[1, 1, 1], &[-1]));
        }
    }
    for_every_dtype!(of);
}

#[test]
fn one_axis_without_elements_empties_the_window_and_others_are_not_touched() {
    // Each window has a tap among the rows and none among the columns: both windows are empty.
    let pool = MaxPool::new([1, 2]).dilations([1, 3]).pads([0, 1, 0, 1]);
    let none = [f32::NEG_INFINITY; 2];
    for order in [0, 1] {
        let pool = pool.clone().storage_order(order);
        pools::<_, i64>(
            &pool,
            (&[1, 1, 2, 2], &[1.0, 2.0, 3.0, 4.0]),
            (&[1, 1, 2, 1], &none),
            (&[1, 1, 2, 1], &[-1, -1]),
        );
    }
    // With pads 1 and 3 there are (2 + 4 - 4) / 1 + 1 = 3 windows: taps (-1, 2), (0, 3), (1, 4).
    pools::<_, i64>(
        &MaxPool::new([2]).dilations([3]).pads([1, 3]),
        (&[1, 1, 2], &[7.0f32, 8.0]),
        (&[1, 1, 3], &[f32::NEG_INFINITY, 7.0, 8.0]),
        (&[1, 1, 3], &[-1, 0, 1]),
    );
}

#[test]
fn empty_windows_and_nhwc_indices() {
    // N, C, H, W are 2, 3, 2, 2. Along W the window straddles the input as above, along H each row is a window: 2 by 1
    // windows, all empty. Indices are stored as N, H, W, C, and the index of (y, x) is (y * 2 + x) * 3 + c, plus b * 12
    // in the tensor.
    let x = [0.0f32; 24];
    let y = [f32::NEG_INFINITY; 12];
    let pool = MaxPool::new([1, 2]).dilations([1, 3]).pads([0, 1, 0, 1]).index_layout(Layout::Nhwc);
    let rows: [(EmptyIndex, [i64; 12]); 4] = [
        (EmptyIndex::MinusOne, [-1; 12]),
        // (-1, -1): (-1 * 2 - 1) * 3 = -9, for every window.
        (EmptyIndex::OrtUnderflow, [-9, -8, -7, -9, -8, -7, 3, 4, 5, 3, 4, 5]),
        // (y, -1 + 3): (y * 2 + 2) * 3 = 6 and 12.
        (EmptyIndex::ClampedStart, [6, 7, 8, 12, 13, 14, 18, 19, 20, 24, 25, 26]),
        // (0, 0).
        (EmptyIndex::UnitBase, [0, 1, 2, 0, 1, 2, 12, 13, 14, 12, 13, 14]),
    ];
    for (empty, tensor) in rows {
        let pool = pool.clone().empty_index(empty);
        pools::<_, i64>(&pool, (&[2, 3, 2, 2], &x), (&[2, 3, 2, 1], &y), (&[2, 2, 1, 3], &tensor));
        let mut batch = tensor;
        if empty != EmptyIndex::MinusOne {
            batch[6..].iter_mut().for_each(|index| *index -= 12);
        }
        let pool = pool.flatten(IndexFlattening::Batch);
        pools::<_, i64>(&pool, (&[2, 3, 2, 2], &x), (&[2, 3, 2, 1], &y), (&[2, 2, 1, 3], &batch));
        // The same with X and Y in NHWC.
        let pool = pool.layout(Layout::Nhwc);
        pools::<_, i64>(&pool, (&[2, 2, 2, 3], &x), (&[2, 2, 1, 3], &y), (&[2, 2, 1, 3], &batch));
    }
}

#[test]
fn a_clamped_start_beyond_32_bits_is_computed_by_the_reference_and_refused_for_a_gpu() {
    // The window starts at -1 and steps to 5 * 10^9 - 1.
    let apart = 5_000_000_000;
    let pool = MaxPool::new([2]).dilations([apart]).pads([1, apart - 2]).empty_index(EmptyIndex::ClampedStart);
    let plan = pool.plan(&[1, 1, 2], DType::F32, Some(IndexType::I64)).unwrap();
    let x = TensorView::new(&[1, 1, 2], &[1.0f32, 2.0]).unwrap();
    let (_, indices) = reference::max_pool_with_indices::<f32, i64>(&plan, x).unwrap();
    assert_eq!(indices.data(), &[apart - 1]);
    assert_eq!(
        pool.plan(&[1, 1, 2], DType::F32, Some(IndexType::I32)),
        Err(PlanError::EmptyIndexOverflow { index: i128::from(apart) - 1, index_type: IndexType::I32 })
    );
    #[cfg(feature = "gpu")]
    assert_eq!(
        select(&plan, &Limits::WEBGPU, &Choice::default()),
        Err(PlanError::NotOnGpu { what: "clamped starts beyond 32 bits" })
    );
}

/// Five windows of two taps in each plane. The first lies in the padding; the others hold -inf alone, NaN alone, -inf
/// and the lowest finite value, and NaN and 1.
fn seed_lowest<T: Number>() {
    let lowest = T::from_bits64(match T::DTYPE {
        DType::F16 => 0xFBFF,
        DType::Bf16 => 0xFF7F,
        DType::F32 => 0xFF7F_FFFF,
        _ => 0xFFEF_FFFF_FFFF_FFFF,
    });
    let minus_infinity = T::of(f64::NEG_INFINITY);
    let nan = T::of(f64::NAN);
    let plane = [minus_infinity, minus_infinity, nan, nan, minus_infinity, lowest, nan, T::of(1.0)];
    let x = [plane, plane].concat();
    // f16 and bf16 start at minus infinity, so the lowest finite value of window 3 is above the start; f32 and f64
    // start at this value, so no element of window 3 is above the start.
    let starts_at_infinity = T::DTYPE.bytes() == 2;
    let start = if starts_at_infinity { minus_infinity } else { lowest };
    let at_3 = if starts_at_infinity { 5 } else { 0 };
    let values =
        [(EmptyValue::NegInf, minus_infinity), (EmptyValue::LowestFinite, lowest), (EmptyValue::LowestWidened, start)];
    // The indices of the empty window at -2 in plane 0 and in plane 1, whose offset is 8: -1 without an offset,
    // position -1, position -2 + 2, position 0.
    let indices = [
        (EmptyIndex::MinusOne, [-1, -1]),
        (EmptyIndex::OrtUnderflow, [-1, 8 - 1]),
        (EmptyIndex::ClampedStart, [0, 8]),
        (EmptyIndex::UnitBase, [0, 8]),
    ];
    for (empty_value, nothing) in values {
        for (empty_index, [first, second]) in indices {
            let pool = MaxPool::new([2]).strides([2]).pads([2, 0]).nan_policy(NanPolicy::SeedLowest);
            let pool = pool.empty_value(empty_value).empty_index(empty_index);
            let y = [nothing, start, start, lowest, T::of(1.0)];
            // A window without an element above the start gives element 0 of its plane, whatever an empty window gives.
            pools::<T, i64>(
                &pool,
                (&[1, 2, 8], &x),
                (&[1, 2, 5], &[y, y].concat()),
                (&[1, 2, 5], &[first, 0, 0, at_3, 7, second, 8, 8, 8 + at_3, 8 + 7]),
            );
        }
    }
}

#[test]
fn seed_lowest_starts_at_the_lowest_value_of_the_type_computed_in() {
    seed_lowest::<f32>();
    seed_lowest::<f64>();
    seed_lowest::<half::f16>();
    seed_lowest::<half::bf16>();
}

#[test]
fn seed_lowest_counts_its_constant_in_every_convention() {
    // All four windows hold only NaN or -inf, so each gives f32's lowest value and the index of element 0 of its plane.
    // With N, C, L = 2, 2, 2 this is (b * 2 + c) * 2 in the tensor, c * 2 in the batch item, 0 in the plane, and in
    // NHWC (0 * 2 + c) + b * 4.
    let x = [f32::NAN, f32::NEG_INFINITY, f32::NEG_INFINITY, f32::NAN, f32::NAN, f32::NAN, f32::NAN, f32::NAN];
    let y = [f32::MIN; 4];
    let pool = MaxPool::new([2]).nan_policy(NanPolicy::SeedLowest);
    let rows = [
        (IndexFlattening::Tensor, Layout::Nchw, [0, 2, 4, 6]),
        (IndexFlattening::Batch, Layout::Nchw, [0, 2, 0, 2]),
        (IndexFlattening::Plane, Layout::Nchw, [0, 0, 0, 0]),
        (IndexFlattening::Tensor, Layout::Nhwc, [0, 1, 4, 5]),
        (IndexFlattening::Batch, Layout::Nhwc, [0, 1, 0, 1]),
    ];
    for (flatten, layout, indices) in rows {
        let shape: &[usize] = if layout == Layout::Nhwc { &[2, 1, 2] } else { &[2, 2, 1] };
        let pool = pool.clone().flatten(flatten).index_layout(layout);
        pools::<_, i64>(&pool, (&[2, 2, 2], &x), (&[2, 2, 1], &y), (shape, &indices));
    }
}

#[test]
fn seed_lowest_on_integers_starts_at_their_minimum() {
    fn of<T: Number>() {
        let minimum = T::from_bits64(T::DTYPE.lowest_finite_bits());
        // The second window holds only the minimum, so its index is that of element 0 of the plane, not of element 2.
        let x = [T::of(5.0), T::of(6.0), minimum, minimum];
        let pool = MaxPool::new([2]).strides([2]).nan_policy(NanPolicy::SeedLowest);
        pools::<T, i64>(&pool, (&[1, 1, 4], &x), (&[1, 1, 2], &[T::of(6.0), minimum]), (&[1, 1, 2], &[1, 0]));
    }
    of::<i8>();
    of::<u8>();
    of::<i16>();
    of::<u16>();
    of::<i32>();
    of::<u32>();
    of::<i64>();
    of::<u64>();
}

#[test]
fn column_major_counts_the_first_axis_fastest_and_empty_windows_too() {
    // Planes of 2 by 2, with windows that straddle the columns. A column-major index is y + x * 2, plus 4 for plane 1:
    // (-1, -1) is -3, and (y, 2) is y + 4.
    let pool = MaxPool::new([1, 2]).dilations([1, 3]).pads([0, 1, 0, 1]).index_order(StorageOrder::ColumnMajor);
    let rows = [
        (EmptyIndex::OrtUnderflow, [-3, -3, 1, 1]),
        (EmptyIndex::ClampedStart, [4, 5, 8, 9]),
        (EmptyIndex::UnitBase, [0, 0, 4, 4]),
    ];
    for (empty, indices) in rows {
        pools::<_, i64>(
            &pool.clone().empty_index(empty),
            (&[1, 2, 2, 2], &[0u8; 8]),
            (&[1, 2, 2, 1], &[0; 4]),
            (&[1, 2, 2, 1], &indices),
        );
    }
}
