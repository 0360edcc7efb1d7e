//! What an example computes on: a GPU that the command line selects, or the CPU.

#[path = "adapter.rs"]
mod adapter;
#[path = "agreement.rs"]
mod agreement;

use std::error::Error;

use adapter::{Backend, describe, gpu_options};
pub use agreement::same;
use clap::Args;
use wgpu_pooling::{ExecuteError, Gpu, GpuOptions};

use crate::common::one_line;

// The options for where to compute. A documentation comment here would become the help of the whole program.
#[derive(Debug, Args)]
pub struct Device {
    /// Where to compute; auto takes a GPU if there is one and the CPU if not
    #[arg(long, value_enum, default_value_t = Backend::Auto)]
    backend: Backend,

    /// Only an adapter whose name contains this, in any case
    #[arg(long, value_name = "NAME")]
    adapter: Option<String>,
}

impl Device {
    /// Which adapters the library may open; none for the CPU.
    pub fn options(&self) -> Option<GpuOptions> {
        match self.backend {
            Backend::Cpu => None,
            backend => Some(gpu_options(backend, self.adapter.as_deref())),
        }
    }

    /// The engine that the options ask for. Only `auto` falls back to the CPU if there is no GPU; a backend or an
    /// adapter that was named has to exist.
    pub fn open(&self) -> Result<Engine, Box<dyn Error>> {
        let Some(options) = self.options() else {
            return match self.adapter {
                Some(_) => Err("--adapter names a GPU, but --backend cpu takes none".into()),
                None => Ok(Engine::Cpu { why: "as asked".to_owned() }),
            };
        };
        let may_be_cpu = self.backend == Backend::Auto && self.adapter.is_none();
        match Gpu::open_blocking(&options) {
            Ok(gpu) => Ok(Engine::Gpu(gpu)),
            Err(why @ (ExecuteError::NoAdapter(_) | ExecuteError::NoDevice(_))) if may_be_cpu => {
                Ok(Engine::Cpu { why: one_line(&why.to_string()) })
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// What computes.
pub enum Engine {
    Gpu(Gpu),
    /// The reference on the CPU, and why it was chosen.
    Cpu {
        why: String,
    },
}

impl Engine {
    /// The engine in words.
    pub fn name(&self) -> String {
        match self {
            Engine::Gpu(gpu) => describe(&gpu.adapter_info()),
            Engine::Cpu { why } => format!("the CPU: {why}"),
        }
    }

    /// Says in words whether the results agree with the reference. `compare` counts the values and the indices that
    /// agree, or gives the first difference; it is not called if the reference itself computed the results.
    pub fn agreement(
        &self,
        compare: impl FnOnce() -> Result<[usize; 2], Box<dyn Error>>,
    ) -> Result<String, Box<dyn Error>> {
        match self {
            Engine::Gpu(_) => {
                let [values, indices] = compare()?;
                Ok(format!("GPU and CPU: {values} values and {indices} indices, bit for bit"))
            }
            Engine::Cpu { .. } => Ok("nothing to compare: the CPU path alone".to_owned()),
        }
    }
}
