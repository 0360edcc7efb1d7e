//! From the command line to a plan.

use wgpu_pooling::{Attribute, GlobalMaxPool, Plan, PlanError, Pooling};

use crate::options::{MaxUnpoolOptions, Node, Operator};

/// Sets those of the named options of an operator that are given. Setters and options have the same names.
macro_rules! with {
    ($operator:expr, $options:expr, $($name:ident),+) => {{
        let operator = $operator;
        $(let operator = match $options.$name {
            Some(value) => operator.$name(value),
            None => operator,
        };)+
        operator
    }};
}

/// Sets the options that all pools have.
macro_rules! with_pool_options {
    ($pool:expr, $options:expr) => {{
        let pool = with!($pool, $options.conventions, layout, index_layout, flatten, index_order);
        with!(pool, $options.rules, nan_policy, empty_value, empty_index)
    }};
}

impl Operator {
    /// What must be computed.
    pub fn plan(&self) -> Result<Plan, PlanError> {
        let (pool, tensors): (Box<dyn Pooling>, _) = match self {
            Operator::MaxPool(options) => {
                let attributes = [
                    ("dilations", options.dilations.clone().map(Attribute::Ints)),
                    ("auto_pad", options.auto_pad.clone().map(Attribute::String)),
                    ("ceil_mode", options.ceil_mode.map(Attribute::Int)),
                    ("storage_order", options.storage_order.map(Attribute::Int)),
                ];
                let (_, preset) = options.preset;
                let attributes = options.node.attributes().chain(given(attributes));
                let pool = preset(&options.node.kernel).with_attributes(attributes)?;
                let pool = with!(pool, options.sizes, ceil_rule, same_padding, size_rounding, pads_limit);
                (Box::new(with_pool_options!(pool, options)), &options.tensors)
            }
            Operator::GlobalMaxPool(options) => {
                (Box::new(with_pool_options!(GlobalMaxPool::new(), options)), &options.tensors)
            }
            Operator::AdaptiveMaxPool(options) => {
                let (_, preset) = options.preset;
                (Box::new(with_pool_options!(preset(&options.output_size), options)), &options.tensors)
            }
            Operator::MaxUnpool(options) => return options.plan(),
            Operator::ByBox(options) => {
                let (_, plan) = options.operator;
                return plan(&options.kernel, &options.shape, options.dtype, options.layout, None);
            }
        };
        pool.plan(&tensors.shape, tensors.dtype, tensors.indices.1)
    }
}

impl MaxUnpoolOptions {
    fn plan(&self) -> Result<Plan, PlanError> {
        let (_, preset) = self.preset;
        let unpool = preset(&self.node.kernel).with_attributes(self.node.attributes())?;
        let unpool = match &self.output_shape {
            Some(shape) => unpool.output_shape(shape),
            None => unpool,
        };
        let unpool = with!(unpool, self.conventions, layout, index_layout, flatten, index_order);
        let unpool =
            with!(unpool, self.rules, unpool_space, unpool_min_size, duplicates, out_of_bounds, outside_window);
        let missing = PlanError::MissingAttribute { operator: "MaxUnpool", attribute: "Indices" };
        unpool.plan(&self.tensors.shape, self.tensors.dtype, self.tensors.indices.1.ok_or(missing)?)
    }
}

impl Node {
    /// The options that are given, as the attributes of a node.
    fn attributes(&self) -> impl Iterator<Item = (&'static str, Attribute)> {
        given([
            ("kernel_shape", Some(Attribute::Ints(self.kernel.clone()))),
            ("strides", self.strides.clone().map(Attribute::Ints)),
            ("pads", self.pads.clone().map(Attribute::Ints)),
            ("activation", self.activation.clone().map(Attribute::String)),
            ("activation_params", self.activation_params.clone().map(Attribute::Floats)),
        ])
    }
}

fn given<const N: usize>(
    attributes: [(&'static str, Option<Attribute>); N],
) -> impl Iterator<Item = (&'static str, Attribute)> {
    attributes.into_iter().filter_map(|(name, value)| Some((name, value?)))
}
