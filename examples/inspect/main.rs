//! Shows what an operator with attributes and a shape becomes: the plan, the schedule, the kernels and their text. It
//! needs no GPU.
//!
//! `cargo run --example inspect` shows a case of its own,
//! `cargo run --example inspect -- max_pool --shape 1,3,224,224 --kernel 3,3 --strides 2,2` another; `--wgsl` adds the
//! text of the kernels, `--json` prints all that a program needs to execute the schedule on another WebGPU, and
//! `max_pool --help` lists the attributes.

mod json;
mod kernels;
mod operators;
mod options;
mod report;

use std::error::Error;
use std::fmt::Write;
use std::process::ExitCode;

use clap::Parser;
use examples::{common, plan};
use options::Options;
use wgpu_pooling::{Build, Choice, Family, Limits, Plan, Schedule, families, select, wgsl};

/// The command line that is taken if no operator is named: the pool after the first convolution of a ResNet.
const OWN_CASE: &str = "inspect max_pool --shape 1,64,112,112 --kernel 3,3 --strides 2,2 --pads 1,1,1,1";

fn main() -> ExitCode {
    common::main(run)
}

/// Runs the example and appends what it finds to `text`, which is printed even if an error follows.
fn run(options: &Options, text: &mut String) -> Result<(), Box<dyn Error>> {
    let own_case = Options::try_parse_from(OWN_CASE.split(' '))?;
    let operator = options.operator.as_ref().or(own_case.operator.as_ref()).ok_or("no operator is named")?;
    let plan = operator.plan()?;
    let limits = options.limits();
    let families = families(&plan, &limits);
    let schedule = schedule(&plan, &limits, &families, options)?;
    let schedule = if options.writable_inputs { schedule.with_writable_inputs() } else { schedule };
    if options.json {
        writeln!(text, "{:#}", json::of(&schedule, &limits, wgsl)?)?;
        return Ok(());
    }

    let mut report = String::new();
    if options.operator.is_none() {
        writeln!(report, "as in        {OWN_CASE}")?;
    }
    plan::describe(&mut report, &plan)?;
    report::schedule(&mut report, &schedule, &limits, &families)?;
    let kernels = kernels::of(&schedule)?;
    report.push_str(&kernels::table(&schedule, &kernels));
    match options.wgsl {
        None => text.push_str(&report),
        Some(dispatch) => {
            // The report is printed as comments, so that the whole output is a shader.
            for line in report.lines() {
                writeln!(text, "{}", format!("// {line}").trim_end())?;
            }
            text.push_str(&kernels::text(&kernels, dispatch)?);
        }
    }
    Ok(())
}

/// The schedule that the options choose.
fn schedule(plan: &Plan, limits: &Limits, families: &[Family], options: &Options) -> Result<Schedule, Box<dyn Error>> {
    let build = match (options.generic, options.specialised) {
        (true, _) => Some(Build::Generic),
        (false, true) => Some(Build::Specialised),
        (false, false) => None,
    };
    let mut schedule = select(plan, limits, &Choice { family: None, build })?;
    if let Some(name) = &options.family {
        let Some(&family) = families.iter().find(|family| family.name() == name) else {
            let apply = report::names(families);
            return Err(format!("--family {name} does not compute this plan within these limits; {apply} would").into());
        };
        schedule = select(plan, limits, &Choice { family: Some(family), build })?;
    }
    // `select` falls back to another build if no family has the one that was asked for; here that is an error.
    if build.is_some_and(|build| build != schedule.build()) {
        return Err(format!("--specialised: {} has the generic build alone", schedule.family().name()).into());
    }
    Ok(schedule)
}
