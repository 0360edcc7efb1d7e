//! Random unpools: MaxUnpool from attributes, and inverses of random pools.

use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use wgpu_pooling::{
    Activation, DType, Duplicates, IndexFlattening, IndexType, Layout, MaxUnpool, NanPolicy, OutOfBounds,
    OutsideWindow, StorageOrder, UnpoolMinSize, UnpoolSpace,
};

use super::code::{self, Written};
use super::definition::{self, Scatter, UnpoolSizes, Verdict};
use super::elements::{Recipe, picks, recipe};
use super::pools::{
    Conventions, MaxPoolOptions, Operator, PoolCase, activations, conventions, dtypes, impossible_activation, outer,
    pools, reaching_pools, set_conventions, shape, small_count, tiled_pools,
};
use super::reach::{Numbers, Reach, reaches};
use support::splitmix::splitmix64;

/// What determines an unpool's output shape: its attributes, or the pool that it inverts.
#[derive(Debug, Clone)]
pub enum Target {
    Attributes { kernel: Vec<i64>, strides: Option<Vec<i64>>, pads: Option<Vec<i64>>, output_shape: Option<Vec<i64>> },
    Inverse(Box<PoolCase>),
}

/// An unpool, its X and its indices.
#[derive(Debug, Clone)]
pub struct UnpoolCase {
    pub target: Target,
    pub conventions: Conventions,
    pub space: Option<UnpoolSpace>,
    pub min_size: Option<UnpoolMinSize>,
    pub duplicates: Option<Duplicates>,
    pub out_of_bounds: Option<OutOfBounds>,
    pub outside_window: Option<OutsideWindow>,
    pub activation: Option<Activation>,
    pub batch: usize,
    pub channels: usize,
    pub spatial: Vec<usize>,
    pub dtype: DType,
    pub index_type: IndexType,
    /// The elements of X as bits, in its layout.
    pub x: Vec<u64>,
    /// The indices, in their own layout.
    pub indices: Vec<i64>,
}

impl UnpoolCase {
    /// The conventions that apply: an inverse has those of its pool.
    fn effective(&self) -> &Conventions {
        match &self.target {
            Target::Attributes { .. } => &self.conventions,
            Target::Inverse(pool) => &pool.conventions,
        }
    }

    pub fn shape(&self) -> Vec<usize> {
        shape(self.effective().layout.unwrap_or_default(), self.batch, self.channels, &self.spatial)
    }

    pub fn indices_shape(&self) -> Vec<usize> {
        shape(self.effective().index_layout.unwrap_or_default(), self.batch, self.channels, &self.spatial)
    }

    /// The operator.
    pub fn operator(&self) -> MaxUnpool {
        let start = match &self.target {
            Target::Attributes { kernel, .. } => MaxUnpool::new(kernel),
            Target::Inverse(pool) => MaxUnpool::inverse_of(&*pool.written().value, &pool.shape()),
        };
        self.set(Written::new(start, String::new())).value
    }

    /// The code that makes the operator. It can be printed even where making the operator panics.
    fn code(&self) -> String {
        let start = match &self.target {
            Target::Attributes { kernel, .. } => format!("MaxUnpool::new({kernel:?})"),
            Target::Inverse(pool) => {
                format!("MaxUnpool::inverse_of(&{}, &{:?})", pool.written().code, pool.shape())
            }
        };
        self.set(Written::new(MaxUnpool::new([]), start)).code
    }

    fn set(&self, mut written: Written<MaxUnpool>) -> Written<MaxUnpool> {
        if let Target::Attributes { strides, pads, output_shape, .. } = &self.target {
            written = written.set("strides", strides, MaxUnpool::strides).set("pads", pads, MaxUnpool::pads).set(
                "output_shape",
                output_shape,
                MaxUnpool::output_shape,
            );
        }
        set_conventions!(written, MaxUnpool, self.conventions)
            .set("unpool_space", &self.space, MaxUnpool::unpool_space)
            .set("unpool_min_size", &self.min_size, MaxUnpool::unpool_min_size)
            .set("duplicates", &self.duplicates, MaxUnpool::duplicates)
            .set("out_of_bounds", &self.out_of_bounds, MaxUnpool::out_of_bounds)
            .set("outside_window", &self.outside_window, MaxUnpool::outside_window)
            .set("activation", &self.activation, MaxUnpool::activation)
    }

    /// Whether positions of windows are so far off that an unpool which looks at its windows may be refused.
    pub fn is_far(&self) -> bool {
        let Target::Attributes { kernel, strides, pads, .. } = &self.target else { return false };
        let far = |value: i128| value.unsigned_abs() >= 1 << 61;
        let starts = strides.iter().flatten().zip(&self.spatial);
        let mut starts = starts.map(|(&stride, &sources)| i128::from(stride) * (sources as i128 - 1));
        let mut numbers = kernel.iter().chain(strides.iter().flatten()).chain(pads.iter().flatten());
        starts.any(far) || numbers.any(|&number| far(number.into()))
    }

    /// The definitions' verdict on the unpool, before its indices are read.
    pub fn judge(&self) -> Verdict<Scatter> {
        if small_count(&self.shape()).is_none() {
            return Verdict::Unjudged;
        }
        if !definition::has_activation(self.activation, self.dtype) {
            return Verdict::Refused;
        }
        let outer = (self.batch, self.channels);
        let scatter = match &self.target {
            Target::Attributes { kernel, strides, pads, output_shape } => {
                let sizes = UnpoolSizes {
                    kernel,
                    strides: strides.as_deref(),
                    pads: pads.as_deref(),
                    output_shape: output_shape.as_deref(),
                    space: self.space.unwrap_or_default(),
                    min_size: self.min_size,
                };
                let [space, outputs] = match sizes.extents(outer, &self.spatial) {
                    Verdict::Accepted(extents) => extents,
                    Verdict::Refused => return Verdict::Refused,
                    Verdict::Unjudged => return Verdict::Unjudged,
                };
                if small_count(&[&outputs[..], &[self.batch.max(1), self.channels.max(1)]].concat()).is_none() {
                    return Verdict::Unjudged;
                }
                let flatten = IndexFlattening::Tensor;
                let scatter = Scatter::new(&self.conventions, flatten, outer, &space, &self.spatial, &outputs);
                scatter.map(|scatter| Scatter { windows: sizes.windows(&self.spatial, &space), ..scatter })
            }
            // An inverse does not apply the pool's options, so it may accept one that the element type does not have.
            Target::Inverse(pool) if pool.has_options_of_floats() => return Verdict::Unjudged,
            Target::Inverse(pool) => match definition::pool(pool) {
                Verdict::Accepted(pooled) => self.inverse(pool, &pooled),
                Verdict::Refused => None,
                Verdict::Unjudged => return Verdict::Unjudged,
            },
        };
        let Some(mut scatter) = scatter else { return Verdict::Refused };
        scatter.duplicates = self.duplicates.unwrap_or_default();
        scatter.out_of_bounds = self.out_of_bounds.unwrap_or_default();
        scatter.outside_window = self.outside_window.unwrap_or_default();
        scatter.activation = self.activation;
        Verdict::Accepted(scatter)
    }

    /// The inverse of a pool has the pool's index space, and its output is the pool's input. `None` if X has another
    /// shape than the pool's output, or if the index of an empty window could also be that of an element.
    fn inverse(&self, pool: &PoolCase, pooled: &definition::Pooled) -> Option<Scatter> {
        let same_x = (self.batch, self.channels, &self.spatial) == (pool.batch, pool.channels, &pooled.outputs());
        let (flatten, order) = match &pool.operator {
            Operator::Max(options) => (IndexFlattening::Tensor, options.storage_order),
            Operator::Global => (IndexFlattening::Tensor, None),
            Operator::Adaptive(_) => (IndexFlattening::Plane, None),
        };
        let may_be_empty = pooled.has_empty_windows() || pool.nan_policy == Some(NanPolicy::Ignore);
        let told_apart = !may_be_empty || pool.empty.index.unwrap_or_default() == Default::default();
        if !same_x || !told_apart || self.spatial.contains(&0) {
            return None;
        }
        let outer = (self.batch, self.channels);
        let mut scatter = Scatter::new(&pool.conventions, flatten, outer, &pool.spatial, &self.spatial, &pool.spatial)?;
        if let (None, Some(1)) = (pool.conventions.index_order, order) {
            scatter.order(StorageOrder::ColumnMajor);
        }
        scatter.skip_minus_one = may_be_empty;
        scatter.skip_first = pool.nan_policy == Some(NanPolicy::SeedLowest);
        let taps = |windows: &Vec<definition::Window>| windows.iter().map(|window| window.taps.clone()).collect();
        scatter.windows = pooled.windows.iter().map(taps).collect();
        Some(scatter)
    }

    /// A test that computes the case on the reference, on the CPU backend and on the GPU.
    pub fn reproducer(&self) -> String {
        let (dtype, name) = (self.dtype, code::rust_type(self.dtype));
        let y = "y.map(|y| y.data().iter().map(|y| y.to_bits64()).collect::<Vec<_>>())";
        code::test(&[
            format!("let x = {};", code::tensor(dtype, &self.shape(), &self.x)),
            format!("let indices = {};", code::indices(self.index_type, &self.indices_shape(), &self.indices)),
            format!("let unpool = {};", self.code()),
            format!("let plan = unpool.plan(x.shape(), DType::{dtype:?}, IndexType::{:?}).unwrap();", self.index_type),
            format!("let y = calls::reference::max_unpool::<{name}>(&plan, &x, &indices);"),
            format!("let expected = {y};"),
            "println!(\"{expected:x?}\");".to_owned(),
            "for &kernel in CpuKernel::ALL {".to_owned(),
            "    let Ok(prepared) = Cpu::new().with_kernel(kernel).prepare(plan.clone()) else { continue };".to_owned(),
            format!("    let y = calls::max_unpool::<{name}>(&prepared, &x, &indices);"),
            format!("    assert_eq!({y}, expected, \"{{kernel:?}}\");"),
            "}".to_owned(),
            "for family in families(&plan, &gpu().limits()) {".to_owned(),
            "    for &build in family.builds() {".to_owned(),
            "        let choice = Choice { family: Some(family), build: Some(build) };".to_owned(),
            "        let Ok(schedule) = select(&plan, &gpu().limits(), &choice) else { continue };".to_owned(),
            "        let prepared = gpu().prepare_blocking(schedule).unwrap();".to_owned(),
            format!("        let y = calls::max_unpool::<{name}>(&prepared, &x, &indices);"),
            format!("        assert_eq!({y}, expected, \"{{choice:?}}\");"),
            "    }".to_owned(),
            "}".to_owned(),
        ])
    }
}

/// Which indices an unpool gets.
#[derive(Debug, Clone, Copy)]
enum IndexStyle {
    /// Any element.
    Valid,
    /// A few elements again and again.
    Repeated,
    /// One index in four names no element.
    Wild,
    /// Each index names an element of its source's own window, as a pool's index would. In every second case one of the
    /// indices is replaced and names any element, or none.
    Own,
    /// One index in eight names any element, and one in eight names none. For inverses.
    Corrupted,
}

/// An index that names one of the first `most` elements, if there is one.
fn valid_index(pick: u8, i: usize, unit: i64, most: i64) -> i64 {
    if pick == 0 || unit == 0 { 0 } else { (splitmix64(u64::from(pick) << 32 | i as u64) >> 1) as i64 % unit.min(most) }
}

/// An index that names no element; some of these would name one if their high word were lost.
fn wild_index(pick: u8, i: usize, unit: i64) -> i64 {
    let valid = valid_index(pick, i, unit, i64::MAX);
    let wild = [
        -1,
        unit,
        -2,
        unit + 1,
        i64::MIN,
        i64::MAX,
        (1 << 32) + valid,
        -(1 << 32) + valid,
        (unit << 32) + valid,
        u32::MAX.into(),
        i32::MIN.into(),
        i32::MAX.into(),
        i64::MIN + valid,
    ];
    wild[usize::from(pick / 4) % wild.len()]
}

fn fits(index_type: IndexType, index: i64) -> i64 {
    match index_type {
        IndexType::I32 => i64::from(index as i32),
        IndexType::I64 => index,
    }
}

/// The options that unpools from attributes and inverses share.
#[derive(Debug, Clone)]
struct RawOptions {
    conventions: Conventions,
    duplicates: Option<Duplicates>,
    out_of_bounds: Option<OutOfBounds>,
    outside_window: Option<OutsideWindow>,
    activation: Option<Activation>,
    index_type: IndexType,
    style: IndexStyle,
    picks: Vec<u8>,
}

fn raw_options(styles: BoxedStrategy<IndexStyle>) -> impl Strategy<Value = RawOptions> {
    (
        conventions(),
        option::of(select(Duplicates::ALL)),
        (option::of(select(OutOfBounds::ALL)), option::weighted(0.4, select(OutsideWindow::ALL))),
        option::weighted(0.25, activations()),
        select(vec![IndexType::I64, IndexType::I32]),
        styles,
        picks(),
    )
        .prop_map(
            |(conventions, duplicates, (out_of_bounds, outside_window), activation, index_type, style, picks)| {
                RawOptions {
                    conventions,
                    duplicates,
                    out_of_bounds,
                    outside_window,
                    activation,
                    index_type,
                    style,
                    picks,
                }
            },
        )
}

impl RawOptions {
    fn index(&self, i: usize, unit: i64) -> i64 {
        let pick = self.picks[i % self.picks.len()];
        let index = match self.style {
            IndexStyle::Repeated => valid_index(pick, i, unit, 3),
            IndexStyle::Wild if pick % 4 == 1 => wild_index(pick, i, unit),
            _ => valid_index(pick, i, unit, i64::MAX),
        };
        fits(self.index_type, index)
    }
}

impl RawOptions {
    fn own_indices(&self, case: &UnpoolCase, scatter: &Scatter) -> Vec<i64> {
        let Target::Attributes { kernel, strides, pads, .. } = &case.target else { return Vec::new() };
        let of = |list: &Option<Vec<i64>>, a: usize, default: i64| list.as_ref().map_or(default, |list| list[a]);
        let mut indices = scatter.indices(|stored, a, o| {
            let tap = splitmix64(u64::from(self.picks[stored % self.picks.len()]) << 32 | (stored * 8 + a) as u64);
            o as i64 * of(strides, a, 1) - of(pads, a, 0) + (tap >> 8) as i64 % kernel[a]
        });
        let [one, other, ..] = self.picks[..] else { return indices };
        let count = indices.len();
        if let Some(index) = indices.get_mut(usize::from(other) % count.max(1)) {
            *index = match one % 4 {
                1 => valid_index(other, count, scatter.unit(), i64::MAX),
                // The source's own index with another high word.
                3 => fits(self.index_type, *index + (i64::from(other) << 32)),
                _ => *index,
            };
        }
        indices
    }
}

/// One axis: the extent of X, kernel, stride, pads, and by how much the output is larger than the inferred extent.
type RawAxis = (usize, i64, i64, [i64; 2], i64);

/// What is wrong with the lists, if anything is.
#[derive(Debug, Clone)]
enum Oddity {
    Tidy,
    /// Pads and output shapes are not made to fit.
    Loose,
    /// Windows that reach far beyond the output, on any of the axes.
    Reaching(Vec<Reach>),
    /// An axis with one source, whose window lies in the padding, and one output.
    InPadding {
        axis: usize,
    },
    Defect {
        kind: u8,
        axis: usize,
        value: i64,
    },
}

pub fn unpools() -> impl Strategy<Value = UnpoolCase> {
    let values = vec![0, -1, i64::MIN, i64::MAX, 1 << 40];
    let oddity = prop_oneof![
        14 => Just(Oddity::Tidy),
        2 => Just(Oddity::Loose),
        3 => (0..5usize).prop_map(|axis| Oddity::InPadding { axis }),
        2 => (0..10u8, 0..5usize, select(values)).prop_map(|(kind, axis, value)| Oddity::Defect { kind, axis, value }),
    ];
    odd_unpools(oddity.boxed())
}

/// Unpools to tiny tensors whose windows reach far.
pub fn reaching_unpools() -> impl Strategy<Value = UnpoolCase> {
    odd_unpools(reaches().prop_map(Oddity::Reaching).boxed())
}

fn odd_unpools(oddity: BoxedStrategy<Oddity>) -> impl Strategy<Value = UnpoolCase> {
    let pad = || prop_oneof![4 => Just(0i64), 1 => 1..=2i64];
    let axis = (0..72usize, 1..=4i64, 1..=4i64, [pad(), pad()], -3..=5i64);
    let styles = prop_oneof![
        3 => Just(IndexStyle::Valid),
        2 => Just(IndexStyle::Repeated),
        3 => Just(IndexStyle::Wild),
        3 => Just(IndexStyle::Own),
    ];
    (
        prop::collection::vec(axis, 1..=5),
        outer(),
        any::<bool>(),
        option::of(select(UnpoolSpace::ALL)),
        option::weighted(0.3, select(UnpoolMinSize::ALL)),
        raw_options(styles.boxed()),
        dtypes(),
        recipe(),
        oddity,
    )
        .prop_map(|(axes, outer, given, space, min_size, options, dtype, recipe, oddity)| {
            unpool(axes, outer, given, (space, min_size), options, (dtype, recipe), oddity)
        })
}

fn unpool(
    axes: Vec<RawAxis>,
    outer: (usize, usize),
    given: bool,
    (space, min_size): (Option<UnpoolSpace>, Option<UnpoolMinSize>),
    options: RawOptions,
    (dtype, recipe): (DType, Recipe),
    oddity: Oddity,
) -> UnpoolCase {
    let rank = axes.len();
    let most_extent = [12, 6, 4, 3, 2][rank - 1];
    let most = if rank > 3 { 2 } else { 4 };
    let (mut kernel, mut strides, mut pads) = (Vec::new(), Vec::new(), vec![0; 2 * rank]);
    let (mut spatial, mut output_shape) = (Vec::new(), vec![outer.0 as i64, outer.1 as i64]);
    let in_padding = matches!(oddity, Oddity::InPadding { .. });
    let (given, space) = if in_padding { (true, Some(UnpoolSpace::OutputShape)) } else { (given, space) };
    let min_size = min_size.filter(|_| !in_padding);
    // Whether an axis of the output may be smaller than inferred.
    let shrinks = space == Some(UnpoolSpace::OutputShape) && min_size != Some(UnpoolMinSize::PerAxis);
    for (a, (extent, k, s, both, larger)) in axes.into_iter().enumerate() {
        let (extent, mut k, s) = (1 + extent % most_extent, k.min(most), s.min(most));
        let mut both = both;
        if let Oddity::Reaching(reaches) = &oddity
            && let Some(Numbers { kernel, pads, .. }) = reaches[a].unpool(extent as i64, s)
        {
            (k, both) = (kernel, pads);
        }
        if matches!(oddity, Oddity::InPadding { axis } if axis % rank == a) {
            (pads[a], pads[rank + a]) = (k, 0);
            output_shape.push(1);
            spatial.push(1);
            kernel.push(k);
            strides.push(s);
            continue;
        }
        let full = (extent as i64 - 1) * s + k;
        let fitting = full - both[0] - both[1] >= 1 || matches!(oddity, Oddity::Loose);
        let both = if fitting { both } else { [0, 0] };
        (pads[a], pads[rank + a]) = (both[0], both[1]);
        let larger = if shrinks || matches!(oddity, Oddity::Loose) { larger } else { larger.abs() % 4 };
        output_shape.push((full - both[0] - both[1] + larger).max(0));
        spatial.push(extent);
        kernel.push(k);
        strides.push(s);
    }
    let unless = |default: i64, list: Vec<i64>| list.iter().any(|&value| value != default).then_some(list);
    let mut case = UnpoolCase {
        target: Target::Attributes {
            kernel,
            strides: unless(1, strides),
            pads: unless(0, pads),
            output_shape: given.then_some(output_shape),
        },
        conventions: options.conventions.clone(),
        space,
        min_size,
        duplicates: options.duplicates,
        out_of_bounds: options.out_of_bounds,
        outside_window: options.outside_window,
        activation: options.activation,
        batch: outer.0,
        channels: outer.1,
        spatial,
        dtype,
        index_type: options.index_type,
        x: Vec::new(),
        indices: Vec::new(),
    };
    match oddity {
        Oddity::Tidy | Oddity::Reaching(_) | Oddity::InPadding { .. } => {
            case.conventions = case.conventions.tidied(IndexFlattening::Tensor)
        }
        Oddity::Loose => {}
        Oddity::Defect { kind, axis, value } => spoil(&mut case, kind, axis % rank, value),
    }
    if let (Verdict::Accepted(scatter), Some(count)) = (case.judge(), small_count(&case.shape())) {
        case.x = recipe.elements(dtype, count);
        case.indices = match options.style {
            IndexStyle::Own => options.own_indices(&case, &scatter),
            _ => (0..count).map(|i| options.index(i, scatter.unit())).collect(),
        };
    }
    case
}

/// Makes one attribute, extent or convention invalid.
fn spoil(case: &mut UnpoolCase, kind: u8, axis: usize, value: i64) {
    let rank = case.spatial.len();
    if kind == 8 {
        case.activation = Some(impossible_activation(case.dtype, value));
    }
    let Target::Attributes { kernel, strides, pads, output_shape } = &mut case.target else { return };
    match kind {
        0 => kernel[axis] = value,
        1 => strides.get_or_insert_with(|| vec![1; rank])[axis] = value,
        2 => pads.get_or_insert_with(|| vec![0; 2 * rank])[axis] = value,
        3 => *pads = Some(vec![0; rank]),
        4 => kernel.push(1),
        5 => output_shape.get_or_insert_with(|| vec![1; rank + 2])[axis + 1] = value,
        6 => *output_shape = Some(vec![9; rank + 1]),
        7 => case.spatial[axis] = if value < 0 { usize::MAX } else { value as usize },
        8 => {}
        _ => {
            case.conventions.index_layout = Some(Layout::Nhwc);
            case.conventions.flatten = Some(IndexFlattening::Plane);
        }
    }
}

/// Unpools made from random pools, most with the pool's own Y and indices.
pub fn inverses() -> impl Strategy<Value = UnpoolCase> {
    inverses_of(pools().boxed())
}

/// Inverses of pools whose windows lie apart or overlap their neighbours alone, which gathering kernels write cell by
/// cell.
pub fn tiled_inverses() -> impl Strategy<Value = UnpoolCase> {
    let pools = (tiled_pools(), any::<bool>()).prop_map(|(mut pool, apart)| {
        if let Operator::Max(options) = &mut pool.operator {
            let kernel: Vec<i64> = options.kernel.iter().map(|kernel| kernel.min(&4)).copied().collect();
            let half = kernel.iter().map(|kernel| kernel / 2).chain(kernel.iter().map(|kernel| kernel / 2));
            let overlapping = kernel.iter().map(|kernel| (kernel + 1) / 2).collect();
            *options = MaxPoolOptions {
                strides: Some(if apart { kernel.clone() } else { overlapping }),
                pads: if apart { None } else { Some(half.collect()) },
                kernel,
                ceil_mode: options.ceil_mode,
                ..MaxPoolOptions::default()
            };
        }
        pool
    });
    inverses_of(pools.boxed())
}

/// Unpools made from random pools whose windows reach far.
pub fn reaching_inverses() -> impl Strategy<Value = UnpoolCase> {
    inverses_of(reaching_pools().boxed())
}

fn inverses_of(pools: BoxedStrategy<PoolCase>) -> impl Strategy<Value = UnpoolCase> {
    let styles = prop_oneof![7 => Just(IndexStyle::Valid), 3 => Just(IndexStyle::Corrupted)];
    let spoilt = prop_oneof![19 => Just(false), 1 => Just(true)];
    // Some cases replace the pool's Y by other elements: only then do equal indices come with different elements.
    let others = option::of(recipe());
    (pools, raw_options(styles.boxed()), any::<u8>(), spoilt, others).prop_map(
        |(mut pool, options, any_empty, spoilt, others)| {
            if any_empty < 224 {
                pool.empty.index = None;
            }
            inverse(pool, options, spoilt, others)
        },
    )
}

fn inverse(pool: PoolCase, options: RawOptions, spoilt: bool, others: Option<Recipe>) -> UnpoolCase {
    let pooled = definition::pool(&pool);
    let mut case = UnpoolCase {
        // An inverse takes its pool's conventions and refuses others.
        conventions: Conventions::default(),
        space: None,
        min_size: None,
        duplicates: options.duplicates,
        out_of_bounds: options.out_of_bounds,
        outside_window: options.outside_window,
        activation: options.activation,
        batch: pool.batch,
        channels: pool.channels,
        spatial: pool.spatial.clone(),
        dtype: pool.dtype,
        index_type: options.index_type,
        x: Vec::new(),
        indices: Vec::new(),
        target: Target::Inverse(Box::new(pool)),
    };
    if let Verdict::Accepted(pooled) = pooled {
        case.spatial = pooled.outputs();
        case.spatial[0] += usize::from(spoilt);
        if let Verdict::Accepted(scatter) = case.judge() {
            let index = |(i, &own): (usize, &i64)| {
                let pick = options.picks[i % options.picks.len()];
                let index = match (options.style, pick % 8) {
                    (IndexStyle::Corrupted, 1) => valid_index(pick, i, scatter.unit(), i64::MAX),
                    (IndexStyle::Corrupted, 5) => wild_index(pick, i, scatter.unit()),
                    _ => own,
                };
                fits(options.index_type, index)
            };
            case.indices = pooled.indices.iter().enumerate().map(index).collect();
            case.x = others.map_or(pooled.y, |recipe| recipe.elements(case.dtype, case.indices.len()));
        }
    }
    case
}
