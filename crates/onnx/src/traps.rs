//! Where runtimes disagree about a node.

use std::fmt;

use wgpu_pooling_plan::{
    Attribute, AutoPad, CeilRule, DType, MaxPool, Node, Operator, Plan, PlanError, Preset, SamePadding,
};

use super::error::ModelError;
use super::node::ModelNode;

/// A property of a node on which runtimes disagree, or which users may misunderstand. The text says what each runtime
/// does; numbers behind `#` are threads of the runtime's repository.
///
/// ```
/// use wgpu_pooling::onnx::{Model, Trap};
///
/// let model = Model::open("models/test_maxpool_2d_ceil.onnx".as_ref())?;
/// let traps = model.nodes()[0].traps();
/// // Its last window begins in the input: both rules of ceil_mode give the same shape, and the rest is about NaN.
/// assert_eq!(traps, [Trap::Nan { indices: false }]);
/// assert!(traps[0].to_string().contains("PyTorch"));
/// # Ok::<(), wgpu_pooling::onnx::ModelError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Trap {
    /// `ceil_mode` 1 where the two rules of rounding up differ, or may differ because the shape is unknown.
    CeilRule {
        /// The output's shape if a window that begins in the end padding is dropped.
        drop: Option<Vec<usize>>,
        /// The output's shape by the literal formula.
        literal: Option<Vec<usize>>,
    },
    /// `SAME_*` with dilations.
    SameDilated {
        /// The output's shape with pads for the dilated kernel.
        dilated: Option<Vec<usize>>,
        /// The output's shape as onnxruntime pads.
        undilated: Option<Vec<usize>>,
    },
    /// `SAME_*` with a stride above the effective kernel.
    SameNegative,
    /// `auto_pad` together with pads.
    PadsWithAutoPad,
    /// Pads that some runtimes refuse.
    WidePads,
    /// Indices with `storage_order` 1.
    ColumnMajor,
    /// Indices of several planes.
    IndexConvention,
    /// Indices beside data in NHWC.
    NhwcIndices,
    /// An `output_shape` that is, or may be, other than the inferred one.
    OutputShape,
    /// An unpool of windows that overlap.
    RepeatedIndices,
    /// Floats, among which there can be NaN.
    Nan {
        /// Whether the node has the output Indices.
        indices: bool,
    },
    /// Windows that lie wholly in padding.
    EmptyWindows,
    /// A kernel above the padded input.
    KernelExceedsInput,
    /// More than three spatial axes.
    SpatialAxes,
    /// An element type that onnxruntime has no kernel for.
    ElementType {
        /// The type.
        dtype: DType,
    },
}

impl Trap {
    /// The name of the variant in small letters.
    pub fn name(&self) -> &'static str {
        match self {
            Trap::CeilRule { .. } => "ceil_rule",
            Trap::SameDilated { .. } => "same_dilated",
            Trap::SameNegative => "same_negative",
            Trap::PadsWithAutoPad => "pads_with_auto_pad",
            Trap::WidePads => "wide_pads",
            Trap::ColumnMajor => "column_major",
            Trap::IndexConvention => "index_convention",
            Trap::NhwcIndices => "nhwc_indices",
            Trap::OutputShape => "output_shape",
            Trap::RepeatedIndices => "repeated_indices",
            Trap::Nan { .. } => "nan",
            Trap::EmptyWindows => "empty_windows",
            Trap::KernelExceedsInput => "kernel_exceeds_input",
            Trap::SpatialAxes => "spatial_axes",
            Trap::ElementType { .. } => "element_type",
        }
    }

    /// The text where it does not depend on numbers.
    fn text(&self) -> &'static str {
        match self {
            // These have numbers.
            Trap::CeilRule { .. } | Trap::SameDilated { .. } | Trap::ElementType { .. } => "",
            Trap::SameNegative => {
                "auto_pad SAME with a stride above the kernel: the pads would be negative; the specification, OpenVINO \
                 and TensorFlow take 0, onnxruntime moves the windows to the right, or refuses where there is no \
                 output Indices"
            }
            Trap::PadsWithAutoPad => {
                "auto_pad together with pads: refused here; onnxruntime and OpenVINO ignore the pads, onnx.reference \
                 mixes both"
            }
            Trap::WidePads => {
                "pads: onnxruntime refuses a pad as large as the kernel, PyTorch one above half of it and one that \
                 differs between begin and end"
            }
            Trap::ColumnMajor => {
                "storage_order 1: Indices count the first spatial axis fastest, N and C as before; no MaxUnpool of \
                 another runtime reads them, and onnx.reference ignores the attribute where the strides are 1"
            }
            Trap::IndexConvention => {
                "Indices: ONNX and onnxruntime count through the whole tensor, PyTorch through each plane, TensorFlow \
                 through N, H, W, C of each batch item"
            }
            Trap::NhwcIndices => {
                "com.ms.internal.nhwc: X and Y are NHWC, but Indices and output_shape stay NCHW, in shape and in value"
            }
            Trap::OutputShape => {
                "output_shape: ONNX up to release 1.23 counts Indices in the inferred shape and puts that block at the \
                 origin; onnxruntime, PyTorch and later ONNX count them in output_shape (onnx#2398, onnx#8413)"
            }
            Trap::RepeatedIndices => {
                "windows overlap, so Indices can repeat: the last in the order of X wins on CPUs; on CUDA PyTorch \
                 promises none (pytorch#78249)"
            }
            Trap::Nan { indices: true } => {
                "NaN: in ONNX's preset, onnxruntime since 1.29 and TensorFlow one wins only as the first element of \
                 its window; in PyTorch the last one always wins; OpenVINO's MaxPool and onnxruntime until 1.28 ignore \
                 them"
            }
            Trap::Nan { indices: false } => {
                "NaN: in ONNX's preset one wins only as the first element of its window; in PyTorch always; OpenVINO's \
                 MaxPool ignores them; onnxruntime's kernel without Indices depends on vector lanes, and makes the \
                 lowest finite value of -inf"
            }
            Trap::EmptyWindows => {
                "windows wholly in padding: in ONNX's preset and in PyTorch -inf, in onnxruntime and OpenVINO the \
                 lowest finite value; their index is -1 in ONNX's preset, and something else in each runtime"
            }
            Trap::KernelExceedsInput => {
                "the kernel exceeds the padded input: PyTorch and OpenVINO refuse it, onnxruntime may give one window \
                 that is partly outside (onnxruntime#25234), the formula gives none"
            }
            Trap::SpatialAxes => "spatial axes: onnxruntime, OpenVINO and PyTorch have up to three",
        }
    }
}

impl fmt::Display for Trap {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let or_unknown = |shape: &Option<Vec<usize>>| match shape {
            Some(shape) => format!("{shape:?}"),
            None => "of a shape that is not known".to_owned(),
        };
        match self {
            Trap::CeilRule { drop, literal } => {
                let (drop, literal) = (or_unknown(drop), or_unknown(literal));
                write!(
                    formatter,
                    "ceil_mode: onnxruntime, PyTorch and ONNX since opset 22 drop a last window that begins in the end \
                     padding (Y {drop}); the text of opsets 10 to 21 and OpenVINO's ceil keep it (Y {literal}) \
                     (onnx#5711)"
                )
            }
            Trap::SameDilated { dilated, undilated } => {
                let (dilated, undilated) = (or_unknown(dilated), or_unknown(undilated));
                write!(
                    formatter,
                    "auto_pad SAME with dilations: the specification and OpenVINO pad for the dilated kernel (Y \
                     {dilated}), onnxruntime for the undilated one (Y {undilated}) (onnxruntime#10083)"
                )
            }
            Trap::ElementType { dtype } => {
                let name = dtype.name();
                write!(formatter, "element type {name}: onnxruntime's CPU backend has no kernel for it (1.31.1)")
            }
            other => formatter.write_str(other.text()),
        }
    }
}

/// What the traps depend on.
struct Facts<'a> {
    model_node: &'a ModelNode,
    node: &'a Node,
    plan: Result<Plan, ModelError>,
    kernel: Vec<i64>,
    strides: Vec<i64>,
    dilations: Vec<i64>,
    pads: Vec<i64>,
    auto_pad: AutoPad,
}

impl ModelNode {
    /// The properties of this node on which runtimes disagree. Where a shape is not known, those that may apply are
    /// included.
    ///
    /// ```
    /// use wgpu_pooling::onnx::{Model, Trap};
    ///
    /// let model = Model::open("models/test_maxunpool_export_with_output_shape.onnx".as_ref())?;
    /// assert!(model.nodes()[0].traps().contains(&Trap::OutputShape));
    /// # Ok::<(), wgpu_pooling::onnx::ModelError>(())
    /// ```
    pub fn traps(&self) -> Vec<Trap> {
        let Ok(node) = self.node() else {
            return Vec::new();
        };
        let facts = Facts::of(self, node);
        let mut traps = Vec::new();
        match self.op_type() {
            "MaxUnpool" => facts.of_unpool(&mut traps),
            "MaxPool" => facts.of_pool(&mut traps),
            _ => {}
        }
        facts.of_any(&mut traps);
        traps
    }
}

impl<'a> Facts<'a> {
    fn of(model_node: &'a ModelNode, node: &'a Node) -> Self {
        let value = |name: &str| node.attribute_values().iter().find(|(own, _)| own == name).map(|(_, value)| value);
        let list = |onnx: &str, openvino: &str| match value(onnx).or(value(openvino)) {
            Some(Attribute::Ints(values)) => values.clone(),
            _ => Vec::new(),
        };
        let pads = match list("pads", "") {
            pads if pads.is_empty() => [list("", "pads_begin"), list("", "pads_end")].concat(),
            pads => pads,
        };
        let auto_pad = match value("auto_pad") {
            Some(Attribute::String(text)) => text.to_ascii_uppercase().parse().unwrap_or_default(),
            _ => AutoPad::NotSet,
        };
        let plan = model_node.plan(Preset::Onnx);
        let kernel = list("kernel_shape", "kernel");
        let (strides, dilations) = (list("strides", ""), list("dilations", ""));
        Facts { model_node, node, plan, kernel, strides, dilations, pads, auto_pad }
    }

    fn dtype(&self) -> Option<DType> {
        self.model_node.inputs().first().and_then(|x| x.dtype)
    }

    /// N and C, if the shape of X is known.
    fn planes(&self) -> Option<usize> {
        let shape = self.model_node.inputs().first()?.shape.as_deref()?;
        let channels = if self.is_nhwc() { shape.last() } else { shape.get(1) };
        shape.first()?.checked_mul(*channels?)
    }

    fn is_nhwc(&self) -> bool {
        self.node.domain_name() == "com.ms.internal.nhwc"
    }

    fn has_indices(&self) -> bool {
        self.model_node.outputs().len() > 1 && self.node.opset() > 1
    }

    /// Kernel, stride and dilation of each axis.
    fn axes(&self) -> impl Iterator<Item = (i64, i64, i64)> {
        let one = |list: &[i64], axis: usize| list.get(axis).copied().unwrap_or(1);
        self.kernel
            .iter()
            .enumerate()
            .map(move |(axis, &kernel)| (kernel, one(&self.strides, axis), one(&self.dilations, axis)))
    }

    /// The output's shape of a pool that is changed a little, for the X of this node.
    fn shape_of(&self, change: impl FnOnce(MaxPool) -> MaxPool) -> Option<Vec<usize>> {
        let x = self.model_node.inputs().first()?;
        let Ok(Operator::MaxPool(pool)) = self.node.operator() else {
            return None;
        };
        let plan = change(pool).plan(x.shape.as_deref()?, x.dtype.unwrap_or(DType::F32), None);
        plan.ok().map(|plan| plan.output_shape().to_vec())
    }

    fn of_pool(&self, traps: &mut Vec<Trap>) {
        let is = |name: &str, expected: Attribute| {
            self.node.attribute_values().iter().any(|(own, value)| own == name && *value == expected)
        };
        let text = |text: &str| Attribute::String(text.to_owned());
        let rounds_up = is("ceil_mode", Attribute::Int(1))
            || is("rounding_type", text("ceil"))
            || is("rounding_type", text("ceil_torch"));
        if rounds_up {
            let drop = self.shape_of(|pool| pool.ceil_rule(CeilRule::CeilDrop));
            let literal = self.shape_of(|pool| pool.ceil_rule(CeilRule::CeilLiteral));
            if drop != literal || drop.is_none() {
                traps.push(Trap::CeilRule { drop, literal });
            }
        }
        let same = matches!(self.auto_pad, AutoPad::SameUpper | AutoPad::SameLower);
        if same && self.axes().any(|(_, _, dilation)| dilation > 1) {
            let dilated = self.shape_of(|pool| pool.same_padding(SamePadding::SpecClamped));
            let undilated = self.shape_of(|pool| pool.same_padding(SamePadding::OrtUndilated));
            traps.push(Trap::SameDilated { dilated, undilated });
        }
        let effective =
            |kernel: i64, dilation: i64| kernel.saturating_sub(1).saturating_mul(dilation).saturating_add(1);
        if same && self.axes().any(|(kernel, stride, dilation)| stride > effective(kernel, dilation)) {
            traps.push(Trap::SameNegative);
        }
        if self.auto_pad != AutoPad::NotSet && self.pads.iter().any(|&pad| pad != 0) {
            traps.push(Trap::PadsWithAutoPad);
        }
        let (begins, ends) = self.pads.split_at(self.pads.len() / 2);
        let wide = |pads: &[i64]| pads.iter().zip(&self.kernel).any(|(&pad, &kernel)| pad > kernel / 2);
        if self.auto_pad == AutoPad::NotSet && (begins != ends || wide(begins) || wide(ends)) {
            traps.push(Trap::WidePads);
        }
        if self.has_indices() && self.kernel.len() > 1 && is("storage_order", Attribute::Int(1)) {
            traps.push(Trap::ColumnMajor);
        }
    }

    fn of_unpool(&self, traps: &mut Vec<Trap>) {
        let inferred = || {
            let inputs = self.model_node.inputs().get(..2)?;
            let shapes = inputs.iter().map(|input| {
                let (dtype, shape) = (input.dtype?, input.shape.as_deref()?);
                Some(wgpu_pooling_plan::NodeInput { dtype, shape, values: None })
            });
            let plan = self.node.plan_for(&shapes.collect::<Option<Vec<_>>>()?, 1).ok()?;
            Some(plan.outputs().first()?.shape.clone())
        };
        if self.model_node.inputs().len() > 2 {
            let given = self.plan.as_ref().ok().and_then(|plan| plan.outputs().first());
            let given = given.map(|spec| spec.shape.clone());
            if given.is_none() || given != inferred() {
                traps.push(Trap::OutputShape);
            }
        }
        if self.axes().any(|(kernel, stride, _)| stride < kernel) {
            traps.push(Trap::RepeatedIndices);
        }
    }

    fn of_any(&self, traps: &mut Vec<Trap>) {
        let is_unpool = self.model_node.op_type() == "MaxUnpool";
        let takes_indices = is_unpool || (self.has_indices() && self.model_node.op_type() == "MaxPool");
        if takes_indices && self.planes() != Some(1) {
            traps.push(Trap::IndexConvention);
        }
        if takes_indices && self.is_nhwc() {
            traps.push(Trap::NhwcIndices);
        }
        if !is_unpool && self.dtype().is_none_or(|dtype| dtype.is_float()) {
            traps.push(Trap::Nan { indices: self.has_indices() });
        }
        match &self.plan {
            Ok(Plan::Pool(plan)) => {
                if plan.has_empty_windows() {
                    traps.push(Trap::EmptyWindows);
                }
                if plan.axes.iter().any(|axis| axis.output == 0) {
                    traps.push(Trap::KernelExceedsInput);
                }
            }
            Err(ModelError::Plan(PlanError::KernelExceedsInput { .. })) => traps.push(Trap::KernelExceedsInput),
            _ => {}
        }
        if self.kernel.len() > 3 {
            traps.push(Trap::SpatialAxes);
        }
        if let Some(dtype) = self.dtype().filter(|dtype| !self.onnxruntime_has(*dtype)) {
            traps.push(Trap::ElementType { dtype });
        }
    }

    /// Whether onnxruntime's CPU backend computes the operator for this type.
    fn onnxruntime_has(&self, dtype: DType) -> bool {
        if !self.node.domain_name().is_empty() {
            return true;
        }
        match (self.model_node.op_type(), dtype) {
            (_, DType::F32 | DType::F16) | ("GlobalMaxPool", _) => true,
            ("MaxPool", DType::F64) => self.node.opset() >= 8,
            ("MaxPool", DType::I8 | DType::U8) => self.node.opset() >= 12,
            _ => false,
        }
    }
}
