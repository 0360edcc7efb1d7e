//! From the command line to a plan.

use wgpu_pooling::{Attribute, GlobalMaxPool, IndexType, Plan, PlanError};

use crate::options::{
    AdaptiveMaxPoolOptions, GlobalMaxPoolOptions, Indices, MaxPoolOptions, MaxUnpoolOptions, Node, Operator,
};

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

impl Operator {
    /// What must be computed.
    pub fn plan(&self) -> Result<Plan, PlanError> {
        match self {
            Operator::MaxPool(options) => options.plan(),
            Operator::GlobalMaxPool(options) => options.plan(),
            Operator::MaxUnpool(options) => options.plan(),
            Operator::AdaptiveMaxPool(options) => options.plan(),
        }
    }
}

impl MaxPoolOptions {
    fn plan(&self) -> Result<Plan, PlanError> {
        let attributes = [
            ("dilations", self.dilations.clone().map(Attribute::Ints)),
            ("auto_pad", self.auto_pad.clone().map(Attribute::String)),
            ("ceil_mode", self.ceil_mode.map(Attribute::Int)),
            ("storage_order", self.storage_order.map(Attribute::Int)),
        ];
        let (_, preset) = self.preset;
        let pool = preset(&self.node.kernel).with_attributes(self.node.attributes().chain(given(attributes)))?;
        let pool = with!(pool, self.conventions, layout, index_layout, flatten, index_order);
        let pool = with!(pool, self.sizes, ceil_rule, same_padding, size_rounding, pads_limit);
        let pool = with!(pool, self.rules, nan_policy, empty_value, empty_index);
        pool.plan(&self.tensors.shape, self.tensors.dtype, self.tensors.indices.index_type())
    }
}

impl GlobalMaxPoolOptions {
    fn plan(&self) -> Result<Plan, PlanError> {
        let pool = with!(GlobalMaxPool::new(), self.conventions, layout, index_layout, flatten, index_order);
        let pool = with!(pool, self.rules, nan_policy, empty_value, empty_index);
        pool.plan(&self.tensors.shape, self.tensors.dtype, self.tensors.indices.index_type())
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
        let index_type = self.tensors.indices.index_type().ok_or(missing)?;
        unpool.plan(&self.tensors.shape, self.tensors.dtype, index_type)
    }
}

impl AdaptiveMaxPoolOptions {
    fn plan(&self) -> Result<Plan, PlanError> {
        let (_, preset) = self.preset;
        let pool = preset(&self.output_size);
        let pool = with!(pool, self.conventions, layout, index_layout, flatten, index_order);
        let pool = with!(pool, self.rules, nan_policy, empty_value, empty_index);
        pool.plan(&self.tensors.shape, self.tensors.dtype, self.tensors.indices.index_type())
    }
}

impl Indices {
    fn index_type(self) -> Option<IndexType> {
        match self {
            Indices::None => None,
            Indices::I32 => Some(IndexType::I32),
            Indices::I64 => Some(IndexType::I64),
        }
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
