//! What is known of a pooling node, before it is written as text or as JSON.

use examples::host::host;
use wgpu_pooling::onnx::{ModelError, ModelNode, Trap};
use wgpu_pooling::{Attribute, Choice, Limits, Plan, Preset, select};

use crate::run::{Comparison, Run};

pub struct Listing<'a> {
    pub number: usize,
    pub node: &'a ModelNode,
    pub opset: Option<i64>,
    pub attributes: Vec<(String, String)>,
    /// The plan, from what the model says or else from the recorded inputs; or why there is none.
    pub plan: Result<Plan, String>,
    pub cpu: Option<String>,
    pub gpu: Option<String>,
    pub traps: Vec<Trap>,
    pub run: Option<Result<Run, String>>,
}

impl<'a> Listing<'a> {
    pub fn of(number: usize, node: &'a ModelNode, preset: Preset, run: Option<Result<Run, String>>) -> Self {
        let value = node.node().ok();
        let attributes = value.iter().flat_map(|node| node.attribute_values());
        let plan = match &run {
            Some(Ok(run)) => Ok(run.plan.clone()),
            _ => node.plan(preset).map_err(|error| match error {
                ModelError::Unknown { ref symbols, .. } if !symbols.is_empty() => format!("{error}, here --size"),
                _ => error.to_string(),
            }),
        };
        let cpu = plan.as_ref().ok().map(|plan| match pollster::block_on(host().prepare(plan.clone())) {
            Ok(prepared) => prepared.kernel(),
            Err(error) => error.to_string(),
        });
        let gpu = plan.as_ref().ok().map(|plan| match select(plan, &Limits::WEBGPU, &Choice::default()) {
            Ok(schedule) => schedule.kernel(),
            Err(error) => error.to_string(),
        });
        Listing {
            number,
            node,
            opset: value.map(|node| node.opset()),
            attributes: attributes.map(|(name, value)| (name.clone(), shown(value))).collect(),
            plan,
            cpu,
            gpu,
            traps: node.traps(),
            run,
        }
    }

    /// The rules that hold: those of the operator's last version up to the opset.
    pub fn rules(&self) -> Option<String> {
        let opset = self.opset?;
        let versions: &[i64] = match (self.node.domain(), self.node.op_type()) {
            ("wgpu.pooling", "AdaptiveMaxPool") => return Some("this crate's AdaptiveMaxPool".to_owned()),
            ("wgpu.pooling", op_type) => return Some(format!("ONNX {op_type}-22")),
            ("openvino", op_type) => return Some(format!("OpenVINO {op_type}-{opset}")),
            (_, "MaxPool") => &[22, 12, 11, 10, 8, 1],
            (_, "MaxUnpool") => &[22, 11, 9],
            _ => &[22, 1],
        };
        let version = versions.iter().find(|&&version| version <= opset)?;
        Some(format!("ONNX {}-{version}", self.node.op_type()))
    }

    /// The number of recorded outputs that differ.
    pub fn differences(&self) -> usize {
        let compared = self.run.iter().flatten().flat_map(|run| &run.compared);
        compared.filter(|(_, comparison)| matches!(comparison, Comparison::Differs(_))).count()
    }
}

fn shown(value: &Attribute) -> String {
    match value {
        Attribute::Int(value) => value.to_string(),
        Attribute::Ints(values) => format!("{values:?}"),
        Attribute::Floats(values) => format!("{values:?}"),
        Attribute::String(text) => text.clone(),
        _ => "a value of another kind".to_owned(),
    }
}
