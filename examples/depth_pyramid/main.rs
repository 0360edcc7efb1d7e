//! The depth pyramid (Hi-Z) of a renderer: each texel of each level is the exact bound of its footprint, at any size.
//!
//! `cargo run --release --example depth_pyramid` draws, pools and compares; `--help` lists the options.

mod pyramid;
mod scene;

use std::error::Error;
use std::fmt::Write;
use std::iter;
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use examples::adapter::describe;
use examples::application::{Host, Kernel};
use examples::common;
use examples::gpu::Wanted;
use pyramid::{Levels, Texels, Way, definition};
use scene::Scene;
use wgpu_pooling::wgpu::{self, BufferUsages};
use wgpu_pooling::{Bound, ExecuteError, Gpu};

/// The depth pyramid by which a renderer finds what is hidden: an application draws a depth texture, and wgpu-pooling
/// records all levels of it, the farthest and the nearest depth of each texel's footprint, into the same encoder.
///
/// Every texel has to agree bit for bit with its definition. A chain of 2 x 2 pools is compared with it too.
#[derive(Debug, Parser)]
#[command(name = "depth_pyramid")]
struct Options {
    /// Width and height of the depth texture, 4096 at most
    #[arg(long, value_name = "WxH", default_value = "1921x1081", value_parser = size, allow_hyphen_values = true)]
    size: [u32; 2],

    /// Draw with reversed depth: 1 is near, 0 is far
    #[arg(long)]
    reversed: bool,

    #[command(flatten)]
    gpu: Wanted,
}

fn size(text: &str) -> Result<[u32; 2], String> {
    let side = |text: &str| text.parse().ok().filter(|side| (1..=4096).contains(side));
    let sides = text.split_once('x').and_then(|(width, height)| Some([side(width)?, side(height)?]));
    sides.ok_or_else(|| format!("{text:?} is not a width and a height from 1 to 4096, such as 1921x1081"))
}

fn main() -> ExitCode {
    common::main(run)
}

/// Runs the example and appends what it finds to `report`, which is printed even if an error follows.
fn run(options: &Options, report: &mut String) -> Result<(), Box<dyn Error>> {
    let host = Host::open(&options.gpu)?;
    // From here on the library uses the device as a guest.
    let gpu = Gpu::from_wgpu(host.device.clone(), host.queue.clone());
    host.pass_losses_on(gpu.loss_notifier());
    let scene = Scene::new(&host.device, options.size, options.reversed);
    let levels = Levels::new(options.size, host.device.limits().min_storage_buffer_offset_alignment.into());
    let compute = |way: Way| -> Result<_, Box<dyn Error>> {
        let pyramid = Pyramid::new(&host, &gpu, &scene, &levels, way)?;
        Ok((levels.texels(&pyramid.frame(&host, &scene, options.size)?), pyramid.milliseconds(&host)?))
    };
    let (exact, time) = compute(Way::Exact)?;
    let (chain, time_of_chain) = compute(Way::Chain)?;

    let (ends, farthest) = if options.reversed { ("1 near, 0 far", "minima") } else { ("0 near, 1 far", "maxima") };
    let [high, low] = exact.each_ref().map(|levels| levels[levels.len() - 1][0]);
    writeln!(report, "device       opened by this program: {}", describe(&host.adapter))?;
    writeln!(report, "depth        {ends}, here from {low} to {high}; the {farthest} are the farthest depths")?;
    writeln!(report, "submitted    once a frame: the scene, level 0 and all pools, in one encoder")?;
    writeln!(report, "levels       {}, ranges of one buffer of {} bytes", levels.sizes.len(), levels.bytes)?;
    compare(report, options, &levels, [&exact, &chain])?;
    let software = host.adapter.device_type == wgpu::DeviceType::Cpu;
    let note = if software { " (on a software adapter, which says nothing about a GPU)" } else { "" };
    writeln!(report, "took         {time:.3} ms, {:.2} times as long as the chain{note}", time / time_of_chain)?;
    Ok(())
}

/// Compares all levels with their definition: those of the adaptive pools, which have to agree, and those of the chain.
fn compare(
    report: &mut String,
    options: &Options,
    levels: &Levels,
    [exact, chain]: [&Texels; 2],
) -> Result<(), Box<dyn Error>> {
    let (bound, nearer): (_, fn(&f32, &f32) -> bool) = if options.reversed { (1, f32::gt) } else { (0, f32::lt) };
    let (mut all, mut wrong, mut wrong_in_chain, mut hiding) = (0, 0, 0, 0);
    writeln!(
        report,
        "level  extent       from  bytes     wrong maxima  wrong minima  wrong in a chain of 2 x 2 pools"
    )?;
    for (level, &[width, height]) in levels.sizes.iter().enumerate().skip(1) {
        let expected = [f32::max, f32::min].map(|pick| definition(&exact[0][0], levels, level, pick));
        let counts = [0, 1].map(|bound| differing(&exact[bound][level], &expected[bound]));
        let in_chain = differing(&chain[bound][level], &expected[bound]);
        let pairs = iter::zip(&chain[bound][level], &expected[bound]);
        hiding += pairs.filter(|(found, expected)| nearer(found, expected)).count();
        wrong_in_chain += in_chain;
        wrong += counts[0] + counts[1];
        all += width * height;
        let (from, bytes) = (Way::Exact.source(&levels.sizes, level), width * height * 4);
        let (extent, [maxima, minima]) = (format!("{width} x {height}"), counts);
        writeln!(report, "{level:<6} {extent:<12} {from:<5} {bytes:<9} {maxima:<13} {minima:<13} {in_chain}")?;
    }
    if wrong > 0 {
        return Err(format!("{wrong} texels are not what the definition gives").into());
    }
    writeln!(report, "agreement    with the definition: {all} maxima and {all} minima, bit for bit")?;
    writeln!(
        report,
        "2 x 2 chain  {wrong_in_chain} of {all} farthest depths are wrong: {hiding} too near, which hides what is visible"
    )?;
    Ok(())
}

/// How many texels have other bits.
fn differing(found: &[f32], expected: &[f32]) -> usize {
    iter::zip(found, expected).filter(|(found, expected)| found.to_bits() != expected.to_bits()).count()
}

/// A pyramid ready for any number of frames: its buffer, the kernel that fills level 0, the pools.
struct Pyramid {
    buffer: wgpu::Buffer,
    level_0: Kernel,
    pools: Vec<Bound>,
}

impl Pyramid {
    fn new(host: &Host, gpu: &Gpu, scene: &Scene, levels: &Levels, way: Way) -> Result<Pyramid, ExecuteError> {
        let buffer = host.buffer("levels", levels.bytes, BufferUsages::STORAGE | BufferUsages::COPY_SRC);
        let resources = [wgpu::BindingResource::TextureView(&scene.view), buffer.as_entire_binding()];
        let level_0 = host.kernel("level 0", include_str!("level_0.wgsl"), &resources);
        let pools = way.bind(gpu, levels, &buffer)?;
        Ok(Pyramid { buffer, level_0, pools })
    }

    /// A frame in one encoder: the scene, then level 0 and all other levels in one pass. Returns the whole buffer.
    fn frame(&self, host: &Host, scene: &Scene, size: [u32; 2]) -> Result<Vec<f32>, Box<dyn Error>> {
        let staging = host.buffer("readback", self.buffer.size(), BufferUsages::MAP_READ | BufferUsages::COPY_DST);
        let mut encoder = host.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        scene.draw(&mut encoder);
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        self.level_0.dispatch(&mut pass, size);
        self.pools.iter().try_for_each(|pool| pool.encode(&mut pass))?;
        drop(pass);
        // A renderer would go on here with what culls by the levels. This program reads them back.
        encoder.copy_buffer_to_buffer(&self.buffer, 0, &staging, 0, staging.size());
        let submission_index = Some(host.queue.submit([encoder.finish()]));
        staging.map_async(wgpu::MapMode::Read, .., |_| {});
        host.device.poll(wgpu::PollType::Wait { submission_index, timeout: None })?;
        host.check()?;
        let view = staging.get_mapped_range(..)?;
        Ok(bytemuck::pod_collect_to_vec(&view))
    }

    /// What the pools of a frame take: the least of three submits of five frames each.
    fn milliseconds(&self, host: &Host) -> Result<f64, Box<dyn Error>> {
        let mut least = f64::INFINITY;
        for _ in 0..3 {
            let mut encoder = host.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            (0..5).flat_map(|_| &self.pools).try_for_each(|pool| pool.encode(&mut pass))?;
            drop(pass);
            let begin = Instant::now();
            let submission_index = Some(host.queue.submit([encoder.finish()]));
            host.device.poll(wgpu::PollType::Wait { submission_index, timeout: None })?;
            least = least.min(begin.elapsed().as_secs_f64() * 1e3 / 5.0);
        }
        Ok(least)
    }
}
