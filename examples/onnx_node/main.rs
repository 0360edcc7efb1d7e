//! An ONNX runner: nodes of models, given as operator type, domain, opset and attributes, run on the GPU or the CPU.
//!
//! `cargo run --release --example onnx_node` runs ONNX's own node tests, which are in the repository of this crate, and
//! compares the outputs with theirs; `-- folder` runs others; `--help` lists the options. runner.rs is what a runtime
//! needs.

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/engine.rs"]
mod engine;
mod messages;
mod runner;

use std::error::Error;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use engine::Where;
use messages::{ModelProto, OperatorSetIdProto, TensorProto, ValueInfoProto, decode};
use wgpu_pooling::{Device, Plan, Preset};

/// Runs ONNX node tests: models of one node with their inputs and outputs.
///
/// A folder is a node test (model.onnx and test_data_set_0), or has node tests in it. Outputs have to agree with the
/// test's bit for bit.
#[derive(Debug, Parser)]
#[command(name = "onnx_node")]
struct Options {
    /// Node tests, and folders of them
    #[arg(default_value = "tests/onnx-node-tests")]
    folders: Vec<PathBuf>,

    /// Whose conventions hold where the specification and runtimes differ: onnx, onnx_after_1_23, onnxruntime, openvino,
    /// pytorch
    #[arg(long, default_value = "onnx")]
    preset: Preset,

    #[command(flatten)]
    place: Where,
}

fn main() -> ExitCode {
    common::main(run)
}

/// Runs the example and appends what it finds to `report`, which is printed even if an error follows.
fn run(options: &Options, report: &mut String) -> Result<(), Box<dyn Error>> {
    let mut tests = Vec::new();
    for folder in &options.folders {
        tests.extend(node_tests(folder)?);
    }
    let (device, name) = options.place.open()?;
    writeln!(report, "device  {name}")?;
    let mut failed = 0;
    for test in &tests {
        let name = test.file_name().unwrap_or_default().to_string_lossy();
        match run_test(&device, test, options.preset) {
            Ok(plan) => {
                let outputs: Vec<_> = plan.outputs().iter().map(|output| &output.shape).collect();
                writeln!(report, "ok      {name}: {}, {outputs:?}", plan.operator())?;
            }
            Err(error) => {
                failed += 1;
                writeln!(report, "FAILED  {name}: {error}")?;
            }
        }
    }
    match failed {
        0 => Ok(writeln!(report, "all {} node tests agree, bit for bit", tests.len())?),
        _ => Err(format!("{failed} of {} node tests failed", tests.len()).into()),
    }
}

/// The folder if it is a node test, or else the node tests in it, in the order of their names.
fn node_tests(folder: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let is_test = |path: &PathBuf| path.join("model.onnx").is_file();
    let unreadable = |error| format!("{}: {error}", folder.display());
    let mut tests = vec![folder.to_owned()];
    if !is_test(&tests[0]) {
        let entries = std::fs::read_dir(folder).map_err(unreadable)?;
        tests = entries.map(|entry| Ok(entry?.path())).collect::<Result<_, _>>().map_err(unreadable)?;
        tests.retain(is_test);
        tests.sort();
    }
    if tests.is_empty() { Err(format!("{}: no model.onnx in it", folder.display()).into()) } else { Ok(tests) }
}

/// Runs the node of a test's model on its inputs, and compares the outputs.
fn run_test(device: &Device, test: &Path, preset: Preset) -> Result<Plan, Box<dyn Error>> {
    let model: ModelProto = decode(&test.join("model.onnx"))?;
    let graph = model.graph.ok_or("the model has no graph")?;
    let [node] = &graph.node[..] else {
        return Err(format!("the graph has {} nodes, expected one", graph.node.len()).into());
    };
    let same_domain = |import: &&OperatorSetIdProto| import.domain == node.domain;
    let opset = model.opset_import.iter().find(same_domain).ok_or("the model does not import the node's domain")?;
    let inputs = tensors(test, "input", &graph.input, &node.input)?;
    let (plan, outputs) = runner::run(device, node, opset.version, preset, &inputs)?;
    let expected = tensors(test, "output", &graph.output, &node.output)?;
    for (((expected, bytes), spec), name) in expected.iter().zip(&outputs).zip(plan.outputs()).zip(&node.output) {
        if expected.dtype()? != spec.dtype || expected.shape()? != spec.shape {
            return Err(format!("{name} is {spec:?}, but the test has {:?}", expected.dims).into());
        }
        let width = spec.dtype.bytes();
        let differs = |(own, theirs): (&[u8], &[u8])| own != theirs;
        if let Some(at) = bytes.chunks(width).zip(expected.raw_data.chunks(width)).position(differs) {
            return Err(format!("{name} differs from the test's at element {at}").into());
        }
    }
    Ok(plan)
}

/// The tensors of a node's inputs or outputs, from the files of a test.
fn tensors(
    test: &Path,
    kind: &str,
    values: &[ValueInfoProto],
    names: &[String],
) -> Result<Vec<TensorProto>, Box<dyn Error>> {
    let mut tensors = Vec::new();
    for name in names {
        let position = values.iter().position(|value| value.name == *name);
        let position = position.ok_or_else(|| format!("the node's {name:?} is not among the graph's {kind}s"))?;
        tensors.push(decode(&test.join("test_data_set_0").join(format!("{kind}_{position}.pb")))?);
    }
    Ok(tensors)
}
