//! The results as a table for people and as JSON for programs.

use std::path::Path;

use serde_json::{Value, json};

use crate::classes;
use crate::columns::Columns;
use crate::data::Data;
use crate::figures::{Entry, Figures};
use crate::measure::Time;
use crate::sweep;

/// What holds for the whole run.
pub struct Circumstances {
    pub adapter: String,
    /// The clock in words.
    pub clock: &'static str,
    /// Threads and vector instructions, where the CPU backend computes.
    pub on_cpu: Option<(usize, &'static str)>,
    pub data: Data,
    pub shrink: u64,
    pub rounds: usize,
    /// The parameters of the sweep, if the rows are random geometries.
    pub sweep: Option<sweep::Draws>,
}

/// A table of the kernels that were timed, and below it why others were left out.
pub fn table(entries: &[Entry], markdown: bool) -> String {
    // The columns for the f32 copy and for CPU time are left out if no row has them.
    let any = |has: fn(&Figures) -> bool| entries.iter().flat_map(|entry| &entry.outcome).any(has);
    let f32_head = any(|figures| figures.f32_copy.is_some()).then_some("time/f32 copy");
    let cpu_head = any(|figures| figures.time.cpu_over_wall.is_some()).then_some("CPU/wall");
    let numbers = ["us", "GB/s", "% of copy", "time/copy"].into_iter().chain(f32_head).chain(cpu_head);
    let numbers: Vec<&str> = numbers.chain(["verified"]).collect();
    let mut columns = Columns::new(&["row", "type", "kernel"], &numbers);
    let mut notes = Vec::new();
    for Entry { row, dtype, outcome, .. } in entries {
        let name = |kernel: String| vec![row.name.clone(), dtype.name().to_owned(), kernel];
        let Ok(figures) = outcome else { continue };
        let verified = format!("{} of {}", figures.checked.verified.slices, figures.checked.verified.of);
        let kernel = format!("{}, selected", figures.kernel);
        columns.push([name(kernel), rates(figures, figures.time), vec![verified]].concat());
        for other in &figures.others {
            match &other.outcome {
                Ok(time) => {
                    let same = "as selected".to_owned();
                    columns.push([name(other.kernel.clone()), rates(figures, *time), vec![same]].concat());
                }
                Err(why) => notes.push(format!("{}, {}: {} {why}", row.name, dtype.name(), other.kernel)),
            }
        }
    }
    columns.text(markdown) + &noted(&notes, markdown)
}

/// The rows without figures, and why they have none.
pub fn failures(entries: &[Entry], markdown: bool) -> String {
    let failed = entries.iter().filter_map(|entry| Some((entry, entry.outcome.as_ref().err()?)));
    let notes = failed.map(|(Entry { row, dtype, .. }, failure)| format!("{}, {}: {failure}", row.name, dtype.name()));
    noted(&notes.collect::<Vec<_>>(), markdown)
}

fn noted(notes: &[String], markdown: bool) -> String {
    notes.iter().map(|note| format!("{}{note}\n", if markdown { "\n* " } else { "" })).collect()
}

/// Microseconds, GB/s, percent of the copy's GB/s, time over the copy's time, over the f32 copy's time if there is one,
/// and CPU time over wall time if it is known.
fn rates(figures: &Figures, time: Time) -> Vec<String> {
    let gbps = figures.bytes as f64 / time.best * 1e-9;
    let mut rates = vec![
        format!("{:.1}", time.best * 1e6),
        format!("{gbps:.2}"),
        format!("{:.1}", gbps / figures.copy_gbps() * 100.0),
        format!("{:.2}", time.best / figures.copy.best),
    ];
    rates.extend(figures.f32_copy.map(|copy| format!("{:.2}", time.best / copy.time.best)));
    rates.extend(time.cpu_over_wall.map(|ratio| format!("{ratio:.2}")));
    rates
}

/// Writes results as JSON to a file.
pub fn write_json(path: &Path, figures: &Value) -> Result<(), String> {
    std::fs::write(path, format!("{figures:#}\n")).map_err(|error| format!("cannot write {}: {error}", path.display()))
}

/// All results as JSON.
pub fn document(circumstances: &Circumstances, entries: &[Entry]) -> Value {
    let Circumstances { adapter, clock, on_cpu, data, shrink, rounds, sweep } = circumstances;
    let mut value = json!({
        "adapter": adapter,
        "clock": clock,
        "data": data.name(),
        "shrink": shrink,
        "rounds": rounds,
        "rows": entries.iter().map(entry).collect::<Vec<_>>(),
    });
    if let Some((threads, simd)) = on_cpu {
        value["threads"] = json!(threads);
        value["simd"] = json!(simd);
    }
    if let Some(sweep) = sweep {
        value["sweep"] = sweep::document(sweep, entries);
    }
    value
}

fn entry(Entry { row, dtype, number, outcome }: &Entry) -> Value {
    let mut value = json!({
        "name": row.name,
        "op": row.operator.name(),
        "dtype": dtype.name(),
        "pooled_shape": row.pooled,
        "indices": row.indices.map(|index_type| index_type.name()),
        "nan_policy": dtype.is_float().then(|| row.nan_policy.name()),
    });
    if number.is_some() {
        value["sweep_number"] = json!(number);
        value["classes"] = json!(classes::names(row, *dtype));
        value["row"] = row.entry(*dtype);
    }
    let figures = match outcome {
        Ok(figures) => figures_of(figures),
        Err(failure) => json!({ "failure": failure.kind(), "reason": failure.to_string() }),
    };
    if let (Some(value), Value::Object(figures)) = (value.as_object_mut(), figures) {
        value.extend(figures);
    }
    value
}

fn figures_of(figures: &Figures) -> Value {
    let others = figures.others.iter().map(|other| match &other.outcome {
        Ok(time) => json!({
            "kernel": other.kernel,
            "dispatches": other.dispatches,
            "seconds": time.best,
            "median_seconds": time.median,
            "time_over_copy": time.best / figures.copy.best,
            "time_over_selected": time.best / figures.time.best,
        }),
        Err(why) => json!({ "kernel": other.kernel, "dispatches": other.dispatches, "left_out": why }),
    });
    let mut value = json!({
        "x_shape": figures.x_shape,
        "y_shape": figures.y_shape,
        "kernel": figures.kernel,
        "dispatches": figures.dispatches,
        "bytes": figures.bytes,
        "seconds": figures.time.best,
        "median_seconds": figures.time.median,
        "gbps": figures.gbps(),
        "first_use_cpu_seconds": figures.checked.first_use_cpu,
        "copy_seconds": figures.copy.best,
        "copy_median_seconds": figures.copy.median,
        "copy_gbps": figures.copy_gbps(),
        "percent_of_copy": figures.percent_of_copy(),
        "time_over_copy": figures.time_over_copy(),
        "buffer_sets": figures.sets,
        "verified_slices": figures.checked.verified.slices,
        "slices": figures.checked.verified.of,
        // As text, because many JSON readers take all numbers for doubles.
        "y_checksum": format!("{:016x}", figures.checked.y_checksum),
        "indices_checksum": figures.checked.indices_checksum.map(|sum| format!("{sum:016x}")),
        "others": others.collect::<Vec<_>>(),
    });
    if let (Some(ratio), Some(of_copy)) = (figures.time.cpu_over_wall, figures.copy.cpu_over_wall) {
        value["cpu_over_wall"] = json!(ratio);
        value["copy_cpu_over_wall"] = json!(of_copy);
    }
    if let Some(copy) = &figures.f32_copy {
        value["f32_copy_bytes"] = json!(copy.bytes);
        value["f32_copy_seconds"] = json!(copy.time.best);
        value["f32_copy_median_seconds"] = json!(copy.time.median);
        value["time_over_f32_copy"] = json!(figures.time_over_f32_copy());
    }
    value
}
