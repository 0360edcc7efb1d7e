//! What an example computes on: a GPU that the command line selects, or the CPU.

use std::error::Error;

use clap::Args;
use wgpu_pooling::{Backend as _, ExecuteError, Gpu};

use crate::adapter::{Backend, gpu_options};
use crate::common::one_line;
use crate::host::host;

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
    /// What the options ask for, and its name, with the reason if it is no GPU. Only `auto` falls back to the CPU if
    /// there is no GPU; a backend or an adapter that was named has to exist.
    pub fn open(&self) -> Result<(Box<dyn wgpu_pooling::Backend>, String), Box<dyn Error>> {
        let cpu = |why: &str| {
            let host = host();
            let faster = if cfg!(feature = "cpu") { "" } else { "; --features cpu,rayon,avx512 is faster" };
            let name = format!("{}: {why}{faster}", host.name());
            Ok((host, name))
        };
        if self.backend == Backend::Cpu {
            return match self.adapter {
                Some(_) => Err("--adapter names a GPU, but --backend cpu takes none".into()),
                None => cpu("as asked"),
            };
        }
        let may_be_cpu = self.backend == Backend::Auto && self.adapter.is_none();
        match Gpu::open_blocking(&gpu_options(self.backend, self.adapter.as_deref())) {
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
