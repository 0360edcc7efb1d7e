//! What was found: as a table for people, and as JSON for programs.

use std::fmt::Write;

use serde_json::{Value, json};
use wgpu_pooling::DType;

use crate::catalogue::Row;
use crate::clock::Clock;
use crate::data::Data;
use crate::failure::Failure;
use crate::measure::Time;
use crate::run::Figures;

/// A row in an element type, and what came of it.
pub struct Entry {
    pub row: Row,
    pub dtype: DType,
    pub outcome: Result<Figures, Failure>,
}

/// What holds for the whole run.
pub struct Circumstances {
    pub adapter: String,
    pub clock: Clock,
    pub data: Data,
    pub shrink: u64,
    pub rounds: usize,
}

const HEAD: [&str; 8] = ["row", "type", "kernel", "us", "GB/s", "% of copy", "time/copy", "verified"];

/// Rows of cells, the first the head: each kernel that was timed, then what has to be said of the others.
pub fn table(entries: &[Entry], markdown: bool) -> String {
    let mut cells: Vec<Vec<String>> = vec![HEAD.map(str::to_owned).to_vec()];
    let mut notes = Vec::new();
    for Entry { row, dtype, outcome } in entries {
        let name = |kernel: String| vec![row.name.clone(), dtype.name().to_owned(), kernel];
        match outcome {
            Ok(figures) => {
                let verified = format!("{} of {}", figures.verified.slices, figures.verified.of);
                let kernel = format!("{}, selected", figures.kernel);
                cells.push([name(kernel), rates(figures, figures.time).to_vec(), vec![verified]].concat());
                for other in &figures.others {
                    match &other.outcome {
                        Ok(time) => {
                            let same = "as selected".to_owned();
                            cells.push(
                                [name(other.kernel.clone()), rates(figures, *time).to_vec(), vec![same]].concat(),
                            );
                        }
                        Err(why) => notes.push(format!("{}, {}: {} {why}", row.name, dtype.name(), other.kernel)),
                    }
                }
            }
            Err(failure) => notes.push(format!("{}, {}: {failure}", row.name, dtype.name())),
        }
    }
    let mut text = if markdown { as_markdown(&cells) } else { aligned(&cells) };
    for note in notes {
        let _ = writeln!(text, "{}{note}", if markdown { "\n* " } else { "" });
    }
    text
}

/// Microseconds, GB/s, percent of the copy's GB/s, time over the copy's.
fn rates(figures: &Figures, time: Time) -> [String; 4] {
    let gbps = figures.bytes as f64 / time.best * 1e-9;
    [
        format!("{:.1}", time.best * 1e6),
        format!("{gbps:.2}"),
        format!("{:.1}", gbps / figures.copy_gbps() * 100.0),
        format!("{:.2}", time.best / figures.copy.best),
    ]
}

/// Numbers to the right, text to the left.
fn aligned(rows: &[Vec<String>]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..HEAD.len()).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| match column {
            3..=6 => format!("{cell:>width$}"),
            _ => format!("{cell:<width$}"),
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}

fn as_markdown(rows: &[Vec<String>]) -> String {
    let line = |row: &[String]| format!("| {} |\n", row.join(" | "));
    let rule = "| --- | --- | --- | ---: | ---: | ---: | ---: | --- |\n";
    rows.iter().take(1).map(|head| line(head) + rule).chain(rows.iter().skip(1).map(|row| line(row))).collect()
}

/// Everything.
pub fn document(circumstances: &Circumstances, entries: &[Entry]) -> Value {
    let Circumstances { adapter, clock, data, shrink, rounds } = circumstances;
    json!({
        "adapter": adapter,
        "clock": clock.describe(),
        "data": data.name(),
        "shrink": shrink,
        "rounds": rounds,
        "rows": entries.iter().map(entry).collect::<Vec<_>>(),
    })
}

fn entry(Entry { row, dtype, outcome }: &Entry) -> Value {
    let mut value = json!({
        "name": row.name,
        "op": row.operator.name(),
        "dtype": dtype.name(),
        "pooled_shape": row.pooled,
        "indices": row.indices.map(|index_type| index_type.name()),
        "nan_policy": dtype.is_float().then(|| row.nan_policy.name()),
    });
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
            "seconds": time.best,
            "median_seconds": time.median,
            "time_over_copy": time.best / figures.copy.best,
            "time_over_selected": time.best / figures.time.best,
        }),
        Err(why) => json!({ "kernel": other.kernel, "left_out": why }),
    });
    json!({
        "x_shape": figures.x_shape,
        "y_shape": figures.y_shape,
        "kernel": figures.kernel,
        "bytes": figures.bytes,
        "seconds": figures.time.best,
        "median_seconds": figures.time.median,
        "gbps": figures.gbps(),
        "copy_seconds": figures.copy.best,
        "copy_median_seconds": figures.copy.median,
        "copy_gbps": figures.copy_gbps(),
        "percent_of_copy": figures.percent_of_copy(),
        "time_over_copy": figures.time_over_copy(),
        "buffer_sets": figures.sets,
        "verified_slices": figures.verified.slices,
        "slices": figures.verified.of,
        // As text: JSON's numbers are doubles to many readers.
        "y_checksum": format!("{:016x}", figures.y_checksum),
        "indices_checksum": figures.indices_checksum.map(|sum| format!("{sum:016x}")),
        "others": others.collect::<Vec<_>>(),
    })
}
