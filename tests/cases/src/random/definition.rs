//! The operators once more, written from their definitions: output sizes, windows, maxima, indices, scatter. This code
//! calls no function of the library and shares none of its formulas: it tries every position instead of computing the
//! right ones.

use half::{bf16, f16};
use wgpu_pooling::{
    Activation, AutoPad, CeilRule, DType, Duplicates, EmptyIndex, EmptyValue, IndexFlattening, IndexType, Layout,
    NanPolicy, OutOfBounds, OutsideWindow, PadsLimit, SamePadding, SizeRounding, StorageOrder, UnpoolMinSize,
    UnpoolSpace,
};

use support::draw::elements::{Number, is_nan, is_unsigned, mask, number, quiet_nan};
use support::draw::pools::{Conventions, MaxPoolOptions, Operator, PoolCase, small_count};

/// What the definitions say about a plan.
#[derive(Debug)]
pub enum Verdict<T> {
    /// The plan has to be refused.
    Refused,
    /// The plan has to be accepted, and this is what it computes.
    Accepted(T),
    /// The numbers are so large that the library's own limits decide, or that a test cannot compute anything.
    Unjudged,
}

/// A window along one axis.
#[derive(Debug, Clone)]
pub struct Window {
    /// The positions inside the input, in order.
    pub taps: Vec<usize>,
    /// The first position that is not negative, counted from the window's start in steps of the dilation.
    clamped: i128,
}

/// An index convention on a space: N, C and the spatial extents.
pub struct Convention {
    flatten: IndexFlattening,
    order: StorageOrder,
    layout: Layout,
    batch: i128,
    channels: i128,
    extents: Vec<i128>,
}

impl Convention {
    fn of(conventions: &Conventions, flatten: IndexFlattening, outer: (usize, usize), extents: &[usize]) -> Self {
        Convention {
            flatten: conventions.flatten.unwrap_or(flatten),
            order: conventions.index_order.unwrap_or_default(),
            layout: conventions.index_layout.unwrap_or_default(),
            batch: outer.0 as i128,
            channels: outer.1 as i128,
            extents: extents.iter().map(|&extent| extent as i128).collect(),
        }
    }

    fn exists(&self) -> bool {
        let plain = self.flatten != IndexFlattening::Plane && self.order == StorageOrder::RowMajor;
        self.layout == Layout::Nchw || plain
    }

    fn plane(&self) -> i128 {
        self.extents.iter().product()
    }

    /// How many elements an index counts through.
    fn unit(&self) -> i128 {
        match self.flatten {
            IndexFlattening::Tensor => self.batch * self.channels * self.plane(),
            IndexFlattening::Batch => self.channels * self.plane(),
            IndexFlattening::Plane => self.plane(),
            other => undefined(other),
        }
    }

    /// The index of coordinates, which may lie outside the plane.
    fn flat(&self, n: usize, c: usize, at: &[i128]) -> i128 {
        let (n, c) = (n as i128, c as i128);
        let horner = |linear: i128, axis: usize| linear * self.extents[axis] + at[axis];
        let axes = 0..at.len();
        let linear = match self.order {
            StorageOrder::RowMajor => axes.fold(0, horner),
            StorageOrder::ColumnMajor => axes.rev().fold(0, horner),
        };
        match (self.layout, self.flatten) {
            (Layout::Nchw, IndexFlattening::Tensor) => (n * self.channels + c) * self.plane() + linear,
            (Layout::Nchw, IndexFlattening::Batch) => c * self.plane() + linear,
            (Layout::Nchw, IndexFlattening::Plane) => linear,
            (Layout::Nchw, other) => undefined(other),
            (Layout::Nhwc, IndexFlattening::Tensor) => (n * self.plane() + linear) * self.channels + c,
            (Layout::Nhwc, _) => linear * self.channels + c,
        }
    }
}

/// A value that was added to an option after this definition was written.
fn undefined<T>(value: impl std::fmt::Debug) -> T {
    panic!("{value:?} is not defined here");
}

/// The coordinates of every element of a space, the last axis fastest.
pub fn coordinates(extents: &[usize]) -> Vec<Vec<usize>> {
    if extents.contains(&0) {
        return Vec::new();
    }
    extents.iter().fold(vec![Vec::new()], |prefixes, &extent| {
        prefixes.iter().flat_map(|prefix| (0..extent).map(move |p| [&prefix[..], &[p]].concat())).collect()
    })
}

/// Where an element stands in a dense tensor.
pub fn position(layout: Layout, channels: usize, extents: &[usize], n: usize, c: usize, at: &[usize]) -> usize {
    let plane: usize = extents.iter().product();
    let linear = at.iter().zip(extents).fold(0, |linear, (&p, &extent)| linear * extent + p);
    match layout {
        Layout::Nchw => (n * channels + c) * plane + linear,
        Layout::Nhwc => (n * plane + linear) * channels + c,
    }
}

/// A pool: its windows along each axis, its Y and its indices.
#[derive(Debug)]
pub struct Pooled {
    pub windows: Vec<Vec<Window>>,
    pub y: Vec<u64>,
    pub indices: Vec<i64>,
}

impl Pooled {
    pub fn outputs(&self) -> Vec<usize> {
        self.windows.iter().map(Vec::len).collect()
    }

    pub fn has_empty_windows(&self) -> bool {
        self.windows.iter().flatten().any(|window| window.taps.is_empty())
    }

    /// Whether no element lies in two windows.
    pub fn is_disjoint(&self) -> bool {
        self.windows.iter().all(|axis| {
            let mut taps: Vec<usize> = axis.iter().flat_map(|window| window.taps.iter().copied()).collect();
            let count = taps.len();
            taps.sort_unstable();
            taps.dedup();
            taps.len() == count
        })
    }
}

/// The largest number that is judged. With larger ones the library may refuse a plan because 64 bits do not hold a
/// result.
const JUDGED: i64 = 1 << 44;

/// The most elements of a tensor for which a definition is computed.
pub const MOST_ELEMENTS: usize = 1 << 16;

pub fn pool(case: &PoolCase) -> Verdict<Pooled> {
    let rank = case.spatial.len();
    if !(1..=10).contains(&rank) || case.spatial.contains(&0) {
        return Verdict::Refused;
    }
    // A tensor without elements can still have axes that are too long for a test to loop over.
    if small_count(&case.shape(), MOST_ELEMENTS).is_none() || case.shape().iter().any(|&extent| extent > 1 << 16) {
        return Verdict::Unjudged;
    }
    if !has_activation(activation_of(case), case.dtype) {
        return Verdict::Refused;
    }
    if case.empty.value == Some(EmptyValue::Nan) && !case.dtype.is_float() {
        return Verdict::Refused;
    }
    let (default_flatten, options) = match &case.operator {
        Operator::Max(options) => (IndexFlattening::Tensor, options.clone()),
        // One window covers the whole plane.
        Operator::Global => {
            let kernel = case.spatial.iter().map(|&extent| extent as i64).collect();
            (IndexFlattening::Tensor, MaxPoolOptions { kernel, ..MaxPoolOptions::default() })
        }
        Operator::Adaptive(_) => (IndexFlattening::Plane, MaxPoolOptions::default()),
    };
    let sizes = match &case.operator {
        Operator::Adaptive(outputs) => adaptive_sizes(outputs, rank),
        _ => max_pool_sizes(&options, &case.spatial),
    };
    let mut convention = Convention::of(&case.conventions, default_flatten, (case.batch, case.channels), &case.spatial);
    if let (None, Some(order)) = (case.conventions.index_order, options.storage_order) {
        convention.order = if order == 1 { StorageOrder::ColumnMajor } else { StorageOrder::RowMajor };
    }
    let sizes = match sizes {
        Verdict::Accepted(sizes) if convention.exists() => sizes,
        Verdict::Unjudged => return Verdict::Unjudged,
        _ => return Verdict::Refused,
    };
    // An axis without windows counts as 1 here: the windows of the other axes are still listed.
    let outputs: Option<Vec<usize>> = sizes.iter().map(|size| usize::try_from(size.outputs.max(1)).ok()).collect();
    let Some(windows_in_all) = outputs.and_then(|outputs| small_count(&outputs, MOST_ELEMENTS)) else {
        return Verdict::Unjudged;
    };
    let windows: Vec<Vec<Window>> = sizes.iter().zip(&case.spatial).map(|(size, &n)| size.windows(n)).collect();
    let most_taps = windows.iter().map(|axis| axis.iter().map(|window| window.taps.len()).max().unwrap_or(0).max(1));
    if windows_in_all.saturating_mul(most_taps.product()).saturating_mul(case.batch * case.channels) > 1_000_000 {
        return Verdict::Unjudged;
    }
    maxima(case, &options, &convention, windows)
}

/// The windows of one axis before they are laid on the input.
enum Form {
    Strided { kernel: i128, stride: i128, dilation: i128, begin: i128 },
    Adaptive,
}

struct Size {
    outputs: i128,
    form: Form,
}

impl Size {
    fn windows(&self, n: usize) -> Vec<Window> {
        let window = |o: i128| match self.form {
            Form::Strided { kernel, stride, dilation, begin } => {
                let start = o * stride - begin;
                let is_tap = |p: i128| p >= start && (p - start) % dilation == 0 && (p - start) / dilation < kernel;
                let taps = (0..n).filter(|&p| is_tap(p as i128)).collect();
                Window { taps, clamped: if start >= 0 { start } else { start.rem_euclid(dilation) } }
            }
            Form::Adaptive => {
                let n = n as i128;
                let (start, end) = (o * n / self.outputs, ((o + 1) * n + self.outputs - 1) / self.outputs);
                Window { taps: (start as usize..end as usize).collect(), clamped: start }
            }
        };
        (0..self.outputs).map(window).collect()
    }
}

fn adaptive_sizes(outputs: &[i64], rank: usize) -> Verdict<Vec<Size>> {
    if outputs.len() != rank || outputs.iter().any(|&output| output < 0) {
        return Verdict::Refused;
    }
    Verdict::Accepted(outputs.iter().map(|&output| Size { outputs: output.into(), form: Form::Adaptive }).collect())
}

fn max_pool_sizes(options: &MaxPoolOptions, spatial: &[usize]) -> Verdict<Vec<Size>> {
    let rank = spatial.len();
    let kernel = &options.kernel;
    let strides = options.strides.clone().unwrap_or_else(|| vec![1; rank]);
    let dilations = options.dilations.clone().unwrap_or_else(|| vec![1; rank]);
    let pads = options.pads.clone().unwrap_or_else(|| vec![0; 2 * rank]);
    if [kernel.len(), strides.len(), dilations.len()] != [rank; 3] || pads.len() != 2 * rank {
        return Verdict::Refused;
    }
    let lists = [kernel, &strides, &dilations, &pads];
    if lists.iter().any(|list| list.iter().any(|&value| value > JUDGED)) {
        return Verdict::Unjudged;
    }
    let positive = [kernel, &strides, &dilations].iter().all(|list| list.iter().all(|&value| value >= 1));
    let auto_pad = options.auto_pad.unwrap_or_default();
    let exceeds = |(i, &pad): (usize, &i64)| match options.pads_limit.unwrap_or_default() {
        PadsLimit::None => false,
        PadsLimit::Ort => pad >= kernel[i % rank],
        PadsLimit::Torch => 2 * pad > kernel[i % rank],
        other => undefined(other),
    };
    let refused = !positive
        || pads.iter().any(|&pad| pad < 0 || (auto_pad != AutoPad::NotSet && pad != 0))
        || pads.iter().enumerate().any(exceeds)
        || options.ceil_mode.is_some_and(|mode| mode != 0 && mode != 1)
        || options.storage_order.is_some_and(|order| order != 0 && order != 1);
    if refused {
        return Verdict::Refused;
    }
    let sizes: Vec<Size> = (0..rank)
        .map(|a| {
            let given = [kernel[a], strides[a], dilations[a], pads[a], pads[rank + a]].map(i128::from);
            size(options, auto_pad, spatial[a] as i128, given)
        })
        .collect();
    let least = i128::from(options.size_rounding == Some(SizeRounding::FloorPositive));
    if sizes.iter().any(|size| size.outputs < least) { Verdict::Refused } else { Verdict::Accepted(sizes) }
}

/// One axis: kernel, stride, dilation and both pads on n elements.
fn size(options: &MaxPoolOptions, auto_pad: AutoPad, n: i128, [k, s, d, pb, pe]: [i128; 5]) -> Size {
    let effective = (k - 1) * d + 1;
    // The smallest number of strides that covers a length, and the largest number that fits into it.
    let up = |length: i128| -(-length).div_euclid(s);
    let down = |length: i128| length.div_euclid(s);
    let same = auto_pad == AutoPad::SameUpper || auto_pad == AutoPad::SameLower;
    let undilated = options.same_padding.unwrap_or_default() == SamePadding::OrtUndilated;
    let (mut begin, mut end) = (pb, pe);
    if same {
        let span = if undilated { k } else { effective };
        let total = (up(n) - 1) * s + span - n;
        let total = if undilated { total } else { total.max(0) };
        begin = if auto_pad == AutoPad::SameUpper { total / 2 } else { (total + 1) / 2 };
        end = total - begin;
    }
    let room = n + begin + end - effective;
    let rule = options.ceil_rule.unwrap_or(match options.ceil_mode {
        Some(1) => CeilRule::CeilDrop,
        _ => CeilRule::Floor,
    });
    let outputs = match rule {
        _ if same && !undilated => up(n),
        CeilRule::Floor => match options.size_rounding.unwrap_or_default() {
            SizeRounding::Floor | SizeRounding::FloorPositive => down(room) + 1,
            SizeRounding::Trunc => room / s + 1,
            other => undefined(other),
        },
        CeilRule::CeilLiteral => up(room) + 1,
        // The last window is left out if it starts behind the input.
        CeilRule::CeilDrop => up(room) + 1 - i128::from(up(room) * s >= n + begin),
        other => undefined(other),
    };
    Size { outputs, form: Form::Strided { kernel: k, stride: s, dilation: d, begin } }
}

fn maxima(
    case: &PoolCase,
    options: &MaxPoolOptions,
    convention: &Convention,
    windows: Vec<Vec<Window>>,
) -> Verdict<Pooled> {
    let dtype = case.dtype;
    let policy = case.nan_policy.unwrap_or_default();
    let [infinity, lowest_finite] = case.furthest();
    let seed = if matches!(dtype, DType::F16 | DType::Bf16) { infinity } else { lowest_finite };
    let greater = |a: u64, b: u64| {
        let [a, b] = if case.minimum { [b, a] } else { [a, b] };
        number(dtype, a) > number(dtype, b)
    };
    let outputs: Vec<usize> = windows.iter().map(Vec::len).collect();
    let all = case.batch * case.channels * outputs.iter().product::<usize>();
    let mut pooled = Pooled { windows, y: vec![0; all], indices: vec![0; all] };
    let rank = outputs.len();
    for (n, c) in planes(case.batch, case.channels) {
        for out in coordinates(&outputs) {
            let window: Vec<&Window> = (0..rank).map(|a| &pooled.windows[a][out[a]]).collect();
            let counts: Vec<usize> = window.iter().map(|window| window.taps.len()).collect();
            let elements = coordinates(&counts).into_iter().map(|tap| {
                let at: Vec<usize> = (0..rank).map(|a| window[a].taps[tap[a]]).collect();
                (case.x[position(case.layout(), case.channels, &case.spatial, n, c, &at)], at)
            });
            // NaN that is ignored is as good as not there.
            let there = |&(v, _): &(u64, _)| policy != NanPolicy::Ignore || !is_nan(dtype, v);
            let elements: Vec<(u64, Vec<usize>)> = elements.filter(there).collect();
            let (value, index) = if elements.is_empty() {
                let value = match case.empty.value.unwrap_or_default() {
                    EmptyValue::Nan => quiet_nan(dtype),
                    EmptyValue::NegInf => infinity,
                    EmptyValue::LowestFinite => lowest_finite,
                    EmptyValue::LowestWidened => seed,
                    other => undefined(other),
                };
                let index = match case.empty.index.unwrap_or_default() {
                    EmptyIndex::MinusOne => -1,
                    EmptyIndex::OrtUnderflow => convention.flat(n, c, &vec![-1; rank]),
                    EmptyIndex::UnitBase => convention.flat(n, c, &vec![0; rank]),
                    EmptyIndex::ClampedStart => {
                        let clamped: Vec<i128> = window.iter().map(|window| window.clamped).collect();
                        convention.flat(n, c, &clamped)
                    }
                    other => undefined(other),
                };
                (value, index)
            } else {
                let mut current = match policy {
                    NanPolicy::SeedLowest => Some((seed, vec![0; rank])),
                    NanPolicy::SeedFirst | NanPolicy::PropagateLast | NanPolicy::Ignore => None,
                    other => undefined(other),
                };
                for (v, at) in elements {
                    let replaces = match &current {
                        None => true,
                        Some((best, _)) => {
                            greater(v, *best) || (policy == NanPolicy::PropagateLast && is_nan(dtype, v))
                        }
                    };
                    if replaces {
                        current = Some((v, at));
                    }
                }
                let (value, at) = current.unwrap_or_default();
                let at: Vec<i128> = at.iter().map(|&p| p as i128).collect();
                (value, convention.flat(n, c, &at))
            };
            let Ok(index) = i64::try_from(index) else { return Verdict::Unjudged };
            // An i32 cannot hold this index, so the library has to refuse the plan. It decides by a bound on the
            // indices, which is not judged here.
            if case.indices == Some(IndexType::I32) && i32::try_from(index).is_err() {
                return Verdict::Unjudged;
            }
            let at = |layout| position(layout, case.channels, &outputs, n, c, &out);
            pooled.indices[at(convention.layout)] = index;
            pooled.y[at(case.layout())] = activated(options.activation, dtype, value);
        }
    }
    Verdict::Accepted(pooled)
}

fn planes(batch: usize, channels: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..batch).flat_map(move |n| (0..channels).map(move |c| (n, c)))
}

pub fn activation_of(case: &PoolCase) -> Option<Activation> {
    match &case.operator {
        Operator::Max(options) => options.activation,
        Operator::Global | Operator::Adaptive(_) => None,
    }
}

/// Whether the activation exists for the dtype: integers have Relu and Clip, and no parameter is a NaN.
pub fn has_activation(activation: Option<Activation>, dtype: DType) -> bool {
    let parameters = match activation {
        None | Some(Activation::Identity | Activation::Relu) => return true,
        Some(Activation::Clip { min, max }) => return !min.is_nan() && !max.is_nan(),
        Some(Activation::LeakyRelu { alpha }) => [alpha, alpha],
        Some(Activation::HardSigmoid { alpha, beta }) => [alpha, beta],
        Some(Activation::Tanh | Activation::Sigmoid) => [0.0; 2],
        Some(other) => undefined(other),
    };
    let is_float = matches!(dtype, DType::F32 | DType::F16 | DType::Bf16 | DType::F64);
    is_float && parameters.iter().all(|parameter| !parameter.is_nan())
}

/// Relu and Clip of an element's bits.
fn activated(activation: Option<Activation>, dtype: DType, bits: u64) -> u64 {
    let (min, max) = match activation {
        None | Some(Activation::Identity) => return bits,
        Some(Activation::Relu) => (0.0, f32::INFINITY),
        Some(Activation::Clip { min, max }) => (min, max),
        Some(other) => unreachable!("{other:?} rounds, so it is not compared bit by bit"),
    };
    match number(dtype, bits) {
        Number::Float(x) => {
            let bound = |bound: f32| match dtype {
                DType::F16 => f16::from_f32(bound).to_bits().into(),
                DType::Bf16 => bf16::from_f32(bound).to_bits().into(),
                DType::F32 => bound.to_bits().into(),
                _ => f64::from(bound).to_bits(),
            };
            if x < min.into() {
                bound(min)
            } else if x > max.into() {
                bound(max)
            } else {
                bits
            }
        }
        Number::Integer(x) => {
            let unsigned = is_unsigned(dtype);
            let width = 8 * dtype.bytes() as u32 - u32::from(!unsigned);
            let (least, most) = (if unsigned { 0 } else { -(1i128 << width) }, (1i128 << width) - 1);
            let (min, max) = (f64::from(min).ceil() as i128, f64::from(max).floor() as i128);
            let (min, max) = (min.clamp(least, most), max.clamp(least, most));
            (if x < min {
                min
            } else if x > max {
                max
            } else {
                x
            }) as u64
                & mask(dtype)
        }
    }
}

/// An unpool: its index space, its extents and its options.
pub struct Scatter {
    pub layout: Layout,
    pub convention: Convention,
    /// Spatial extents of X and of Y.
    pub inputs: Vec<usize>,
    pub outputs: Vec<usize>,
    pub skip_minus_one: bool,
    /// Whether an index of element 0 of its own plane is skipped, where the source's window lacks that element.
    pub skip_first: bool,
    pub duplicates: Duplicates,
    pub out_of_bounds: OutOfBounds,
    pub outside_window: OutsideWindow,
    /// For each axis the window of each source: the coordinates of the index space that it has.
    pub windows: Vec<Vec<Vec<usize>>>,
    pub activation: Option<Activation>,
}

/// The attributes of a MaxUnpool that was not made by `inverse_of`.
pub struct UnpoolSizes<'a> {
    pub kernel: &'a [i64],
    pub strides: Option<&'a [i64]>,
    pub pads: Option<&'a [i64]>,
    pub output_shape: Option<&'a [i64]>,
    pub space: UnpoolSpace,
    pub min_size: Option<UnpoolMinSize>,
}

impl UnpoolSizes<'_> {
    /// For each axis the windows of the pool with these attributes, on an index space of these extents.
    pub fn windows(&self, inputs: &[usize], space: &[usize]) -> Vec<Vec<Vec<usize>>> {
        let window = |a: usize, o: usize| {
            let stride = self.strides.map_or(1, |strides| i128::from(strides[a]));
            let begin = o as i128 * stride - self.pads.map_or(0, |pads| i128::from(pads[a]));
            let end = (begin + i128::from(self.kernel[a])).min(space[a] as i128);
            (begin.max(0)..end).map(|p| p as usize).collect()
        };
        (0..inputs.len()).map(|a| (0..inputs[a]).map(|o| window(a, o)).collect()).collect()
    }

    /// The extents of the index space and of the output.
    pub fn extents(&self, outer: (usize, usize), inputs: &[usize]) -> Verdict<[Vec<usize>; 2]> {
        let rank = inputs.len();
        if !(1..=10).contains(&rank) || inputs.contains(&0) {
            return Verdict::Refused;
        }
        let strides = self.strides.map_or_else(|| vec![1; rank], <[i64]>::to_vec);
        let pads = self.pads.map_or_else(|| vec![0; 2 * rank], <[i64]>::to_vec);
        if [self.kernel.len(), strides.len()] != [rank; 2] || pads.len() != 2 * rank {
            return Verdict::Refused;
        }
        if self.kernel.iter().chain(&strides).any(|&value| value < 1) || pads.iter().any(|&pad| pad < 0) {
            return Verdict::Refused;
        }
        let inferred: Vec<i128> = (0..rank)
            .map(|a| {
                let [s, k, pb, pe] = [strides[a], self.kernel[a], pads[a], pads[rank + a]].map(i128::from);
                (inputs[a] as i128 - 1) * s - pb - pe + k
            })
            .collect();
        let given_extents = self.output_shape.unwrap_or_default();
        if inferred.iter().any(|extent| extent.abs() > JUDGED.into()) || given_extents.iter().any(|&v| v > 1 << 16) {
            return Verdict::Unjudged;
        }
        let positive = inferred.iter().all(|&extent| extent >= 1);
        let as_usize = |extents: &[i128]| extents.iter().map(|&extent| extent as usize).collect::<Vec<_>>();
        let Some(given) = self.output_shape else {
            return match positive {
                true => Verdict::Accepted([as_usize(&inferred), as_usize(&inferred)]),
                false => Verdict::Refused,
            };
        };
        let given: Vec<i128> = given.iter().map(|&extent| extent.into()).collect();
        let outer = [outer.0 as i128, outer.1 as i128];
        if given.len() != rank + 2 || given.iter().any(|&extent| extent < 0) || given[..2] != outer {
            return Verdict::Refused;
        }
        let given = &given[2..];
        let inside = inferred.iter().zip(given).all(|(inferred, given)| inferred <= given);
        let top_left = self.space == UnpoolSpace::InferredTopLeft;
        if top_left && !(positive && inside) {
            return Verdict::Refused;
        }
        let large_enough = match self.min_size {
            None | Some(UnpoolMinSize::None) => true,
            Some(UnpoolMinSize::PerAxis) => inside,
            // No definition says what a product of extents below 1 means.
            Some(UnpoolMinSize::ElementCount) if !positive => return Verdict::Unjudged,
            Some(UnpoolMinSize::ElementCount) => given.iter().product::<i128>() >= inferred.iter().product(),
            Some(other) => undefined(other),
        };
        if !large_enough {
            return Verdict::Refused;
        }
        Verdict::Accepted([as_usize(if top_left { &inferred } else { given }), as_usize(given)])
    }
}

impl Scatter {
    pub fn new(
        conventions: &Conventions,
        flatten: IndexFlattening,
        outer: (usize, usize),
        space: &[usize],
        inputs: &[usize],
        outputs: &[usize],
    ) -> Option<Self> {
        let convention = Convention::of(conventions, flatten, outer, space);
        convention.exists().then(|| Scatter {
            layout: conventions.layout.unwrap_or_default(),
            convention,
            inputs: inputs.to_vec(),
            outputs: outputs.to_vec(),
            skip_minus_one: false,
            skip_first: false,
            duplicates: Duplicates::default(),
            out_of_bounds: OutOfBounds::default(),
            outside_window: OutsideWindow::default(),
            windows: Vec::new(),
            activation: None,
        })
    }

    /// Sets the order that a pool's `storage_order` stands for.
    pub fn order(&mut self, order: StorageOrder) {
        self.convention.order = order;
    }

    pub fn unit(&self) -> i64 {
        self.convention.unit() as i64
    }

    pub fn channels(&self) -> usize {
        self.convention.channels as usize
    }

    /// N and C.
    pub fn outer(&self) -> (usize, usize) {
        (self.convention.batch as usize, self.channels())
    }

    pub fn index_layout(&self) -> Layout {
        self.convention.layout
    }

    /// The values that each element of Y may have, or the first bad index.
    pub fn scatter(&self, dtype: DType, x: &[u64], indices: &[i64]) -> Scattered {
        let (batch, channels) = self.outer();
        // The elements that each valid index names, found by encoding the coordinates of every element.
        let unit = self.convention.unit() as usize;
        let mut named: Vec<Vec<Element>> = vec![Vec::new(); unit];
        let extents: Vec<usize> = self.convention.extents.iter().map(|&extent| extent as usize).collect();
        for (n, c) in planes(batch, channels) {
            for at in coordinates(&extents) {
                let wide: Vec<i128> = at.iter().map(|&p| p as i128).collect();
                let index = self.convention.flat(n, c, &wide) as usize;
                let target = position(self.layout, channels, &self.outputs, n, c, &at);
                named[index].push((n, c, target, at));
            }
        }
        let mut owners: Vec<Vec<u64>> = vec![Vec::new(); batch * channels * self.outputs.iter().product::<usize>()];
        let mut offenders = Vec::new();
        for (n, c) in planes(batch, channels) {
            for at in coordinates(&self.inputs) {
                let stored = position(self.index_layout(), channels, &self.inputs, n, c, &at);
                let index = indices[stored];
                if self.skip_minus_one && index == -1 {
                    continue;
                }
                let Some(named) = usize::try_from(index).ok().and_then(|index| named.get(index)) else {
                    offenders.push((stored, index));
                    continue;
                };
                let own = |&&(of, channel, _, _): &&Element| match self.convention.flatten {
                    IndexFlattening::Tensor => true,
                    IndexFlattening::Batch => of == n,
                    IndexFlattening::Plane => (of, channel) == (n, c),
                    other => undefined(other),
                };
                let mut targets = named.iter().filter(own);
                let (of, channel, target, place) = targets.next().expect("an index below the unit names an element");
                assert_eq!(targets.next(), None, "an index names one element");
                let inside = |a: usize| self.windows[a][at[a]].contains(&place[a]);
                let own_window = (*of, *channel) == (n, c) && (0..at.len()).all(inside);
                let is_first = (*of, *channel) == (n, c) && place.iter().all(|&p| p == 0);
                if self.skip_first && is_first && !own_window {
                    continue;
                }
                if self.outside_window != OutsideWindow::Scatter && !own_window {
                    offenders.push((stored, index));
                    continue;
                }
                let target = *target;
                let value = x[position(self.layout, channels, &self.inputs, n, c, &at)];
                if self.duplicates == Duplicates::LastWins {
                    owners[target].clear();
                }
                owners[target].push(value);
            }
        }
        offenders.sort_unstable();
        if let Some(&(position, value)) = offenders.first() {
            let (position, count) = (position as u64, offenders.len() as u64);
            match (self.outside_window, self.out_of_bounds) {
                (OutsideWindow::Error, _) => return Scattered::Outside { position, count },
                (OutsideWindow::Scatter, OutOfBounds::Error) => return Scattered::Fault { position, value, count },
                _ => {}
            }
        }
        for owners in &mut owners {
            if owners.is_empty() {
                owners.push(0);
            }
            for owner in owners {
                *owner = activated(self.activation, dtype, *owner);
            }
        }
        Scattered::Values(owners)
    }
}

/// An element: N, C, the position in Y and the spatial coordinates.
type Element = (usize, usize, usize, Vec<usize>);

pub enum Scattered {
    /// The bits that each element of Y may have: one, unless any duplicate may win.
    Values(Vec<Vec<u64>>),
    /// The first index outside its own window, and how many there are.
    Outside { position: u64, count: u64 },
    /// The first bad index, and how many there are.
    Fault { position: u64, value: i64, count: u64 },
}
