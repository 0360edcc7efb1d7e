//! How close to the speed of memory the kernels come: every row of a catalogue of shapes, verified against the reference
//! and timed beside a plain copy of the same bytes in the same run.
//!
//! `cargo run --release --example roofline` runs the crate's own catalogue; `--help` lists the options.

#[path = "../common/adapter.rs"]
mod adapter;
mod catalogue;
mod clock;
#[path = "../common/mod.rs"]
mod common;
mod copy;
mod data;
mod device;
mod failure;
mod fill;
#[path = "../common/gpu.rs"]
mod gpu;
mod measure;
mod options;
mod report;
mod run;
mod shrink;
mod verify;
mod work;

use std::error::Error;
use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;

use adapter::{describe, gpu_options};
use catalogue::Row;
use device::Device;
use failure::Failure;
use indicatif::{ProgressBar, ProgressStyle};
use options::Options;
use report::{Circumstances, Entry, document, table};
use run::{Settings, run};
use shrink::shrunk;
use wgpu_pooling::{DType, Gpu};

fn main() -> ExitCode {
    common::main(roofline)
}

/// Does it all; what there is to say goes into `text` as far as it comes.
fn roofline(options: &Options, text: &mut String) -> Result<(), Box<dyn Error>> {
    let rows = rows(options)?;
    if options.list {
        return Ok(list(&rows, text)?);
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
    };

    let mut entries = Vec::new();
    let bar = ProgressBar::new(rows.len() as u64);
    bar.set_style(ProgressStyle::with_template("{pos} of {len}  {msg}  {elapsed}")?);
    for (row, dtype) in rows {
        bar.set_message(format!("{}, {}", row.name, dtype.name()));
        bar.tick();
        let outcome = run(&device, &row, dtype, &settings);
        entries.push(Entry { row, dtype, outcome });
        if let Some(path) = options.json.as_deref().filter(|_| !options.json_to_stdout()) {
            // After each row, so that what has been measured is there whatever the next one does.
            write_json(path, &circumstances, &entries)?;
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    if options.json_to_stdout() {
        writeln!(text, "{:#}", document(&circumstances, &entries))?;
    } else {
        writeln!(
            text,
            "on {}; {}; best of {} rounds\n",
            circumstances.adapter,
            circumstances.clock.describe(),
            options.rounds
        )?;
        text.push_str(&table(&entries, options.markdown));
    }
    all_well(&entries, options.skip_too_large)
}

/// The rows that the options ask for, in the element types that they ask for.
fn rows(options: &Options) -> Result<Vec<(Row, DType)>, Box<dyn Error>> {
    let rows = match &options.catalogue {
        None => catalogue::parse(catalogue::OWN)?,
        Some(path) => {
            let name = path.display();
            let text = std::fs::read_to_string(path).map_err(|error| format!("cannot read {name}: {error}"))?;
            catalogue::parse(&text).map_err(|error| format!("{name} is no catalogue: {error}"))?
        }
    };
    if let Some(part) = options.rows.iter().find(|part| !rows.iter().any(|row| row.name.contains(part.as_str()))) {
        let names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
        return Err(format!("no row has {part:?} in its name: {}", names.join(", ")).into());
    }
    let asked_for = |row: &&Row| options.rows.is_empty() || options.rows.iter().any(|part| row.name.contains(part));
    let in_types = |row: &Row| {
        let types = match &options.dtypes[..] {
            [] => vec![row.dtype.unwrap_or(DType::F32)],
            types => types.to_vec(),
        };
        let nan_policy = options.nan_policy.unwrap_or(row.nan_policy);
        let row = Row { nan_policy, ..shrunk(row, options.shrink) };
        types.into_iter().map(move |dtype| (row.clone(), dtype))
    };
    Ok(rows.iter().filter(asked_for).flat_map(in_types).collect())
}

fn list(rows: &[(Row, DType)], text: &mut String) -> std::fmt::Result {
    for (row, dtype) in rows {
        let indices = row.indices.map_or("no", |index_type| index_type.name());
        let operator = row.operator.name();
        writeln!(text, "{:<20} {operator:<15} {:<4} {:?}, {indices} indices", row.name, dtype.name(), row.pooled)?;
    }
    Ok(())
}

fn settings(options: &Options, device: &Device) -> Settings {
    let software = device.is_software();
    // Software adapters compute in main memory, and are slow.
    let or = |given: Option<u64>, on_gpus, in_software| given.unwrap_or(if software { in_software } else { on_gpus });
    Settings {
        data: options.data,
        rounds: options.rounds,
        pass_seconds: options.pass as f64 * 1e-3,
        verify_taps: options.verify_taps,
        selected_only: options.selected_only,
        others_limit: or(options.others_limit, 1 << 36, 1 << 30),
        cache_bytes: or(options.cache, 256, 8) << 20,
        memory_bytes: or(options.memory, 8192, 1024) << 20,
    }
}

fn write_json(path: &Path, circumstances: &Circumstances, entries: &[Entry]) -> Result<(), String> {
    let text = format!("{:#}\n", document(circumstances, entries));
    std::fs::write(path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))
}

/// An error if a row has no figures, with the first reason.
fn all_well(entries: &[Entry], may_be_too_large: bool) -> Result<(), Box<dyn Error>> {
    let counts = |failure: &Failure| !(may_be_too_large && matches!(failure, Failure::TooLarge(_)));
    let failed = entries.iter().filter_map(|entry| Some((entry, entry.outcome.as_ref().err()?)));
    let failed: Vec<(&Entry, &Failure)> = failed.filter(|(_, failure)| counts(failure)).collect();
    // A wrong result matters more than one that is not there.
    let first = failed.iter().find(|(_, failure)| matches!(failure, Failure::Mismatch(_))).or(failed.first());
    match first {
        None => Ok(()),
        Some((Entry { row, dtype, .. }, failure)) => {
            let count = format!("{} of {} rows failed", failed.len(), entries.len());
            Err(format!("{count}: {}, {}: {failure}", row.name, dtype.name()).into())
        }
    }
}
