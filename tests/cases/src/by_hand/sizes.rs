//! Output extents where the rules differ, and how many elements 32-bit indices count through.

use wgpu_pooling::{
    AdaptiveMaxPool, AutoPad, CeilRule, DType, GlobalMaxPool, IndexFlattening, IndexType, Layout, MaxPool, MaxUnpool,
    PlanError, SamePadding, SizeRounding, UnpoolSpace,
};

use super::both::{output_shape, pools};

const NINE: [f32; 9] = [0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0];

#[test]
fn same_gives_ceil_of_the_quotient_whatever_the_rounding_rules() {
    // 9 elements, kernel 1, stride 5: ceil(9 / 5) = 2 windows; (2 - 1) * 5 + 1 - 9 = -3 is no padding, so they start at
    // 0 and 5. The formula for given pads would come to ceil(8 / 5) + 1 = 3 under the literal rule.
    for auto_pad in [AutoPad::SameUpper, AutoPad::SameLower] {
        for &ceil in CeilRule::ALL {
            for &rounding in SizeRounding::ALL {
                let pool = MaxPool::new([1]).strides([5]).auto_pad(auto_pad).ceil_rule(ceil).size_rounding(rounding);
                pools::<_, i64>(&pool, (&[1, 1, 9], &NINE), (&[1, 1, 2], &[0.0, 50.0]), (&[1, 1, 2], &[0, 5]));
            }
        }
    }
    assert_eq!(output_shape(&MaxPool::new([1]).strides([5]).ceil_rule(CeilRule::CeilLiteral), &[1, 1, 9]), [1, 1, 3]);
    // 7 elements, kernel 2, stride 4: ceil(7 / 4) = 2 windows, 4 + 2 - 7 < 0: (0, 1) and (4, 5).
    let pool = MaxPool::new([2]).strides([4]).auto_pad(AutoPad::SameLower).ceil_rule(CeilRule::CeilLiteral);
    pools::<_, i64>(&pool, (&[1, 1, 7], &NINE[..7]), (&[1, 1, 2], &[10.0, 50.0]), (&[1, 1, 2], &[1, 5]));
}

#[test]
fn undilated_same_obeys_the_ceil_rule() {
    // 5 elements, kernel 2, stride 2, dilation 2: ceil(5 / 2) = 3, total (3 - 1) * 2 + 2 - 5 = 1. The effective kernel
    // is 3, so 5 + 1 - 3 = 3 is left for strides: floor(3 / 2) + 1 = 2 windows, ceil(3 / 2) + 1 = 3. The third starts
    // at 2 * 2 - pad, which is inside 5 + pad, so CeilDrop keeps it.
    let x = [1.0f32, 5.0, 2.0, 4.0, 3.0];
    let base = MaxPool::new([2]).strides([2]).dilations([2]).same_padding(SamePadding::OrtUndilated);
    for (ceil, windows) in [(CeilRule::Floor, 2), (CeilRule::CeilDrop, 3), (CeilRule::CeilLiteral, 3)] {
        // Upper: pads 0 and 1, taps (0, 2), (2, 4), (4, 6). Lower: pads 1 and 0, taps (-1, 1), (1, 3), (3, 5).
        let upper = base.clone().auto_pad(AutoPad::SameUpper).ceil_rule(ceil);
        let shape = [1, 1, windows];
        let (y, indices) = ([2.0, 3.0, 3.0], [2, 4, 4]);
        pools::<_, i64>(&upper, (&[1, 1, 5], &x), (&shape, &y[..windows]), (&shape, &indices[..windows]));
        let lower = base.clone().auto_pad(AutoPad::SameLower).ceil_rule(ceil);
        let (y, indices) = ([5.0, 5.0, 4.0], [1, 1, 3]);
        pools::<_, i64>(&lower, (&[1, 1, 5], &x), (&shape, &y[..windows]), (&shape, &indices[..windows]));
    }
}

#[test]
fn undilated_same_moves_windows_right_when_the_stride_exceeds_the_kernel() {
    let base = MaxPool::new([1]).strides([5]).same_padding(SamePadding::OrtUndilated);
    let ten = [0.0f32, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0];
    // (elements, auto_pad, where the two windows start). A total of (2 - 1) * 5 + 1 - 9 = -3 halves to -1, and so does
    // -3 + 1; for 10 elements -4 halves to -2, and -4 + 1 to -1. For 9 elements and for 10 the output extent is 5 / 5 +
    // 1 = 2, exactly, under every rule: 9 - 3 and 10 - 4, less 1, are 5. CeilDrop keeps the second window, because 5 is
    // below 9 - 1 and 10 - 2.
    let rows = [
        (9, AutoPad::SameUpper, [1, 6]),
        (9, AutoPad::SameLower, [1, 6]),
        (10, AutoPad::SameUpper, [2, 7]),
        (10, AutoPad::SameLower, [1, 6]),
    ];
    for (elements, auto_pad, starts) in rows {
        for &ceil in CeilRule::ALL {
            let y = starts.map(|start| ten[start]);
            let indices = starts.map(|start| start as i64);
            let pool = base.clone().auto_pad(auto_pad).ceil_rule(ceil);
            pools::<_, i64>(&pool, (&[1, 1, elements], &ten[..elements]), (&[1, 1, 2], &y), (&[1, 1, 2], &indices));
        }
    }
}

#[test]
fn an_extent_of_zero_is_an_empty_output() {
    // 4 elements, kernel 5, stride 2: 4 - 5 = -1 is left for strides. floor(-1 / 2) + 1 = 0 windows.
    let x = [1.0f32, 4.0, 2.0, 3.0];
    let pool = MaxPool::new([5]).strides([2]);
    pools::<_, i64>(&pool, (&[1, 1, 4], &x), (&[1, 1, 0], &[]), (&[1, 1, 0], &[]));
    let valid = pool.clone().auto_pad(AutoPad::Valid);
    pools::<_, i32>(&valid, (&[1, 1, 4], &x), (&[1, 1, 0], &[]), (&[1, 1, 0], &[]));
    // ceil(-1 / 2) + 1 = 1, and rounding toward zero gives 1 too: one window of which 4 taps are inside.
    for pool in [
        pool.clone().ceil_rule(CeilRule::CeilDrop),
        pool.clone().ceil_rule(CeilRule::CeilLiteral),
        pool.clone().size_rounding(SizeRounding::Trunc),
        pool.clone().ceil_rule(CeilRule::CeilDrop).size_rounding(SizeRounding::FloorPositive),
    ] {
        pools::<_, i64>(&pool, (&[1, 1, 4], &x), (&[1, 1, 1], &[4.0]), (&[1, 1, 1], &[1]));
    }
    // One axis without outputs, the other with 2.
    let pool = MaxPool::new([5, 1]).strides([2, 1]);
    pools::<_, i64>(&pool, (&[1, 2, 4, 2], &[0u8; 16]), (&[1, 2, 0, 2], &[]), (&[1, 2, 0, 2], &[]));
    // Kernel 6, stride 1: -2 is left and -2 + 1 < 0. Kernel 5, stride 1: -1 + 1 = 0.
    let plan = |pool: MaxPool| pool.plan(&[1, 1, 4], DType::F32, None).map(|plan| plan.output_shape()[2]);
    let too_large = PlanError::KernelExceedsInput { axis: 0, effective_kernel: 6, padded_input: 4 };
    assert_eq!(plan(MaxPool::new([6])), Err(too_large));
    assert_eq!(plan(MaxPool::new([5])), Ok(0));
    let none_wanted = PlanError::KernelExceedsInput { axis: 0, effective_kernel: 5, padded_input: 4 };
    assert_eq!(plan(MaxPool::new([5]).size_rounding(SizeRounding::FloorPositive)), Err(none_wanted));
}

#[test]
fn valid_obeys_the_ceil_rule() {
    // 3 elements, kernel 2, stride 2: floor(1 / 2) + 1 = 1, ceil(1 / 2) + 1 = 2; the second window starts at 2, inside.
    let x = [5.0f32, 6.0, 7.0];
    let valid = MaxPool::new([2]).strides([2]).auto_pad(AutoPad::Valid);
    pools::<_, i64>(&valid, (&[1, 1, 3], &x), (&[1, 1, 1], &[6.0]), (&[1, 1, 1], &[1]));
    for rule in [CeilRule::CeilDrop, CeilRule::CeilLiteral] {
        let pool = valid.clone().ceil_rule(rule);
        pools::<_, i64>(&pool, (&[1, 1, 3], &x), (&[1, 1, 2], &[6.0, 7.0]), (&[1, 1, 2], &[1, 2]));
    }
}

#[test]
fn thirty_two_bit_indices_stop_at_the_last_unit_that_they_count() {
    const MOST: usize = (1 << 31) - 1;
    let refused = |unit: u64| Err(PlanError::IndexTypeTooNarrow { index_count: unit });
    let pool = |pool: MaxPool, shape: &[usize], index_type| {
        pool.plan(shape, DType::U8, Some(index_type)).map(|plan| plan.output_shape().to_vec())
    };
    let narrow = |of: MaxPool, shape: &[usize]| pool(of, shape, IndexType::I32);
    let one = || MaxPool::new([1]);
    assert_eq!(narrow(one(), &[1, 1, MOST]), Ok(vec![1, 1, MOST]));
    assert_eq!(narrow(one(), &[1, 1, MOST + 1]), refused(1 << 31));
    assert_eq!(pool(one(), &[1, 1, MOST + 1], IndexType::I64), Ok(vec![1, 1, MOST + 1]));
    // The unit is what the index counts through: 2 * 2 * 2^29 = 2^31 of the tensor, 2^30 of the batch item, 2^29 of the
    // plane. Few outputs do not help, because indices name inputs.
    let four = [2, 2, 1 << 29];
    let global = || MaxPool::new([1 << 29]);
    assert_eq!(narrow(global(), &four), refused(1 << 31));
    assert_eq!(narrow(global().flatten(IndexFlattening::Batch), &four), Ok(vec![2, 2, 1]));
    assert_eq!(narrow(global().flatten(IndexFlattening::Plane), &four), Ok(vec![2, 2, 1]));
    assert_eq!(narrow(global().flatten(IndexFlattening::Batch), &[1, 4, 1 << 29]), refused(1 << 31));
    // 32-bit counts that differ by layout: C is last in NHWC.
    let nhwc = global().layout(Layout::Nhwc).index_layout(Layout::Nhwc);
    assert_eq!(narrow(nhwc.clone(), &[2, 1 << 29, 2]), refused(1 << 31));
    assert_eq!(narrow(nhwc.flatten(IndexFlattening::Batch), &[2, 1 << 29, 2]), Ok(vec![2, 1, 2]));

    let plane = |extent| {
        let pool = AdaptiveMaxPool::new([1]);
        pool.plan(&[2, 1, extent], DType::F16, Some(IndexType::I32)).map(|plan| plan.output_shape().to_vec())
    };
    assert_eq!(plane(MOST), Ok(vec![2, 1, 1]));
    assert_eq!(plane(MOST + 1), refused(1 << 31));
    let global = GlobalMaxPool::new().plan(&[1, 1, MOST + 1], DType::U8, Some(IndexType::I32));
    assert_eq!(global.map(|plan| plan.output_shape().to_vec()), refused(1 << 31));

    // An unpool's unit is its output: one element, whose index may lie anywhere in it.
    let unpool = |extent: i64, space| {
        let unpool = MaxUnpool::new([1]).output_shape([1, 1, extent]).unpool_space(space);
        unpool.plan(&[1, 1, 1], DType::U8, IndexType::I32).map(|plan| plan.output_shape().to_vec())
    };
    assert_eq!(unpool(MOST as i64, UnpoolSpace::OutputShape), Ok(vec![1, 1, MOST]));
    assert_eq!(unpool(MOST as i64 + 1, UnpoolSpace::OutputShape), refused(1 << 31));
    // Flat in the inferred shape the unit is 1, whatever the output.
    assert_eq!(unpool(MOST as i64 + 1, UnpoolSpace::InferredTopLeft), Ok(vec![1, 1, MOST + 1]));
    let inverse = MaxUnpool::inverse_of(&MaxPool::new([1 << 16]).strides([1 << 16]), &[1, 1, MOST + 1]);
    assert_eq!(
        inverse.plan(&[1, 1, 1 << 15], DType::U8, IndexType::I32).map(|plan| plan.output_shape().to_vec()),
        refused(1 << 31)
    );
}
