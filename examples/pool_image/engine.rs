//! On what it is computed: a GPU, or the CPU.

use std::error::Error;
use std::fmt::Write;

use wgpu_pooling::wgpu::{AdapterInfo, Backends};
use wgpu_pooling::{ExecuteError, Gpu, GpuOptions, TensorView, list_adapters_blocking};

use crate::operators::{Plans, Results, by_reference};
use crate::options::{Backend, Options};

/// What computes.
pub enum Engine {
    Gpu(Gpu),
    /// The reference on the CPU, and why.
    Cpu {
        why: String,
    },
}

impl Engine {
    /// What the options ask for. Only `auto` takes the CPU where there is no GPU; what is named has to be there.
    pub fn open(options: &Options) -> Result<Engine, Box<dyn Error>> {
        let Some(gpu_options) = gpu_options(options) else {
            return match options.adapter {
                Some(_) => Err("--adapter names a GPU, but --backend cpu takes none".into()),
                None => Ok(Engine::Cpu { why: "as asked".to_owned() }),
            };
        };
        let may_be_cpu = options.backend == Backend::Auto && options.adapter.is_none();
        match Gpu::open_blocking(&gpu_options) {
            Ok(gpu) => Ok(Engine::Gpu(gpu)),
            Err(why @ (ExecuteError::NoAdapter(_) | ExecuteError::NoDevice(_))) if may_be_cpu => {
                Ok(Engine::Cpu { why: one_line(&why.to_string()) })
            }
            Err(error) => Err(error.into()),
        }
    }

    pub fn is_gpu(&self) -> bool {
        matches!(self, Engine::Gpu(_))
    }

    /// What computes, for people.
    pub fn name(&self) -> String {
        match self {
            Engine::Gpu(gpu) => gpu.adapter_info().map_or_else(|| "a GPU without a name".to_owned(), describe),
            Engine::Cpu { why } => format!("the CPU: {why}"),
        }
    }

    /// The three operators on a picture, and the names of the kernels that computed them.
    pub fn compute(&self, plans: &Plans, x: TensorView<'_, f32>) -> Result<(Results, [String; 3]), ExecuteError> {
        let Engine::Gpu(gpu) = self else {
            let names = [plans.pool.operator(), plans.unpool.operator(), plans.adaptive.operator()];
            return Ok((by_reference(plans, x)?, names.map(|name| format!("{name} reference"))));
        };
        let pool = gpu.prepare_blocking(plans.pool.clone())?;
        let unpool = gpu.prepare_blocking(plans.unpool.clone())?;
        let adaptive_pool = gpu.prepare_blocking(plans.adaptive.clone())?;
        let (pooled, indices) = pool.max_pool_with_indices_blocking(x.clone())?;
        let unpooled = unpool.max_unpool_blocking(pooled.view(), indices.view())?;
        let (adaptive, adaptive_indices) = adaptive_pool.max_pool_with_indices_blocking(x)?;
        let kernels = [pool, unpool, adaptive_pool].map(|prepared| prepared.schedule().kernel());
        Ok((Results { pooled, indices, unpooled, adaptive, adaptive_indices }, kernels))
    }
}

/// The adapters that the options allow, one on a line.
pub fn list(options: &Options) -> Result<String, Box<dyn Error>> {
    let Some(gpu_options) = gpu_options(options) else {
        return Err("--backend cpu has no adapters to list".into());
    };
    let mut lines = String::new();
    for adapter in list_adapters_blocking(&gpu_options) {
        writeln!(lines, "{}", describe(&adapter))?;
    }
    if lines.is_empty() {
        return Err("no such adapters are here".into());
    }
    Ok(lines)
}

/// Which adapter to open; none for the CPU.
fn gpu_options(options: &Options) -> Option<GpuOptions> {
    let gpu_options = GpuOptions::new();
    let gpu_options = match options.backend {
        Backend::Auto => gpu_options,
        Backend::Vulkan => gpu_options.backends(Backends::VULKAN),
        Backend::Metal => gpu_options.backends(Backends::METAL),
        Backend::Dx12 => gpu_options.backends(Backends::DX12),
        Backend::Gl => gpu_options.backends(Backends::GL),
        Backend::Cpu => return None,
    };
    Some(match &options.adapter {
        Some(name) => gpu_options.adapter_name(name),
        None => gpu_options,
    })
}

fn describe(adapter: &AdapterInfo) -> String {
    let AdapterInfo { name, backend, device_type, driver, driver_info, .. } = adapter;
    one_line(&format!("{name}, {backend}, {device_type:?}, {driver} {driver_info}"))
}

/// Drivers are free with line breaks.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
