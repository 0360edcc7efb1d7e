//! Index conversion: every pair of conventions, on the host and on the device, and what cannot be converted.

use support::calls::reference;
use support::device::gpu;
use support::tests;
use wgpu_pooling::{
    ConvertIndices, DType, ExecuteError, IndexFlattening, IndexSpace, IndexType, Layout, MaxPool, PlanError,
    StorageOrder, Tensor,
};

tests! {
    gpu =>
        a_pools_indices_convert_to_those_that_the_pool_gives_in_the_other_convention,
        what_cannot_be_converted_is_reported_alike_on_both_paths,
        units_past_32_bits_convert_exactly;
    cpu =>
        conventions_and_tensors_that_do_not_fit_are_plan_errors;
}

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

fn a_pools_indices_convert_to_those_that_the_pool_gives_in_the_other_convention() {
    let shape = [2, 3, 5, 4];
    let count = shape.iter().product::<usize>();
    let x = Tensor::new(shape, (0..count).map(|i| ((i * 7919) % 23) as u8).collect()).unwrap();
    let pool = |space: &IndexSpace, layout, flatten, order| {
        let pool = MaxPool::new([2, 2]).dilations([7, 1]).pads([2, 0, 3, 1]);
        let pool = pool.index_layout(layout).flatten(flatten).index_order(order);
        let plan = pool.plan(&shape, DType::U8, Some(IndexType::I64)).unwrap();
        assert_eq!(&plan.indices().unwrap().space, space);
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
            let conversion = ConvertIndices::new(from.clone(), to.clone());
            let plan = conversion.plan(indices.shape(), IndexType::I64, IndexType::I64).unwrap();
            let host = reference::convert_indices::<i64>(&plan, indices.view()).unwrap();
            assert_eq!(&host, expected, "{from:?} to {to:?}");
            let device = conversion.on::<i64, _>(indices.view()).run_blocking(&gpu()).unwrap();
            assert_eq!(&device, expected, "{from:?} to {to:?} on the GPU");
            let narrow = conversion.on::<i32, _>(indices.view()).run_blocking(&gpu()).unwrap();
            assert!(narrow.data().iter().zip(expected.data()).all(|(&narrow, &wide)| i64::from(narrow) == wide));
        }
    }
}

fn what_cannot_be_converted_is_reported_alike_on_both_paths() {
    let onnx = IndexSpace::new(2, 2, [4]);
    let plane = onnx.clone().with_flatten(IndexFlattening::Plane);
    let to_plane = ConvertIndices::new(onnx.clone(), plane.clone());
    let check = |conversion: &ConvertIndices, indices: [i64; 4], expected: Result<[i64; 4], ExecuteError>| {
        let indices = Tensor::new([2, 2, 1], indices.to_vec()).unwrap();
        let plan = conversion.plan(indices.shape(), IndexType::I64, IndexType::I64).unwrap();
        let expected = expected.map(|expected| Tensor::new([2, 2, 1], expected.to_vec()).unwrap());
        assert_eq!(reference::convert_indices::<i64>(&plan, indices.view()), expected);
        assert_eq!(conversion.on::<i64, _>(indices.view()).run_blocking(&gpu()), expected);
    };
    // Planes of four: element 2 of each.
    check(&to_plane, [2, 6, 10, 14], Ok([2, 2, 2, 2]));
    check(&to_plane, [2, -1, 10, 14], Ok([2, -1, 2, 2]));
    // 2 names the first plane, but stands in the second.
    check(&to_plane, [2, 2, 10, 16], Err(ExecuteError::IndexNotInPlane { position: 1, value: 2, count: 2 }));
    check(&to_plane, [2, 6, 16, 2], Err(ExecuteError::IndexOutOfRange { position: 2, value: 16, unit: 16, count: 2 }));
    check(
        &to_plane,
        [-2, 6, 10, 14],
        Err(ExecuteError::IndexOutOfRange { position: 0, value: -2, unit: 16, count: 1 }),
    );
    // In the other direction the offset of the plane is added.
    check(&ConvertIndices::new(plane, onnx), [0, 1, 2, 3], Ok([0, 5, 10, 15]));
}

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
    let conversion = ConvertIndices::new(rows.clone(), columns);
    let indices = Tensor::new([1, 2, 2, 2], by_rows).unwrap();
    let expected = Tensor::new([1, 2, 2, 2], by_columns).unwrap();
    let plan = conversion.plan(indices.shape(), IndexType::I64, IndexType::I64).unwrap();
    assert_eq!(reference::convert_indices::<i64>(&plan, indices.view()).unwrap(), expected);
    assert_eq!(conversion.on::<i64, _>(indices.view()).run_blocking(&gpu()).unwrap(), expected);
    let unit = 2 * plane as u64;
    assert_eq!(
        conversion.plan(&[1, 2, 2, 2], IndexType::I64, IndexType::I32),
        Err(PlanError::IndexTypeTooNarrow { unit })
    );
    let beyond = Tensor::new([1, 2, 1, 1], vec![2 * plane - 1, 2 * plane]).unwrap();
    assert_eq!(
        conversion.on::<i64, _>(beyond.view()).run_blocking(&gpu()),
        Err(ExecuteError::IndexOutOfRange { position: 1, value: 2 * plane, unit, count: 1 })
    );
}

fn conventions_and_tensors_that_do_not_fit_are_plan_errors() {
    let space = IndexSpace::new(1, 2, [4, 5]);
    let plan = |to: IndexSpace, shape: &[usize]| {
        ConvertIndices::new(space.clone(), to).plan(shape, IndexType::I64, IndexType::I64)
    };
    assert_eq!(
        plan(IndexSpace::new(1, 2, [5, 4]), &[1, 2, 2, 2]),
        Err(PlanError::SpaceMismatch { from: vec![1, 2, 4, 5], to: vec![1, 2, 5, 4] })
    );
    assert_eq!(
        plan(space.clone(), &[1, 3, 2, 2]),
        Err(PlanError::IndexShape { shape: vec![1, 3, 2, 2], space: vec![1, 2, 4, 5] })
    );
    assert_eq!(
        plan(space.clone(), &[1, 2, 2]),
        Err(PlanError::IndexShape { shape: vec![1, 2, 2], space: vec![1, 2, 4, 5] })
    );
    let wrong = space.clone().with_layout(Layout::Nhwc).with_flatten(IndexFlattening::Plane);
    assert!(matches!(plan(wrong, &[1, 2, 2, 2]), Err(PlanError::Combination { .. })));
    let huge = IndexSpace::new(usize::MAX, 2, [4]);
    let refused = ConvertIndices::new(huge.clone(), huge).plan(&[usize::MAX, 2, 1], IndexType::I64, IndexType::I64);
    assert!(matches!(refused, Err(PlanError::ShapeOverflow { .. })), "{refused:?}");
}
