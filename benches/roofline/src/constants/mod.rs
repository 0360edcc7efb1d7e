//! What a device costs by itself, without a kernel of the library: launches, stores and loads by how neighbouring
//! invocations lie, operations, workgroups and barriers. These constants choose kernels, and judge them without a card.

mod cases;

use std::error::Error;
use std::fmt::Write;

use bytemuck::{cast_slice, pod_collect_to_vec};
use cases::{Case, Unit, cases};
use serde_json::{Value, json};
use wgpu_pooling::wgpu;

use crate::copy::Copy;
use crate::device::Device;
use crate::failure::Failure;
use crate::machine::Machine;
use crate::measure::{Time, measure};
use crate::options::Options;
use crate::report::write_json;
use crate::settings::Settings;
use crate::tensors::POISON;
use crate::timed::{Encode, Runs, Sets};

/// More than the caches of any card hold.
const BYTES: u64 = 256 << 20;
const FEWEST_BYTES: u64 = 1 << 17;
/// The most workgroups along an axis: a power of two that every device has.
const MOST_WORKGROUPS: u32 = 32768;
/// How often a kernel runs before its results are compared.
const RUNS: u32 = 3;

/// Measures all constants, appends their table to `text`, and writes them as JSON where the options say so.
pub fn report(options: &Options, text: &mut String) -> Result<(), Box<dyn Error>> {
    let machine = Machine::open(options)?;
    let Machine::Gpu(device) = &machine else { return Err("--constants are those of a GPU".into()) };
    let settings = machine.settings(options);
    let bytes = (BYTES.min(device.gpu.limits().max_binding_bytes) / options.shrink).max(FEWEST_BYTES);
    let bytes: u32 = 1 << bytes.ilog2();
    let mut figures = Vec::new();
    let document = |figures: &[Figure]| {
        let (adapter, clock, rounds) = (machine.describe(), machine.clock(), options.rounds);
        let figures: Vec<Value> = figures.iter().map(Figure::json).collect();
        json!({ "adapter": adapter, "clock": clock, "rounds": rounds, "bytes": bytes, "figures": figures })
    };
    let memory = Memory::new(device, bytes)?;
    for case in cases(bytes) {
        figures.push(figure(device, &memory, case, &settings)?);
        if let Some(path) = options.json.as_deref().filter(|_| !options.json_to_stdout()) {
            // The file is written after each figure, so that it survives a failure of a later one.
            write_json(path, &document(&figures))?;
        }
    }
    if options.json_to_stdout() {
        writeln!(text, "{:#}", document(&figures))?;
    } else {
        writeln!(text, "on {}; {}; best of {} rounds\n", machine.describe(), machine.clock(), options.rounds)?;
        for figure in &figures {
            let (value, unit) = figure.value();
            writeln!(text, "{value:>10.3} {unit:<6}  {}", figure.case.name)?;
        }
    }
    Ok(())
}

/// A kernel's time, and that of a copy beside it.
struct Figure {
    case: Case,
    time: Time,
    copy: Time,
}

impl Figure {
    fn value(&self) -> (f64, &'static str) {
        match self.case.unit {
            Unit::Microseconds => (self.time.best * 1e6, "us"),
            Unit::Copies => (self.time.best / self.copy.best, "copies"),
            Unit::Rate(count) => (count / self.time.best * 1e-9, "G/s"),
        }
    }

    fn json(&self) -> Value {
        let (value, unit) = self.value();
        json!({
            "name": self.case.name,
            "value": value,
            "unit": unit,
            "decides": self.case.decides,
            "seconds": self.time.best,
            "median_seconds": self.time.median,
            "copy_seconds": self.copy.best,
        })
    }
}

/// What kernels of a device read, and the copy beside them, which moves as many bytes.
struct Memory {
    /// Each word holds its number.
    source: wgpu::Buffer,
    copy: Sets,
}

impl Memory {
    fn new(device: &Device, bytes: u32) -> Result<Memory, Failure> {
        let source = device.buffer("source", bytes.into())?;
        device.upload(&source, cast_slice(&(0..bytes / 4).collect::<Vec<u32>>()))?;
        Ok(Memory { source, copy: Sets::new(device, Copy::new(device, bytes.into())?, 1)? })
    }
}

/// Measures a kernel, on a device of its own if that is told how to treat indirect dispatches.
fn figure(device: &Device, memory: &Memory, case: Case, settings: &Settings) -> Result<Figure, Failure> {
    let Some(validates) = case.indirect else { return measured(device, memory, case, settings) };
    let other = device.again(validates)?;
    measured(&other, &Memory::new(&other, FEWEST_BYTES as u32)?, case, settings)
}

fn measured(device: &Device, memory: &Memory, case: Case, settings: &Settings) -> Result<Figure, Failure> {
    let kernel = Kernel::new(device, memory, &case)?;
    kernel.verify(device, &case)?;
    let encode: Encode<'_> = Box::new(|pass, _| {
        kernel.encode(pass);
        Ok(())
    });
    let runs = vec![memory.copy.encode(), encode];
    match measure(&mut Runs { device, runs, sets: 1 }, settings.method(1))?[..] {
        [copy, time] => Ok(Figure { case, time, copy }),
        _ => Err(Failure::Other("nothing was measured".to_owned())),
    }
}

/// A kernel on a device, and what it writes.
struct Kernel {
    pipeline: wgpu::ComputePipeline,
    group: wgpu::BindGroup,
    grid: [u32; 3],
    /// The grid, where an indirect dispatch reads it.
    indirect: Option<wgpu::Buffer>,
    written: wgpu::Buffer,
}

impl Kernel {
    fn new(device: &Device, memory: &Memory, case: &Case) -> Result<Kernel, Failure> {
        let pipeline = device.pipeline(case.entry_point, &case.text(), case.workgroup)?;
        let written = device.buffer("written", u64::from(case.written_words) * 4)?;
        let strides = device.buffer("strides", 12)?;
        device.upload(&strides, cast_slice(&case.strides))?;
        let buffers = [&written, &memory.source, &strides];
        let entry = |&binding: &u32| {
            let resource = buffers[binding as usize].as_entire_binding();
            wgpu::BindGroupEntry { binding, resource }
        };
        let entries: Vec<_> = case.bindings.iter().map(entry).collect();
        let layout = pipeline.get_bind_group_layout(0);
        let group = wgpu::BindGroupDescriptor { label: Some(case.entry_point), layout: &layout, entries: &entries };
        let group = device.scoped(|device| device.wgpu().create_bind_group(&group))?;
        let workgroups = case.lanes / case.workgroup;
        let columns = workgroups.min(MOST_WORKGROUPS);
        let grid = [columns, workgroups / columns, 1];
        let indirect = case.indirect.map(|_| indirect(device, grid)).transpose()?;
        Ok(Kernel { pipeline, group, grid, indirect, written })
    }

    fn encode(&self, pass: &mut wgpu::ComputePass<'_>) {
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.group, &[]);
        match &self.indirect {
            Some(grid) => pass.dispatch_workgroups_indirect(grid, 0),
            None => pass.dispatch_workgroups(self.grid[0], self.grid[1], self.grid[2]),
        }
    }

    /// Runs the kernel and compares what it writes.
    fn verify(&self, device: &Device, case: &Case) -> Result<(), Failure> {
        device.poison(&self.written)?;
        device.submit(|encoder| {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            (0..RUNS).for_each(|_| self.encode(&mut pass));
            Ok(())
        })?;
        let words: Vec<u32> = pod_collect_to_vec(&device.read_back(&self.written)?);
        let poison = u32::from_ne_bytes([POISON; 4]);
        let checked = (0..case.checked_words).zip(words);
        let mut words = checked.map(|(word, found)| (word, found, (case.expected)(word, poison, RUNS)));
        let wrong = words.find(|(_, found, expected)| found != expected);
        wrong.map_or(Ok(()), |(word, found, expected)| {
            let name = &case.name;
            Err(Failure::Mismatch(format!("{name}: word {word} is {found}, expected {expected}")))
        })
    }
}

/// A buffer from which an indirect dispatch reads its grid.
fn indirect(device: &Device, grid: [u32; 3]) -> Result<wgpu::Buffer, Failure> {
    let buffer = device.buffer_for("grid", 12, wgpu::BufferUsages::INDIRECT | wgpu::BufferUsages::COPY_DST)?;
    device.upload(&buffer, cast_slice(&grid))?;
    Ok(buffer)
}
