//! Common parts of the operators: attributes of nodes and of axes.

use crate::attributes::{Activation, Attribute};
use crate::error::PlanError;
use crate::geometry::AxisAttributes;

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

/// Reads the attributes of a node. `set` takes an attribute and says whether the operator has it. Returns the
/// activation, if the node has one; parameters without a name have nothing to apply to.
pub(super) fn read_attributes<S: AsRef<str>>(
    operator: &'static str,
    attributes: impl IntoIterator<Item = (S, Attribute)>,
    mut set: impl FnMut(&str, &Attribute) -> Result<bool, PlanError>,
) -> Result<Option<Activation>, PlanError> {
    let mut seen = Seen::of(operator);
    let (mut activation, mut parameters) = (None, Vec::new());
    for (name, value) in attributes {
        match seen.once(name.as_ref())? {
            name @ "activation" => activation = Some(value.string(name)?.to_owned()),
            name @ "activation_params" => parameters = value.floats(name)?.to_vec(),
            name if set(name, &value)? => {}
            name => return Err(PlanError::UnknownAttribute { operator, name: name.to_owned() }),
        }
    }
    match activation {
        Some(name) => Activation::from_onnx(&name, &parameters).map(Some),
        None if parameters.is_empty() => Ok(None),
        None => Err(PlanError::MissingAttribute { operator, attribute: "activation" }),
    }
}

/// A list attribute with one value per axis: the given values, or the default.
fn per_axis(
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

/// The attributes of windows along each axis of these extents. Where lists are not given, strides and dilations are 1
/// and pads 0; no pad may be negative.
pub(super) fn axes(
    extents: &[usize],
    kernel_shape: &[i64],
    [strides, dilations, pads]: [Option<&[i64]>; 3],
) -> Result<Vec<AxisAttributes>, PlanError> {
    let rank = extents.len();
    let kernel = per_axis("kernel_shape", Some(kernel_shape), 1, rank)?;
    let strides = per_axis("strides", strides, 1, rank)?;
    let dilations = per_axis("dilations", dilations, 1, rank)?;
    let pads = per_axis("pads", pads, 0, rank.saturating_mul(2))?;
    if let Some(axis) = pads.iter().position(|&pad| pad < 0) {
        return Err(PlanError::Negative { attribute: "pads", axis, value: pads[axis] });
    }
    let (begins, ends) = pads.split_at(rank);
    let axes = extents.iter().enumerate().map(|(axis, &input)| AxisAttributes {
        axis,
        input,
        kernel: kernel[axis],
        stride: strides[axis],
        dilation: dilations[axis],
        pads: [begins[axis], ends[axis]],
    });
    Ok(axes.collect())
}

/// Extents that the caller gives: `output_size`, `output_shape`.
pub(super) fn extents(attribute: &'static str, given: &[i64]) -> Result<Vec<usize>, PlanError> {
    given
        .iter()
        .enumerate()
        .map(|(axis, &value)| usize::try_from(value).map_err(|_| PlanError::Negative { attribute, axis, value }))
        .collect()
}
