//! Local maxima by their definition, written here once more, and what has none.

use support::splitmix::splitmix64;
use wgpu_pooling::{
    AutoPad, DType, Element, ExecuteError, IndexFlattening, Layout, MAX_SPATIAL_AXES, MaxPool, MinPool, NanPolicy,
    Peak, PlanError, Pooling, Reference, StorageOrder, Tensor, TensorView, half, local_maxima, with_element,
};

/// A position in a map and its value. Every element that is drawn is exact as a double.
type Maximum = (Vec<usize>, f64);

/// A map as N, C and spatial coordinates see it, with the layout in which it lies.
struct Map<'a> {
    shape: &'a [usize],
    layout: Layout,
    values: &'a [f64],
}

impl Map<'_> {
    /// The coordinates of every element, in the layout's order.
    fn positions(&self) -> Vec<Vec<usize>> {
        let axes = self.shape.iter();
        axes.fold(vec![Vec::new()], |all, &extent| {
            all.iter().flat_map(|at| (0..extent).map(|next| [&at[..], &[next]].concat())).collect()
        })
    }

    /// Whether an element lies in the window around another one.
    fn meets(&self, window: &[usize], at: &[usize], other: &[usize]) -> bool {
        let spatial = if self.layout == Layout::Nchw { 2..at.len() } else { 1..at.len() - 1 };
        let near = |axis: usize| at[axis].abs_diff(other[axis]) <= window[axis - spatial.start] / 2;
        (0..at.len()).all(|axis| if spatial.contains(&axis) { near(axis) } else { at[axis] == other[axis] })
    }

    /// Above the threshold, without NaN or anything larger in their windows, and without an equal element before them.
    fn maxima(&self, window: &[usize], threshold: Option<f64>) -> Vec<Maximum> {
        let all: Vec<Maximum> = self.positions().into_iter().zip(self.values.iter().copied()).collect();
        let is_peak = |&(place, (at, value)): &(usize, &Maximum)| {
            let beats = |(rank, (other, rival)): (usize, &Maximum)| {
                !self.meets(window, at, other) || rival < value || (rival == value && rank >= place)
            };
            !value.is_nan() && threshold.is_none_or(|least| *value > least) && all.iter().enumerate().all(beats)
        };
        let mut found: Vec<Maximum> = all.iter().enumerate().filter(is_peak).map(|(_, peak)| peak.clone()).collect();
        found.sort_by(|(_, value), (_, other)| other.partial_cmp(value).unwrap());
        found
    }
}

fn peaks<T: Element>(found: &[Peak<T>]) -> Vec<(Vec<usize>, u64)> {
    found.iter().map(|peak| (peak.position.clone(), peak.value.to_bits64())).collect()
}

fn pool(window: &[usize], layout: Layout) -> MaxPool {
    let kernel: Vec<i64> = window.iter().map(|&extent| extent as i64).collect();
    MaxPool::new(kernel).auto_pad(AutoPad::SameLower).nan_policy(NanPolicy::PropagateLast).layout(layout)
}

/// Draws a map of few values, so that plateaus are many, and compares the peaks in every convention of the indices.
fn check<T: Element>(shape: &[usize], window: &[usize], layout: Layout, bits_of: impl Fn(f64) -> T) {
    let count: usize = shape.iter().product();
    let drawn = |place: usize| match splitmix64((place + shape.len()) as u64 * 7 + T::DTYPE as u64) % 29 {
        0 | 1 if T::DTYPE.is_float() => f64::NAN,
        2..=4 if T::DTYPE.is_float() => -0.0,
        5 if T::DTYPE.is_float() => f64::NEG_INFINITY,
        number => (number % 9) as f64,
    };
    let values: Vec<f64> = (0..count).map(drawn).collect();
    let x = Tensor::new(shape, values.iter().map(|&value| bits_of(value)).collect()).unwrap();
    let map = Map { shape, layout, values: &values };
    let pools = [
        pool(window, layout),
        pool(window, layout).index_layout(layout),
        pool(window, layout).flatten(IndexFlattening::Batch),
        pool(window, layout).flatten(IndexFlattening::Plane).index_order(StorageOrder::ColumnMajor),
    ];
    for threshold in [None, Some(3.0), Some(0.0), Some(8.0)] {
        let expected = map.maxima(window, threshold);
        assert!(expected.is_empty() == (threshold == Some(8.0)), "{expected:?}");
        let expected: Vec<_> = expected.into_iter().map(|(at, value)| (at, bits_of(value).to_bits64())).collect();
        for pool in &pools {
            let threshold = threshold.map(&bits_of);
            let (y, indices) = pool.on(&x).with_indices::<i64>().run_blocking(&Reference).unwrap();
            assert_eq!(peaks(&local_maxima(pool, &y, &indices, threshold).unwrap()), expected, "{pool:?}");
            let (y, indices) = pool.on(&x).with_indices::<i32>().run_blocking(&Reference).unwrap();
            assert_eq!(peaks(&local_maxima(pool, &y, &indices, threshold).unwrap()), expected, "{pool:?}");
        }
    }
}

#[test]
fn maps_of_every_type_by_the_definition() {
    for dtype in DType::ALL {
        with_element!(dtype, T => {
            let bits_of = |value: f64| T::from_bits64(bits(T::DTYPE, value));
            check::<T>(&[2, 3, 40], &[5], Layout::Nchw, bits_of);
            check::<T>(&[1, 2, 11, 13], &[3, 5], Layout::Nchw, bits_of);
            check::<T>(&[2, 9, 7, 3], &[3, 3], Layout::Nhwc, bits_of);
            check::<T>(&[1, 2, 4, 5, 6], &[3, 1, 9], Layout::Nchw, bits_of);
        });
    }
}

fn bits(dtype: DType, value: f64) -> u64 {
    match dtype {
        DType::F32 => u64::from((value as f32).to_bits()),
        DType::F64 => value.to_bits(),
        DType::F16 => u64::from(half::f16::from_f64(value).to_bits()),
        DType::Bf16 => u64::from(half::bf16::from_f64(value).to_bits()),
        _ => value as u64,
    }
}

#[test]
fn minima_are_ordered_from_the_smallest() {
    let x = TensorView::new(&[1, 1, 8], &[5i64, -3, 5, 7, 1, 1, 9, i64::MIN]).unwrap();
    let pool = MinPool::of(MaxPool::new([3]).pads([1, 1]));
    let (y, indices) = pool.on(x).with_indices::<i64>().run_blocking(&Reference).unwrap();
    let found = |threshold| local_maxima(&pool, &y, &indices, threshold).unwrap();
    let at = |position, value| Peak { position: vec![0, 0, position], value };
    assert_eq!(found(None), [at(7, i64::MIN), at(1, -3), at(4, 1)]);
    assert_eq!(found(Some(1)), [at(7, i64::MIN), at(1, -3)]);
}

#[test]
fn zeros_plateaus_and_nan() {
    let found = |pool: &MaxPool, x: &[f32]| {
        let shape = [1, 1, x.len()];
        let (y, indices) = pool.on((&shape, x)).with_indices::<i64>().run_blocking(&Reference).unwrap();
        let found = local_maxima(pool, &y, &indices, None).unwrap();
        found.into_iter().map(|peak| peak.position[2]).collect::<Vec<_>>()
    };
    let by_default = MaxPool::new([3]).pads([1, 1]);
    // A run of equal elements has one peak however long it is, and zeros of both signs are equal.
    assert_eq!(found(&by_default, &[0.0, -0.0, 0.0, -0.0, 0.0]), [0]);
    assert_eq!(found(&by_default, &[-0.0, 0.0, -1.0, 0.0]), [0, 3]);
    // By default a NaN hides the element behind it, under PropagateLast the one before it too.
    let x = [1.0, 9.0, f32::NAN, 8.0, 2.0, 3.0];
    assert_eq!(found(&by_default, &x), [1, 5]);
    assert_eq!(found(&by_default.clone().nan_policy(NanPolicy::PropagateLast), &x), [5]);
    assert_eq!(found(&by_default.clone().nan_policy(NanPolicy::SeedLowest), &x), [1, 3, 5]);
    assert_eq!(found(&MaxPool::new([1]), &x), [1, 3, 5, 4, 0], "in windows of one element");
    assert_eq!(found(&by_default, &[f32::NAN; 3]), [0; 0]);
}

#[test]
fn misuse_is_refused_with_numbers() {
    let shape = [1, 2, 4];
    let (y, own) = ([1.0f32; 8], [0i64, 1, 2, 3, 4, 5, 6, 7]);
    let of = |pool: &dyn Pooling, shape: &[usize], indices: &[i64], threshold| {
        let indices = TensorView::new(shape, indices).unwrap();
        local_maxima(pool, TensorView::new(&[1, 2, 4], &y).unwrap(), indices, threshold)
    };
    let pool = MaxPool::new([3]).pads([1, 1]);
    assert_eq!(of(&pool, &shape, &own, None).unwrap().len(), 8);
    let with = |place: usize, index: i64| {
        let mut indices = own;
        indices[place] = index;
        of(&pool, &shape, &indices, None).map(|peaks| peaks.len())
    };
    assert_eq!(with(2, -1), Ok(7));
    let beyond = |position, value| ExecuteError::IndexOutOfRange { position, value, index_count: 8, count: 1 };
    for value in [8, -2, i64::MAX, i64::MIN] {
        assert_eq!(with(5, value), Err(beyond(5, value)));
    }
    assert_eq!(with(5, 3), Err(ExecuteError::IndexNotInPlane { position: 5, value: 3, count: 1 }));
    // Indices of each plane, as PyTorch's, where the pool counts through the tensor.
    let planes = [0i64, 1, 2, 3, 0, 1, 2, 3];
    let error = ExecuteError::IndexNotInPlane { position: 4, value: 0, count: 4 };
    assert_eq!(of(&pool, &shape, &planes, None), Err(error));
    let nhwc = MaxPool::new([3]).pads([1, 1]).layout(Layout::Nhwc).index_layout(Layout::Nhwc);
    let error = ExecuteError::IndexNotInPlane { position: 1, value: 2, count: 1 };
    assert_eq!(of(&nhwc, &shape, &[0, 2, 2, 3, 4, 5, 6, 7], None), Err(error));

    // Indices of a pool with larger windows.
    let wide = [1i64, 3, 3, 3, 5, 7, 7, 7];
    let outside = ExecuteError::IndexOutsideWindow { position: 1, count: 2 };
    assert_eq!(of(&pool, &shape, &wide, None), Err(outside));
    assert_eq!(of(&MaxPool::new([5]).pads([2, 2]), &shape, &wide, None).unwrap().len(), 2);
    // The first element of each plane, which only windows of NaN or of the lowest value name, under one policy.
    let first = [0i64, 0, 0, 0, 4, 4, 4, 4];
    let outside = ExecuteError::IndexOutsideWindow { position: 2, count: 4 };
    assert_eq!(of(&pool, &shape, &first, None), Err(outside));
    assert!(of(&pool.clone().nan_policy(NanPolicy::SeedLowest), &shape, &first, None).is_ok());

    let strided = PlanError::NotEachElement { input: shape.to_vec(), output: vec![1, 2, 2] };
    assert_eq!(of(&MaxPool::new([3]), &shape, &own, None), Err(strided.into()));
    let refused = |shape: [usize; 3], space: [usize; 3]| {
        ExecuteError::Plan(PlanError::IndexShape { shape: shape.to_vec(), space: space.to_vec() })
    };
    assert_eq!(of(&pool, &[1, 4, 2], &own, None), Err(refused([1, 4, 2], shape)));
    // Indices of NHWC data lie NCHW unless the pool says otherwise.
    assert_eq!(of(&nhwc.index_layout(Layout::Nchw), &shape, &own, None), Err(refused(shape, [1, 4, 2])));
    let unknown = PlanError::UnknownValue { attribute: "threshold", value: "NaN".into(), expected: "a number" };
    assert_eq!(of(&pool, &shape, &own, Some(f32::NAN)), Err(unknown.into()));
    let kernel = PlanError::AttributeLength { attribute: "kernel_shape", expected: 1, actual: 2 };
    assert_eq!(of(&MaxPool::new([3, 3]), &shape, &own, None), Err(kernel.into()));
    let rank = PlanError::Rank { rank: 2, max_spatial: MAX_SPATIAL_AXES };
    let two = local_maxima(&pool, (&[2, 2], &[0u8; 4][..]), (&[2, 2], &[0i32; 4][..]), None);
    assert_eq!(two, Err(rank.into()));
    let (_, indices) = pool.on((&shape, &y[..])).with_indices::<i64>().run_blocking(&Reference).unwrap();
    assert_eq!(of(&pool, &shape, indices.data(), Some(f32::INFINITY)), Ok(Vec::new()));
}
