//! Layers of OpenVINO: MaxPool-1, -8 and -14 and AdaptiveMaxPool-8, with OpenVINO's attributes.

use super::adaptive_max_pool::AdaptiveMaxPool;
use super::max_pool::MaxPool;
use super::node::Seen;
use super::operator::Operator;
use crate::attributes::Attribute;
use crate::element::IndexType;
use crate::error::PlanError;
use crate::options::{AutoPad, CeilRule, IndexFlattening};

/// The attributes of a layer, as far as they are given. The names are those of the operators' pages.
#[derive(Default)]
struct Attributes {
    kernel: Option<Vec<i64>>,
    strides: Option<Vec<i64>>,
    dilations: Option<Vec<i64>>,
    pads_begin: Option<Vec<i64>>,
    pads_end: Option<Vec<i64>>,
    rounding_type: Option<String>,
    auto_pad: Option<String>,
    index_element_type: Option<String>,
    axis: i64,
}

/// The operator of a layer and the type of its indices. There is no operator of another name or version.
pub(super) fn operator(
    op_type: &str,
    opset: i64,
    attributes: &[(String, Attribute)],
) -> Result<(Option<Operator>, IndexType), PlanError> {
    let (operator, known): (&'static str, &[&str]) = match (op_type, opset) {
        ("MaxPool", 1) => ("MaxPool", &["kernel", "strides", "pads_begin", "pads_end", "rounding_type", "auto_pad"]),
        ("MaxPool", 8 | 14) => (
            "MaxPool",
            &[
                "kernel",
                "strides",
                "dilations",
                "pads_begin",
                "pads_end",
                "rounding_type",
                "auto_pad",
                "index_element_type",
                "axis",
            ],
        ),
        ("AdaptiveMaxPool", 8) => ("AdaptiveMaxPool", &["index_element_type"]),
        _ => return Ok((None, IndexType::I64)),
    };
    let mut given = Attributes::default();
    let mut seen = Seen::of(operator);
    for (name, value) in attributes {
        let name = seen.once(name)?;
        if !known.contains(&name) {
            return Err(PlanError::UnknownAttribute { operator, name: name.to_owned() });
        }
        given.set(name, value)?;
    }
    let index_type = match given.index_element_type.as_deref() {
        None | Some("i64") => IndexType::I64,
        Some("i32") => IndexType::I32,
        Some(other) => return Err(unknown("index_element_type", other, "i64, i32")),
    };
    let operator = match operator {
        "MaxPool" => Operator::MaxPool(max_pool(given, opset)?),
        _ => Operator::AdaptiveMaxPool(AdaptiveMaxPool::openvino([])),
    };
    Ok((Some(operator), index_type))
}

impl Attributes {
    fn set(&mut self, name: &str, value: &Attribute) -> Result<(), PlanError> {
        let list = || value.ints(name).map(|values| Some(values.to_vec()));
        let text = || value.string(name).map(|text| Some(text.to_owned()));
        match name {
            "kernel" => self.kernel = list()?,
            "strides" => self.strides = list()?,
            "dilations" => self.dilations = list()?,
            "pads_begin" => self.pads_begin = list()?,
            "pads_end" => self.pads_end = list()?,
            "rounding_type" => self.rounding_type = text()?,
            "auto_pad" => self.auto_pad = text()?,
            "index_element_type" => self.index_element_type = text()?,
            _ => self.axis = value.int(name)?,
        }
        Ok(())
    }
}

/// The pool, by the table of [`MaxPool::openvino`].
fn max_pool(given: Attributes, opset: i64) -> Result<MaxPool, PlanError> {
    let missing = |attribute| PlanError::MissingAttribute { operator: "MaxPool", attribute };
    let kernel = given.kernel.ok_or(missing("kernel"))?;
    let rank = kernel.len();
    let mut pool = MaxPool::openvino(kernel).strides(given.strides.ok_or(missing("strides"))?);
    if let Some(dilations) = given.dilations {
        pool = pool.dilations(dilations);
    }
    let auto_pad = match given.auto_pad.as_deref() {
        None | Some("explicit" | "notset") => AutoPad::NotSet,
        Some("same_upper") => AutoPad::SameUpper,
        Some("same_lower") => AutoPad::SameLower,
        Some("valid") => AutoPad::Valid,
        Some(other) => return Err(unknown("auto_pad", other, "explicit, same_upper, same_lower, valid")),
    };
    let pads = [("pads_begin", given.pads_begin), ("pads_end", given.pads_end)];
    let mut both = Vec::new();
    for (attribute, pads) in pads {
        let pads = pads.ok_or(missing(attribute))?;
        if pads.len() != rank {
            return Err(PlanError::AttributeLength { attribute, expected: rank, actual: pads.len() });
        }
        both.extend(pads);
    }
    // With another auto_pad the specification says that the pads are ignored.
    pool = if auto_pad == AutoPad::NotSet { pool.pads(both) } else { pool.auto_pad(auto_pad) };
    pool = match given.rounding_type.as_deref() {
        None | Some("floor") => pool,
        Some("ceil") => pool.ceil_rule(CeilRule::CeilLiteral),
        Some("ceil_torch") if opset >= 14 => pool.ceil_mode(1),
        Some(other) => return Err(unknown("rounding_type", other, "floor, ceil, and ceil_torch in opset 14")),
    };
    let axes = i64::try_from(rank).unwrap_or(i64::MAX).saturating_add(2);
    Ok(pool.flatten(match given.axis {
        0 => IndexFlattening::Tensor,
        1 => IndexFlattening::Batch,
        2 => IndexFlattening::Plane,
        axis if axis < 0 && axis.saturating_add(axes) == 0 => IndexFlattening::Tensor,
        axis if axis < 0 && axis.saturating_add(axes) == 1 => IndexFlattening::Batch,
        axis if axis < 0 && axis.saturating_add(axes) == 2 => IndexFlattening::Plane,
        other => return Err(unknown("axis", &other.to_string(), "0, 1, 2, or the same from the end")),
    }))
}

fn unknown(attribute: &'static str, value: &str, expected: &'static str) -> PlanError {
    PlanError::UnknownValue { attribute, value: value.to_owned(), expected }
}
