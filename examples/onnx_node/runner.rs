//! What a runtime needs to run nodes of ONNX models on this library.

use std::error::Error;

use wgpu_pooling::{Backend, Node, Plan, TensorMut, TensorRef};

/// The plan, which has the outputs' shapes and types, and the outputs' bytes.
pub type Outputs = (Plan, Vec<Vec<u8>>);

/// Runs a node, which has so many outputs, on its inputs.
pub fn run(on: &dyn Backend, node: &Node, outputs: usize, inputs: &[TensorRef<'_>]) -> Result<Outputs, Box<dyn Error>> {
    let plan = node.plan(inputs, outputs)?;
    let mut bytes: Vec<Vec<u8>> = plan.outputs().iter().map(|output| vec![0; output.bytes() as usize]).collect();
    let mut outputs = Vec::new();
    for (output, bytes) in plan.outputs().iter().zip(&mut bytes) {
        outputs.push(TensorMut::new(output.dtype, &output.shape, bytes)?);
    }
    // An unpool's third input is a part of its plan.
    on.run_blocking(&plan, &inputs[..plan.inputs().len()], &mut outputs)?;
    Ok((plan, bytes))
}
