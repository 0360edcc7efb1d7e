//! Layers of OpenVINO: MaxPool-1, -8 and -14 and AdaptiveMaxPool-8, with OpenVINO's attributes.

use super::adaptive_max_pool::AdaptiveMaxPool;
use super::max_pool::MaxPool;
use super::node::Seen;
use super::operator::Operator;
use crate::attributes::Attribute;
use crate::element::IndexType;
use crate::error::PlanError;
use crate::options::{AutoPad, CeilRule, IndexFlattening};

/// The attributes of a layer; each is of the kind that it has to be.
struct Attributes<'a>(&'a [(String, Attribute)]);

impl<'a> Attributes<'a> {
    /// Refuses attributes that the operator does not have, that occur twice, or of another kind.
    fn check(&self, operator: &'static str, known: &[&[&str]]) -> Result<(), PlanError> {
        let mut seen = Seen::of(operator);
        for (name, value) in self.0 {
            let name = seen.once(name)?;
            if !known.iter().any(|known| known.contains(&name)) {
                return Err(PlanError::UnknownAttribute { operator, name: name.to_owned() });
            }
            match name {
                "rounding_type" | "auto_pad" | "index_element_type" => value.string(name).map(drop)?,
                "axis" => value.int(name).map(drop)?,
                _ => value.ints(name).map(drop)?,
            }
        }
        Ok(())
    }

    fn value(&self, name: &str) -> Option<&'a Attribute> {
        self.0.iter().find(|(own, _)| own == name).map(|(_, value)| value)
    }

    fn text(&self, name: &str) -> Option<&'a str> {
        self.value(name)?.string(name).ok()
    }

    /// A list that has to be there.
    fn list(&self, attribute: &'static str) -> Result<&'a [i64], PlanError> {
        let missing = PlanError::MissingAttribute { operator: "MaxPool", attribute };
        self.value(attribute).ok_or(missing)?.ints(attribute)
    }
}

/// The operator of a layer and the type of its indices; `None` for another layer. The output size of AdaptiveMaxPool is
/// an input, so the operator has none.
pub(super) fn operator(
    op_type: &str,
    opset: i64,
    attributes: &[(String, Attribute)],
) -> Result<Option<(Operator, IndexType)>, PlanError> {
    let of_1: &[&str] = &["kernel", "strides", "pads_begin", "pads_end", "rounding_type", "auto_pad"];
    let given = Attributes(attributes);
    match (op_type, opset) {
        ("MaxPool", 1) => given.check("MaxPool", &[of_1])?,
        ("MaxPool", 8 | 14) => given.check("MaxPool", &[of_1, &["dilations", "index_element_type", "axis"]])?,
        ("AdaptiveMaxPool", 8) => given.check("AdaptiveMaxPool", &[&["index_element_type"]])?,
        _ => return Ok(None),
    }
    let index_type = match given.text("index_element_type") {
        None | Some("i64") => IndexType::I64,
        Some("i32") => IndexType::I32,
        Some(other) => return Err(unknown("index_element_type", other, "i64, i32")),
    };
    let operator = match op_type {
        "MaxPool" => Operator::MaxPool(max_pool(&given, opset)?),
        _ => Operator::AdaptiveMaxPool(AdaptiveMaxPool::openvino([])),
    };
    Ok(Some((operator, index_type)))
}

fn max_pool(given: &Attributes<'_>, opset: i64) -> Result<MaxPool, PlanError> {
    let kernel = given.list("kernel")?;
    let rank = kernel.len();
    let mut pool = MaxPool::openvino(kernel).strides(given.list("strides")?);
    if given.value("dilations").is_some() {
        pool = pool.dilations(given.list("dilations")?);
    }
    let auto_pad = match given.text("auto_pad") {
        None | Some("explicit" | "notset") => AutoPad::NotSet,
        Some("same_upper") => AutoPad::SameUpper,
        Some("same_lower") => AutoPad::SameLower,
        Some("valid") => AutoPad::Valid,
        Some(other) => return Err(unknown("auto_pad", other, "explicit, same_upper, same_lower, valid")),
    };
    let mut both = Vec::new();
    for attribute in ["pads_begin", "pads_end"] {
        let pads = given.list(attribute)?;
        if pads.len() != rank {
            return Err(PlanError::AttributeLength { attribute, expected: rank, actual: pads.len() });
        }
        both.extend(pads);
    }
    // With another auto_pad the specification says that the pads are ignored.
    pool = if auto_pad == AutoPad::NotSet { pool.pads(both) } else { pool.auto_pad(auto_pad) };
    pool = match given.text("rounding_type") {
        None | Some("floor") => pool,
        Some("ceil") => pool.ceil_rule(CeilRule::CeilLiteral),
        Some("ceil_torch") if opset >= 14 => pool.ceil_mode(1),
        Some(other) => return Err(unknown("rounding_type", other, "floor, ceil, and ceil_torch in opset 14")),
    };
    let axis = given.value("axis").map_or(Ok(0), |value| value.int("axis"))?;
    let axes = i64::try_from(rank).unwrap_or(i64::MAX).saturating_add(2);
    Ok(pool.flatten(match if axis < 0 { axis.saturating_add(axes) } else { axis } {
        0 => IndexFlattening::Tensor,
        1 => IndexFlattening::Batch,
        2 => IndexFlattening::Plane,
        _ => return Err(unknown("axis", &axis.to_string(), "0, 1, 2, or the same from the end")),
    }))
}

fn unknown(attribute: &'static str, value: &str, expected: &'static str) -> PlanError {
    PlanError::UnknownValue { attribute, value: value.to_owned(), expected }
}
