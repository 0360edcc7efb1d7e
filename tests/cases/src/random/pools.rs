//! Random pools: MaxPool with every option, GlobalMaxPool and AdaptiveMaxPool.

use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use wgpu_pooling::{
    Activation, AdaptiveMaxPool, AutoPad, CeilRule, DType, EmptyIndex, EmptyValue, GlobalMaxPool, IndexFlattening,
    IndexType, Layout, MaxPool, Minimum, NanPolicy, PadsLimit, Pooling, SamePadding, SizeRounding, StorageOrder,
};

use super::code::{self, Written};
use super::definition::has_activation;
use super::elements::{Recipe, highest, lowest, recipe};
use super::reach::{Numbers, Reach, reaches};

/// The options of a MaxPool; `None` leaves a setter uncalled.
#[derive(Debug, Clone, Default)]
pub struct MaxPoolOptions {
    pub kernel: Vec<i64>,
    pub strides: Option<Vec<i64>>,
    pub dilations: Option<Vec<i64>>,
    pub pads: Option<Vec<i64>>,
    pub auto_pad: Option<AutoPad>,
    pub ceil_mode: Option<i64>,
    pub ceil_rule: Option<CeilRule>,
    pub storage_order: Option<i64>,
    pub same_padding: Option<SamePadding>,
    pub size_rounding: Option<SizeRounding>,
    pub pads_limit: Option<PadsLimit>,
    pub activation: Option<Activation>,
}

#[derive(Debug, Clone)]
pub enum Operator {
    Max(MaxPoolOptions),
    Global,
    /// The output size.
    Adaptive(Vec<i64>),
}

/// The options that pools and unpools share.
#[derive(Debug, Clone, Default)]
pub struct Conventions {
    pub layout: Option<Layout>,
    pub index_layout: Option<Layout>,
    pub flatten: Option<IndexFlattening>,
    pub index_order: Option<StorageOrder>,
}

/// What windows without elements give.
#[derive(Debug, Clone, Default)]
pub struct EmptyRules {
    pub value: Option<EmptyValue>,
    pub index: Option<EmptyIndex>,
}

/// A pool and its X.
#[derive(Debug, Clone)]
pub struct PoolCase {
    pub operator: Operator,
    /// Whether the minimum of each window is wanted.
    pub minimum: bool,
    pub conventions: Conventions,
    pub nan_policy: Option<NanPolicy>,
    pub empty: EmptyRules,
    pub batch: usize,
    pub channels: usize,
    pub spatial: Vec<usize>,
    pub dtype: DType,
    pub indices: Option<IndexType>,
    /// The elements of X as bits, in its layout; empty where X is too large for a test.
    pub x: Vec<u64>,
}

/// Calls the setters of the conventions, which every operator has under the same names.
macro_rules! set_conventions {
    ($written:expr, $type:ident, $conventions:expr) => {
        $written
            .set("layout", &$conventions.layout, $type::layout)
            .set("index_layout", &$conventions.index_layout, $type::index_layout)
            .set("flatten", &$conventions.flatten, $type::flatten)
            .set("index_order", &$conventions.index_order, $type::index_order)
    };
}
pub(crate) use set_conventions;

/// Calls the setters that every pool has under the same names.
macro_rules! set_all_pools {
    ($written:expr, $type:ident, $case:expr) => {{
        let written = $written
            .set("nan_policy", &$case.nan_policy, $type::nan_policy)
            .set("empty_value", &$case.empty.value, $type::empty_value)
            .set("empty_index", &$case.empty.index, $type::empty_index);
        set_conventions!(written, $type, $case.conventions)
    }};
}

/// A tensor's shape in a layout.
pub fn shape(layout: Layout, batch: usize, channels: usize, spatial: &[usize]) -> Vec<usize> {
    match layout {
        Layout::Nchw => [&[batch, channels], spatial].concat(),
        Layout::Nhwc => [&[batch], spatial, &[channels]].concat(),
    }
}

/// The product of a shape, if it is small enough for a tensor of a test.
pub fn small_count(shape: &[usize]) -> Option<usize> {
    const MOST: usize = 1 << 16;
    if shape.contains(&0) {
        return Some(0);
    }
    shape.iter().try_fold(1usize, |product, &extent| product.checked_mul(extent)).filter(|&count| count <= MOST)
}

impl PoolCase {
    pub fn layout(&self) -> Layout {
        self.conventions.layout.unwrap_or_default()
    }

    pub fn shape(&self) -> Vec<usize> {
        shape(self.layout(), self.batch, self.channels, &self.spatial)
    }

    /// The operator, and the code that makes it.
    pub fn written(&self) -> Written<Box<dyn Pooling>> {
        fn boxed<P: Pooling + 'static>(minimum: bool, written: Written<P>) -> Written<Box<dyn Pooling>> {
            let Written { value, code } = written;
            match minimum {
                true => Written::new(Box::new(Minimum::of(value)), format!("Minimum::of({code})")),
                false => Written::new(Box::new(value), code),
            }
        }
        match &self.operator {
            Operator::Max(options) => {
                let kernel = &options.kernel;
                let written = Written::new(MaxPool::new(kernel), format!("MaxPool::new({kernel:?})"))
                    .set("strides", &options.strides, MaxPool::strides)
                    .set("dilations", &options.dilations, MaxPool::dilations)
                    .set("pads", &options.pads, MaxPool::pads)
                    .set("auto_pad", &options.auto_pad, MaxPool::auto_pad)
                    .set("ceil_mode", &options.ceil_mode, MaxPool::ceil_mode)
                    .set("ceil_rule", &options.ceil_rule, MaxPool::ceil_rule)
                    .set("storage_order", &options.storage_order, MaxPool::storage_order)
                    .set("same_padding", &options.same_padding, MaxPool::same_padding)
                    .set("size_rounding", &options.size_rounding, MaxPool::size_rounding)
                    .set("pads_limit", &options.pads_limit, MaxPool::pads_limit)
                    .set("activation", &options.activation, MaxPool::activation);
                boxed(self.minimum, set_all_pools!(written, MaxPool, self))
            }
            Operator::Global => {
                let written = Written::new(GlobalMaxPool::new(), "GlobalMaxPool::new()".to_owned());
                boxed(self.minimum, set_all_pools!(written, GlobalMaxPool, self))
            }
            Operator::Adaptive(size) => {
                let written = Written::new(AdaptiveMaxPool::new(size), format!("AdaptiveMaxPool::new({size:?})"));
                boxed(self.minimum, set_all_pools!(written, AdaptiveMaxPool, self))
            }
        }
    }

    /// What every element wins over: infinity, and the last finite value before it.
    pub fn furthest(&self) -> [u64; 2] {
        if self.minimum { highest(self.dtype) } else { lowest(self.dtype) }
    }

    /// Whether an option exists for floats only, and the elements are integers.
    pub fn has_options_of_floats(&self) -> bool {
        if self.empty.value == Some(EmptyValue::Nan) && !self.dtype.is_float() {
            return true;
        }
        let Operator::Max(MaxPoolOptions { activation, .. }) = &self.operator else { return false };
        has_activation(*activation, DType::F32) && !has_activation(*activation, self.dtype)
    }

    /// Whether a dilation, a pad or a stride exceeds 2^27, so that positions may exceed an i32 index.
    pub fn is_wide(&self) -> bool {
        let Operator::Max(options) = &self.operator else { return false };
        let lists = options.dilations.iter().chain(&options.pads).chain(&options.strides);
        lists.flatten().any(|&value| value > 1 << 27)
    }

    /// A test that computes the case on the reference, in every kernel of the CPU backend and in every family.
    pub fn reproducer(&self) -> String {
        let (dtype, name) = (self.dtype, code::rust_type(self.dtype));
        let indices = self.indices.map_or("None".to_owned(), |indices| format!("Some(IndexType::{indices:?})"));
        let (call, compared) = match self.indices {
            None => (format!("max_pool::<{name}>"), "y.data().iter().map(|y| y.to_bits64()).collect::<Vec<_>>()"),
            Some(indices) => (
                format!("max_pool_with_indices::<{name}, {}>", indices.name()),
                "(y.0.data().iter().map(|y| y.to_bits64()).collect::<Vec<_>>(), y.1)",
            ),
        };
        code::test(&[
            format!("let x = {};", code::tensor(dtype, &self.shape(), &self.x)),
            format!("let pool = {};", self.written().code),
            format!("let plan = pool.plan(x.shape(), DType::{dtype:?}, {indices}).unwrap();"),
            format!("let y = calls::reference::{call}(&plan, &x).unwrap();"),
            format!("let expected = {compared};"),
            "println!(\"{expected:x?}\");".to_owned(),
            "for &kernel in CpuKernel::ALL {".to_owned(),
            "    let Ok(prepared) = Cpu::new().with_kernel(kernel).prepare(plan.clone()) else { continue };".to_owned(),
            format!("    let y = calls::{call}(&prepared, &x).unwrap();"),
            format!("    assert_eq!({compared}, expected, \"{{kernel:?}}\");"),
            "}".to_owned(),
            "for family in families(&plan, &gpu().limits()) {".to_owned(),
            "    for &build in family.builds() {".to_owned(),
            "        let choice = Choice { family: Some(family), build: Some(build) };".to_owned(),
            "        let schedule = select(&plan, &gpu().limits(), &choice).unwrap();".to_owned(),
            "        let prepared = gpu().prepare_blocking(schedule).unwrap();".to_owned(),
            format!("        let y = calls::{call}(&prepared, &x).unwrap();"),
            format!("        assert_eq!({compared}, expected, \"{{choice:?}}\");"),
            "    }".to_owned(),
            "}".to_owned(),
        ])
    }
}

/// The random numbers of one axis, before they are fitted to the rank and to the extent.
#[derive(Debug, Clone)]
struct RawAxis {
    extent: usize,
    kernel: i64,
    stride: i64,
    dilation: i64,
    pads: [i64; 2],
    output: i64,
}

fn raw_axis() -> impl Strategy<Value = RawAxis> {
    let pad = || prop_oneof![4 => Just(0i64), 4 => 1..=2i64, 1 => 3..=9i64];
    let output = prop_oneof![12 => 1..=5i64, 4 => 6..=12i64, 1 => Just(0i64)];
    (0..72usize, 1..=5i64, 1..=4i64, prop_oneof![2 => Just(1i64), 1 => 2..=4i64], [pad(), pad()], output).prop_map(
        |(extent, kernel, stride, dilation, pads, output)| RawAxis { extent, kernel, stride, dilation, pads, output },
    )
}

/// How unusual a case is.
#[derive(Debug, Clone)]
enum Oddity {
    /// Valid, unless a random option excludes it, such as a limit on pads.
    Tidy,
    /// Kernels that may exceed the padded input, conventions that may exclude each other.
    Loose,
    /// One axis has numbers that are too large for 32-bit formulas.
    Huge { axis: usize, kind: u8, exponent: u32, extra: i64, clamped: bool },
    /// Windows of thousands of elements.
    Long { extent: usize, kernel: usize, outputs: usize, rich: bool },
    /// Windows that reach far beyond the elements, on any of the axes.
    Reaching(Vec<Reach>),
    /// One attribute, extent or convention is invalid.
    Defect { kind: u8, axis: usize, value: i64 },
}

fn oddity() -> impl Strategy<Value = Oddity> {
    let values = vec![0, -1, i64::MIN, i64::MAX, i64::MAX / 4, 1 << 40, 1 << 31, 7];
    prop_oneof![
        78 => Just(Oddity::Tidy),
        10 => Just(Oddity::Loose),
        6 => (0..5usize, 0..5u8, select(vec![31u32, 28, 29, 30, 31, 32, 33, 40]), 0..=4i64, any::<bool>())
            .prop_map(|(axis, kind, exponent, extra, clamped)| Oddity::Huge { axis, kind, exponent, extra, clamped }),
        3 => (1_000..9_000usize, 0..9_000usize, 1..=5usize, any::<bool>())
            .prop_map(|(extent, kernel, outputs, rich)| Oddity::Long { extent, kernel, outputs, rich }),
        12 => (0..16u8, 0..5usize, select(values)).prop_map(|(kind, axis, value)| Oddity::Defect { kind, axis, value }),
    ]
}

pub fn activations() -> impl Strategy<Value = Activation> {
    // Bounds that most 16-bit floats and integers represent exactly, and bounds that are rounded: to zero, to infinity,
    // to a neighbour.
    let exact = [0.0, -0.0, 1.0, -1.0, 6.0, 65_520.0, -3.4e38, f32::INFINITY, f32::NEG_INFINITY];
    let rounded = [1e-45, -1e-45, 1e-9, -1.5, 2.5, 126.5, 65_519.9, -70_000.0, 3e9, 1e30];
    let bounds = [&exact[..], &rounded[..]].concat();
    prop_oneof![
        Just(Activation::Relu),
        // A minimum above the maximum is defined too: elements below the minimum become the minimum.
        [select(bounds.clone()), select(bounds)].prop_map(|[min, max]| Activation::Clip { min, max }),
    ]
}

/// An activation that the dtype does not have.
pub fn impossible_activation(dtype: DType, value: i64) -> Activation {
    match value.rem_euclid(4) {
        0 => Activation::Clip { min: f32::NAN, max: 1.0 },
        1 => Activation::Clip { min: 0.0, max: -f32::NAN },
        2 if dtype.is_float() => Activation::LeakyRelu { alpha: f32::NAN },
        2 => Activation::LeakyRelu { alpha: 0.5 },
        _ if dtype.is_float() => Activation::HardSigmoid { alpha: 1.0, beta: f32::NAN },
        _ => Activation::Tanh,
    }
}

pub fn conventions() -> impl Strategy<Value = Conventions> {
    (
        option::of(select(Layout::ALL)),
        option::of(select(Layout::ALL)),
        option::of(select(IndexFlattening::ALL)),
        option::of(select(StorageOrder::ALL)),
    )
        .prop_map(|(layout, index_layout, flatten, index_order)| Conventions {
            layout,
            index_layout,
            flatten,
            index_order,
        })
}

impl Conventions {
    /// Removes the conventions that NHWC indices exclude.
    pub fn tidied(mut self, default_flatten: IndexFlattening) -> Self {
        if self.index_layout == Some(Layout::Nhwc) {
            self.index_order = None;
            if self.flatten.unwrap_or(default_flatten) == IndexFlattening::Plane {
                self.flatten = Some(IndexFlattening::Batch);
            }
        }
        self
    }
}

/// N and C: mostly small, sometimes zero.
pub fn outer() -> impl Strategy<Value = (usize, usize)> {
    let extent = || prop_oneof![24 => 1..=3usize, 6 => 4..=5usize, 1 => Just(0usize)];
    (extent(), extent())
}

pub fn dtypes() -> impl Strategy<Value = DType> {
    select(DType::ALL.to_vec())
}

fn empty_rules() -> impl Strategy<Value = EmptyRules> {
    (option::of(select(EmptyValue::ALL)), option::weighted(0.7, select(EmptyIndex::ALL)))
        .prop_map(|(value, index)| EmptyRules { value, index })
}

fn options() -> impl Strategy<Value = MaxPoolOptions> {
    let sizes = (
        option::weighted(0.35, select(AutoPad::ALL)),
        option::weighted(0.3, 0..=1i64),
        option::weighted(0.3, select(CeilRule::ALL)),
        option::weighted(0.3, 0..=1i64),
        option::of(select(SamePadding::ALL)),
        option::of(select(SizeRounding::ALL)),
    );
    let rest = (option::weighted(0.1, select(PadsLimit::ALL)), option::weighted(0.25, activations()));
    (sizes, rest).prop_map(
        |((auto_pad, ceil_mode, ceil_rule, storage_order, same_padding, size_rounding), (pads_limit, activation))| {
            MaxPoolOptions {
                auto_pad,
                ceil_mode,
                ceil_rule,
                storage_order,
                same_padding,
                size_rounding,
                pads_limit,
                activation,
                ..MaxPoolOptions::default()
            }
        },
    )
}

/// The parts of a case, kept apart so that proptest shrinks each by itself.
#[derive(Debug, Clone)]
struct RawPool {
    axes: Vec<RawAxis>,
    outer: (usize, usize),
    operator: u8,
    minimum: bool,
    options: MaxPoolOptions,
    conventions: Conventions,
    nan_policy: Option<NanPolicy>,
    empty: EmptyRules,
    dtype: DType,
    indices: Option<IndexType>,
    oddity: Oddity,
    recipe: Recipe,
}

/// Pools of all kinds, most of them valid.
pub fn pools() -> impl Strategy<Value = PoolCase> {
    raw(oddity().boxed()).prop_map(RawPool::case)
}

/// MaxPools of tiny tensors whose windows reach far.
pub fn reaching_pools() -> impl Strategy<Value = PoolCase> {
    raw(reaches().prop_map(Oddity::Reaching).boxed()).prop_map(|mut raw| {
        (raw.operator, raw.options.auto_pad, raw.options.pads_limit) = (0, None, None);
        raw.case()
    })
}

/// MaxPools in NHWC over at most three axes. In about half of the cases the number of channels is a multiple of four.
pub fn channels_last_pools() -> impl Strategy<Value = PoolCase> {
    let channels = select(vec![1, 2, 3, 4, 4, 5, 8, 8, 11, 12, 16]);
    (raw(Just(Oddity::Tidy).boxed()), channels).prop_map(|(mut raw, channels)| {
        (raw.operator, raw.outer.1, raw.conventions.layout) = (0, channels, Some(Layout::Nhwc));
        raw.axes.truncate(3);
        raw.case()
    })
}

/// MaxPools over at most three axes that exceed the smallest bindings, so that their outputs are divided among several
/// dispatches, which begin inside lines and inside the outputs of an invocation.
pub fn divided_pools() -> impl Strategy<Value = PoolCase> {
    raw(Just(Oddity::Tidy).boxed()).prop_map(|mut raw| {
        (raw.operator, raw.options.pads_limit) = (0, None);
        raw.outer = (2, 2 + raw.outer.1);
        raw.axes.truncate(3);
        for axis in &mut raw.axes {
            axis.stride = 1 + axis.stride % 2;
        }
        let [least, most]: [&[usize]; 2] = match raw.axes.len() {
            1 => [&[800], &[1_600]],
            2 => [&[9, 20], &[32, 60]],
            _ => [&[3, 7, 9], &[6, 16, 30]],
        };
        let between = |(axis, (least, most)): (&RawAxis, (&usize, &usize))| {
            // The random extents are below 72.
            least + axis.extent * (most - least) / 71
        };
        let spatial = raw.axes.iter().zip(least.iter().zip(most)).map(between).collect();
        raw.finish(spatial)
    })
}

/// MaxPools over at most three axes with windows of a few lines: as many outputs as thread tiles have lines and more,
/// whose windows share lines, interlock, or leave lines between them.
pub fn tiled_pools() -> impl Strategy<Value = PoolCase> {
    let channels = select(vec![1, 1, 2, 3, 4, 5, 8]);
    let most_outputs = [24, 12, 6];
    (raw(Just(Oddity::Tidy).boxed()), channels, any::<bool>()).prop_map(move |(mut raw, channels, whole)| {
        (raw.operator, raw.options.pads_limit, raw.options.auto_pad) = (0, None, None);
        raw.outer = (1, channels);
        raw.axes.truncate(3);
        let most = most_outputs[raw.axes.len() - 1];
        let extent = |axis: &mut RawAxis| {
            // The random extents are below 72, the strides below 5.
            let outputs = 1 + axis.extent as i64 % most;
            axis.stride += axis.extent as i64 / 24;
            let reach = (axis.kernel - 1) * axis.dilation + 1;
            axis.pads = axis.pads.map(|pad| pad.min(reach - 1));
            ((outputs - 1) * axis.stride + reach - axis.pads[0] - axis.pads[1]).max(1) as usize
        };
        let mut spatial: Vec<usize> = raw.axes.iter_mut().map(extent).collect();
        if let (true, Some(last)) = (whole, spatial.last_mut()) {
            *last = last.next_multiple_of(4);
        }
        raw.finish(spatial)
    })
}

/// MaxPools with large windows that slide by one element, along one axis or two.
pub fn sliding_pools() -> impl Strategy<Value = PoolCase> {
    // Strips take elements of 32 bits at most; those of several blocks need more lines of outputs than windows have.
    let strip = select(vec![DType::F32, DType::F16, DType::Bf16, DType::I32, DType::U8]);
    let strip = option::of((strip, [8..=11i64, 8..=11], [17..=44i64, 4..=12]));
    let numbers =
        (select(vec![1usize, 2, 2]), [8..=33i64, 8..=33], [1..=16i64, 1..=16], select(vec![1, 1, 2, 3, 4]), strip);
    (raw(Just(Oddity::Tidy).boxed()), numbers).prop_map(|(mut raw, (rank, kernels, outputs, channels, strip))| {
        let is_strip = strip.is_some();
        let (dtype, kernels, outputs) = strip.unwrap_or((raw.dtype, kernels, outputs));
        let rank = if is_strip { 2 } else { rank };
        raw.dtype = dtype;
        (raw.operator, raw.options.pads_limit, raw.options.auto_pad) = (0, None, None);
        raw.outer = (1, channels);
        raw.axes.resize(rank, raw.axes[0].clone());
        let extent = |(axis, (kernel, outputs)): (&mut RawAxis, (i64, i64))| {
            // Series are longer, and some windows are dilated or further apart.
            let odd = axis.extent % 8 == 0 && !is_strip;
            axis.kernel = if rank == 1 { kernel * kernel / 4 } else { kernel };
            (axis.stride, axis.dilation) = if odd { (axis.stride.min(2), axis.dilation.min(2)) } else { (1, 1) };
            let reach = (axis.kernel - 1) * axis.dilation + 1;
            axis.pads = axis.pads.map(|pad| (pad * reach / 10).min(reach - 1));
            let outputs = if rank == 1 { outputs * 8 } else { outputs };
            ((outputs - 1) * axis.stride + reach - axis.pads[0] - axis.pads[1]).max(1) as usize
        };
        let spatial = raw.axes.iter_mut().zip(kernels.into_iter().zip(outputs)).map(extent).collect();
        raw.finish(spatial)
    })
}

/// MaxPools with long windows along one axis, beside axes of one element, mostly of floats.
pub fn series_pools() -> impl Strategy<Value = PoolCase> {
    let floats = select(vec![DType::F32, DType::F16, DType::Bf16, DType::F64]);
    let numbers = (5..=40i64, 1..=40i64, 0..3usize, select(vec![1usize, 1, 2, 3]), option::weighted(0.7, floats));
    (raw(Just(Oddity::Tidy).boxed()), numbers).prop_map(|(mut raw, (kernel, outputs, behind, channels, float))| {
        (raw.operator, raw.options.pads_limit, raw.options.auto_pad) = (0, None, None);
        (raw.outer, raw.dtype) = ((1, channels), float.unwrap_or(raw.dtype));
        let mut axis = raw.axes[0].clone();
        let odd = axis.extent % 4 == 0;
        (axis.stride, axis.dilation) = if odd { (axis.stride, axis.dilation.min(2)) } else { (1, 1) };
        axis.kernel = kernel;
        let reach = (kernel - 1) * axis.dilation + 1;
        axis.pads = axis.pads.map(|pad| (pad * reach / 10).min(reach - 1));
        let extent = ((outputs - 1) * axis.stride + reach - axis.pads[0] - axis.pads[1]).max(1);
        let one = RawAxis { extent: 1, kernel: 1, stride: 1, dilation: 1, pads: [0, 0], output: 1 };
        raw.axes = [vec![axis], vec![one; behind]].concat();
        raw.finish([vec![extent as usize], vec![1; behind]].concat())
    })
}

/// Pools of whole planes of a thousand elements and more. In half of them most elements are equal.
pub fn planes() -> impl Strategy<Value = PoolCase> {
    let numbers = (select(vec![1usize, 2, 2, 3]), 1_000..6_000usize, any::<bool>(), any::<[prop::sample::Index; 3]>());
    (raw(Just(Oddity::Tidy).boxed()), numbers).prop_map(|(mut raw, (planes, elements, alike, at))| {
        let columns = (2..40).filter(|columns| elements % columns == 0).max().unwrap_or(1);
        raw.axes.resize(2, raw.axes[0].clone());
        (raw.operator, raw.outer) = (11, if raw.outer.0 % 2 == 0 { (planes, 1) } else { (1, planes) });
        let mut case = raw.finish(vec![elements / columns, columns]);
        if alike && let Some(&first) = case.x.first() {
            let others = at.map(|at| (at.index(case.x.len()), case.x[at.index(case.x.len())]));
            case.x.fill(first);
            others.into_iter().for_each(|(at, element)| case.x[at] = element);
        }
        case
    })
}

/// Pools of all kinds with indices and without an activation. Windows wholly in padding have the index -1.
pub fn plain_pools() -> impl Strategy<Value = PoolCase> {
    let index_type = select(vec![IndexType::I64, IndexType::I32]);
    (raw(Just(Oddity::Tidy).boxed()), index_type).prop_map(|(mut raw, index_type)| {
        raw.indices = Some(index_type);
        (raw.options.activation, raw.empty.index, raw.options.pads_limit) = (None, None, None);
        raw.case()
    })
}

fn raw(oddity: BoxedStrategy<Oddity>) -> impl Strategy<Value = RawPool> {
    let indices = prop_oneof![1 => Just(None), 3 => select(vec![Some(IndexType::I64), Some(IndexType::I32)])];
    (
        prop::collection::vec(raw_axis(), 1..=5),
        outer(),
        0..12u8,
        options(),
        conventions(),
        (option::weighted(0.8, select(NanPolicy::ALL)), empty_rules()),
        dtypes(),
        indices,
        oddity,
        recipe(),
        prop::bool::weighted(0.3),
    )
        .prop_map(
            |(
                axes,
                outer,
                operator,
                options,
                conventions,
                (nan_policy, empty),
                dtype,
                indices,
                oddity,
                recipe,
                minimum,
            )| {
                RawPool {
                    axes,
                    outer,
                    operator,
                    minimum,
                    options,
                    conventions,
                    nan_policy,
                    empty,
                    dtype,
                    indices,
                    oddity,
                    recipe: match nan_policy {
                        Some(NanPolicy::SeedLowest | NanPolicy::Ignore) => recipe.about_nan(),
                        _ => recipe,
                    },
                }
            },
        )
}

impl RawPool {
    fn case(mut self) -> PoolCase {
        if let Oddity::Huge { clamped: true, .. } = self.oddity {
            // The clamped start of such a window is so far away that its index exceeds 32 bits.
            self.empty.index = Some(EmptyIndex::ClampedStart);
            self.indices = Some(IndexType::I64);
        }
        if let Oddity::Long { extent, outputs, rich, .. } = self.oddity {
            if rich {
                self.recipe = self.recipe.rich();
            }
            self.axes.truncate(2);
            self.axes[0].output = outputs as i64;
            self.outer = (self.outer.0.min(2), self.outer.1.min(2));
            // The second axis stays narrow, so that the reference has something to do but not too much.
            let narrow = self.axes.iter().skip(1).map(|axis| 1 + axis.extent % 2);
            let spatial = std::iter::once(extent).chain(narrow).collect();
            return self.finish(spatial);
        }
        // The more axes, the smaller they are.
        let most = [24, 9, 6, 4, 3][self.axes.len() - 1];
        let spatial = self.axes.iter().map(|axis| 1 + axis.extent % most).collect();
        self.finish(spatial)
    }

    fn finish(self, spatial: Vec<usize>) -> PoolCase {
        let operator = match self.operator {
            0..8 => Operator::Max(self.max_pool(&spatial)),
            8..11 => {
                let most = [12, 9, 7, 5, 4][spatial.len() - 1];
                Operator::Adaptive(self.axes.iter().map(|axis| axis.output.min(most)).collect())
            }
            _ => Operator::Global,
        };
        let (batch, channels) = self.outer;
        let mut case = PoolCase {
            operator,
            minimum: self.minimum,
            conventions: self.conventions,
            nan_policy: self.nan_policy,
            empty: self.empty,
            batch,
            channels,
            spatial,
            dtype: self.dtype,
            indices: self.indices,
            x: Vec::new(),
        };
        match self.oddity {
            Oddity::Loose => {}
            Oddity::Defect { kind, axis, value } => spoil(&mut case, kind, axis, value),
            _ => {
                case.empty.value = case.empty.value.filter(|&value| value != EmptyValue::Nan || case.dtype.is_float());
                let adaptive = matches!(case.operator, Operator::Adaptive(_));
                let flatten = if adaptive { IndexFlattening::Plane } else { IndexFlattening::Tensor };
                case.conventions = case.conventions.tidied(flatten);
                if let (Some(Layout::Nhwc), Operator::Max(options)) =
                    (case.conventions.index_layout, &mut case.operator)
                {
                    options.storage_order = None;
                }
            }
        }
        if let Some(count) = small_count(&case.shape()) {
            case.x = self.recipe.elements(case.dtype, count);
        }
        case
    }

    /// The lists of a MaxPool on these extents.
    fn max_pool(&self, spatial: &[usize]) -> MaxPoolOptions {
        let rank = spatial.len();
        let padded = self.options.auto_pad.unwrap_or_default() == AutoPad::NotSet;
        let most_pad = [9, 6, 3, 2, 1][rank - 1];
        let mut axes = self.axes.clone();
        for (axis, &extent) in axes.iter_mut().zip(spatial) {
            axis.pads = axis.pads.map(|pad| if padded { pad.min(most_pad) } else { 0 });
            let room = extent as i64 + axis.pads[0] + axis.pads[1];
            while !matches!(self.oddity, Oddity::Loose) && (axis.kernel - 1) * axis.dilation + 1 > room {
                if axis.dilation > 1 { axis.dilation -= 1 } else { axis.kernel -= 1 }
            }
        }
        match self.oddity {
            Oddity::Huge { axis, kind, exponent, extra, .. } if padded => {
                let axis = axis % rank;
                enlarge(&mut axes[axis], spatial[axis] as i64, kind, 1 << exponent, extra);
            }
            Oddity::Long { extent, kernel, outputs, .. } => {
                let axis = &mut axes[0];
                axis.dilation = axis.dilation.min(2);
                axis.kernel = 1 + (kernel % (extent / axis.dilation as usize)) as i64;
                axis.stride = 1 + (extent / outputs) as i64;
            }
            Oddity::Reaching(ref reaches) => {
                for ((axis, &extent), reach) in axes.iter_mut().zip(spatial).zip(reaches) {
                    if let Some(Numbers { kernel, stride, dilation, pads }) = reach.pool(extent as i64) {
                        *axis = RawAxis { kernel, stride, dilation, pads, ..axis.clone() };
                    }
                }
            }
            _ => {}
        }
        let all = |one: fn(&RawAxis) -> i64| axes.iter().map(one).collect::<Vec<_>>();
        let unless = |default: i64, list: Vec<i64>| list.iter().any(|&value| value != default).then_some(list);
        let pads = [all(|axis| axis.pads[0]), all(|axis| axis.pads[1])].concat();
        MaxPoolOptions {
            kernel: all(|axis| axis.kernel),
            strides: unless(1, all(|axis| axis.stride)),
            dilations: unless(1, all(|axis| axis.dilation)),
            pads: unless(0, pads),
            ..self.options.clone()
        }
    }
}

/// Sets numbers from about 2^28 on that still give few windows.
fn enlarge(axis: &mut RawAxis, extent: i64, kind: u8, huge: i64, extra: i64) {
    let [begin, _] = axis.pads;
    match kind {
        // Taps so far apart that at most one of them lies inside.
        0 => {
            axis.kernel = axis.kernel.clamp(2, 3);
            axis.dilation = huge + begin;
            axis.stride = axis.stride.min(2);
            let effective = (axis.kernel - 1) * axis.dilation + 1;
            // The tap inside the input is the second or the last one; in the first windows it may lie before the input.
            let skipped = if extra % 2 == 0 { axis.dilation } else { effective - 1 };
            let begin = skipped + begin.min(2) - (extra % 3).min(extent - 1);
            axis.pads = [begin, (effective + extra - extent - begin).max(0)];
        }
        // A kernel that reaches far into the padding before the input.
        1 => {
            axis.kernel = huge;
            axis.dilation = 1;
            axis.pads = [huge - 1 - begin.min(extra), extra];
        }
        // A kernel that reaches far into the padding behind the input.
        2 => {
            axis.kernel = huge;
            axis.dilation = 1;
            axis.pads = [begin, huge - extent - begin + extra];
        }
        // Windows so far apart that most of them miss the input on either side.
        3 => {
            axis.stride = huge;
            axis.pads = [huge + begin.min(extent - 1), huge + 9];
        }
        // One window beyond a huge stride.
        _ => axis.stride = huge,
    }
}

/// Makes one attribute, extent or convention invalid, if the operator has it.
fn spoil(case: &mut PoolCase, kind: u8, axis: usize, value: i64) {
    let rank = case.spatial.len();
    let axis = axis % rank;
    match (kind, &mut case.operator) {
        (0, _) => case.spatial[axis] = if value < 0 { usize::MAX } else { value as usize },
        (1, _) => case.spatial = vec![1; if value < 0 { 0 } else { 11 }],
        (2, _) => {
            case.conventions.index_layout = Some(Layout::Nhwc);
            match value < 0 {
                true => case.conventions.flatten = Some(IndexFlattening::Plane),
                false => case.conventions.index_order = Some(StorageOrder::ColumnMajor),
            }
        }
        (3, _) => (case.batch, case.channels) = if axis == 0 { (usize::MAX, 0) } else { (1 << 40, 1 << 40) },
        (_, Operator::Global) => {}
        (4..9, Operator::Adaptive(size)) => size[axis] = value,
        (_, Operator::Adaptive(size)) => size.extend(std::iter::repeat_n(1, axis + 1)),
        (4, Operator::Max(options)) => options.kernel[axis] = value,
        (5, Operator::Max(options)) => options.strides.get_or_insert_with(|| vec![1; rank])[axis] = value,
        (6, Operator::Max(options)) => options.dilations.get_or_insert_with(|| vec![1; rank])[axis] = value,
        (7, Operator::Max(options)) => options.pads.get_or_insert_with(|| vec![0; 2 * rank])[axis] = value,
        (8, Operator::Max(options)) => options.pads = Some(vec![1; rank + 2]),
        (9, Operator::Max(options)) => options.kernel.truncate(axis),
        (10, Operator::Max(options)) => options.strides = Some(vec![2; rank + 1]),
        (11, Operator::Max(options)) => {
            (options.ceil_mode, options.ceil_rule) = (Some(if value == 0 { 2 } else { value }), None);
        }
        (12, Operator::Max(options)) => {
            options.storage_order = Some(if value == 0 { 2 } else { value });
            case.conventions.index_order = None;
        }
        (13, Operator::Max(options)) => options.activation = Some(impossible_activation(case.dtype, value)),
        (_, Operator::Max(options)) => {
            options.auto_pad = Some(AutoPad::SameLower);
            options.pads = Some([vec![0; 2 * rank - 1], vec![2]].concat());
        }
    }
}
