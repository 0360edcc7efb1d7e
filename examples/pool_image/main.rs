//! Max-pools a picture with argmax, unpools it again, pools it adaptively to a grid, and writes what comes out.
//!
//! `cargo run --release --example pool_image -- picture.png` writes `pooled.png`, `unpooled.png`, `adaptive.png` and
//! `contact_sheet.png` to `pool_image_out/`; `--help` lists the options.

mod engine;
mod font;
mod operators;
mod options;
mod picture;
mod sheet;

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::Parser;
use engine::Engine;
use image::RgbImage;
use operators::{Plans, Results, size};
use options::Options;
use sheet::Panel;

fn main() -> ExitCode {
    let options = match Options::try_parse() {
        Ok(options) => options,
        // Help is not an error and is printed as it is.
        Err(help) if !help.use_stderr() => {
            print(&help.to_string());
            return ExitCode::SUCCESS;
        }
        Err(error) => return fail(&options::one_line(&error)),
    };
    let mut report = String::new();
    let outcome = run(&options, &mut report);
    print(&report);
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&error.to_string()),
    }
}

/// Does it all; what there is to say goes into `report` as far as it comes.
fn run(options: &Options, report: &mut String) -> Result<(), Box<dyn Error>> {
    if options.list_adapters {
        report.push_str(&engine::list(options)?);
        return Ok(());
    }
    let original = picture::read(options.picture.as_deref())?;
    let x = picture::to_tensor(&original)?;
    let plans = Plans::new(options, x.shape())?;
    let engine = Engine::open(options)?;
    // Before anything is computed, because nothing is worth computing that cannot be written.
    let folder = &options.out;
    fs::create_dir_all(folder).map_err(|error| format!("cannot make the folder {}: {error}", folder.display()))?;

    let (results, kernels) = engine.compute(&plans, x.view())?;
    writeln!(report, "computed on  {}", engine.name())?;
    writeln!(report, "x            f32 {:?}", x.shape())?;
    writeln!(report, "y            f32 {:?}", results.pooled.shape())?;
    writeln!(report, "indices      i64 {:?}", results.indices.shape())?;
    writeln!(report, "unpooled     f32 {:?}", results.unpooled.shape())?;
    writeln!(report, "adaptive     f32 {:?}", results.adaptive.shape())?;
    writeln!(report, "its indices  i64 {:?}", results.adaptive_indices.shape())?;
    for kernel in kernels {
        writeln!(report, "kernel       {kernel}")?;
    }
    if engine.is_gpu() {
        let expected = operators::by_reference(&plans, x.view())?;
        let [values, indices] =
            results.compare(&expected).map_err(|difference| format!("GPU and CPU disagree: {difference}"))?;
        writeln!(report, "agreement    GPU and CPU: {values} values and {indices} indices, bit for bit")?;
    } else {
        writeln!(report, "agreement    nothing to compare: the CPU path alone")?;
    }

    for (name, picture) in pictures(options, &original, &plans, &results)? {
        picture::write(folder, name, &picture)?;
        writeln!(report, "wrote        {}", folder.join(name).display())?;
    }
    Ok(())
}

/// The pictures to write, by the names of their files.
fn pictures(
    options: &Options,
    original: &RgbImage,
    plans: &Plans,
    results: &Results,
) -> Result<[(&'static str, RgbImage); 4], Box<dyn Error>> {
    let pooled = picture::from_tensor(&results.pooled)?;
    let unpooled = picture::from_tensor(&results.unpooled)?;
    let adaptive = picture::from_tensor(&results.adaptive)?;
    let [kernel, stride] = [options.kernel, options.stride()].map(|[height, width]| format!("{height} x {width}"));
    let grid = size(plans.adaptive.output_shape());
    let panels = [
        (original, format!("original, maxima of {grid} marked")),
        (&pooled, format!("max pool {kernel}, stride {stride}: {}", size(plans.pool.output_shape()))),
        (&unpooled, format!("max unpool: {}", size(plans.unpool.output_shape()))),
        (&adaptive, format!("adaptive max pool: {grid}")),
    ];
    let panels = panels.map(|(picture, caption)| Panel { picture, caption });
    let index_plan = plans.adaptive.indices().ok_or("the adaptive pool was planned without indices")?;
    let contact_sheet = sheet::compose(panels, &results.adaptive_indices, &index_plan.space);
    Ok([
        ("pooled.png", pooled),
        ("unpooled.png", unpooled),
        ("adaptive.png", adaptive),
        ("contact_sheet.png", contact_sheet),
    ])
}

/// Prints to stdout. A reader that has gone away, as `head` does, is no failure.
fn print(text: &str) {
    let _ = io::stdout().write_all(text.as_bytes());
}

/// One line on stderr, whatever the error's text looks like.
fn fail(message: &str) -> ExitCode {
    let _ = writeln!(io::stderr(), "pool_image: {}", engine::one_line(message));
    ExitCode::FAILURE
}
