//! Finds the bright objects of a picture, that is its local maxima, by one max pool with argmax.
//!
//! `cargo run --release --example peaks -- picture.jpg` lists the brightest ones and writes `peaks.png`, on which they
//! are marked; `--help` lists the options.

#[path = "../common/agreement.rs"]
mod agreement;
mod brightness;
#[path = "../common/mod.rs"]
mod common;
#[path = "../common/engine.rs"]
mod engine;
#[path = "../common/font.rs"]
mod font;
mod marks;
mod options;
mod peak;
#[path = "../common/picture.rs"]
mod picture;

use std::error::Error;
use std::fmt::Write;
use std::process::ExitCode;

use agreement::{agreement, expected, same};
use options::Options;
use wgpu_pooling::{AutoPad, Backend, DType, IndexType, MaxPool, Run, Tensor};

/// The picture that is taken when none is named: by NASA, see examples/images/README.md.
const HUBBLE_DEEP_FIELD: &[u8] = include_bytes!("../images/hubble_deep_field.jpg");

fn main() -> ExitCode {
    common::main(run)
}

/// Runs the example and appends what it finds to `report`, which is printed even if an error follows.
fn run(options: &Options, report: &mut String) -> Result<(), Box<dyn Error>> {
    let original = picture::read(options.picture.as_deref(), HUBBLE_DEEP_FIELD)?;
    let x = brightness::of(&original)?;
    // The pool has one output for each pixel: the maximum of the window around it.
    let pool = MaxPool::new([options.window; 2]).auto_pad(AutoPad::SameUpper);
    let plan = pool.plan(x.shape(), DType::U32, Some(IndexType::I32))?;
    let (device, name) = options.place.open()?;

    let pool = pollster::block_on(device.prepare(plan.clone()))?;
    let (y, indices): (Tensor<u32>, Tensor<i32>) = pool.call_blocking(&[(&x).into()])?;
    writeln!(report, "computed on  {name}")?;
    writeln!(report, "picture      {} x {}: {}", original.width(), original.height(), brightness::WHAT)?;
    writeln!(report, "x            u32 {:?}", x.shape())?;
    writeln!(report, "indices      i32 {:?}", indices.shape())?;
    writeln!(report, "kernel       {}", pool.kernel())?;
    let (expected_y, expected_indices) = expected(plan, &[(&x).into()])?;
    let values = same("value", &y, &expected_y, |value| value)?;
    let agreed = [values, same("index", &indices, &expected_indices, |index| index)?];
    writeln!(report, "agreement    {}", agreement(agreed))?;

    let (maxima, peaks) = peak::find(&x, &indices, options.threshold);
    let (window, threshold) = (options.window, options.threshold);
    writeln!(report, "maxima       {maxima} in windows of {window} x {window}")?;
    writeln!(report, "peaks        {}, maxima of a brightness of {threshold} or more", peaks.len())?;
    let strongest = &peaks[..options.top.min(peaks.len())];
    picture::write(&options.out, &marks::draw(&original, strongest))?;
    writeln!(report, "wrote        {}, the {} brightest marked", options.out.display(), strongest.len())?;
    report.push_str(&peak::table(strongest));
    Ok(())
}
