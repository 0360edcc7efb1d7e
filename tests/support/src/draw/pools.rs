//! Drawn pools: MaxPool with every option, GlobalMaxPool and AdaptiveMaxPool, maxima and minima.

use wgpu_pooling::{
    Activation, AdaptiveMaxPool, AutoPad, CeilRule, DType, EmptyIndex, EmptyValue, GlobalMaxPool, IndexFlattening,
    IndexType, Layout, MaxPool, Minimum, NanPolicy, PadsLimit, Plan, PlanError, Pooling, SamePadding, SizeRounding,
    StorageOrder,
};

use super::bias::{Axis, Bias, Kind, Size};
use super::bytes::Bytes;
use super::code::{Code, Written};
use super::elements::{Recipe, highest, lowest};
use super::odd::Oddity;

/// The name of a function that makes an operator from a kernel, and the function.
pub type Named<P> = (&'static str, fn(&[i64]) -> P);

/// The options of a MaxPool; `None` leaves a setter uncalled.
#[derive(Debug, Clone, Default)]
pub struct MaxPoolOptions {
    /// A preset, and its name, instead of `MaxPool::new`.
    pub preset: Option<Named<MaxPool>>,
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
pub(super) use set_conventions;

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
pub fn small_count(shape: &[usize], most: usize) -> Option<usize> {
    if shape.contains(&0) {
        return Some(0);
    }
    shape.iter().try_fold(1usize, |product, &extent| product.checked_mul(extent)).filter(|&count| count <= most)
}

impl PoolCase {
    pub fn layout(&self) -> Layout {
        self.conventions.layout.unwrap_or_default()
    }

    pub fn shape(&self) -> Vec<usize> {
        shape(self.layout(), self.batch, self.channels, &self.spatial)
    }

    pub fn plan(&self) -> Result<Plan, PlanError> {
        self.written().value.plan(&self.shape(), self.dtype, self.indices)
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
                let (name, new) = options.preset.unwrap_or(("new", |kernel| MaxPool::new(kernel)));
                let written = Written::new(new(kernel), format!("MaxPool::{name}({kernel:?})"))
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

    /// The code that plans it.
    pub(super) fn code(&self) -> String {
        let (pool, shape) = (self.written().code, self.shape());
        format!("{pool}.plan(&{shape:?}, {}, {})", self.dtype.code(), self.indices.code())
    }

    /// What every element wins over: infinity, and the last finite value before it.
    pub fn furthest(&self) -> [u64; 2] {
        if self.minimum { highest(self.dtype) } else { lowest(self.dtype) }
    }

    /// Whether a dilation, a pad or a stride exceeds 2^27, so that positions may exceed an i32 index.
    pub fn is_wide(&self) -> bool {
        let Operator::Max(options) = &self.operator else { return false };
        let lists = options.dilations.iter().chain(&options.pads).chain(&options.strides);
        lists.flatten().any(|&value| value > 1 << 27)
    }

    pub fn draw(bias: &Bias, bytes: &mut Bytes<'_>) -> PoolCase {
        let oddity = (bias.oddity)(bytes);
        let rank = bytes.of(bias.axes);
        let mut axes: Vec<Axis> = (0..rank).map(|axis| (bias.axis)(bytes, rank, rank - 1 - axis)).collect();
        let kind = if oddity.is_max_pool() { Kind::Max } else { bytes.of(bias.kinds) };
        let (batch, channels) = (bytes.of(bias.batch), bytes.of(bias.channels));
        let mut options = MaxPoolOptions::draw(bytes);
        if bias.is_plain {
            (options.auto_pad, options.pads_limit) = (None, None);
        }
        let mut case = PoolCase {
            operator: Operator::Global,
            minimum: bytes.percent(if bias.is_plain { 50 } else { 30 }),
            conventions: Conventions::draw(bytes),
            nan_policy: bytes.sometimes(80, |bytes| bytes.of(NanPolicy::ALL)),
            empty: EmptyRules {
                value: bytes.option(EmptyValue::ALL),
                index: bytes.sometimes(70, |bytes| bytes.of(EmptyIndex::ALL)),
            },
            batch,
            channels,
            spatial: Vec::new(),
            dtype: bytes.of(bias.dtypes),
            indices: bytes.sometimes(bias.indices, |bytes| bytes.of(&[IndexType::I64, IndexType::I32])),
            x: Vec::new(),
        };
        if let Some(layout) = bytes.of(bias.layouts) {
            case.conventions.layout = Some(layout);
        }
        oddity.before(&mut case, &mut axes);
        if kind == Kind::Max {
            let is_padded = options.auto_pad.unwrap_or_default() == AutoPad::NotSet;
            axes.iter_mut().for_each(|axis| axis.fit(is_padded, oddity.is_loose()));
            oddity.axes(&mut axes, is_padded);
        }
        case.spatial = axes.iter().map(Axis::extent).collect();
        let is_whole = bytes.flag() && matches!(axes[axes.len() - 1].size, Size::Outputs(_));
        if let (true, Some(last)) = (is_whole, case.spatial.last_mut()) {
            *last = last.next_multiple_of(4);
        }
        case.operator = match kind {
            Kind::Max => Operator::Max(MaxPoolOptions::of(&axes, options)),
            Kind::Adaptive => Operator::Adaptive(
                axes.iter().zip(&case.spatial).map(|(axis, &extent)| axis.outputs(extent, rank)).collect(),
            ),
            Kind::Global => Operator::Global,
        };
        oddity.after(&mut case);
        case.fill(bias, &oddity, Recipe::draw(bytes));
        case
    }

    /// Draws X, if it is small enough.
    fn fill(&mut self, bias: &Bias, oddity: &Oddity, recipe: Recipe) {
        let recipe = match self.nan_policy {
            _ if oddity.is_rich() => recipe.raw(),
            Some(policy) => recipe.about_nan(policy),
            None => recipe,
        };
        if let Some(count) = small_count(&self.shape(), bias.most_elements) {
            self.x = recipe.elements(self.dtype, count);
        }
    }

    /// Removes what makes the case invalid.
    pub(super) fn tidy(&mut self) {
        self.empty.value = self.empty.value.filter(|&value| value != EmptyValue::Nan || self.dtype.is_float());
        let is_adaptive = matches!(self.operator, Operator::Adaptive(_));
        self.conventions.tidy(if is_adaptive { IndexFlattening::Plane } else { IndexFlattening::Tensor });
        if let (Some(Layout::Nhwc), Operator::Max(options)) = (self.conventions.index_layout, &mut self.operator) {
            options.storage_order = None;
        }
    }
}

impl MaxPoolOptions {
    /// Other defaults than `MaxPool::new` has.
    pub const PRESETS: [Named<MaxPool>; 5] = [
        ("onnxruntime", |kernel| MaxPool::onnxruntime(kernel)),
        ("onnxruntime_nhwc", |kernel| MaxPool::onnxruntime_nhwc(kernel)),
        ("pytorch", |kernel| MaxPool::pytorch(kernel)),
        ("openvino", |kernel| MaxPool::openvino(kernel)),
        ("tensorflow", |kernel| MaxPool::tensorflow(kernel)),
    ];

    fn draw(bytes: &mut Bytes<'_>) -> MaxPoolOptions {
        MaxPoolOptions {
            auto_pad: bytes.sometimes(35, |bytes| bytes.of(AutoPad::ALL)),
            ceil_mode: bytes.sometimes(30, |bytes| bytes.between(0..=1)),
            ceil_rule: bytes.sometimes(30, |bytes| bytes.of(CeilRule::ALL)),
            storage_order: bytes.sometimes(30, |bytes| bytes.between(0..=1)),
            same_padding: bytes.option(SamePadding::ALL),
            size_rounding: bytes.option(SizeRounding::ALL),
            pads_limit: bytes.sometimes(10, |bytes| bytes.of(PadsLimit::ALL)),
            activation: bytes.sometimes(25, activation),
            ..MaxPoolOptions::default()
        }
    }

    /// The lists of these axes.
    fn of(axes: &[Axis], options: MaxPoolOptions) -> MaxPoolOptions {
        let all = |one: fn(&Axis) -> i64| axes.iter().map(one).collect::<Vec<_>>();
        MaxPoolOptions {
            kernel: all(|axis| axis.kernel),
            strides: unless(1, all(|axis| axis.stride)),
            dilations: unless(1, all(|axis| axis.dilation)),
            pads: unless(0, [all(|axis| axis.pads[0]), all(|axis| axis.pads[1])].concat()),
            ..options
        }
    }
}

/// A list, unless all of it is the default.
pub(super) fn unless(default: i64, list: Vec<i64>) -> Option<Vec<i64>> {
    list.iter().any(|&value| value != default).then_some(list)
}

impl Axis {
    /// Makes the window fit the axis.
    fn fit(&mut self, is_padded: bool, is_loose: bool) {
        if !is_padded {
            self.pads = [0, 0];
        }
        if let (Size::Input(extent), false) = (self.size, is_loose) {
            while self.reach() > extent + self.pads[0] + self.pads[1] {
                if self.dilation > 1 { self.dilation -= 1 } else { self.kernel -= 1 }
            }
        }
    }

    /// The outputs of an adaptive pool.
    fn outputs(&self, extent: usize, rank: usize) -> i64 {
        let most = [12, 9, 7, 5, 4][rank - 1];
        // Large extents have more outputs too.
        match self.output % 18 {
            17 => 0,
            _ if extent > 100 => 1 + self.output % extent as i64,
            few => (1 + few % 12).min(most),
        }
    }
}

/// An activation that is exact: those that round are compared within a bound, not by their bits.
pub fn activation(bytes: &mut Bytes<'_>) -> Activation {
    // Bounds that most 16-bit floats and integers represent exactly, and bounds that are rounded: to zero, to infinity,
    // to a neighbour; and some that are subnormal in f32.
    const BOUNDS: [f32; 21] = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        6.0,
        65_520.0,
        -3.4e38,
        f32::INFINITY,
        f32::NEG_INFINITY,
        1e-45,
        -1e-45,
        1e-9,
        -1.5,
        2.5,
        126.5,
        65_519.9,
        -70_000.0,
        3e9,
        1e30,
        4e-45,
        5.9e-39,
    ];
    if bytes.flag() {
        // A minimum above the maximum is defined too: elements below the minimum become the minimum.
        return Activation::Clip { min: bytes.of(&BOUNDS), max: bytes.of(&BOUNDS) };
    }
    Activation::Relu
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

impl Conventions {
    pub(super) fn draw(bytes: &mut Bytes<'_>) -> Conventions {
        Conventions {
            layout: bytes.option(Layout::ALL),
            index_layout: bytes.option(Layout::ALL),
            flatten: bytes.option(IndexFlattening::ALL),
            index_order: bytes.option(StorageOrder::ALL),
        }
    }

    /// Removes the conventions that NHWC indices exclude.
    pub(super) fn tidy(&mut self, default: IndexFlattening) {
        if self.index_layout == Some(Layout::Nhwc) {
            self.index_order = None;
            if self.flatten.unwrap_or(default) == IndexFlattening::Plane {
                self.flatten = Some(IndexFlattening::Batch);
            }
        }
    }
}
