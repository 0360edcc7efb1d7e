//! What a runtime needs to run nodes of ONNX models on this library.

use std::error::Error;

use wgpu_pooling::{Device, Node, Plan, Preset, TensorMut, TensorRef};

use crate::messages::{NodeProto, TensorProto};

/// The plan, which has the outputs' shapes and types, and the outputs' bytes.
pub type Outputs = (Plan, Vec<Vec<u8>>);

/// Runs a node on its inputs.
pub fn run(
    device: &Device,
    node: &NodeProto,
    opset: i64,
    preset: Preset,
    inputs: &[TensorProto],
) -> Result<Outputs, Box<dyn Error>> {
    let attributes = node.attribute.iter().map(|attribute| attribute.read()).collect::<Result<Vec<_>, _>>()?;
    let mut tensors = Vec::new();
    for input in inputs {
        tensors.push(TensorRef::new(input.dtype()?, input.shape()?, &input.raw_data)?);
    }
    let description = Node::new(&node.op_type, opset).domain(&node.domain).attributes(attributes).preset(preset);
    let plan = description.plan(&tensors, node.output.len())?;
    let mut bytes: Vec<Vec<u8>> = plan.outputs().iter().map(|output| vec![0; output.bytes() as usize]).collect();
    let mut outputs = Vec::new();
    for (output, bytes) in plan.outputs().iter().zip(&mut bytes) {
        outputs.push(TensorMut::new(output.dtype, &output.shape, bytes)?);
    }
    // An unpool's third input is a part of its plan.
    device.execute_blocking(&plan, &tensors[..plan.inputs().len()], &mut outputs)?;
    Ok((plan, bytes))
}
