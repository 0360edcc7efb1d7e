//! Measures how close the kernels come to the speed of memory. Every row of a catalogue of shapes is verified against
//! the reference and timed beside a plain copy of the same bytes in the same run, on a GPU or on the CPU backend.
//!
//! `cargo run --release -p roofline` runs the crate's own catalogue on a GPU, `-- --backend cpu` on the CPU;
//! `--help` lists the options.

#[path = "../../../examples/common/adapter.rs"]
mod adapter;
mod catalogue;
mod classes;
mod clock;
mod columns;
#[path = "../../../examples/common/mod.rs"]
mod common;
mod constants;
mod copy;
mod cpu;
mod data;
mod describe;
mod device;
mod failure;
mod figures;
mod machine;
mod measure;
mod options;
mod report;
mod run;
mod set;
mod settings;
mod shrink;
mod sweep;
mod tasks;
mod tensors;
mod timed;
mod verify;
mod windows;
mod work;

use std::error::Error;
use std::fmt::Write;
use std::process::ExitCode;

use failure::Failure;
use figures::Entry;
use indicatif::{ProgressBar, ProgressStyle};
use machine::Machine;
use options::Options;
use report::{Circumstances, document, failures, table, write_json};
use sweep::{summary, worst_of};
use tasks::{Task, Tasks, tasks};

fn main() -> ExitCode {
    common::main(roofline)
}

/// Runs the example and appends what it finds to `text`, which is printed even if an error follows.
fn roofline(options: &Options, text: &mut String) -> Result<(), Box<dyn Error>> {
    if options.constants {
        return constants::report(options, text);
    }
    let Tasks { tasks, sweep } = tasks(options)?;
    if options.list {
        return Ok(list(&tasks, sweep.as_ref(), text)?);
    }
    let machine = Machine::open(options)?;
    let settings = machine.settings(options);
    let circumstances = Circumstances {
        adapter: machine.describe(),
        clock: machine.clock(),
        on_cpu: machine.host().map(|host| (host.threads(), host.simd().name())),
        data: settings.data,
        shrink: options.shrink,
        rounds: options.rounds,
        sweep,
    };

    let mut entries = Vec::new();
    let bar = ProgressBar::new(tasks.len() as u64);
    bar.set_style(ProgressStyle::with_template("{pos} of {len}  {msg}  {elapsed}")?);
    for Task { row, dtype, number } in tasks {
        bar.set_message(format!("{}, {}", row.name, dtype.name()));
        bar.tick();
        let outcome = machine.run(&row, dtype, &settings);
        entries.push(Entry { row, dtype, number, outcome });
        if let Some(path) = options.json.as_deref().filter(|_| !options.json_to_stdout()) {
            // The file is written after each row, so that the figures survive a failure of a later row.
            write_json(path, &document(&circumstances, &entries))?;
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    if options.json_to_stdout() {
        writeln!(text, "{:#}", document(&circumstances, &entries))?;
    } else {
        let Circumstances { adapter, clock, rounds, sweep, .. } = &circumstances;
        writeln!(text, "on {adapter}; {clock}; best of {rounds} rounds\n")?;
        // A sweep of many geometries is summarised; geometries that were named one by one are listed like rows.
        if options.sweep.count.is_none() && !options.windows {
            text.push_str(&table(&entries, options.markdown));
        } else if let Some(sweep) = sweep {
            text.push_str(&summary(sweep, &entries, options.markdown));
        }
        if let Some(sweep) = sweep {
            text.push_str(&worst_of(sweep, &entries));
        }
        if options.windows {
            text.push_str(&windows::worst_of(&entries));
        }
        text.push_str(&failures(&entries, options.markdown));
    }
    all_well(&entries, options.skip_too_large)
}

fn list(tasks: &[Task], sweep: Option<&sweep::Draws>, text: &mut String) -> std::fmt::Result {
    if let Some(sweep) = sweep {
        writeln!(text, "{}", sweep.options)?;
        return tasks.iter().try_for_each(|Task { row, dtype, .. }| writeln!(text, "{}", row.entry(*dtype)));
    }
    for Task { row, dtype, .. } in tasks {
        let indices = row.indices.map_or("no", |index_type| index_type.name());
        let (operator, layout) = (row.operator.name(), row.layout.name());
        let window = row.operator.in_words();
        writeln!(
            text,
            "{:<20} {operator:<15} {:<4} {:?}, {indices} indices; {layout}{window}",
            row.name,
            dtype.name(),
            row.pooled
        )?;
    }
    Ok(())
}

/// An error if any row failed. It names the first mismatch, or else the first failure.
fn all_well(entries: &[Entry], may_be_too_large: bool) -> Result<(), Box<dyn Error>> {
    let counts = |failure: &Failure| !(may_be_too_large && matches!(failure, Failure::TooLarge(_)));
    let failed = entries.iter().filter_map(|entry| Some((entry, entry.outcome.as_ref().err()?)));
    let failed: Vec<(&Entry, &Failure)> = failed.filter(|(_, failure)| counts(failure)).collect();
    // A wrong result matters more than a missing one.
    let first = failed.iter().find(|(_, failure)| matches!(failure, Failure::Mismatch(_))).or(failed.first());
    match first {
        None => Ok(()),
        Some((Entry { row, dtype, .. }, failure)) => {
            let count = format!("{} of {} rows failed", failed.len(), entries.len());
            Err(format!("{count}: {}, {}: {failure}", row.name, dtype.name()).into())
        }
    }
}
