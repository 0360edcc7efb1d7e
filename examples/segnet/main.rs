//! The pools and unpools of an encoder-decoder network in the manner of SegNet, resident on the device: one chain, one
//! submit.
//!
//! `cargo run --release --example segnet` runs it and counts the bytes across the bus; `--help` lists the options.

mod network;
mod options;

use std::error::Error;
use std::fmt::Write;
use std::process::ExitCode;

use examples::adapter::describe;
use examples::agreement::same;
use examples::common;
use half::{bf16, f16};
use network::{Bus, Network, Plans};
use options::Options;
use wgpu_pooling::{DType, Element, Gpu, Results, Schedule, Tensor};

fn main() -> ExitCode {
    common::main(|options: &Options, report| match options.dtype {
        DType::F16 => run(options, report, |noise| f16::from_f32(noise * 2.0 - 1.0)),
        DType::Bf16 => run(options, report, |noise| bf16::from_f32(noise * 2.0 - 1.0)),
        DType::U8 => run(options, report, |noise| (noise * 256.0) as u8),
        _ => run::<f32>(options, report, |noise| noise * 2.0 - 1.0),
    })
}

/// Runs the example and appends what it finds to `report`, which is printed even if an error follows.
fn run<T: Element>(options: &Options, report: &mut String, from_noise: fn(f32) -> T) -> Result<(), Box<dyn Error>> {
    let [height, width] = options.size;
    let shape = [options.batch, options.channels, height, width];
    let plans = Plans::new::<T>(&shape, options.levels)?;
    let gpu_options = options.gpu.options();
    let gpu = Gpu::open_blocking(&if options.timings { gpu_options.timestamps() } else { gpu_options })?;
    let network = Network::new(&gpu, &plans)?;
    let x = Tensor::new(shape, noise(from_noise).take(shape.iter().product()).collect())?;

    let run = network.run(gpu.chain(), &x)?;
    writeln!(report, "computed on  {}", describe(&gpu.adapter_info()))?;
    writeln!(report, "network      {} max pools down, as many unpools up; no convolutions between", options.levels)?;
    writeln!(report, "x            {} {shape:?}", T::DTYPE.name())?;
    for (name, schedule) in names(options.levels).into_iter().zip(network.schedules()) {
        writeln!(report, "{name:<12} {:?} by {}", schedule.output_shape(), schedule.kernel())?;
    }
    let scratch: u64 = network.schedules().map(Schedule::scratch_bytes).sum();
    writeln!(report, "submitted    once, {} steps; {scratch} bytes of scratch memory", network.schedules().count())?;
    bus(report, run.bus, network.call_by_call())?;
    let values = same("value", &run.y, &plans.by_reference(&x)?, bits)?;
    writeln!(report, "agreement    with the reference: {values} values, bit for bit")?;
    if options.timings {
        // The first run was the warm-up: drivers finish compiling, and clear fresh memory, at first use.
        let timed = network.run(gpu.chain().timed(), &x)?;
        timings(report, options.levels, &timed.results)?;
    }
    Ok(())
}

/// The bits of a value: compared by them, NaN is equal to itself and -0 differs from 0.
fn bits<T: Element>(value: T) -> [u8; 8] {
    let mut bits = [0; 8];
    bits[..size_of::<T>()].copy_from_slice(bytemuck::bytes_of(&value));
    bits
}

/// What the steps are called, in the order in which they run.
fn names(levels: u32) -> Vec<String> {
    (1..=levels)
        .map(|level| format!("down {level}"))
        .chain((1..=levels).rev().map(|level| format!("up {level}")))
        .collect()
}

fn bus(report: &mut String, chain: Bus, calls: Bus) -> Result<(), std::fmt::Error> {
    let line = |Bus { up, down }: Bus| format!("{up} bytes up, {down} bytes down, {} in all", up + down);
    writeln!(report, "across bus   {}: x, the last tensor and a report of each unpool", line(chain))?;
    writeln!(report, "call by call {}: from slices to vectors each time", line(calls))?;
    let times = (calls.up + calls.down) as f64 / (chain.up + chain.down) as f64;
    writeln!(report, "so           {times:.2} times as much would have moved")
}

fn timings(report: &mut String, levels: u32, results: &Results) -> Result<(), std::fmt::Error> {
    let Some(steps) = results.timings() else {
        return writeln!(report, "timings      none: this adapter has no timestamps");
    };
    for (name, step) in names(levels).iter().zip(steps) {
        writeln!(
            report,
            "{:<12} {:>10.1} us, {}",
            format!("{name} took"),
            step.duration.as_secs_f64() * 1e6,
            step.kernel
        )?;
    }
    let total = steps.iter().map(|step| step.duration.as_secs_f64()).sum::<f64>();
    writeln!(report, "all took     {:>10.1} us", total * 1e6)
}

/// Reproducible noise from 0 to just below 1, with few enough levels that maxima tie now and then.
fn noise<T>(from: fn(f32) -> T) -> impl Iterator<Item = T> {
    let mut state = 12345u32;
    std::iter::repeat_with(move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        from((state >> 22) as f32 / 1024.0)
    })
}
