//! An unpool made from a pool: the index space, the shape and the empty windows are the pool's.

use wgpu_pooling::{
    AdaptiveMaxPool, DType, EmptyIndex, ExecuteError, GlobalMaxPool, IndexFlattening, IndexType, Layout, MaxPool,
    MaxUnpool, NanPolicy, OutOfBounds, OutsideWindow, PlanError, StorageOrder, UnpoolMinSize, UnpoolSpace,
};

use super::both::{pools, unpools};

#[test]
fn a_dilated_pool_is_inverted() {
    // Taps (0, 2) and (2, 4): the maxima are 2 at position 2 and 3 at position 4. The kernel without its dilation would
    // infer (2 - 1) * 2 + 2 = 4 elements, without a position 4.
    let pool = MaxPool::new([2]).strides([2]).dilations([2]);
    let (x, y, indices) = ([1.0f32, 5.0, 2.0, 4.0, 3.0], [2.0, 3.0], [2i64, 4]);
    pools(&pool, (&[1, 1, 5], &x), (&[1, 1, 2], &y), (&[1, 1, 2], &indices));
    let inverse = MaxUnpool::inverse_of(&pool, &[1, 1, 5]);
    unpools(&inverse, (&[1, 1, 2], &y), (&[1, 1, 2], &indices), Ok((&[1, 1, 5], &[0.0, 0.0, 2.0, 0.0, 3.0])));
}

#[test]
fn exactly_the_index_of_an_empty_window_is_left_out() {
    // Taps (-1, 2), (0, 3), (1, 4) on 2 elements: the first window is empty.
    let pool = MaxPool::new([2]).dilations([3]).pads([1, 3]);
    let inverse = MaxUnpool::inverse_of(&pool, &[1, 1, 2]);
    let y = [f32::NEG_INFINITY, 7.0, 8.0];
    unpools::<_, i64>(&inverse, (&[1, 1, 3], &y), (&[1, 1, 3], &[-1, 0, 1]), Ok((&[1, 1, 2], &[7.0, 8.0])));
    let bad = |position, value| Err(ExecuteError::IndexOutOfRange { position, value, index_count: 2, count: 1 });
    unpools::<f32, i64>(&inverse, (&[1, 1, 3], &y), (&[1, 1, 3], &[-1, -2, 1]), bad(1, -2));
    unpools::<f32, i32>(&inverse, (&[1, 1, 3], &y), (&[1, 1, 3], &[-1, 0, 2]), bad(2, 2));
    let skip = inverse.out_of_bounds(OutOfBounds::Skip);
    unpools::<_, i64>(&skip, (&[1, 1, 3], &y), (&[1, 1, 3], &[-1, -2, 0]), Ok((&[1, 1, 2], &[8.0, 0.0])));
    // A pool without empty windows gives no -1, so for its inverse -1 is a bad index like any other.
    let inverse = MaxUnpool::inverse_of(&MaxPool::new([1]), &[1, 1, 2]);
    unpools::<f32, i64>(&inverse, (&[1, 1, 2], &[7.0, 8.0]), (&[1, 1, 2], &[0, -1]), bad(1, -1));
}

#[test]
fn an_empty_index_that_could_be_an_element_is_refused() {
    let straddling = MaxPool::new([2]).dilations([3]).pads([1, 1]);
    let whole = MaxPool::new([2]);
    for &empty in EmptyIndex::ALL {
        let inverse = |pool: &MaxPool, shape: &[usize]| {
            MaxUnpool::inverse_of(&pool.clone().empty_index(empty), &[1, 1, 2])
                .plan(shape, DType::F32, IndexType::I64)
                .map(|plan| plan.output_shape().to_vec())
        };
        let expected = match empty {
            EmptyIndex::MinusOne => Ok(vec![1, 1, 2]),
            empty_index => Err(PlanError::NotInvertible { empty_index }),
        };
        assert_eq!(inverse(&straddling, &[1, 1, 1]), expected);
        // Without empty windows the option never shows.
        assert_eq!(inverse(&whole, &[1, 1, 1]), Ok(vec![1, 1, 2]));
    }
}

#[test]
fn an_adaptive_pool_is_inverted_and_its_shared_maximum_written_once() {
    // 5 to 2: windows [0, 3) and [2, 5) share element 2, the maximum of both. Indices count through their plane.
    let pool = AdaptiveMaxPool::new([2]);
    let x = [1.0f32, 0.0, 9.0, 2.0, 3.0, 4.0, 1.0, 1.0, 1.0, 6.0];
    let (y, indices) = ([9.0, 9.0, 4.0, 6.0], [2i64, 2, 0, 4]);
    pools(&pool, (&[1, 2, 5], &x), (&[1, 2, 2], &y), (&[1, 2, 2], &indices));
    let back = [0.0f32, 0.0, 9.0, 0.0, 0.0, 4.0, 0.0, 0.0, 0.0, 6.0];
    unpools(
        &MaxUnpool::inverse_of(&pool, &[1, 2, 5]),
        (&[1, 2, 2], &y),
        (&[1, 2, 2], &indices),
        Ok((&[1, 2, 5], &back)),
    );
}

#[test]
fn a_global_pool_is_inverted() {
    let pool = GlobalMaxPool::new();
    let x = [1u8, 4, 2, 0, 3, 7];
    pools::<_, i64>(&pool, (&[1, 2, 3], &x), (&[1, 2, 1], &[4, 7]), (&[1, 2, 1], &[1, 5]));
    let inverse = MaxUnpool::inverse_of(&pool, &[1, 2, 3]);
    unpools::<_, i64>(&inverse, (&[1, 2, 1], &[4u8, 7]), (&[1, 2, 1], &[1, 5]), Ok((&[1, 2, 3], &[0, 4, 0, 0, 0, 7])));
}

#[test]
fn nhwc_pools_are_inverted_in_nhwc() {
    // Channel 0 is 1 5 2 0 8 3, channel 1 is 4 3 7 6 0 9. Windows of two: 5, 2, 8 at 1, 2, 4, and 4, 7, 9 at 0, 2, 5.
    let x = [1.0f32, 4.0, 5.0, 3.0, 2.0, 7.0, 0.0, 6.0, 8.0, 0.0, 3.0, 9.0];
    let y = [5.0, 4.0, 2.0, 7.0, 8.0, 9.0];
    let back = [0.0f32, 4.0, 5.0, 0.0, 2.0, 7.0, 0.0, 0.0, 8.0, 0.0, 0.0, 9.0];
    let pool = MaxPool::new([2]).strides([2]).layout(Layout::Nhwc);
    // NCHW indices: (c, m), c * 6 + position.
    let indices = [1i64, 2, 4, 6, 8, 11];
    pools(&pool, (&[1, 6, 2], &x), (&[1, 3, 2], &y), (&[1, 2, 3], &indices));
    let inverse = MaxUnpool::inverse_of(&pool, &[1, 6, 2]);
    unpools(&inverse, (&[1, 3, 2], &y), (&[1, 2, 3], &indices), Ok((&[1, 6, 2], &back)));
    // NHWC indices: (m, c), position * 2 + c.
    let pool = pool.index_layout(Layout::Nhwc);
    let indices = [2i64, 1, 4, 5, 8, 11];
    pools(&pool, (&[1, 6, 2], &x), (&[1, 3, 2], &y), (&[1, 3, 2], &indices));
    let inverse = MaxUnpool::inverse_of(&pool, &[1, 6, 2]);
    unpools(&inverse, (&[1, 3, 2], &y), (&[1, 3, 2], &indices), Ok((&[1, 6, 2], &back)));
}

#[test]
fn column_major_pools_are_inverted() {
    // Rows 1 5 2 0 and 4 3 7 6: 5 at (0, 1), 7 at (1, 2). Column major y + x * 2: 2 and 5; plane 1 has the offset 8.
    // Its rows are 9 0 0 0 and 0 0 0 8: (0, 0) and (1, 3), 0 and 7.
    let pool = MaxPool::new([2, 2]).strides([2, 2]).storage_order(1);
    let x = [1.0f32, 5.0, 2.0, 0.0, 4.0, 3.0, 7.0, 6.0, 9.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 8.0];
    let back = [0.0f32, 5.0, 0.0, 0.0, 0.0, 0.0, 7.0, 0.0, 9.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 8.0];
    let (y, shape, full) = ([5.0, 7.0, 9.0, 8.0], [1, 2, 1, 2], [1, 2, 2, 4]);
    for (flatten, indices) in [(IndexFlattening::Tensor, [2i64, 5, 8, 15]), (IndexFlattening::Plane, [2, 5, 0, 7])] {
        let pool = pool.clone().flatten(flatten);
        pools(&pool, (&full, &x), (&shape, &y), (&shape, &indices));
        unpools(&MaxUnpool::inverse_of(&pool, &full), (&shape, &y), (&shape, &indices), Ok((&full, &back)));
    }
}

#[test]
fn an_inverse_is_made_for_one_shape_and_takes_no_other_convention() {
    let pool = MaxPool::new([2]).strides([2]);
    let plan = |input: &[usize], y: &[usize]| {
        let inverse = MaxUnpool::inverse_of(&pool, input);
        inverse.plan(y, DType::F32, IndexType::I64).map(|plan| plan.output_shape().to_vec())
    };
    // 5 elements give 2 windows; the fifth is in none of them and comes back as zero.
    assert_eq!(plan(&[1, 1, 5], &[1, 1, 2]), Ok(vec![1, 1, 5]));
    let mismatch = PlanError::InverseShape { expected: vec![1, 1, 2], actual: vec![1, 1, 3] };
    assert_eq!(plan(&[1, 1, 5], &[1, 1, 3]), Err(mismatch));
    // The pool's own error.
    assert_eq!(plan(&[1, 0, 0], &[1, 0, 0]), Err(PlanError::ZeroExtent { axis: 0, shape: vec![1, 0, 0] }));
    let inverse = MaxUnpool::inverse_of(&pool, &[1, 1, 5]);
    // The index 4 names the fifth element, which the pool's windows leave out: it is as good as any other.
    let indices: (&[usize], &[i64]) = (&[1, 1, 2], &[4, 0]);
    unpools(&inverse, (&[1, 1, 2], &[3u8, 4]), indices, Ok((&[1, 1, 5], &[4, 0, 0, 0, 3])));
    // Attributes that follow from the pool cannot be set on its inverse.
    let others = [
        ("strides", inverse.clone().strides([7])),
        ("pads", inverse.clone().pads([1, 1])),
        ("output_shape", inverse.clone().output_shape([1, 1, 5])),
        ("layout", inverse.clone().layout(Layout::Nhwc)),
        ("index_layout", inverse.clone().index_layout(Layout::Nhwc)),
        ("flatten", inverse.clone().flatten(IndexFlattening::Plane)),
        ("index_order", inverse.clone().index_order(StorageOrder::ColumnMajor)),
        ("unpool_space", inverse.clone().unpool_space(UnpoolSpace::OutputShape)),
        ("unpool_min_size", inverse.clone().unpool_min_size(UnpoolMinSize::None)),
    ];
    for (second, unpool) in others {
        let refused = PlanError::Combination { first: "inverse_of", second };
        assert_eq!(unpool.plan(&[1, 1, 2], DType::F32, IndexType::I64), Err(refused));
    }
}

/// Pools in which nothing may win have the index of their plane's first element. It is left out where the window lacks
/// that element, and written where it has it.
#[test]
fn where_nothing_won_nothing_is_written() {
    let [nan, infinity, least] = [f32::NAN, f32::NEG_INFINITY, f32::MIN];
    let seeded = || MaxPool::new([2]).strides([2]).nan_policy(NanPolicy::SeedLowest);
    for pool in [seeded(), MaxPool::openvino([2]).strides([2])] {
        for nothing in [[nan, nan], [infinity, infinity], [least, nan]] {
            let x = [&[9.0, 1.0], &nothing[..], &[2.0, 3.0]].concat();
            pools::<f32, i64>(&pool, (&[1, 1, 6], &x), (&[1, 1, 3], &[9.0, least, 3.0]), (&[1, 1, 3], &[0, 0, 5]));
        }
        let inverse = MaxUnpool::inverse_of(&pool, &[1, 1, 6]);
        let back = [9.0, 0.0, 0.0, 0.0, 0.0, 3.0];
        for rule in OutsideWindow::ALL {
            let inverse = inverse.clone().outside_window(*rule);
            unpools::<_, i64>(
                &inverse,
                (&[1, 1, 3], &[9.0, least, 3.0]),
                (&[1, 1, 3], &[0, 0, 5]),
                Ok((&[1, 1, 6], &back)),
            );
            // Other values than the pool's, by its indices alone.
            let others = (&[1, 1, 3][..], &[7u8, 8, 6][..]);
            unpools::<_, i32>(&inverse, others, (&[1, 1, 3], &[0, 0, 5]), Ok((&[1, 1, 6], &[7, 0, 0, 0, 0, 6])));
            // Nothing won in the window that has the first element, either: its value is written.
            unpools::<_, i32>(&inverse, others, (&[1, 1, 3], &[0, 0, 0]), Ok((&[1, 1, 6], &[7, 0, 0, 0, 0, 0])));
        }
        // The first element of another plane is as good as any other.
        let inverse = MaxUnpool::inverse_of(&pool, &[1, 2, 4]);
        let (y, indices): (_, [i64; 4]) = ([1u8, 2, 3, 4], [0, 4, 1, 4]);
        unpools(&inverse, (&[1, 2, 2], &y), (&[1, 2, 2], &indices), Ok((&[1, 2, 4], &[1, 3, 0, 0, 2, 0, 0, 0])));
    }
    // Windows of two taps, two apart, that begin before the plane: windows 0 and 2 have its first element, 1 has not.
    let pool = seeded().dilations([2]).strides([1]).pads([2, 0]);
    let inverse = MaxUnpool::inverse_of(&pool, &[1, 1, 3]);
    let plan = pool.plan(&[1, 1, 3], DType::F32, Some(IndexType::I64)).unwrap();
    assert_eq!(plan.output_shape(), [1, 1, 3]);
    unpools::<_, i64>(&inverse, (&[1, 1, 3], &[5u8, 6, 7]), (&[1, 1, 3], &[0, 0, 1]), Ok((&[1, 1, 3], &[5, 7, 0])));
    unpools::<_, i64>(&inverse, (&[1, 1, 3], &[5u8, 6, 7]), (&[1, 1, 3], &[0, 0, 0]), Ok((&[1, 1, 3], &[7, 0, 0])));
}
