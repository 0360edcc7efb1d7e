//! The options of examples that need a GPU.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};

use crate::adapter::Backend;

// The options for which GPU to open. A documentation comment here would become the help of the whole program.
#[derive(Debug, Args)]
pub struct Wanted {
    /// Which GPUs to look at; auto takes what WGPU_BACKEND says, or all
    #[arg(long, value_parser = gpu_backend(), default_value = "auto")]
    pub backend: Backend,

    /// Only an adapter whose name contains this, in any case
    #[arg(long, value_name = "NAME")]
    pub adapter: Option<String>,
}

/// All backends except `cpu`.
fn gpu_backend() -> impl TypedValueParser<Value = Backend> {
    let gpus = Backend::value_variants().iter().filter(|&&backend| backend != Backend::Cpu);
    let names = gpus.filter_map(ValueEnum::to_possible_value);
    PossibleValuesParser::new(names).try_map(|name| Backend::from_str(&name, false))
}
