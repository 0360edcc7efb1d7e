//! Schedules executed without the library's device code: host.rs has all the device code that it takes, and a
//! host on any other WebGPU can do the same.
//!
//! `cargo run --release --example bare_wgpu` pools and unpools and compares with the reference; `--help` lists the
//! options.

mod host;

use std::error::Error;
use std::fmt::Write;
use std::process::ExitCode;

use clap::Parser;
use examples::adapter::describe;
use examples::common;
use examples::gpu::Wanted;
use host::{Contents, execute};
use wgpu_pooling::{
    Choice, DType, IndexType, Limits, MaxPool, MaxUnpool, Operand, Reference, Report, Schedule, Tensor, select, wgpu,
};

/// Executes schedules of wgpu-pooling on a wgpu device as any other host would: a max pool with indices, and the max
/// unpool that takes its outputs back to their places.
///
/// Both have to agree with the reference bit for bit.
#[derive(Debug, Parser)]
#[command(name = "bare_wgpu")]
struct Options {
    #[command(flatten)]
    wanted: Wanted,
}

fn main() -> ExitCode {
    common::main(run)
}

/// Runs the example and appends what it finds to `report`, which is printed even if an error follows.
fn run(options: &Options, report: &mut String) -> Result<(), Box<dyn Error>> {
    let (adapter, device, queue) = open(&options.wanted)?;
    writeln!(report, "device       {}", describe(&adapter))?;
    let (limits, choice) = (limits(&device), Choice::default());

    let shape = [1, 8, 60, 90];
    let pool = MaxPool::new([2, 2]).strides([2, 2]);
    let unpool = MaxUnpool::inverse_of(&pool, &shape);
    let x = Tensor::new(shape, (0..8 * 60 * 90).map(|number| (number * 7_919 % 1_000) as f32).collect())?;

    let plan = pool.plan(&shape, DType::F32, Some(IndexType::I32))?;
    let schedule = select(&plan, &limits, &choice)?;
    describe_schedule(report, &schedule)?;
    let pooled = execute(&device, &queue, &schedule, &Contents::from([(Operand::X, bytes(x.data()))]))?;
    let (y, indices) = pool.on(&x).with_indices::<i32>().run_blocking(&Reference)?;
    same("Y", &pooled, Operand::Y, y.data())?;
    same("Indices", &pooled, Operand::IndicesOut, indices.data())?;

    let plan = unpool.plan(y.shape(), DType::F32, IndexType::I32)?;
    let schedule = select(&plan, &limits, &choice)?;
    describe_schedule(report, &schedule)?;
    let inputs = [(Operand::X, bytes(y.data())), (Operand::Indices, bytes(indices.data()))];
    let unpooled = execute(&device, &queue, &schedule, &Contents::from(inputs))?;
    if let Some(words) = unpooled.get(&Operand::Report) {
        Report::from_bytes(words).ok_or("a report of another length")?.check(schedule.plan())?;
    }
    let back = unpool.on(&y, &indices).run_blocking(&Reference)?;
    same("the unpool's Y", &unpooled, Operand::Y, back.data())?;
    writeln!(report, "agreement    with the reference, bit for bit")?;
    Ok(())
}

/// A device with all that its adapter offers.
fn open(wanted: &Wanted) -> Result<(wgpu::AdapterInfo, wgpu::Device, wgpu::Queue), Box<dyn Error>> {
    let adapter = wanted.adapter()?;
    let descriptor = wgpu::DeviceDescriptor { required_limits: adapter.limits(), ..Default::default() };
    let (device, queue) = pollster::block_on(adapter.request_device(&descriptor))?;
    Ok((adapter.get_info(), device, queue))
}

/// What selection asks of a device.
fn limits(device: &wgpu::Device) -> Limits {
    let limits = device.limits();
    Limits {
        max_buffer_bytes: limits.max_buffer_size,
        max_binding_bytes: limits.max_storage_buffer_binding_size,
        max_workgroups_per_dimension: limits.max_compute_workgroups_per_dimension,
        max_storage_buffers: limits.max_storage_buffers_per_shader_stage,
        software: device.adapter_info().device_type == wgpu::DeviceType::Cpu,
    }
}

fn describe_schedule(report: &mut String, schedule: &Schedule) -> Result<(), Box<dyn Error>> {
    let operands: Vec<String> = schedule.operands().into_iter().map(Operand::name).collect();
    writeln!(report, "executed     {}: {}", schedule.kernel(), operands.join(", "))?;
    Ok(())
}

/// A tensor's elements as the device has them: as they are in memory, up to a whole word.
fn bytes<T: bytemuck::NoUninit>(elements: &[T]) -> Vec<u8> {
    let mut bytes = bytemuck::cast_slice(elements).to_vec();
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

fn same<T: bytemuck::NoUninit>(what: &str, all: &Contents, of: Operand, expected: &[T]) -> Result<(), Box<dyn Error>> {
    match all.get(&of) {
        Some(found) if *found == bytes(expected) => Ok(()),
        _ => Err(format!("{what} differs from the reference").into()),
    }
}
