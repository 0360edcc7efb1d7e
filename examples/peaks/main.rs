//! Finds the bright objects of a picture: the pixels that are the maximum of the window around them.
//!
//! `cargo run --release --example peaks -- picture.jpg` lists the brightest ones and writes `peaks.png`, on which they
//! are marked; `--help` lists the options.

mod brightness;
mod marks;
mod options;

use std::error::Error;
use std::fmt::Write;
use std::process::ExitCode;

use examples::agreement::{expected, same};
use examples::{common, picture};
use options::Options;
use wgpu_pooling::{Backend, DType, Dilate, Peak, PreparedPlan, Tensor};

/// The picture that is taken when none is named: by NASA, see examples/images/README.md.
const HUBBLE_DEEP_FIELD: &[u8] = include_bytes!("../images/hubble_deep_field.jpg");

fn main() -> ExitCode {
    common::main(run)
}

/// Runs the example and appends what it finds to `report`, which is printed even if an error follows.
fn run(options: &Options, report: &mut String) -> Result<(), Box<dyn Error>> {
    let original = picture::read(options.picture.as_deref(), HUBBLE_DEEP_FIELD)?;
    let x = brightness::of(&original)?;
    // One output for each pixel: the maximum of the window around it.
    let windows = Dilate::new([options.window; 2]);
    let plan = windows.plan(x.shape(), DType::U32, None)?;
    let (device, name) = options.place.open()?;

    let prepared = pollster::block_on(device.prepare(plan.clone()))?;
    let y: Tensor<u32> = prepared.call_blocking(&[(&x).into()])?;
    writeln!(report, "computed on  {name}")?;
    writeln!(report, "picture      {} x {}: {}", original.width(), original.height(), brightness::WHAT)?;
    writeln!(report, "x            u32 {:?}", x.shape())?;
    writeln!(report, "kernel       {}", prepared.kernel())?;
    let values = same("value", &y, &expected(plan, &[(&x).into()])?, |value| value)?;
    writeln!(report, "agreement    with the reference: {values} values, bit for bit")?;

    // The brightest comes first. `windows.on(&x).peaks().run_blocking(&device)` does both in one call.
    let found = windows.on(&x).peaks().of_y(&y)?;
    let maxima: Vec<Peak<'_, u32>> = found.iter().collect();
    let (window, threshold) = (options.window, options.threshold);
    let peaks = maxima.partition_point(|peak| brightness::in_grey(peak.value) >= threshold);
    writeln!(report, "maxima       {} in windows of {window} x {window}", maxima.len())?;
    writeln!(report, "peaks        {peaks}, maxima of a brightness of {threshold} or more")?;
    let strongest = &maxima[..options.top.min(peaks)];
    picture::write(&options.out, &marks::draw(&original, &strongest.iter().map(place).collect::<Vec<_>>()))?;
    writeln!(report, "wrote        {}, the {} brightest marked", options.out.display(), strongest.len())?;
    table(strongest, report)
}

/// The x and the y of a peak.
fn place(peak: &Peak<'_, u32>) -> [u32; 2] {
    [peak.position[3], peak.position[2]].map(|at| at as u32)
}

/// Appends a table of peaks, one in a line.
fn table(peaks: &[Peak<'_, u32>], report: &mut String) -> Result<(), Box<dyn Error>> {
    if !peaks.is_empty() {
        report.push_str("\n  rank      x      y  brightness\n");
    }
    for (rank, peak) in (1..).zip(peaks) {
        let ([x, y], brightness) = (place(peak), brightness::in_grey(peak.value));
        writeln!(report, "{rank:6} {x:6} {y:6} {brightness:11.2}")?;
    }
    Ok(())
}
