//! Drawn compositions: openings, closings, gradients and top-hats by any box.

use wgpu_pooling::{BlackHat, Close, DType, EmptyValue, Gradient, Layout, NanPolicy, Open, Plan, PlanError, TopHat};

use super::bias::{Axis, Bias};
use super::bytes::Bytes;
use super::code::Code;
use super::elements::Recipe;
use super::pools::{shape, small_count};

/// A composition by a box, and its X.
#[derive(Debug, Clone)]
pub struct CompositionCase {
    /// A number in [`CompositionCase::KINDS`].
    pub kind: usize,
    pub kernel_shape: Vec<i64>,
    pub anchor: Option<Vec<i64>>,
    pub iterations: i64,
    pub layout: Layout,
    pub nan_policy: NanPolicy,
    pub empty_value: EmptyValue,
    pub shape: Vec<usize>,
    pub dtype: DType,
    /// The elements of X as bits, in its layout.
    pub x: Vec<u64>,
}

impl CompositionCase {
    /// The kinds, of which the last ones have a difference.
    pub const KINDS: [&str; 5] = ["Open", "Close", "Gradient", "TopHat", "BlackHat"];

    /// The name of its kind.
    pub fn name(&self) -> &'static str {
        Self::KINDS[self.kind]
    }

    /// Whether it ends with a difference.
    pub fn subtracts(&self) -> bool {
        self.kind >= 2
    }

    pub fn plan(&self) -> Result<Plan, PlanError> {
        macro_rules! plan {
            ($type:ident) => {{
                let made = $type::new(&self.kernel_shape).iterations(self.iterations).layout(self.layout);
                let made = made.nan_policy(self.nan_policy).empty_value(self.empty_value);
                let made = self.anchor.iter().fold(made, |made, anchor| made.anchor(anchor));
                made.plan(&self.shape, self.dtype, None)
            }};
        }
        match self.kind {
            0 => plan!(Open),
            1 => plan!(Close),
            2 => plan!(Gradient),
            3 => plan!(TopHat),
            _ => plan!(BlackHat),
        }
    }

    /// The code that makes the plan.
    pub(super) fn code(&self) -> String {
        let Self { kernel_shape, iterations, layout, nan_policy, empty_value, shape, dtype, .. } = self;
        let anchor = self.anchor.as_ref().map_or(String::new(), |anchor| format!(".anchor({anchor:?})"));
        let rules = format!(".nan_policy({}).empty_value({})", nan_policy.code(), empty_value.code());
        let made = format!("{}::new({kernel_shape:?}){anchor}.iterations({iterations})", self.name());
        format!("{made}.layout({}){rules}.plan(&{shape:?}, {}, None)", layout.code(), dtype.code())
    }

    pub fn draw(bias: &Bias, bytes: &mut Bytes<'_>) -> CompositionCase {
        let rank = bytes.of(bias.axes);
        let axes: Vec<Axis> = (0..rank).map(|axis| (bias.axis)(bytes, rank, rank - 1 - axis)).collect();
        let kernel_shape: Vec<i64> = axes.iter().map(|axis| axis.kernel).collect();
        let anchor = kernel_shape.iter().map(|&extent| bytes.below(extent as usize) as i64).collect();
        let spatial: Vec<usize> = axes.iter().map(Axis::extent).collect();
        let (layout, dtype) = (bytes.of(Layout::ALL), bytes.of(bias.dtypes));
        let (batch, channels) = (bytes.of(bias.batch), bytes.of(bias.channels));
        // The last value is one of floats alone.
        let values = EmptyValue::ALL.len() - usize::from(!dtype.is_float());
        let mut case = CompositionCase {
            kind: bytes.below(Self::KINDS.len()),
            anchor: Some(anchor).filter(|_| bytes.flag()),
            kernel_shape,
            iterations: bytes.between(1..=3),
            layout,
            nan_policy: bytes.of(NanPolicy::ALL),
            empty_value: bytes.of(&EmptyValue::ALL[..values]),
            shape: shape(layout, batch, channels, &spatial),
            dtype,
            x: Vec::new(),
        };
        if let Some(count) = small_count(&case.shape, bias.most_elements) {
            case.x = Recipe::draw(bytes).elements(dtype, count);
        }
        case
    }
}
