//! Writes a record of schedules, shader texts and the CPU backend's choices, without names, so that after a change that
//! should only move or rename code it can be seen that it did no more.
//!
//! ```text
//! cargo run --profile test -p record -- NEW                   writes the record to the file NEW
//! cargo run --profile test -p record -- NEW --compare OLD     and fails if it differs from the record in OLD
//! ```
//!
//! A record has a line for each row of the catalogues under benches/ in several types and layouts, and for each of
//! 2,000 seeded plans. An item's numbers are 0, then catalogue, row, type and layout; or 1, then the number of the
//! plan. A line has, under three sets of limits, the schedule in every family and build; for each dispatch its grid, a
//! hash of its uniform, its bindings by number, its constants by value, and a hash of the SPIR-V that naga writes
//! without names; the tiles of some budgets; and the kernels of the CPU backend with their parameters.
//!
//! Whatever has a name in the library is a number in the record, mostly its place in a table of `pooling.rs`. That file
//! alone, with the catalogue's reader which is the roofline example's, calls the library: a change to the public API is
//! followed there. Only the levels of vector instructions that the processor has are recorded, so records are compared
//! on one machine.

#[allow(dead_code, reason = "the roofline example uses the rest")]
#[path = "../../../benches/roofline/src/catalogue.rs"]
mod catalogue;
mod compare;
mod pooling;
mod seeded;
mod texts;
mod values;
#[allow(dead_code, reason = "the roofline example uses the rest")]
#[path = "../../../benches/roofline/src/work.rs"]
mod work;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::process::ExitCode;
use std::time::Instant;

use crate::texts::Texts;

/// Differences that are printed.
const PRINTED: usize = 20;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments[..] {
        [new] if !new.starts_with('-') => write(new).map(|()| true),
        [new, "--compare", old] => write(new).and_then(|()| compare(new, old)),
        _ => Err("usage: record NEW [--compare OLD]".to_owned()),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

fn write(path: &str) -> Result<(), String> {
    let begun = Instant::now();
    let failed = |error: std::io::Error| format!("{path}: {error}");
    let mut file = BufWriter::new(File::create(path).map_err(failed)?);
    let (mut texts, mut lines) = (Texts::default(), 0);
    for item in pooling::items()? {
        writeln!(file, "{}", pooling::line(&item, &mut texts)?).map_err(failed)?;
        lines += 1;
    }
    file.flush().map_err(failed)?;
    let seconds = begun.elapsed().as_secs_f32();
    let [kernels, modules] = texts.counts();
    println!("{path}: {lines} lines, {kernels} kernels, {modules} of them different in SPIR-V, {seconds:.0} s");
    Ok(())
}

/// Whether two records are equal.
fn compare(new: &str, old: &str) -> Result<bool, String> {
    let read = |path: &str| std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"));
    let differences = compare::differences(&read(old)?, &read(new)?)?;
    for difference in differences.iter().take(PRINTED) {
        println!("{difference}");
    }
    match differences.len() {
        0 => println!("{new} is equal to {old}"),
        many => println!("{new} differs from {old} in {many} places"),
    }
    Ok(differences.is_empty())
}
