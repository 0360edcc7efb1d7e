//! Measures how close the kernels come to the speed of memory. Every row of a catalogue of shapes is verified against
//! the reference and timed beside a plain copy of the same bytes in the same run.
//!
//! `cargo run --release --example roofline` runs the crate's own catalogue; `--help` lists the options.

#[path = "../common/adapter.rs"]
mod adapter;
mod catalogue;
mod classes;
mod clock;
mod columns;
#[path = "../common/mod.rs"]
mod common;
mod copy;
mod data;
mod describe;
mod device;
mod draw;
mod failure;
mod fill;
#[path = "../common/gpu.rs"]
mod gpu;
mod measure;
mod options;
mod report;
mod run;
mod shrink;
mod sweep;
mod tasks;
mod timed;
mod verify;
mod work;

use std::error::Error;
use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;

use adapter::{describe, gpu_options};
use device::Device;
use failure::Failure;
use indicatif::{ProgressBar, ProgressStyle};
use options::Options;
use report::{Circumstances, Entry, document, failures, table};
use run::{Settings, run};
use sweep::{summary, worst_of};
use tasks::{Task, Tasks, tasks};
use wgpu_pooling::Gpu;

fn main() -> ExitCode {
    common::main(roofline)
}

/// Runs the example and appends what it finds to `text`, which is printed even if an error follows.
fn roofline(options: &Options, text: &mut String) -> Result<(), Box<dyn Error>> {
    let Tasks { tasks, sweep } = tasks(options)?;
    if options.list {
        return Ok(list(&tasks, sweep.as_ref(), text)?);
    }
    let wanted = gpu_options(options.gpu.backend, options.gpu.adapter.as_deref()).timestamps();
    let device = Device::new(Gpu::open_blocking(&wanted)?, options.clock).map_err(|failure| failure.to_string())?;
    let settings = settings(options, &device);
    let circumstances = Circumstances {
        adapter: describe(&device.gpu.adapter_info()),
        clock: device.clock,
        data: options.data,
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
        let outcome = run(&device, &row, dtype, &settings);
        entries.push(Entry { row, dtype, number, outcome });
        if let Some(path) = options.json.as_deref().filter(|_| !options.json_to_stdout()) {
            // The file is written after each row, so that the figures survive a failure of a later row.
            write_json(path, &circumstances, &entries)?;
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    if options.json_to_stdout() {
        writeln!(text, "{:#}", document(&circumstances, &entries))?;
    } else {
        let Circumstances { adapter, clock, rounds, sweep, .. } = &circumstances;
        writeln!(text, "on {adapter}; {}; best of {rounds} rounds\n", clock.describe())?;
        // A sweep of many geometries is summarised; geometries that were named one by one are listed like rows.
        if options.sweep.count.is_none() {
            text.push_str(&table(&entries, options.markdown));
        } else if let Some(sweep) = sweep {
            text.push_str(&summary(sweep, &entries, options.markdown));
        }
        if let Some(sweep) = sweep {
            text.push_str(&worst_of(sweep, &entries));
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

fn settings(options: &Options, device: &Device) -> Settings {
    let software = device.is_software();
    let sweeps = !options.sweep.numbers().is_empty();
    // Software adapters are slow and compute in main memory, so their defaults are smaller.
    let or = |given: Option<u64>, on_gpus, in_software| given.unwrap_or(if software { in_software } else { on_gpus });
    Settings {
        data: options.data,
        rounds: options.rounds,
        pass_seconds: options.pass as f64 * 1e-3,
        verify_taps: options.verify_taps.unwrap_or(if sweeps { 1 << 26 } else { 1 << 31 }),
        selected_only: options.selected_only || options.sweep.count.is_some(),
        others_limit: or(options.others_limit, 1 << 36, 1 << 30),
        cache_bytes: or(options.cache, 256, 8) << 20,
        memory_bytes: or(options.memory, 8192, 1024) << 20,
        f32_copy: sweeps,
        // In a sweep a slow kernel gets fewer rounds: its time need not be as precise.
        patience_seconds: if sweeps { 1.0 } else { f64::INFINITY },
    }
}

fn write_json(path: &Path, circumstances: &Circumstances, entries: &[Entry]) -> Result<(), String> {
    let text = format!("{:#}\n", document(circumstances, entries));
    std::fs::write(path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))
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
