//! Lists the pooling nodes of a model: what each computes, by which kernels, and where runtimes disagree about it.
//!
//! `cargo run --release --example pool_model -- model.onnx` reads an ONNX model or an OpenVINO IR
//! (`.xml`); `--size N=1` gives a size to extents that the model only names; `--inputs test_data_set_0` runs the nodes
//! whose inputs are known and compares their outputs with the recorded ones; `--json` prints the same for programs. It
//! needs no GPU.

mod json;
mod listing;
mod run;
mod text;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use examples::common;
use listing::Listing;
use run::Recorded;
use wgpu_pooling::Preset;
use wgpu_pooling::onnx::Model;

/// Lists the pooling nodes of an ONNX model or an OpenVINO IR, those inside other nodes and inside functions too.
#[derive(Debug, Parser)]
#[command(name = "pool_model")]
struct Options {
    /// The model: an ONNX file, or an OpenVINO IR that ends in .xml with its .bin beside it
    model: PathBuf,

    /// A folder with recorded tensors, input_0.pb and so on and output_0.pb and so on: nodes whose inputs are known are
    /// run
    #[arg(long, value_name = "DIR")]
    inputs: Option<PathBuf>,

    /// The size of extents that the model gives by a name, such as N=1; as often as there are names
    #[arg(long = "size", value_name = "NAME=SIZE", value_parser = size)]
    sizes: Vec<(String, usize)>,

    /// Whose conventions hold where the specification and runtimes differ: onnx, onnx_after_1_23, onnxruntime,
    /// openvino, pytorch
    #[arg(long, default_value = "onnx")]
    preset: Preset,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

fn size(text: &str) -> Result<(String, usize), String> {
    let (name, size) = text.rsplit_once('=').ok_or("expected a name, = and a size")?;
    Ok((name.to_owned(), size.parse().map_err(|error| format!("{size:?}: {error}"))?))
}

fn main() -> ExitCode {
    common::main(run)
}

/// Runs the example and appends what it finds to `report`, which is printed even if an error follows.
fn run(options: &Options, report: &mut String) -> Result<(), Box<dyn Error>> {
    let sizes: Vec<_> = options.sizes.iter().map(|(name, size)| (&name[..], *size)).collect();
    let model = Model::open(&options.model)?.with_sizes(&sizes)?;
    let mut recorded = options.inputs.as_deref().map(|folder| Recorded::new(folder, &model));
    let mut listings: Vec<Listing<'_>> = Vec::new();
    for (number, node) in model.nodes().iter().enumerate() {
        let run = recorded.as_mut().map(|recorded| recorded.run(number, options.preset));
        listings.push(Listing::of(number, node, options.preset, run));
    }
    match options.json {
        true => report.push_str(&json::of(&listings)?),
        false => text::write(report, &listings)?,
    }
    let differ: usize = listings.iter().map(Listing::differences).sum();
    match differ {
        0 => Ok(()),
        1 => Err("a recorded output differs".into()),
        _ => Err(format!("{differ} recorded outputs differ").into()),
    }
}
