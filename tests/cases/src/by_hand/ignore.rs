//! The policy under which a NaN is no element, and windows in which none is left.

use wgpu_pooling::{
    AdaptiveMaxPool, DType, EmptyIndex, EmptyValue, GlobalMaxPool, IndexType, MaxPool, MaxUnpool, MinPool, NanPolicy,
    PlanError, Pooling,
};

use super::both::{Number, for_every_dtype, pools, unpools};

/// A NaN with this sign and payload.
fn nan<T: Number>(sign: u64, payload: u64) -> T {
    let bits = 8 * T::DTYPE.bytes() as u32;
    T::from_bits64(T::of(f64::NEG_INFINITY).to_bits64() & (u64::MAX >> (65 - bits)) | sign << (bits - 1) | payload)
}

fn quiet<T: Number>() -> T {
    T::from_bits64(match T::DTYPE {
        DType::F16 => 0x7E00,
        DType::Bf16 => 0x7FC0,
        DType::F32 => 0x7FC0_0000,
        _ => 0x7FF8_0000_0000_0000,
    })
}

macro_rules! for_every_float {
    ($function:ident) => {{
        $function::<f32>();
        $function::<half::f16>();
        $function::<half::bf16>();
        $function::<f64>();
    }};
}

#[test]
fn the_largest_number_wins_and_minus_infinity_may() {
    fn of<T: Number>() {
        let [a, b, infinity] = [nan(0, 1), nan(1, 2), T::of(f64::NEG_INFINITY)];
        // Three taps each: a NaN first, a NaN of either sign between, -inf alone, zeros of both signs, equal numbers.
        let x = [
            [a, T::of(-3.0), b],
            [T::of(1.0), b, T::of(2.0)],
            [b, infinity, a],
            [b, T::of(-0.0), T::of(0.0)],
            [a, T::of(5.0), T::of(5.0)],
        ]
        .concat();
        let y = [T::of(-3.0), T::of(2.0), infinity, T::of(-0.0), T::of(5.0)];
        let pool = MaxPool::new([3]).strides([3]).nan_policy(NanPolicy::Ignore).empty_value(EmptyValue::LowestFinite);
        pools::<T, i64>(&pool, (&[1, 1, 15], &x), (&[1, 1, 5], &y), (&[1, 1, 5], &[1, 5, 7, 10, 13]));
    }
    for_every_float!(of);
}

#[test]
fn a_window_of_nan_gives_what_a_window_in_padding_gives() {
    fn of<T: Number>() {
        let [infinity, finite] = [T::of(f64::NEG_INFINITY), T::from_bits64(T::DTYPE.lowest_finite_bits())];
        let widened = if T::DTYPE.bytes() == 2 { infinity } else { finite };
        // The first window lies in the padding; the others hold -inf and NaN, NaN alone of both signs, and a number.
        let plane = [infinity, nan(0, 5), nan(1, 1), nan(0, 1), nan(1, 3), T::of(-7.0)];
        let x = [plane, plane].concat();
        let values = [
            (EmptyValue::NegInf, infinity),
            (EmptyValue::LowestFinite, finite),
            (EmptyValue::LowestWidened, widened),
            (EmptyValue::Nan, quiet()),
        ];
        // Of the window in the padding, at -2, and of that of NaN, at 2. Plane 1 begins at 6.
        let indices = [
            (EmptyIndex::MinusOne, [-1, -1, -1, -1]),
            (EmptyIndex::OrtUnderflow, [-1, -1, 5, 5]),
            (EmptyIndex::ClampedStart, [0, 2, 6, 8]),
            (EmptyIndex::UnitBase, [0, 0, 6, 6]),
        ];
        for (value, nothing) in values {
            for (index, [padding, of_nan, padding_1, of_nan_1]) in indices {
                let pool = MaxPool::new([2]).strides([2]).pads([2, 0]).nan_policy(NanPolicy::Ignore);
                let pool = pool.empty_value(value).empty_index(index);
                let y = [nothing, infinity, nothing, T::of(-7.0)];
                let places = [padding, 0, of_nan, 5, padding_1, 6, of_nan_1, 11];
                pools::<T, i64>(&pool, (&[1, 2, 6], &x), (&[1, 2, 4], &[y, y].concat()), (&[1, 2, 4], &places));
            }
        }
    }
    for_every_float!(of);
}

#[test]
fn minima_are_mirrored_and_the_nan_of_an_empty_window_is_not() {
    fn of<T: Number>() {
        let infinity = T::of(f64::INFINITY);
        let highest = T::from_bits64(T::DTYPE.lowest_finite_bits() & (u64::MAX >> (65 - 8 * T::DTYPE.bytes())));
        let x = [nan(1, 1), T::of(3.0), infinity, nan(0, 1), nan(1, 1), nan(0, 1)];
        let values = [
            (EmptyValue::NegInf, infinity),
            (EmptyValue::LowestFinite, highest),
            (EmptyValue::LowestWidened, if T::DTYPE.bytes() == 2 { infinity } else { highest }),
            (EmptyValue::Nan, quiet()),
        ];
        for (value, nothing) in values {
            let pool = MaxPool::new([2]).strides([2]).nan_policy(NanPolicy::Ignore).empty_value(value);
            let y = [T::of(3.0), infinity, nothing];
            pools::<T, i32>(&MinPool::of(pool), (&[1, 1, 6], &x), (&[1, 1, 3], &y), (&[1, 1, 3], &[1, 2, -1]));
        }
    }
    for_every_float!(of);
}

#[test]
fn integers_are_pooled_as_under_every_policy_and_have_no_nan() {
    fn of<T: Number>() {
        if T::DTYPE.is_float() {
            return;
        }
        let least = T::from_bits64(T::DTYPE.lowest_finite_bits());
        let pool = MaxPool::new([2]).strides([2]).nan_policy(NanPolicy::Ignore).empty_index(EmptyIndex::OrtUnderflow);
        let x = [T::of(5.0), T::of(6.0), least, least];
        pools::<T, i64>(&pool, (&[1, 1, 4], &x), (&[1, 1, 2], &[T::of(6.0), least]), (&[1, 1, 2], &[1, 2]));
        let refused = PlanError::EmptyValueType { empty_value: EmptyValue::Nan, dtype: T::DTYPE };
        let windows: [&dyn Pooling; 3] = [
            &pool.empty_value(EmptyValue::Nan),
            &GlobalMaxPool::new().empty_value(EmptyValue::Nan),
            &AdaptiveMaxPool::new([1]).empty_value(EmptyValue::Nan),
        ];
        for pool in windows {
            assert_eq!(pool.plan(&[1, 1, 4], T::DTYPE, None), Err(refused.clone()));
        }
        assert_eq!(refused.to_string(), format!("empty_value: nan is not defined for {}", T::DTYPE));
    }
    for_every_dtype!(of);
}

#[test]
fn adaptive_and_global_windows_can_be_empty() {
    fn of<T: Number>() {
        let x = [nan(0, 1), nan(1, 1), nan(0, 2), T::of(1.0), nan(0, 1), nan(0, 1), nan(1, 1), nan(0, 1)];
        // Windows 0 to 1 and 1 to 3 of each of the planes of three and four elements.
        let adaptive = AdaptiveMaxPool::new([2]).nan_policy(NanPolicy::Ignore).empty_value(EmptyValue::Nan);
        let y = [quiet(), T::of(1.0), quiet(), quiet()];
        pools::<T, i64>(&adaptive, (&[1, 2, 4], &x), (&[1, 2, 2], &y), (&[1, 2, 2], &[-1, 3, -1, -1]));
        let global = GlobalMaxPool::new().nan_policy(NanPolicy::Ignore).empty_index(EmptyIndex::UnitBase);
        let y = [T::of(1.0), T::of(f64::NEG_INFINITY)];
        pools::<T, i64>(&global, (&[1, 2, 4], &x), (&[1, 2, 1], &y), (&[1, 2, 1], &[3, 4]));
    }
    for_every_float!(of);
}

#[test]
fn an_inverse_leaves_out_windows_of_nan() {
    let pool = MaxPool::new([2]).strides([2]).nan_policy(NanPolicy::Ignore);
    let x = [9.0, 1.0, f32::NAN, f32::NAN, 2.0, 3.0];
    let y = [9.0, f32::NEG_INFINITY, 3.0];
    pools::<f32, i64>(&pool, (&[1, 1, 6], &x), (&[1, 1, 3], &y), (&[1, 1, 3], &[0, -1, 5]));
    let inverse = MaxUnpool::inverse_of(&pool, &[1, 1, 6]);
    let back = [9.0, 0.0, 0.0, 0.0, 0.0, 3.0];
    unpools::<f32, i64>(&inverse, (&[1, 1, 3], &y), (&[1, 1, 3], &[0, -1, 5]), Ok((&[1, 1, 6], &back)));
    // Every window may be one of NaN, so no other index can be told from an element's, whatever the element type.
    let other = MaxUnpool::inverse_of(&pool.empty_index(EmptyIndex::UnitBase), &[1, 1, 6]);
    for dtype in [DType::F16, DType::U8] {
        let refused = PlanError::NotInvertible { empty_index: EmptyIndex::UnitBase };
        assert_eq!(other.plan(&[1, 1, 3], dtype, IndexType::I64), Err(refused));
    }
}
