//! Index conversion: every pair of conventions, and what cannot be converted.

use support::calls::reference;
use wgpu_pooling::{
    DType, ExecuteError, IndexFlattening, IndexSpace, IndexType, Layout, MaxPool, PlanError, StorageOrder, Tensor,
    TensorView,
};

/// Every convention that exists on tensors of this size.
fn conventions(batch: usize, channels: usize, extents: &[usize]) -> Vec<IndexSpace> {
    let mut found = Vec::new();
    for &flatten in IndexFlattening::ALL {
        for &order in StorageOrder::ALL {
            for &layout in Layout::ALL {
                let exists =
                    layout == Layout::Nchw || (flatten != IndexFlattening::Plane && order == StorageOrder::RowMajor);
                if exists {
                    let space = IndexSpace::new(batch, channels, extents);
                    found.push(space.with_flatten(flatten).with_order(order).with_layout(layout));
                }
            }
        }
    }
    assert_eq!(found.len(), 8);
    found
}

#[test]
fn a_pools_indices_convert_to_those_that_the_pool_gives_in_the_other_convention() {
    let shape = [2, 3, 5, 4];
    let count = shape.iter().product::<usize>();
    let x = Tensor::new(shape, (0..count).map(|i| ((i * 7919) % 23) as u8).collect()).unwrap();
    let pool = |space: &IndexSpace, layout, flatten, order| {
        let pool = MaxPool::new([2, 2]).dilations([7, 1]).pads([2, 0, 3, 1]);
        let pool = pool.index_layout(layout).flatten(flatten).index_order(order);
        let plan = pool.plan(&shape, DType::U8, Some(IndexType::I64)).unwrap();
        assert_eq!(plan.index_space(), Some(space));
        reference::max_pool_with_indices::<u8, i64>(&plan, x.view()).unwrap().1
    };
    let mut pools = Vec::new();
    for space in conventions(2, 3, &[5, 4]) {
        let indices = pool(&space, space.layout(), space.flatten(), space.order());
        assert!(indices.data().contains(&-1), "some windows lie wholly in padding");
        pools.push((space, indices));
    }
    for (from, indices) in &pools {
        for (to, expected) in &pools {
            let converted = from.convert::<i64>(to, indices).unwrap();
            assert_eq!(&converted, expected, "{from:?} to {to:?}");
            let narrow = from.convert::<i32>(to, indices).unwrap();
            assert!(narrow.data().iter().zip(expected.data()).all(|(&narrow, &wide)| i64::from(narrow) == wide));
            let narrow = Tensor::new(indices.shape(), indices.data().iter().map(|&index| index as i32).collect());
            assert_eq!(from.convert::<i64>(to, &narrow.unwrap()).as_ref(), Ok(expected));
        }
    }
}

#[test]
fn what_cannot_be_converted_is_reported() {
    let onnx = IndexSpace::new(2, 2, [4]);
    let plane = onnx.clone().with_flatten(IndexFlattening::Plane);
    let to_plane = |indices: [i64; 4]| onnx.convert::<i64>(&plane, (&[2, 2, 1], &indices[..])).map(Tensor::into_data);
    // Planes of four: element 2 of each.
    assert_eq!(to_plane([2, 6, 10, 14]), Ok(vec![2, 2, 2, 2]));
    assert_eq!(to_plane([2, -1, 10, 14]), Ok(vec![2, -1, 2, 2]));
    // 2 names the first plane, but stands in the second.
    let error = ExecuteError::IndexNotInPlane { position: 1, value: 2, count: 2 };
    assert_eq!(to_plane([2, 2, 10, 16]), Err(error));
    let beyond = |position, value, count| ExecuteError::IndexOutOfRange { position, value, index_count: 16, count };
    assert_eq!(to_plane([2, 6, 16, 2]), Err(beyond(2, 16, 2)));
    assert_eq!(to_plane([-2, 6, 10, 14]), Err(beyond(0, -2, 1)));
    // The first bad index is that with the smallest place, also where the planes of a batch item alternate.
    let (nhwc, indices) = (onnx.clone().with_layout(Layout::Nhwc), [0i64, 99, 77, 3, 8, 9, 10, 11]);
    let error = nhwc.convert::<i64>(&onnx, (&[2, 2, 2], &indices[..]));
    assert_eq!(error, Err(beyond(1, 99, 2)));
    // In the other direction the offset of the plane is added.
    assert_eq!(plane.convert::<i64>(&onnx, (&[2, 2, 1], &[0i64, 1, 2, 3][..])).unwrap().data(), &[0, 5, 10, 15]);
}

#[test]
fn units_past_32_bits_convert_exactly() {
    // Two planes of 70000 x 70000: 4.9 thousand million elements each. Only the index tensor has to exist.
    let rows = IndexSpace::new(1, 2, [70_000, 70_000]);
    let columns = rows.clone().with_order(StorageOrder::ColumnMajor);
    let plane = 70_000i64 * 70_000;
    // (y, x) of the first plane, then of the second.
    let coordinates = [(0i64, 69_999i64), (69_999, 0), (12_345, 67_890), (69_999, 69_999)];
    let flat = |row: i64, column: i64| [row, column];
    let mut by_rows = Vec::new();
    let mut by_columns = Vec::new();
    for (channel, (y, x)) in [0, 0, 0, 0, 1, 1, 1, 1].into_iter().zip(coordinates.into_iter().cycle()) {
        let [row, column] = flat(y, x);
        by_rows.push(channel * plane + row * 70_000 + column);
        by_columns.push(channel * plane + column * 70_000 + row);
    }
    let indices = Tensor::new([1, 2, 2, 2], by_rows).unwrap();
    let expected = Tensor::new([1, 2, 2, 2], by_columns).unwrap();
    assert_eq!(rows.convert::<i64>(&columns, &indices).unwrap(), expected);
    let unit = 2 * plane as u64;
    let narrow = ExecuteError::Plan(PlanError::IndexTypeTooNarrow { index_count: unit });
    assert_eq!(rows.convert::<i32>(&columns, &indices), Err(narrow));
    let beyond = Tensor::new([1, 2, 1, 1], vec![2 * plane - 1, 2 * plane]).unwrap();
    assert_eq!(
        rows.convert::<i64>(&columns, &beyond),
        Err(ExecuteError::IndexOutOfRange { position: 1, value: 2 * plane, index_count: unit, count: 1 })
    );
}

#[test]
fn conventions_and_tensors_that_do_not_fit_are_plan_errors() {
    let space = IndexSpace::new(1, 2, [4, 5]);
    let refused = |to: &IndexSpace, shape: &[usize]| {
        let indices = vec![0i64; shape.iter().product()];
        match space.convert::<i64>(to, TensorView::new(shape, &indices).unwrap()) {
            Err(ExecuteError::Plan(error)) => error,
            other => panic!("{other:?}"),
        }
    };
    let sizes = PlanError::SpaceMismatch { from: vec![1, 2, 4, 5], to: vec![1, 2, 5, 4] };
    assert_eq!(refused(&IndexSpace::new(1, 2, [5, 4]), &[1, 2, 2, 2]), sizes);
    for shape in [&[1, 3, 2, 2][..], &[1, 2, 2]] {
        let error = PlanError::IndexShape { shape: shape.to_vec(), space: vec![1, 2, 4, 5] };
        assert_eq!(refused(&space, shape), error);
    }
    let wrong = space.clone().with_layout(Layout::Nhwc).with_flatten(IndexFlattening::Plane);
    assert!(matches!(refused(&wrong, &[1, 2, 2, 2]), PlanError::Combination { .. }));
    let huge = IndexSpace::new(1, 2, [usize::MAX]);
    let refused = huge.convert::<i64>(&huge, (&[1, 2, 1], &[0i64; 2][..]));
    assert!(matches!(refused, Err(ExecuteError::Plan(PlanError::ShapeOverflow { .. }))), "{refused:?}");
}
