//! An ONNX runner: nodes of models, run on the GPU or the CPU by `ModelNode::run`.
//!
//! `cargo run --release --example onnx_node` runs ONNX's own node tests, which are in the repository of
//! this crate, and compares the outputs with the recorded ones; `-- folder` runs the tests of another folder; `--help`
//! lists the options.

use std::error::Error;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use examples::common;
use examples::engine::Where;
use wgpu_pooling::onnx::{FileTensor, Model, ModelError, ValueSource};
use wgpu_pooling::{Backend, Plan, Preset};

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

    /// Whose conventions hold where the specification and runtimes differ: onnx, onnx_after_1_23, onnxruntime,
    /// openvino, pytorch
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
        match run_test(&*device, test, options.preset) {
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
fn run_test(device: &dyn Backend, test: &Path, preset: Preset) -> Result<Plan, Box<dyn Error>> {
    let model = Model::open(&test.join("model.onnx"))?;
    let [node] = model.nodes() else {
        return Err(format!("the model has {} pooling nodes, expected one", model.nodes().len()).into());
    };
    let mut tensors = Vec::new();
    for input in node.inputs() {
        let ValueSource::Input(number) = input.source else {
            return Err(format!("the node's {:?} is not among the model's inputs", input.name).into());
        };
        tensors.push(tensor(test, "input", number)?);
    }
    let inputs = tensors.iter().map(|tensor| tensor.view()).collect::<Result<Vec<_>, _>>()?;
    let (plan, outputs) = node.run_blocking(device, preset, &inputs)?;
    for (number, (name, source)) in model.outputs().iter().enumerate() {
        let ValueSource::Output { output, .. } = *source else {
            return Err(format!("the model's {name:?} is not an output of the node").into());
        };
        let expected = tensor(test, "output", number)?;
        let own = &outputs[output];
        if (own.dtype(), own.shape()) != (expected.dtype(), expected.shape()) {
            let [own, theirs] = [own, &expected].map(|tensor| (tensor.dtype().name(), tensor.shape()));
            return Err(format!("{name} is {own:?}, but the test has {theirs:?}").into());
        }
        let width = own.dtype().bytes();
        let differs = |(own, theirs): (&[u8], &[u8])| own != theirs;
        if let Some(at) = own.bytes().chunks(width).zip(expected.bytes().chunks(width)).position(differs) {
            return Err(format!("{name} differs from the test's at element {at}").into());
        }
    }
    Ok(plan)
}

/// One of a test's recorded tensors.
fn tensor(test: &Path, kind: &str, number: usize) -> Result<FileTensor<'static>, ModelError> {
    FileTensor::open(&test.join("test_data_set_0").join(format!("{kind}_{number}.pb")))
}
