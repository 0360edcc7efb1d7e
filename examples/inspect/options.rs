//! The command line: attributes by their ONNX names, and the library's options.

use clap::{Args, Parser, Subcommand};
use examples::by_box::{BY_BOX, ByBox};
use examples::named::named;
use wgpu_pooling::{
    AdaptiveMaxPool, CeilRule, DType, Duplicates, EmptyIndex, EmptyValue, IndexFlattening, IndexType, Layout, Limits,
    MaxPool, MaxUnpool, NanPolicy, OutOfBounds, OutsideWindow, PadsLimit, SamePadding, SizeRounding, StorageOrder,
    UnpoolMinSize, UnpoolSpace,
};

/// The help heading of the options that every operator takes.
const SELECTION: &str = "Selection";

/// Shows what an operator becomes: its plan, its schedule and its kernels. No GPU is needed.
#[derive(Debug, Parser)]
#[command(name = "inspect")]
pub struct Options {
    /// The operator to inspect [default: a 3 x 3 max pool with stride 2]
    #[command(subcommand)]
    pub operator: Option<Operator>,

    /// A kernel family instead of the one that is selected
    #[arg(long, global = true, help_heading = SELECTION)]
    pub family: Option<String>,

    /// Take the generic build, whose kernels serve every window of an element type
    #[arg(long, global = true, help_heading = SELECTION, conflicts_with = "specialised")]
    pub generic: bool,

    /// Take the specialised build, whose kernels have their window's attributes as constants
    #[arg(long, global = true, help_heading = SELECTION)]
    pub specialised: bool,

    /// What the device allows
    #[arg(long, global = true, help_heading = SELECTION, ignore_case = true, default_value = "webgpu")]
    #[arg(value_parser = named(&LIMITS, |limits| limits.0))]
    limits: (&'static str, Limits),

    /// The size of the largest buffer, instead of that of --limits
    #[arg(long, global = true, help_heading = SELECTION, value_name = "BYTES")]
    max_buffer_bytes: Option<u64>,

    /// The size of the largest storage binding, instead of that of --limits
    #[arg(long, global = true, help_heading = SELECTION, value_name = "BYTES")]
    max_binding_bytes: Option<u64>,

    /// The storage buffers of a kernel, instead of those of --limits
    #[arg(long, global = true, help_heading = SELECTION, value_name = "BUFFERS")]
    max_storage_buffers: Option<u32>,

    /// Bind X and the indices that are read as writable, for tensors that share a buffer
    #[arg(long, global = true, help_heading = SELECTION)]
    pub writable_inputs: bool,

    /// Print the text of all kernels too, or of one dispatch: --wgsl=2
    #[arg(long, global = true, help_heading = SELECTION, value_name = "DISPATCH", num_args = 0..=1)]
    #[arg(require_equals = true)]
    pub wgsl: Option<Option<usize>>,

    /// Print the schedule as JSON and nothing else: for each dispatch its text, uniform, grid and bindings
    #[arg(long, global = true, help_heading = SELECTION, conflicts_with = "wgsl")]
    pub json: bool,
}

#[derive(Debug, Subcommand)]
#[command(rename_all = "snake_case")]
pub enum Operator {
    /// ONNX MaxPool
    MaxPool(Box<MaxPoolOptions>),
    /// ONNX GlobalMaxPool
    GlobalMaxPool(Box<GlobalMaxPoolOptions>),
    /// ONNX MaxUnpool
    MaxUnpool(Box<MaxUnpoolOptions>),
    /// OpenVINO AdaptiveMaxPool
    AdaptiveMaxPool(Box<AdaptiveMaxPoolOptions>),
    /// A dilation, an opening or the like, by a box
    ByBox(Box<ByBoxOptions>),
}

#[derive(Debug, Args)]
pub struct ByBoxOptions {
    /// The operator
    #[arg(value_parser = named(&BY_BOX, |operator| operator.0))]
    pub operator: (&'static str, ByBox),

    /// The shape of X in its layout, for example 1,3,224,224
    #[arg(long, required = true, value_delimiter = ',', allow_hyphen_values = true)]
    pub shape: Vec<usize>,

    /// The element type of X and Y
    #[arg(long, ignore_case = true, default_value = "f32", value_parser = named(&DType::ALL, DType::name))]
    pub dtype: DType,

    /// The extents of the box, for example 3,3
    #[arg(long, required = true, value_delimiter = ',', allow_hyphen_values = true)]
    pub kernel: Vec<i64>,

    /// The layout of X and Y
    #[arg(long, ignore_case = true, default_value = "nchw", value_parser = named(&Layout::ALL, Layout::name))]
    pub layout: Layout,
}

#[derive(Debug, Args)]
pub struct MaxPoolOptions {
    #[command(flatten)]
    pub tensors: Tensors,

    /// The conventions to start from
    #[arg(long, ignore_case = true, default_value = "onnx", value_parser = named(&MAX_POOL_PRESETS, |preset| preset.0))]
    pub preset: Preset<MaxPool>,

    #[command(flatten)]
    pub node: Node,

    /// Distance from one tap to the next, in elements
    #[arg(long, value_delimiter = ',', allow_hyphen_values = true)]
    pub dilations: Option<Vec<i64>>,

    /// NOTSET, VALID, SAME_UPPER or SAME_LOWER
    #[arg(long)]
    pub auto_pad: Option<String>,

    /// 0 (floor) or 1 (ceil)
    #[arg(long, allow_hyphen_values = true)]
    pub ceil_mode: Option<i64>,

    /// 0 (row major) or 1 (column major)
    #[arg(long, allow_hyphen_values = true)]
    pub storage_order: Option<i64>,

    #[command(flatten)]
    pub conventions: Conventions,

    #[command(flatten)]
    pub sizes: Sizes,

    #[command(flatten)]
    pub rules: Rules,
}

#[derive(Debug, Args)]
pub struct GlobalMaxPoolOptions {
    #[command(flatten)]
    pub tensors: Tensors,

    #[command(flatten)]
    pub conventions: Conventions,

    #[command(flatten)]
    pub rules: Rules,
}

#[derive(Debug, Args)]
pub struct MaxUnpoolOptions {
    #[command(flatten)]
    pub tensors: Tensors,

    /// The conventions to start from
    #[arg(long, ignore_case = true, default_value = "onnx")]
    #[arg(value_parser = named(&MAX_UNPOOL_PRESETS, |preset| preset.0))]
    pub preset: Preset<MaxUnpool>,

    #[command(flatten)]
    pub node: Node,

    /// The input output_shape: N, C and the spatial extents
    #[arg(long, value_delimiter = ',', allow_hyphen_values = true)]
    pub output_shape: Option<Vec<i64>>,

    #[command(flatten)]
    pub conventions: Conventions,

    #[command(flatten)]
    pub rules: UnpoolRules,
}

#[derive(Debug, Args)]
pub struct AdaptiveMaxPoolOptions {
    #[command(flatten)]
    pub tensors: Tensors,

    /// The conventions to start from
    #[arg(long, ignore_case = true, default_value = "openvino")]
    #[arg(value_parser = named(&ADAPTIVE_MAX_POOL_PRESETS, |preset| preset.0))]
    pub preset: Preset<AdaptiveMaxPool>,

    /// The spatial extents of Y
    #[arg(long, required = true, value_delimiter = ',', allow_hyphen_values = true)]
    pub output_size: Vec<i64>,

    #[command(flatten)]
    pub conventions: Conventions,

    #[command(flatten)]
    pub rules: Rules,
}

// The options that operators have in common. Documentation comments here would become the help of the whole operator.

#[derive(Debug, Args)]
pub struct Tensors {
    /// The shape of X in its layout, for example 1,3,224,224
    #[arg(long, required = true, value_delimiter = ',', allow_hyphen_values = true)]
    pub shape: Vec<usize>,

    /// The element type of X and Y
    #[arg(long, ignore_case = true, default_value = "f32", value_parser = named(&DType::ALL, DType::name))]
    pub dtype: DType,

    /// The type of the indices; a pool may have none
    #[arg(long, default_value = "i64", value_parser = named(&INDICES, |indices| indices.0))]
    pub indices: (&'static str, Option<IndexType>),
}

const INDICES: [(&str, Option<IndexType>); 3] =
    [("none", None), ("i32", Some(IndexType::I32)), ("i64", Some(IndexType::I64))];

#[derive(Debug, Args)]
pub struct Node {
    /// The attribute kernel_shape, for example 3,3
    #[arg(long, required = true, value_delimiter = ',', allow_hyphen_values = true, visible_alias = "kernel-shape")]
    pub kernel: Vec<i64>,

    /// Distance from one window to the next, in elements
    #[arg(long, value_delimiter = ',', allow_hyphen_values = true)]
    pub strides: Option<Vec<i64>>,

    /// Padding: all begins, then all ends
    #[arg(long, value_delimiter = ',', allow_hyphen_values = true)]
    pub pads: Option<Vec<i64>>,

    /// A function applied to Y, by its ONNX name
    #[arg(long)]
    pub activation: Option<String>,

    /// The parameters of --activation
    #[arg(long, value_delimiter = ',', allow_hyphen_values = true)]
    pub activation_params: Option<Vec<f32>>,
}

/// Options of the library, whose values have names.
macro_rules! library_options {
    ($struct:ident: $($(#[$help:meta])* $name:ident: $type:ident,)+) => {
        #[derive(Debug, Args)]
        pub struct $struct {$(
            $(#[$help])*
            #[arg(long, ignore_case = true, value_parser = named($type::ALL, $type::name))]
            pub $name: Option<$type>,
        )+}
    };
}

library_options!(Conventions:
    /// The layout of X and Y
    layout: Layout,
    /// The layout of the indices
    index_layout: Layout,
    /// What an index counts through: the tensor, a batch item or a plane
    flatten: IndexFlattening,
    /// The order in which an index counts
    index_order: StorageOrder,
);

library_options!(Sizes:
    /// How the number of outputs is rounded; wins over --ceil-mode
    ceil_rule: CeilRule,
    /// How SAME_UPPER and SAME_LOWER size their padding
    same_padding: SamePadding,
    /// What happens if the kernel exceeds the padded input
    size_rounding: SizeRounding,
    /// Refuse the pads that another runtime refuses
    pads_limit: PadsLimit,
);

library_options!(Rules:
    /// How NaN is treated
    nan_policy: NanPolicy,
    /// The value of a window wholly in padding, or of ignored NaN alone
    empty_value: EmptyValue,
    /// The index of such a window
    empty_index: EmptyIndex,
);

library_options!(UnpoolRules:
    /// The shape in which indices are counted
    unpool_space: UnpoolSpace,
    /// How small --output-shape may be
    unpool_min_size: UnpoolMinSize,
    /// Which of several equal indices wins
    duplicates: Duplicates,
    /// What is done with indices that name no element
    out_of_bounds: OutOfBounds,
    /// What is done with indices that lie outside their own windows
    outside_window: OutsideWindow,
);

/// A constructor from a kernel or an output size, by its name.
pub type Preset<T> = (&'static str, fn(&[i64]) -> T);

const MAX_POOL_PRESETS: [Preset<MaxPool>; 6] = [
    ("onnx", |kernel| MaxPool::onnx(kernel)),
    ("onnxruntime", |kernel| MaxPool::onnxruntime(kernel)),
    ("onnxruntime_nhwc", |kernel| MaxPool::onnxruntime_nhwc(kernel)),
    ("pytorch", |kernel| MaxPool::pytorch(kernel)),
    ("openvino", |kernel| MaxPool::openvino(kernel)),
    ("tensorflow", |kernel| MaxPool::tensorflow(kernel)),
];

const MAX_UNPOOL_PRESETS: [Preset<MaxUnpool>; 5] = [
    ("onnx", |kernel| MaxUnpool::onnx(kernel)),
    ("onnx_after_1_23", |kernel| MaxUnpool::onnx_after_1_23(kernel)),
    ("onnxruntime", |kernel| MaxUnpool::onnxruntime(kernel)),
    ("onnxruntime_nhwc", |kernel| MaxUnpool::onnxruntime_nhwc(kernel)),
    ("pytorch", |kernel| MaxUnpool::pytorch(kernel)),
];

const ADAPTIVE_MAX_POOL_PRESETS: [Preset<AdaptiveMaxPool>; 2] =
    [("openvino", |size| AdaptiveMaxPool::openvino(size)), ("pytorch", |size| AdaptiveMaxPool::pytorch(size))];

const LIMITS: [(&str, Limits); 2] =
    [("webgpu", Limits::WEBGPU), ("software", Limits { software: true, ..Limits::WEBGPU })];

impl Options {
    /// The limits that the options give.
    pub fn limits(&self) -> Limits {
        let (_, limits) = self.limits;
        Limits {
            max_buffer_bytes: self.max_buffer_bytes.unwrap_or(limits.max_buffer_bytes),
            max_binding_bytes: self.max_binding_bytes.unwrap_or(limits.max_binding_bytes),
            max_storage_buffers: self.max_storage_buffers.unwrap_or(limits.max_storage_buffers),
            ..limits
        }
    }
}
