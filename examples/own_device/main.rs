//! An application with its own wgpu device, kernels and command encoder, in which wgpu-pooling is a guest.
//!
//! `cargo run --release --example own_device` writes `own_device.png`; `--help` lists the options.

mod frame;
mod options;

use std::error::Error;
use std::fmt::Write;
use std::process::ExitCode;

use examples::adapter::describe;
use examples::agreement::{agreement, expected, same};
use examples::application::Host;
use examples::{common, picture};
use frame::{Plans, Pooling, Results};
use image::{Rgb, RgbImage};
use options::Options;
use wgpu_pooling::{Gpu, Limits};

fn main() -> ExitCode {
    common::main(run)
}

/// Runs the example and appends what it finds to `report`, which is printed even if an error follows.
fn run(options: &Options, report: &mut String) -> Result<(), Box<dyn Error>> {
    let plans = Plans::new(options.size, options.window)?;
    let host = Host::open(&options.gpu)?;
    // From here on the library uses the device as a guest. It sets no callback, so the host's lost callback has to
    // notify it of a loss.
    let gpu = Gpu::from_wgpu(host.device.clone(), host.queue.clone());
    host.pass_losses_on(gpu.loss_notifier());
    let pooling = Pooling::new(&gpu, &plans)?;
    let results = frame::draw(&host, &pooling, &plans)?;

    writeln!(report, "device       opened by this program: {}", describe(&host.adapter))?;
    writeln!(report, "limits       {}", limits(&gpu.limits()))?;
    writeln!(report, "frame        u8 {:?}, channels last", results.frame.shape())?;
    writeln!(report, "maxima       u8 {:?} and i32 indices", results.maxima.shape())?;
    writeln!(report, "encoded      draw, by this program")?;
    writeln!(report, "encoded      {}, in a pass of its own", pooling.pool.schedule().kernel())?;
    writeln!(report, "encoded      darken, by this program")?;
    writeln!(report, "encoded      {}, in this program's open pass", pooling.unpool.schedule().kernel())?;
    writeln!(report, "encoded      lights, by this program")?;
    writeln!(report, "submitted    once, by this program; the device's first: {}", results.submission)?;
    writeln!(report, "agreement    {}", compare(&plans, &results)?)?;
    picture::write(&options.out, &rgb(&results, options.size))?;
    writeln!(report, "wrote        {}", options.out.display())?;

    let heard = host.lose();
    let refused =
        gpu.prepare_blocking(plans.pool).err().map_or_else(|| "nothing".to_owned(), |error| error.to_string());
    writeln!(report, "lost         this program's callback heard: {heard}; the library then says: {refused}")?;
    host.check()
}

fn limits(limits: &Limits) -> String {
    let Limits { max_buffer_bytes, max_binding_bytes, max_workgroups_per_dimension, max_storage_buffers, software } =
        limits;
    let adapter = if *software { "a software adapter" } else { "a GPU" };
    format!(
        "{max_buffer_bytes} bytes in a buffer, {max_binding_bytes} in a binding, {max_workgroups_per_dimension} \
         workgroups along a dimension, {max_storage_buffers} storage buffers in a kernel, on {adapter}"
    )
}

/// Compares what the library computed from the drawn frame with the reference.
fn compare(plans: &Plans, results: &Results) -> Result<String, Box<dyn Error>> {
    let (maxima, indices) = expected(plans.pool.clone(), &[(&results.frame).into()])?;
    let unpooled = expected(plans.unpool.clone(), &[(&maxima).into(), (&indices).into()])?;
    let values = same("maximum", &results.maxima, &maxima, |value| value)?
        + same("unpooled value", &results.unpooled, &unpooled, |value| value)?;
    let indices = same("index", &results.indices, &indices, |index| index)?;
    Ok(agreement([values, indices]))
}

fn rgb(results: &Results, size: u32) -> RgbImage {
    let pixels = results.picture.data();
    RgbImage::from_fn(size, size, |x, y| {
        let at = (y * size + x) as usize * 4;
        Rgb([pixels[at], pixels[at + 1], pixels[at + 2]])
    })
}
