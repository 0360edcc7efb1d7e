//! Common parts of the operators: per-axis attributes, the index options.

use crate::attributes::Activation;
use crate::error::PlanError;
use crate::index::IndexSpace;
use crate::options::{IndexFlattening, Layout, StorageOrder};
use crate::plan::Dimensions;

/// The names of a node's attributes so far; each may occur once.
pub(super) struct Seen {
    operator: &'static str,
    names: Vec<String>,
}

impl Seen {
    pub fn of(operator: &'static str) -> Self {
        Seen { operator, names: Vec::new() }
    }

    pub fn once<'a>(&mut self, name: &'a str) -> Result<&'a str, PlanError> {
        if self.names.iter().any(|seen| seen == name) {
            return Err(PlanError::RepeatedAttribute { operator: self.operator, name: name.to_owned() });
        }
        self.names.push(name.to_owned());
        Ok(name)
    }
}

/// The two attributes of a node that define an activation.
#[derive(Default)]
pub(super) struct NodeActivation {
    pub name: Option<String>,
    pub parameters: Vec<f32>,
}

impl NodeActivation {
    /// The activation, if the node has one. Parameters without a name have nothing to apply to.
    pub fn resolve(self, operator: &'static str) -> Result<Option<Activation>, PlanError> {
        match self.name {
            Some(name) => Activation::from_onnx(&name, &self.parameters).map(Some),
            None if self.parameters.is_empty() => Ok(None),
            None => Err(PlanError::MissingAttribute { operator, attribute: "activation" }),
        }
    }
}

/// A list attribute with one value per axis: the given values, or the default.
pub(super) fn per_axis(
    attribute: &'static str,
    given: Option<&[i64]>,
    default: i64,
    expected: usize,
) -> Result<Vec<i64>, PlanError> {
    match given {
        None => Ok(vec![default; expected]),
        Some(values) if values.len() == expected => Ok(values.to_vec()),
        Some(values) => Err(PlanError::AttributeLength { attribute, expected, actual: values.len() }),
    }
}

/// The pads of every axis, begin and end; none may be negative.
pub(super) fn pads_per_axis(given: Option<&[i64]>, axes: usize) -> Result<Vec<[i64; 2]>, PlanError> {
    let pads = per_axis("pads", given, 0, axes.saturating_mul(2))?;
    if let Some(axis) = pads.iter().position(|&pad| pad < 0) {
        return Err(PlanError::Negative { attribute: "pads", axis, value: pads[axis] });
    }
    let (begins, ends) = pads.split_at(axes);
    Ok(begins.iter().zip(ends).map(|(&begin, &end)| [begin, end]).collect())
}

/// Extents that the caller gives: `output_size`, `output_shape`.
pub(super) fn extents(attribute: &'static str, given: &[i64]) -> Result<Vec<usize>, PlanError> {
    given
        .iter()
        .enumerate()
        .map(|(axis, &value)| usize::try_from(value).map_err(|_| PlanError::Negative { attribute, axis, value }))
        .collect()
}

/// The index options that every operator has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct IndexOptions {
    pub flatten: IndexFlattening,
    pub order: StorageOrder,
    pub layout: Layout,
}

impl IndexOptions {
    pub fn on(self, dimensions: &Dimensions, extents: &[usize]) -> IndexSpace {
        IndexSpace {
            flatten: self.flatten,
            order: self.order,
            layout: self.layout,
            batch: dimensions.batch,
            channels: dimensions.channels,
            extents: extents.to_vec(),
        }
    }
}
