//! What an example computes on: a GPU that the command line selects, or the CPU.

#[path = "adapter.rs"]
mod adapter;
#[path = "host.rs"]
mod host;

use std::error::Error;

use adapter::{Backend, gpu_options};
use clap::Args;
use wgpu_pooling::{Backend as _, ExecuteError, Gpu, GpuOptions};

use crate::common::one_line;

// The options for where to compute. A documentation comment here would become the help of the whole program.
#[derive(Debug, Args)]
pub struct Where {
    /// Where to compute; auto takes a GPU if there is one and the CPU if not
    #[arg(long, value_enum, default_value_t = Backend::Auto)]
    backend: Backend,

    /// Only an adapter whose name contains this, in any case
    #[arg(long, value_name = "NAME")]
    adapter: Option<String>,
}

impl Where {
    /// Which adapters the library may open; none for the CPU.
    fn options(&self) -> Option<GpuOptions> {
        match self.backend {
            Backend::Cpu => None,
            backend => Some(gpu_options(backend, self.adapter.as_deref())),
        }
    }

    /// What the options ask for, and its name, with the reason if it is no GPU. Only `auto` falls back to the CPU if
    /// there is no GPU; a backend or an adapter that was named has to exist.
    pub fn open(&self) -> Result<(Box<dyn wgpu_pooling::Backend>, String), Box<dyn Error>> {
        let cpu = |why: &str| {
            let host = host::host();
            let faster = if cfg!(feature = "cpu") { "" } else { "; --features cpu,rayon,avx512 is faster" };
            let name = format!("{}: {why}{faster}", host.name());
            Ok((host, name))
        };
        let Some(options) = self.options() else {
            return match self.adapter {
                Some(_) => Err("--adapter names a GPU, but --backend cpu takes none".into()),
                None => cpu("as asked"),
            };
        };
        let may_be_cpu = self.backend == Backend::Auto && self.adapter.is_none();
        match Gpu::open_blocking(&options) {
            Ok(gpu) => {
                let name = gpu.name();
                Ok((Box::new(gpu), name))
            }
            Err(why @ (ExecuteError::NoAdapter(_) | ExecuteError::NoDevice(_))) if may_be_cpu => {
                cpu(&one_line(&why.to_string()))
            }
            Err(error) => Err(error.into()),
        }
    }
}
