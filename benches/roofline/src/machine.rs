//! What rows run on: a GPU, or the CPU backend.

use std::time::Duration;

use wgpu_pooling::{DType, Gpu};

use crate::adapter::{Backend, describe, gpu_options};
use crate::catalogue::Row;
use crate::clock::Clock;
use crate::cpu;
use crate::cpu::host::Host;
use crate::data::Data;
use crate::device::Device;
use crate::failure::Failure;
use crate::figures::Figures;
use crate::options::Options;
use crate::run;
use crate::settings::Settings;

pub enum Machine {
    Gpu(Box<Device>),
    Cpu(Host),
}

impl Machine {
    /// What the options ask for.
    pub fn open(options: &Options) -> Result<Machine, String> {
        if options.clock == Some(Clock::Cpu) && !Clock::COUNTS_CPU {
            return Err("--clock cpu is there on Linux and macOS alone".to_owned());
        }
        if options.backend != Backend::Cpu {
            if let Some(option) = options.on_cpu.given() {
                return Err(format!("{option} is for --backend cpu"));
            }
            let wanted = gpu_options(options.backend, options.adapter.as_deref()).timestamps();
            let gpu = Gpu::open_blocking(&wanted).map_err(|error| error.to_string())?;
            let device = Device::new(gpu, options.clock).map_err(|failure| failure.to_string())?;
            return Ok(Machine::Gpu(Box::new(device)));
        }
        if options.adapter.is_some() {
            return Err("--adapter names a GPU, but --backend cpu takes none".to_owned());
        }
        Ok(Machine::Cpu(Host::new(&options.on_cpu, options.clock)?))
    }

    /// The machine in a line.
    pub fn describe(&self) -> String {
        match self {
            Machine::Gpu(device) => describe(&device.gpu.adapter_info()),
            Machine::Cpu(host) => host.describe(),
        }
    }

    /// The clock that measures times.
    pub fn clock(&self) -> &'static str {
        match self {
            Machine::Gpu(device) => device.clock.describe(),
            Machine::Cpu(host) if host.clock == Clock::Cpu => "CPU time of the process",
            Machine::Cpu(_) => "wall clock",
        }
    }

    /// The CPU backend, where that is what rows run on.
    pub fn host(&self) -> Option<&Host> {
        if let Machine::Cpu(host) = self { Some(host) } else { None }
    }

    /// Runs a row in an element type.
    pub fn run(&self, row: &Row, dtype: DType, settings: &Settings) -> Result<Figures, Failure> {
        match self {
            Machine::Gpu(device) => run::run(device, row, dtype, settings),
            Machine::Cpu(host) => cpu::run::run(host, row, dtype, settings),
        }
    }

    pub fn settings(&self, options: &Options) -> Settings {
        let sweeps = options.windows || !options.sweep.numbers().is_empty();
        let defaults = match self {
            Machine::Gpu(device) if device.is_software() => &IN_SOFTWARE,
            Machine::Gpu(_) => &ON_GPUS,
            Machine::Cpu(_) => &ON_CPUS,
        };
        Settings {
            // The queue that verifies long windows does not know NaN.
            data: if options.windows { Data::Peers } else { options.data },
            rounds: options.rounds,
            pass_seconds: options.pass as f64 * 1e-3,
            warm_up: Duration::from_millis(defaults.warm_up),
            verify_taps: options.verify_taps.unwrap_or(if sweeps { 1 << 26 } else { 1 << 31 }),
            selected_only: options.selected_only
                || (options.windows || options.sweep.count.is_some()) && !options.all_kernels,
            others_limit: options.others_limit.unwrap_or(defaults.others_limit),
            cache_bytes: options.cache.unwrap_or(defaults.cache) << 20,
            least_sets: defaults.least_sets,
            memory_bytes: options.memory.unwrap_or(defaults.memory) << 20,
            f32_copy: sweeps,
            // In a sweep a slow kernel gets fewer rounds: its time need not be as precise.
            patience_seconds: if sweeps { 1.0 } else { f64::INFINITY },
        }
    }
}

/// Settings that differ between machines, most of them options. Sizes are in MiB.
struct Defaults {
    others_limit: u64,
    cache: u64,
    memory: u64,
    least_sets: u64,
    /// In milliseconds.
    warm_up: u64,
}

const ON_GPUS: Defaults = Defaults { others_limit: 1 << 36, cache: 256, memory: 8192, least_sets: 2, warm_up: 300 };
/// Software adapters are slow and compute in main memory.
const IN_SOFTWARE: Defaults = Defaults { others_limit: 1 << 30, cache: 8, memory: 1024, least_sets: 2, warm_up: 0 };
/// A caller on the CPU mostly has its inputs from the operator before, so that they are in caches as far as they fit.
const ON_CPUS: Defaults = Defaults { others_limit: 1 << 28, cache: 0, memory: 4096, least_sets: 1, warm_up: 0 };
