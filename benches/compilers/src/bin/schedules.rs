//! Writes the recorded cases of tests/vectors as schedules with their inputs and outputs, for another WebGPU to
//! execute.
//!
//! A line is a JSON object: `name`; `schedule`, as the example `inspect --json` writes it; `inputs` and `outputs`, the
//! bytes of buffers as hexadecimal digits. Outputs are those of the reference. Each case is scheduled in every family
//! that applies, within the default limits of WebGPU, for graphics cards and for software adapters. So are compositions
//! in each type, whose steps read scratch memory.
//!
//! ```sh
//! cargo run --release -p compilers --bin schedules -- schedules.jsonl
//! ```

#[path = "../../../../examples/inspect/json.rs"]
mod json;

use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use compilers::part::Part;
use serde_json::{Map, Value, json};
use support::call::Call;
use support::draw::elements::{bits_of, mixed};
use support::vectors::case::{Case, Expectation, Input};
use support::vectors::manifest;
use support::vectors::recipe::{Operator, RecipeError};
use wgpu_pooling::{
    Choice, DType, Gradient, IndexType, Limits, Open, Operand, Plan, PlanError, Schedule, TopHat, families, select,
    wgsl,
};

/// The folder of the cases.
const VECTORS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors");
/// Larger inputs are left out.
const LARGEST: usize = 1 << 20;

/// Writes recorded cases as schedules for another WebGPU
#[derive(Parser)]
struct Options {
    /// The file to write
    file: PathBuf,
    #[command(flatten)]
    part: Part,
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let end = options.part.end();
    let (mut cases, mut large) = (Vec::new(), 0);
    for manifest in manifest::manifests(Path::new(VECTORS))? {
        for case in manifest::read(&manifest)? {
            if matches!(case.x, Input::Generated(_)) || case.x.tensor().count() > LARGEST {
                large += 1;
            } else {
                cases.push(case);
            }
        }
    }
    let number = cases.len();
    let mut file = std::io::BufWriter::new(std::fs::File::create(&options.file)?);
    let (mut read, mut written) = (0, 0);
    for case in options.part.of(cases, |case| format!("{} {}", case.recipe.operator, case.x.dtype().name())) {
        if end.is_past() {
            break;
        }
        read += 1;
        for line in lines(&case)? {
            writeln!(file, "{line}")?;
            written += 1;
        }
    }
    for line in compositions()?.into_iter().take_while(|_| !end.is_past()) {
        writeln!(file, "{line}")?;
        written += 1;
    }
    file.flush()?;
    println!("{written} schedules of {read} of {number} cases; {large} are too large to be written out");
    Ok(())
}

/// A case in every schedule that computes it; none if it is one that has to be refused.
fn lines(case: &Case) -> Result<Vec<Value>, Box<dyn Error>> {
    let mut lines = Vec::new();
    let Expectation::Output { indices, .. } = &case.expectation else { return Ok(lines) };
    let index_type = match (&case.indices, indices) {
        (Some(given), _) => Some(given.index_type()?),
        (None, expected) => expected.as_ref().map(|expected| expected.index_type()).transpose()?,
    };
    for recipe in case.recipe.variants() {
        let operator = recipe.build().map_err(|error| match error {
            RecipeError::NotUnderstood(what) => format!("{}: {what}", case.name),
            RecipeError::Refused(error) => format!("{}: {error}", case.name),
        })?;
        let plan = plan(&operator, case, index_type)?;
        lines.extend(in_every_schedule(&case.name, &case.call(plan))?);
    }
    Ok(lines)
}

/// Compositions of each type.
fn compositions() -> Result<Vec<Value>, Box<dyn Error>> {
    let (shape, mut lines) = ([2, 3, 9, 14], Vec::new());
    for (seed, dtype) in (0..).zip(DType::ALL) {
        let x = bits_of(dtype, &mixed(dtype, shape.iter().product(), seed));
        let plans = [
            Open::new([3, 2]).plan(&shape, dtype, None)?,
            Gradient::new([2, 3]).plan(&shape, dtype, None)?,
            TopHat::new([3, 3]).plan(&shape, dtype, None)?,
        ];
        for plan in plans {
            let name = format!("{} {dtype}", plan.operator());
            lines.extend(in_every_schedule(&name, &Call::pool(plan, &x))?);
        }
    }
    Ok(lines)
}

/// A call in every schedule that computes it.
fn in_every_schedule(name: &str, call: &Call) -> Result<Vec<Value>, Box<dyn Error>> {
    let (mut lines, written) = (Vec::new(), call.expected()?);
    for (kernel, schedule, limits) in schedules(&call.plan)? {
        // A tensor on a device has whole words.
        let bytes = |tensors: &[Vec<u8>], operands: &[Operand]| -> Map<String, Value> {
            operands.iter().zip(tensors).map(|(operand, it)| (operand.name(), hex(it).into())).collect()
        };
        let inputs = bytes(&call.inputs, schedule.input_operands());
        let outputs = bytes(&written, schedule.output_operands());
        if outputs.values().all(|it| it == "") {
            continue;
        }
        let schedule = json::of(&schedule, &limits, wgsl)?;
        let name = format!("{name} {kernel}");
        lines.push(json!({ "name": name, "schedule": schedule, "inputs": inputs, "outputs": outputs }));
    }
    Ok(lines)
}

fn plan(operator: &Operator, case: &Case, index_type: Option<IndexType>) -> Result<Plan, Box<dyn Error>> {
    let (shape, dtype) = (case.x.shape(), case.x.dtype());
    Ok(match (operator, index_type) {
        (Operator::Pool(pool), _) => pool.plan(shape, dtype, index_type)?,
        (Operator::Unpool(unpool), Some(index_type)) => unpool.plan(shape, dtype, index_type)?,
        (Operator::Unpool(_), None) => return Err(format!("{} has no indices", case.name).into()),
    })
}

/// The different schedules of a plan.
fn schedules(plan: &Plan) -> Result<Vec<(String, Schedule, Limits)>, PlanError> {
    let mut found: Vec<(String, Schedule, Limits)> = Vec::new();
    for software in [false, true] {
        let limits = Limits { software, ..Limits::WEBGPU };
        for family in families(plan, &limits) {
            let schedule = select(plan, &limits, &Choice { family: Some(family), build: None })?;
            if found.iter().all(|(_, other, _)| *other != schedule) {
                found.push((format!("{} {:?}", family.name(), schedule.build()), schedule, limits));
            }
        }
    }
    Ok(found)
}

/// The bytes of a tensor as the device has them: up to a whole word.
fn hex(bytes: &[u8]) -> String {
    let behind = bytes.len().next_multiple_of(4) - bytes.len();
    let whole = bytes.iter().chain(std::iter::repeat_n(&0, behind));
    whole.map(|byte| format!("{byte:02x}")).collect()
}
