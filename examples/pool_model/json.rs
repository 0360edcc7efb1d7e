//! The nodes as JSON.

use std::error::Error;

use serde_json::{Value, json};
use wgpu_pooling::{Plan, TensorSpec};
use wgpu_pooling_plan::AxisWindow;

use crate::listing::Listing;
use crate::run::{Comparison, Run};

pub fn of(listings: &[Listing<'_>]) -> Result<String, Box<dyn Error>> {
    let nodes: Vec<Value> = listings.iter().map(node).collect();
    Ok(format!("{}\n", serde_json::to_string_pretty(&json!({ "nodes": nodes }))?))
}

fn node(listing: &Listing<'_>) -> Value {
    let node = listing.node;
    let inputs = node.inputs().iter().map(|input| {
        let dtype = input.dtype.map(|dtype| dtype.name());
        let (shape, symbols) = (&input.shape, &input.symbols);
        json!({ "name": input.name, "dtype": dtype, "shape": shape, "symbols": symbols, "values": input.values })
    });
    let attributes = listing.attributes.iter().map(|(name, value)| json!({ "name": name, "value": value }));
    let traps = listing.traps.iter().map(|trap| json!({ "name": trap.name(), "text": trap.to_string() }));
    let mut value = json!({
        "node": listing.number,
        "op_type": node.op_type(),
        "name": node.name(),
        "scope": node.scope(),
        "domain": node.domain(),
        "opset": listing.opset,
        "rules": listing.rules(),
        "attributes": attributes.collect::<Vec<_>>(),
        "inputs": inputs.collect::<Vec<_>>(),
        "outputs": node.outputs(),
        "cpu_kernel": listing.cpu,
        "gpu_kernel": listing.gpu,
        "traps": traps.collect::<Vec<_>>(),
    });
    match &listing.plan {
        Ok(found) => value["plan"] = plan(found),
        Err(why) => value["no_plan"] = why.as_str().into(),
    }
    match &listing.run {
        None => {}
        Some(Ok(found)) => value["run"] = run(found),
        Some(Err(why)) => value["not_run"] = why.as_str().into(),
    }
    value
}

fn plan(plan: &Plan) -> Value {
    let tensors = |specs: &[TensorSpec]| -> Vec<Value> {
        let tensor = |spec: &TensorSpec| {
            let (dtype, layout) = (spec.dtype.name(), spec.layout.name());
            json!({ "dtype": dtype, "shape": spec.shape, "layout": layout })
        };
        specs.iter().map(tensor).collect()
    };
    let axes: Vec<Value> = match plan {
        Plan::Pool(plan) => plan
            .axes
            .iter()
            .map(|axis| {
                let mut value = json!({ "input": axis.input, "output": axis.output });
                if let AxisWindow::Strided { kernel, stride, dilation, pad_begin } = axis.window {
                    value["window"] =
                        json!({ "kernel": kernel, "stride": stride, "dilation": dilation, "pad_begin": pad_begin });
                }
                value
            })
            .collect(),
        _ => Vec::new(),
    };
    let (inputs, outputs) = (tensors(plan.inputs()), tensors(plan.outputs()));
    json!({ "operator": plan.operator(), "inputs": inputs, "outputs": outputs, "axes": axes })
}

fn run(run: &Run) -> Value {
    let compared = run.compared.iter().map(|(name, comparison)| {
        let (result, text) = match comparison {
            Comparison::Agrees(how) => ("agrees", *how),
            Comparison::Differs(how) => ("differs", &how[..]),
            Comparison::NotRecorded(why) => ("not recorded", &why[..]),
        };
        json!({ "output": name, "result": result, "text": text })
    });
    compared.collect::<Vec<_>>().into()
}
