//! Peaks by their definition, written here once more, by the indices of pools, and what has none.

use support::splitmix::splitmix64;
use wgpu_pooling::{
    AdaptiveMaxPool, AutoPad, Backend, DType, Dilate, Element, Erode, ExecuteError, Layout, MAX_SPATIAL_AXES, MaxPool,
    MinPool, NanPolicy, Peaks, PeaksRequest, PlanError, Plateaus, Pooling, Reference, Request, Tensor, TensorView,
    half, with_element,
};

/// A position in a map and its value. Every element that is drawn is exact as a double.
type Maximum = (Vec<usize>, f64);

/// What is asked for.
#[derive(Debug, Clone, Default)]
struct Wishes {
    threshold: Option<f64>,
    plateaus: Plateaus,
    border: Option<Vec<usize>>,
    min_distance: usize,
    largest: Option<usize>,
}

impl Wishes {
    fn of<'a, T: Element>(&self, mut peaks: PeaksRequest<'a, T>, bits_of: impl Fn(f64) -> T) -> PeaksRequest<'a, T> {
        if let Some(threshold) = self.threshold {
            peaks = peaks.threshold(bits_of(threshold));
        }
        if let Some(border) = &self.border {
            peaks = peaks.exclude_border(border.clone());
        }
        if let Some(largest) = self.largest {
            peaks = peaks.largest(largest);
        }
        peaks.plateaus(self.plateaus).min_distance(self.min_distance)
    }
}

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

    fn spatial(&self) -> std::ops::Range<usize> {
        if self.layout == Layout::Nchw { 2..self.shape.len() } else { 1..self.shape.len() - 1 }
    }

    /// Whether an element lies in the window around another one.
    fn meets(&self, window: &[usize], at: &[usize], other: &[usize]) -> bool {
        let spatial = self.spatial();
        let near = |axis: usize| at[axis].abs_diff(other[axis]) <= window[axis - spatial.start] / 2;
        (0..at.len()).all(|axis| if spatial.contains(&axis) { near(axis) } else { at[axis] == other[axis] })
    }

    /// Above the threshold, without NaN or anything larger in their windows, and without an equal element before them.
    fn maxima(&self, window: &[usize], wishes: &Wishes) -> Vec<Maximum> {
        let spatial = self.spatial();
        let all: Vec<Maximum> = self.positions().into_iter().zip(self.values.iter().copied()).collect();
        let is_peak = |&(place, (at, value)): &(usize, &Maximum)| {
            let beats = |(rank, (other, rival)): (usize, &Maximum)| {
                let equal = rival == value && (rank >= place || wishes.plateaus == Plateaus::All);
                !self.meets(window, at, other) || rival < value || equal
            };
            let inside = |(axis, border): (usize, &usize)| {
                let extent = self.shape[axis];
                at[axis] >= *border && at[axis] + border < extent
            };
            !value.is_nan()
                && wishes.threshold.is_none_or(|least| *value > least)
                && wishes.border.iter().all(|border| spatial.clone().zip(border).all(inside))
                && all.iter().enumerate().all(beats)
        };
        let mut found: Vec<Maximum> = all.iter().enumerate().filter(is_peak).map(|(_, peak)| peak.clone()).collect();
        found.sort_by(|(_, value), (_, other)| other.partial_cmp(value).unwrap());
        let mut kept: Vec<Maximum> = Vec::new();
        for peak in found {
            let same_plane = |other: &[usize]| (0..other.len()).all(|a| spatial.contains(&a) || other[a] == peak.0[a]);
            let distance = |other: &[usize]| spatial.clone().map(|a| other[a].abs_diff(peak.0[a])).max().unwrap();
            let near = |(other, _): &Maximum| same_plane(other) && distance(other) < wishes.min_distance;
            let of_item = kept.iter().filter(|(other, _)| other[0] == peak.0[0]).count();
            if !kept.iter().any(near) && wishes.largest.is_none_or(|most| of_item < most) {
                kept.push(peak);
            }
        }
        kept
    }
}

fn found<T: Element>(peaks: &Peaks<T>) -> Vec<(Vec<usize>, u64)> {
    assert_eq!((peaks.len(), peaks.is_empty()), (peaks.values().len(), peaks.values().is_empty()));
    peaks.iter().map(|peak| (peak.position.to_vec(), peak.value.to_bits64())).collect()
}

/// The places of peaks along the only spatial axis.
fn places<T: Element>(peaks: Result<Peaks<T>, ExecuteError>) -> Vec<usize> {
    peaks.unwrap().iter().map(|peak| peak.position[2]).collect()
}

/// The backends of the host.
fn hosts() -> Vec<Box<dyn Backend>> {
    vec![
        Box::new(Reference),
        #[cfg(feature = "cpu")]
        Box::new(wgpu_pooling::Cpu::new()),
    ]
}

fn pool(window: &[usize], layout: Layout) -> MaxPool {
    let kernel: Vec<i64> = window.iter().map(|&extent| extent as i64).collect();
    MaxPool::new(kernel).auto_pad(AutoPad::SameLower).nan_policy(NanPolicy::PropagateLast).layout(layout)
}

/// A map of few values, so that plateaus are many.
fn drawn(count: usize, seed: u64, dtype: DType) -> Vec<f64> {
    let value = |place: usize| match splitmix64((place as u64 + seed) * 7 + dtype as u64) % 29 {
        0 | 1 if dtype.is_float() => f64::NAN,
        2..=4 if dtype.is_float() => -0.0,
        5 if dtype.is_float() => f64::NEG_INFINITY,
        number => (number % 9) as f64,
    };
    (0..count).map(value).collect()
}

/// Compares the peaks of a drawn map with their definition, for wishes of every kind.
fn check<T: Element>(shape: &[usize], window: &[usize], layout: Layout, bits_of: impl Fn(f64) -> T) {
    let values = drawn(shape.iter().product(), shape.len() as u64, T::DTYPE);
    let x = Tensor::new(shape, values.iter().map(|&value| bits_of(value)).collect()).unwrap();
    let (map, pool) = (Map { shape, layout, values: &values }, pool(window, layout));
    let with = |threshold| Wishes { threshold, ..Wishes::default() };
    let all = Wishes { plateaus: Plateaus::All, ..Wishes::default() };
    let border: Vec<usize> = (0..window.len()).map(|axis| 1 + axis % 2).collect();
    let wishes = [
        with(None),
        with(Some(3.0)),
        with(Some(0.0)),
        with(Some(8.0)),
        Wishes { border: Some(border), ..all.clone() },
        Wishes { min_distance: 3, ..with(None) },
        Wishes { largest: Some(4), ..all.clone() },
        Wishes { largest: Some(3), min_distance: 4, ..all.clone() },
        Wishes { largest: Some(0), ..all.clone() },
        all,
    ];
    for wishes in &wishes {
        let expected = map.maxima(window, wishes);
        let none = wishes.threshold == Some(8.0) || wishes.largest == Some(0);
        assert!(expected.is_empty() == none || wishes.border.is_some(), "{wishes:?}");
        let expected: Vec<_> = expected.into_iter().map(|(at, value)| (at, bits_of(value).to_bits64())).collect();
        let peaks = wishes.of(pool.on(&x).peaks(), &bits_of).run_blocking(&Reference).unwrap();
        assert_eq!(found(&peaks), expected, "{pool:?} {wishes:?}");
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
fn peaks_are_the_elements_that_indices_name() {
    (0..400).for_each(|seed| any_pool(seed, &hosts()));
}

#[cfg(feature = "gpu")]
#[gpu_test::gpu_test]
fn peaks_by_the_values_of_a_device() {
    (0..30).for_each(|seed| any_pool(seed, &[Box::new(support::device::gpu())]));
}

/// A pool of any windows, also such as leave out their own element: a peak is an element that its index names.
fn any_pool(seed: u64, backends: &[Box<dyn Backend>]) {
    let mut state = seed;
    let mut any = |beyond: u64| {
        state += 1;
        (splitmix64(state.wrapping_mul(1 << 20) + seed) % beyond) as i64
    };
    let axes = 1 + any(3) as usize;
    let layout = if any(2) == 0 { Layout::Nchw } else { Layout::Nhwc };
    let kernel: Vec<i64> = (0..axes).map(|_| 1 + any(5)).collect();
    let dilations: Vec<i64> = (0..axes).map(|_| 1 + any(3) / 2).collect();
    let reach: Vec<i64> = kernel.iter().zip(&dilations).map(|(kernel, dilation)| (kernel - 1) * dilation).collect();
    let begins: Vec<i64> = reach.iter().map(|&reach| any(reach as u64 + 1)).collect();
    let ends: Vec<i64> = reach.iter().zip(&begins).map(|(reach, begin)| reach - begin).collect();
    let spatial: Vec<usize> = (0..axes).map(|_| 1 + any(if axes == 1 { 90 } else { 12 }) as usize).collect();
    let (batch, channels) = (1 + any(2) as usize, 1 + any(3) as usize);
    let shape = match layout {
        Layout::Nchw => [&[batch, channels], &spatial[..]].concat(),
        Layout::Nhwc => [&[batch], &spatial[..], &[channels]].concat(),
    };
    let policy = NanPolicy::ALL[any(NanPolicy::ALL.len() as u64) as usize];
    let pool = MaxPool::new(kernel).dilations(dilations).pads([begins, ends].concat()).layout(layout);
    let pool = pool.index_layout(layout).nan_policy(policy);
    let pool: Box<dyn Pooling> = if any(2) == 0 { Box::new(pool) } else { Box::new(MinPool::of(pool)) };
    // Where nothing is above the lowest value, no element wins, and the index names the first of the plane.
    let inner = if layout == Layout::Nchw { 1 } else { channels };
    let plane: usize = spatial.iter().product();
    let judged = |place: usize| policy != NanPolicy::SeedLowest || !(place / inner).is_multiple_of(plane);
    let dtype = DType::ALL[any(12) as usize];
    with_element!(dtype, T => named_by_indices::<T>(&*pool, &shape, seed, judged, backends));
}

fn named_by_indices<T: Element>(
    pool: &dyn Pooling,
    shape: &[usize],
    seed: u64,
    judged: impl Fn(usize) -> bool,
    backends: &[Box<dyn Backend>],
) {
    let values = drawn(shape.iter().product(), seed, T::DTYPE);
    let x = Tensor::new(shape, values.iter().map(|&value| T::from_bits64(bits(T::DTYPE, value))).collect()).unwrap();
    let (y, indices) = Request::pool(pool, &x).with_indices::<i64>().run_blocking(&Reference).unwrap();
    assert_eq!(y.shape(), shape);
    let named = |&(place, index): &(usize, i64)| place as i64 == index && !values[place].is_nan() && judged(place);
    let own: Vec<usize> = (0..).zip(indices.data().iter().copied()).filter(named).map(|(place, _)| place).collect();
    for backend in backends {
        let peaks = Request::pool(pool, &x).peaks().run_blocking(backend).unwrap();
        let flat = |at: &[usize]| at.iter().zip(shape).fold(0, |flat, (at, extent)| flat * extent + at);
        let mut places: Vec<usize> = peaks.iter().map(|peak| flat(peak.position)).collect();
        places.retain(|&place| judged(place));
        places.sort_unstable();
        let plan = pool.plan(shape, T::DTYPE, None).unwrap();
        assert_eq!(places, own, "{} {plan:?} {:?}", backend.name(), x.data());
    }
}

#[test]
fn minima_are_ordered_from_the_smallest() {
    let x = TensorView::new(&[1, 1, 8], &[5i64, -3, 5, 7, 1, 1, 9, i64::MIN]).unwrap();
    let erode = Erode::new([3]);
    let found = |peaks: PeaksRequest<'_, i64>| {
        let peaks = peaks.run_blocking(&Reference).unwrap();
        peaks.iter().map(|peak| (peak.position[2], peak.value)).collect::<Vec<_>>()
    };
    assert_eq!(found(erode.on(x).peaks()), [(7, i64::MIN), (1, -3), (4, 1)]);
    assert_eq!(found(erode.on(x).peaks().threshold(1)), [(7, i64::MIN), (1, -3)]);
    assert_eq!(found(erode.on(x).peaks().largest(2)), [(7, i64::MIN), (1, -3)]);
}

#[test]
fn zeros_plateaus_and_nan() {
    let found = |pool: &MaxPool, x: &[f32]| places(pool.on((&[1, 1, x.len()], x)).peaks().run_blocking(&Reference));
    let by_default = MaxPool::new([3]).pads([1, 1]);
    // A run of equal elements has one peak however long it is, and zeros of both signs are equal.
    assert_eq!(found(&by_default, &[0.0, -0.0, 0.0, -0.0, 0.0]), [0]);
    assert_eq!(found(&by_default, &[-0.0, 0.0, -1.0, 0.0]), [0, 3]);
    // By default a NaN hides the element behind it, under PropagateLast the one before it too.
    let x = [1.0, 9.0, f32::NAN, 8.0, 2.0, 3.0];
    assert_eq!(found(&by_default, &x), [1, 5]);
    assert_eq!(found(&by_default.clone().nan_policy(NanPolicy::PropagateLast), &x), [5]);
    let lowest = by_default.clone().nan_policy(NanPolicy::SeedLowest);
    assert_eq!(found(&lowest, &x), [1, 3, 5]);
    assert_eq!(found(&lowest, &[f32::MIN, f32::NEG_INFINITY]), [0; 0], "nothing wins that is not above the lowest");
    assert_eq!(found(&MaxPool::new([1]), &x), [1, 3, 5, 4, 0], "in windows of one element");
    assert_eq!(found(&by_default, &[f32::NAN; 3]), [0; 0]);
    // A window that leaves out its own element, which equals its neighbours.
    assert_eq!(found(&MaxPool::new([2]).dilations([2]).pads([1, 1]), &[1.0; 5]), [0; 0]);
    let adaptive = AdaptiveMaxPool::new([4]).on((&[1, 1, 4], &[1u8, 3, 2, 2])).peaks().run_blocking(&Reference);
    assert_eq!(places(adaptive), [1, 2, 3, 0], "windows of one element");
}

/// More peaks than are kept during a search, and bands of a map that does not fit one.
#[test]
fn the_largest_of_many() {
    let shape = [2, 1, 1100, 500];
    let values: Vec<u64> = (0..1_100_000).map(|place| splitmix64(place) % 5_000_000).collect();
    let x = Tensor::new(shape, values).unwrap();
    let dilate = Dilate::new([1, 3]);
    let y = dilate.on(&x).run_blocking(&Reference).unwrap();
    for plateaus in [Plateaus::First, Plateaus::All] {
        let all = dilate.on(&x).peaks().plateaus(plateaus).of_y(&y).unwrap();
        assert!(all.len() > 340_000, "{}", all.len());
        let item = |item| all.iter().filter(move |peak| peak.position[0] == item).take(1000);
        let mut expected: Vec<_> = item(0).chain(item(1)).map(|peak| (peak.position.to_vec(), peak.value)).collect();
        expected.sort_by_key(|(at, value)| (std::cmp::Reverse(*value), at.clone()));
        for backend in hosts() {
            let peaks = dilate.on(&x).peaks().plateaus(plateaus).largest(1000).run_blocking(&*backend).unwrap();
            let peaks: Vec<_> = peaks.iter().map(|peak| (peak.position.to_vec(), peak.value)).collect();
            assert!(peaks == expected, "{}", backend.name());
            assert_eq!(dilate.on(&x).peaks().plateaus(plateaus).run_blocking(&*backend), Ok(all.clone()));
        }
    }
}

#[test]
fn misuse_is_refused_with_numbers() {
    let x = TensorView::new(&[1, 2, 4], &[1.0f32; 8]).unwrap();
    let run = |peaks: PeaksRequest<'_, f32>| peaks.run_blocking(&Reference).map(|peaks| peaks.len());
    let pool = MaxPool::new([3]).pads([1, 1]);
    assert_eq!(run(pool.on(x).peaks()), Ok(2));
    let strided = PlanError::NotEachElement { input: vec![1, 2, 4], output: vec![1, 2, 2] };
    assert_eq!(run(MaxPool::new([3]).on(x).peaks()), Err(strided.into()));
    let unknown = PlanError::UnknownValue { attribute: "threshold", value: "NaN".into(), expected: "a number" };
    assert_eq!(run(pool.on(x).peaks().threshold(f32::NAN)), Err(unknown.into()));
    assert_eq!(run(pool.on(x).peaks().threshold(f32::INFINITY)), Ok(0));
    let kernel = PlanError::AttributeLength { attribute: "kernel_shape", expected: 1, actual: 2 };
    assert_eq!(run(MaxPool::new([3, 3]).on(x).peaks()), Err(kernel.into()));
    let border = PlanError::AttributeLength { attribute: "exclude_border", expected: 1, actual: 2 };
    assert_eq!(run(pool.on(x).peaks().exclude_border([1, 1])), Err(border.into()));
    assert_eq!(run(pool.on(x).peaks().exclude_border([usize::MAX])), Ok(0));
    assert_eq!(run(pool.on(x).peaks().min_distance(usize::MAX).largest(usize::MAX)), Ok(2));
    let rank = PlanError::Rank { rank: 2, max_spatial: MAX_SPATIAL_AXES };
    assert_eq!(run(pool.on((&[2, 2], &[0.0; 4])).peaks()), Err(rank.into()));
    let relu = MaxPool::new([1]).activation(wgpu_pooling::Activation::Relu);
    let error = PlanError::Combination { first: "activation", second: "peaks" };
    assert_eq!(run(relu.on(x).peaks()), Err(error.into()));
    let y = TensorView::new(&[1, 1, 8], &[1.0f32; 8]).unwrap();
    let shape = ExecuteError::ShapeMismatch { what: "y", expected: vec![1, 2, 4], actual: vec![1, 1, 8] };
    assert_eq!(pool.on(x).peaks().of_y(y), Err(shape));
}
