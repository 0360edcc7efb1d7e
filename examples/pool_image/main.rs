//! Max-pools a picture with argmax, unpools it again, pools it adaptively to a grid, and writes what comes out.
//!
//! `cargo run --release --example pool_image -- picture.png` writes `pooled.png`, `unpooled.png`, `adaptive.png` and
//! `contact_sheet.png` to `pool_image_out/`; `--help` lists the options.

mod operators;
mod options;
mod planes;
mod sheet;

use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::process::ExitCode;

use examples::agreement::agreement;
use examples::{common, picture};
use image::RgbImage;
use operators::{Plans, Results, size};
use options::Options;
use sheet::Panel;
use wgpu_pooling::Reference;

/// The picture that is taken when none is named: CC0, see examples/images/README.md.
const CAT: &[u8] = include_bytes!("../images/chelsea.jpg");

fn main() -> ExitCode {
    common::main(run)
}

/// Runs the example and appends what it finds to `report`, which is printed even if an error follows.
fn run(options: &Options, report: &mut String) -> Result<(), Box<dyn Error>> {
    let original = picture::read(options.picture.as_deref(), CAT)?;
    let x = planes::from_picture(&original)?;
    let plans = Plans::new(options, x.shape())?;
    let (device, name) = options.place.open()?;
    // The folder is made before anything is computed, since results that cannot be written are not worth computing.
    let folder = &options.out;
    fs::create_dir_all(folder).map_err(|error| format!("cannot make the folder {}: {error}", folder.display()))?;

    let (results, kernels) = plans.compute(&*device, &x)?;
    writeln!(report, "computed on  {name}")?;
    writeln!(report, "x            f32 {:?}", x.shape())?;
    writeln!(report, "y            f32 {:?}", results.pooled.shape())?;
    writeln!(report, "indices      i64 {:?}", results.indices.shape())?;
    writeln!(report, "unpooled     f32 {:?}", results.unpooled.shape())?;
    writeln!(report, "adaptive     f32 {:?}", results.adaptive.shape())?;
    writeln!(report, "its indices  i64 {:?}", results.adaptive_indices.shape())?;
    for kernel in kernels {
        writeln!(report, "kernel       {kernel}")?;
    }
    let (expected, _) = plans.compute(&Reference, &x)?;
    let agreed = results.compare(&expected)?;
    writeln!(report, "agreement    {}", agreement(agreed))?;

    for (name, picture) in pictures(options, &original, &plans, &results)? {
        let file = folder.join(name);
        picture::write(&file, &picture)?;
        writeln!(report, "wrote        {}", file.display())?;
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
    let pooled = planes::to_picture(&results.pooled)?;
    let unpooled = planes::to_picture(&results.unpooled)?;
    let adaptive = planes::to_picture(&results.adaptive)?;
    let [kernel, stride] = [options.kernel, options.stride()].map(|[height, width]| format!("{height} x {width}"));
    let grid = size(plans.adaptive.output_shape());
    let panels = [
        (original, format!("original, maxima of {grid} marked")),
        (&pooled, format!("max pool {kernel}, stride {stride}: {}", size(plans.pool.output_shape()))),
        (&unpooled, format!("max unpool: {}", size(plans.unpool.output_shape()))),
        (&adaptive, format!("adaptive max pool: {grid}")),
    ];
    let panels = panels.map(|(picture, caption)| Panel { picture, caption });
    let space = plans.adaptive.index_space().ok_or("the adaptive pool was planned without indices")?;
    let contact_sheet = sheet::compose(panels, &results.adaptive_indices, space);
    Ok([
        ("pooled.png", pooled),
        ("unpooled.png", unpooled),
        ("adaptive.png", adaptive),
        ("contact_sheet.png", contact_sheet),
    ])
}
