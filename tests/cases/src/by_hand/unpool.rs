//! MaxUnpool: index conventions, sizes, equal indices and bad ones.

use wgpu_pooling::{
    DType, Duplicates, ExecuteError, IndexFlattening, IndexType, Layout, MaxUnpool, OutOfBounds, PlanError,
    StorageOrder, UnpoolMinSize, UnpoolSpace,
};

use super::both::{GENERIC, Number, bytes, check_unpool, for_every_dtype, numbers, unpools};

/// Kernel 2 and stride 2: m elements are unpooled to 2 * m.
fn halves() -> MaxUnpool {
    MaxUnpool::new([2]).strides([2])
}

#[test]
fn every_dtype_is_scattered_and_the_rest_is_zero() {
    fn of<T: Number>() {
        let x = numbers::<T>(&[3.0, 5.0, 7.0]);
        let y = numbers::<T>(&[0.0, 3.0, 7.0, 0.0, 0.0, 5.0]);
        unpools::<T, i64>(&halves(), (&[1, 1, 3], &x), (&[1, 1, 3], &[1, 5, 2]), Ok((&[1, 1, 6], &y)));
        unpools::<T, i32>(&halves(), (&[1, 1, 3], &x), (&[1, 1, 3], &[1, 5, 2]), Ok((&[1, 1, 6], &y)));
    }
    for_every_dtype!(of);
}

#[test]
fn batch_indices_name_the_channel_and_stay_in_their_item() {
    // Two channels of 4: the unit is 8. In item 0, 6 is channel 1, position 2, and 4 is channel 1, position 0,
    // whichever channel of X carries them; in item 1 the same numbers mean the same places of item 1.
    let unpool = halves().flatten(IndexFlattening::Batch);
    let x = [1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
    unpools::<_, i64>(
        &unpool,
        (&[2, 2, 2], &x),
        (&[2, 2, 2], &[1, 6, 4, 3, 0, 7, 2, 5]),
        Ok((&[2, 2, 4], &[0.0, 1.0, 0.0, 4.0, 3.0, 0.0, 2.0, 0.0, 5.0, 0.0, 7.0, 0.0, 0.0, 8.0, 0.0, 6.0])),
    );
    // In the tensor 8 would name item 1; in the batch item it is past the unit.
    unpools::<_, i64>(
        &unpool,
        (&[2, 2, 2], &x),
        (&[2, 2, 2], &[1, 8, 4, 3, 0, 7, 2, 5]),
        Err(ExecuteError::IndexOutOfRange { position: 1, value: 8, index_count: 8, count: 1 }),
    );
}

#[test]
fn column_major_indices_count_the_first_axis_fastest() {
    // Two planes of 2 rows and 4 columns: y + x * 2, plus 8 for plane 1. 3 is (1, 1), 4 is (0, 2), 15 is plane 1 (1,
    // 3), 8 plane 1 (0, 0).
    let unpool = MaxUnpool::new([2, 2]).strides([2, 2]).index_order(StorageOrder::ColumnMajor);
    let y = [0.0f32, 0.0, 2.0, 0.0, 0.0, 1.0, 0.0, 0.0, 4.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 3.0];
    let (x, shape, out) = ([1.0f32, 2.0, 3.0, 4.0], [1, 2, 1, 2], [1, 2, 2, 4]);
    unpools::<_, i64>(&unpool, (&shape, &x), (&shape, &[3, 4, 15, 8]), Ok((&out, &y)));
    // The planes change places: an index of the tensor is not bound to its own plane.
    let swapped = [&y[8..], &y[..8]].concat();
    unpools::<_, i64>(&unpool, (&shape, &x), (&shape, &[11, 12, 7, 0]), Ok((&out, &swapped)));
    // The same with indices that count in the plane.
    let plane = unpool.flatten(IndexFlattening::Plane);
    unpools::<_, i64>(&plane, (&shape, &x), (&shape, &[3, 4, 7, 0]), Ok((&out, &y)));
    // 2 by 3 by 4: z + y * 2 + x * 6. 17 = 1 + 2 * 2 + 2 * 6 is (1, 2, 2), row major 1 * 12 + 2 * 4 + 2 = 22.
    let mut y = [0.0f32; 24];
    y[22] = 9.0;
    let unpool = MaxUnpool::new([2, 3, 4]).index_order(StorageOrder::ColumnMajor);
    unpools::<_, i64>(&unpool, (&[1; 5], &[9.0f32]), (&[1; 5], &[17]), Ok((&[1, 1, 2, 3, 4], &y)));
    // 24 is the first that is too large, in this order too.
    let error = ExecuteError::IndexOutOfRange { position: 0, value: 24, index_count: 24, count: 1 };
    unpools::<_, i64>(&unpool, (&[1; 5], &[9.0f32]), (&[1; 5], &[24]), Err(error));
}

#[test]
fn column_major_indices_in_an_inferred_shape_smaller_than_the_output() {
    // Inferred 2 by 2, output 3 by 4. Column major in the inferred shape, 1 is (1, 0), and 2 is (0, 1).
    let unpool = MaxUnpool::new([2, 1]).index_order(StorageOrder::ColumnMajor).output_shape([1, 1, 3, 4]);
    let y = [0.0f32, 6.0, 0.0, 0.0, 5.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    unpools::<_, i64>(&unpool, (&[1, 1, 1, 2], &[5.0, 6.0]), (&[1, 1, 1, 2], &[1, 2]), Ok((&[1, 1, 3, 4], &y)));
    // In the output's own shape, 1 is (1, 0) again, but 2 is (2, 0).
    let unpool = unpool.unpool_space(UnpoolSpace::OutputShape);
    let y = [0.0f32, 0.0, 0.0, 0.0, 5.0, 0.0, 0.0, 0.0, 6.0, 0.0, 0.0, 0.0];
    unpools::<_, i64>(&unpool, (&[1, 1, 1, 2], &[5.0, 6.0]), (&[1, 1, 1, 2], &[1, 2]), Ok((&[1, 1, 3, 4], &y)));
}

#[test]
fn nhwc_indices_are_stored_and_counted_channels_last() {
    // N, C, m = 2, 2, 3 and 6 positions: an index is position * 2 + c in its batch item. The index tensor is N, m, C.
    // In item 0: 0 is (0, c 0), 3 (1, c 1), 5 (2, c 1), 6 (3, c 0), 10 (5, c 0), 9 (4, c 1).
    let x = [1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0];
    let item = [0i64, 3, 5, 6, 10, 9];
    // Element (m, c) of the index tensor belongs to X[c][m]: X[0][0] = 1 goes to 0, X[1][0] = 4 to 3, X[0][1] = 2 to 5.
    let y_0 = [1.0, 0.0, 0.0, 5.0, 0.0, 3.0, 0.0, 4.0, 2.0, 0.0, 6.0, 0.0];
    let y_1 = [7.0, 0.0, 0.0, 11.0, 0.0, 9.0, 0.0, 10.0, 8.0, 0.0, 12.0, 0.0];
    let unpool = halves().index_layout(Layout::Nhwc);
    let batch = unpool.clone().flatten(IndexFlattening::Batch);
    let twice = [item, item].concat();
    let y = [y_0, y_1].concat();
    unpools::<_, i64>(&batch, (&[2, 2, 3], &x), (&[2, 3, 2], &twice), Ok((&[2, 2, 6], &y)));
    // In the tensor an item has 12 elements. Item 0 gets the indices from 12 on and item 1 those from 0 on, so the
    // items change places.
    let swapped = [item.map(|index| index + 12), item].concat();
    let y = [y_1, y_0].concat();
    unpools::<_, i64>(&unpool, (&[2, 2, 3], &x), (&[2, 3, 2], &swapped), Ok((&[2, 2, 6], &y)));
    // X and Y in NHWC as well: X is (m, c), Y (position, c), so X's element k goes to index k of the item.
    let x = [1.0f32, 4.0, 2.0, 5.0, 3.0, 6.0];
    let y = [1.0, 0.0, 0.0, 4.0, 0.0, 2.0, 5.0, 0.0, 0.0, 6.0, 3.0, 0.0];
    let unpool = unpool.layout(Layout::Nhwc);
    unpools::<_, i64>(&unpool, (&[1, 3, 2], &x), (&[1, 3, 2], &item), Ok((&[1, 6, 2], &y)));
    // A bad index is reported where it is stored.
    unpools::<_, i64>(
        &unpool,
        (&[1, 3, 2], &x),
        (&[1, 3, 2], &[0, 3, 5, 6, 10, 12]),
        Err(ExecuteError::IndexOutOfRange { position: 5, value: 12, index_count: 12, count: 1 }),
    );
}

#[test]
fn nhwc_data_keeps_nchw_indices() {
    // X is (m, c), the index tensor (c, m), an index c * 6 + position, and Y (position, c). Entry 3 of the index tensor
    // belongs to the first element of channel 1, and so on.
    let unpool = halves().layout(Layout::Nhwc);
    let x = [1u8, 4, 2, 5, 3, 6];
    let y = [1, 0, 0, 4, 2, 0, 0, 0, 0, 5, 3, 6];
    unpools::<_, i64>(&unpool, (&[1, 3, 2], &x), (&[1, 2, 3], &[0, 2, 5, 7, 10, 11]), Ok((&[1, 6, 2], &y)));
}

#[test]
fn an_output_shape_may_be_as_small_as_the_rule_says() {
    // 2 by 2 with kernel 2 and stride 2 infers 4 by 4.
    let indices: (&[usize], &[i64]) = (&[1, 1, 2, 2], &[0, 1, 2, 13]);
    let x: (&[usize], &[f32]) = (&[1, 1, 2, 2], &[1.0, 2.0, 3.0, 4.0]);
    let into = |output_shape: [i64; 4], rule| {
        let unpool = MaxUnpool::new([2, 2]).strides([2, 2]).output_shape(output_shape);
        unpool.unpool_space(UnpoolSpace::OutputShape).unpool_min_size(rule)
    };
    let plan = |output_shape, rule| {
        into(output_shape, rule)
            .plan(&[1, 1, 2, 2], DType::F32, IndexType::I64)
            .map(|plan| plan.output_shape().to_vec())
    };
    let below = |axis, given| Err(PlanError::OutputShapeTooSmall { axis, given, inferred: 4 });
    let (per_axis, count, none) = (UnpoolMinSize::PerAxis, UnpoolMinSize::ElementCount, UnpoolMinSize::None);
    // 2 by 8 has 16 elements, as many as 4 by 4.
    assert_eq!(plan([1, 1, 2, 8], per_axis), below(0, 2));
    let mut y = [0.0f32; 16];
    (y[0], y[1], y[2], y[13]) = (1.0, 2.0, 3.0, 4.0);
    unpools(&into([1, 1, 2, 8], count), x, indices, Ok((&[1, 1, 2, 8], &y)));
    unpools(&into([1, 1, 2, 8], none), x, indices, Ok((&[1, 1, 2, 8], &y)));
    // 7 by 2 has 14 elements.
    assert_eq!(plan([1, 1, 7, 2], per_axis), below(1, 2));
    assert_eq!(plan([1, 1, 7, 2], count), Err(PlanError::OutputCountTooSmall { given: 14, inferred: 16 }));
    unpools(&into([1, 1, 7, 2], none), x, indices, Ok((&[1, 1, 7, 2], &y[..14])));
    // The inferred shape itself, and a larger one.
    for rule in [per_axis, count, none] {
        unpools(&into([1, 1, 4, 4], rule), x, indices, Ok((&[1, 1, 4, 4], &y)));
        assert_eq!(plan([1, 1, 4, 5], rule), Ok(vec![1, 1, 4, 5]));
    }
    // With InferredTopLeft no size rule lets a block fit that is larger than the output, and without a size rule the
    // check is per axis.
    let plan = |unpool: MaxUnpool| unpool.plan(&[1, 1, 2, 2], DType::F32, IndexType::I64).map(|_| Vec::new());
    for rule in [per_axis, count, none] {
        let placed = into([1, 1, 2, 8], rule).unpool_space(UnpoolSpace::InferredTopLeft);
        assert_eq!(plan(placed), below(0, 2));
    }
    let plain = MaxUnpool::new([2, 2]).strides([2, 2]).output_shape([1, 1, 2, 8]);
    assert_eq!(plan(plain.clone()), below(0, 2));
    // With indices flat in the output's own shape and without a size rule, any size is accepted.
    let plain = plain.unpool_space(UnpoolSpace::OutputShape);
    assert_eq!(plan(plain.output_shape([1, 1, 1, 14])), Ok(Vec::new()));
}

#[test]
fn the_last_of_equal_indices_wins_in_channel_order_also_for_nhwc() {
    let (x, same) = ([5.0f32, 6.0, 7.0], [1i64; 3]);
    unpools(&halves(), (&[1, 1, 3], &x), (&[1, 1, 3], &same), Ok((&[1, 1, 6], &[0.0, 7.0, 0.0, 0.0, 0.0, 0.0])));
    // X is (m, c) = (0, 0), (0, 1), (1, 0), (1, 1) in memory. (1, 0) and (0, 1) name the same place. Channel 1 comes
    // after channel 0, so (0, 1) = 6 wins, though (1, 0) = 7 lies behind it. Indices are (c, m).
    let unpool = halves().layout(Layout::Nhwc);
    let y = [5.0f32, 0.0, 0.0, 0.0, 0.0, 0.0, 6.0, 8.0];
    unpools::<_, i64>(&unpool, (&[1, 2, 2], &[5.0, 6.0, 7.0, 8.0]), (&[1, 2, 2], &[0, 3, 3, 7]), Ok((&[1, 4, 2], &y)));
    // A winner's bits count, not its value: -0 after +0 is -0.
    unpools::<_, i64>(
        &halves(),
        (&[1, 1, 2], &[0.0f32, -0.0]),
        (&[1, 1, 2], &[2, 2]),
        Ok((&[1, 1, 4], &[0.0, 0.0, -0.0, 0.0])),
    );
}

#[test]
fn any_of_equal_indices_may_win_but_one_of_them_does() {
    let any = halves().duplicates(Duplicates::Any);
    // Equal values: there is one answer.
    let y = [0.0f32, 0.0, 0.0, 4.0, 9.0, 0.0];
    unpools::<_, i64>(&any, (&[1, 1, 3], &[4.0, 9.0, 4.0]), (&[1, 1, 3], &[3, 4, 3]), Ok((&[1, 1, 6], &y)));
    check_unpool::<f32, i64>(GENERIC, &any, (&[1, 1, 3], &[4.0, 9.0, 8.0]), (&[1, 1, 3], &[3, 4, 3]), |outcome| {
        let either = [4.0, 8.0].map(|value| Ok(vec![bytes(&[0.0f32, 0.0, 0.0, value, 9.0, 0.0])]));
        if either.contains(outcome) { Ok(()) } else { Err(format!("{outcome:?}")) }
    });
}

#[test]
fn bad_indices_are_left_out_on_request_and_change_nothing_else() {
    let x = [1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0];
    let indices = [-1, 12, i64::MIN, (1 << 32) + 1, 1, i64::MAX];
    let skip = halves().out_of_bounds(OutOfBounds::Skip);
    let mut y = [0.0f32; 12];
    y[1] = 5.0;
    unpools(&skip, (&[1, 1, 6], &x), (&[1, 1, 6], &indices), Ok((&[1, 1, 12], &y)));
    let error = ExecuteError::IndexOutOfRange { position: 0, value: -1, index_count: 12, count: 5 };
    unpools(&halves(), (&[1, 1, 6], &x), (&[1, 1, 6], &indices), Err(error));
    // A bad index does not win over a good one, though it comes last.
    let y = [0.0f32, 0.0, 5.0, 0.0, 0.0, 0.0];
    unpools::<_, i32>(&skip, (&[1, 1, 3], &[4.0, 5.0, 6.0]), (&[1, 1, 3], &[2, 2, i32::MIN]), Ok((&[1, 1, 6], &y)));
    // Where indices count in the plane, an index past the plane is bad, although the tensor goes on.
    let plane = skip.clone().flatten(IndexFlattening::Plane);
    unpools::<_, i64>(&plane, (&[1, 2, 1], &[7u8, 8]), (&[1, 2, 1], &[2, 1]), Ok((&[1, 2, 2], &[0, 0, 0, 8])));
    // Where indices are flat in the inferred shape, an index past this shape is bad, although the output goes on.
    let placed = skip.output_shape([1, 1, 5]);
    unpools::<_, i64>(&placed, (&[1, 1, 2], &[7u8, 8]), (&[1, 1, 2], &[4, 3]), Ok((&[1, 1, 5], &[0, 0, 0, 8, 0])));
}
