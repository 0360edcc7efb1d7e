//! Shows what each adapter of this machine offers, and what wgpu-pooling would run on the one that it would open.
//!
//! `cargo run --release --example adapters` prints it. Without an adapter it fails, so scripts can ask whether there is
//! one; `--help` lists the options.

mod plans;

use std::error::Error;
use std::fmt::Write;
use std::process::ExitCode;

use clap::Parser;
use examples::adapter::describe;
use examples::common;
use examples::gpu::Wanted;
use wgpu_pooling::wgpu::{self, DownlevelFlags, Features, Limits};
use wgpu_pooling::{ExecuteError, Gpu, list_adapters_blocking, required_limits};

/// Shows what the GPUs of this machine offer to wgpu-pooling, which of them it would open, and what it would run there.
///
/// Fails if there is no usable GPU.
#[derive(Debug, Parser)]
#[command(name = "adapters")]
struct Options {
    #[command(flatten)]
    wanted: Wanted,
}

/// The environment variables that choose an adapter if no option does.
const VARIABLES: [&str; 3] = ["WGPU_BACKEND", "WGPU_ADAPTER_NAME", "WGPU_POWER_PREF"];

fn main() -> ExitCode {
    common::main(run)
}

/// Runs the example and appends what it finds to `report`, which is printed even if an error follows.
fn run(options: &Options, report: &mut String) -> Result<(), Box<dyn Error>> {
    let gpu_options = options.wanted.options();
    let opened = Gpu::open_blocking(&gpu_options);
    let listed = list_adapters_blocking(&gpu_options);
    if let (Err(ExecuteError::NoAdapter(_)), []) = (&opened, &listed[..]) {
        return opened.map(|_| ()).map_err(Into::into);
    }
    for variable in VARIABLES {
        let value = std::env::var(variable).unwrap_or_else(|_| "not set".to_owned());
        writeln!(report, "{variable:<18} {value}")?;
    }
    // The library lists the adapters; their features and limits come from wgpu.
    for adapter in options.wanted.adapters() {
        if listed.contains(&adapter.get_info()) {
            writeln!(report)?;
            offer(report, &adapter)?;
        }
    }
    writeln!(report)?;
    let gpu = opened?;
    writeln!(report, "opened: {}", describe(&gpu.adapter_info()))?;
    report.push_str(&plans::describe(&gpu.limits())?);
    Ok(())
}

/// The features and limits of an adapter, and the limits with which the library would open its device.
fn offer(report: &mut String, adapter: &wgpu::Adapter) -> Result<(), Box<dyn Error>> {
    let yes = |is: bool| if is { "yes" } else { "no" };
    let computes = adapter.get_downlevel_capabilities().flags.contains(DownlevelFlags::COMPUTE_SHADERS);
    writeln!(report, "{}", describe(&adapter.get_info()))?;
    writeln!(report, "  {:<38} {:>12}", "compute shaders", yes(computes))?;
    let timestamps = adapter.features().contains(Features::TIMESTAMP_QUERY);
    writeln!(report, "  {:<38} {:>12}", "timestamps, for timings on request", yes(timestamps))?;
    writeln!(report, "  {:<38} {:>12} {:>12}", "limits", "it has", "asked for")?;
    let [has, asked] = [adapter.limits(), required_limits(adapter)].map(|limits| rows(&limits));
    for ((name, has), (_, asked)) in has.into_iter().zip(asked) {
        writeln!(report, "  {name:<38} {has:>12} {asked:>12}")?;
    }
    Ok(())
}

/// The limits that decide how large tensors can be and which kernels run.
fn rows(limits: &Limits) -> [(&'static str, u64); 7] {
    [
        ("max_buffer_size", limits.max_buffer_size),
        ("max_storage_buffer_binding_size", limits.max_storage_buffer_binding_size),
        ("max_storage_buffers_per_shader_stage", limits.max_storage_buffers_per_shader_stage.into()),
        ("max_compute_workgroups_per_dimension", limits.max_compute_workgroups_per_dimension.into()),
        ("max_compute_invocations_per_workgroup", limits.max_compute_invocations_per_workgroup.into()),
        ("max_compute_workgroup_storage_size", limits.max_compute_workgroup_storage_size.into()),
        ("min_storage_buffer_offset_alignment", limits.min_storage_buffer_offset_alignment.into()),
    ]
}
