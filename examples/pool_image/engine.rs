//! On what it is computed: a GPU, or the CPU.

use std::error::Error;

use wgpu_pooling::{ExecuteError, TensorView};

use crate::operators::{Operators, Plans, Results, by_reference};
use crate::options::{Backend, Options};

/// What computes.
pub enum Engine {
    /// The reference on the CPU, and why.
    Cpu { why: String },
}

impl Engine {
    /// What the options ask for. Only `auto` takes the CPU where there is no GPU; what is named has to be there.
    pub fn open(options: &Options) -> Result<Engine, Box<dyn Error>> {
        match (options.backend, &options.adapter) {
            (Backend::Cpu, Some(_)) => Err("--adapter names a GPU, but --backend cpu takes none".into()),
            (Backend::Cpu, None) => Ok(Engine::Cpu { why: "as asked".to_owned() }),
            (Backend::Auto, None) => Ok(Engine::Cpu { why: "no GPU".to_owned() }),
            _ => Err("no GPU".into()),
        }
    }

    pub fn is_gpu(&self) -> bool {
        !matches!(self, Engine::Cpu { .. })
    }

    /// What computes, for people.
    pub fn name(&self) -> String {
        match self {
            Engine::Cpu { why } => format!("the CPU, {why}"),
        }
    }

    /// The kernel of each operator.
    pub fn kernels(&self, _plans: &Plans) -> Result<[(&'static str, String); 3], Box<dyn Error>> {
        match self {
            Engine::Cpu { .. } => {
                Ok(["max pool", "max unpool", "adaptive max pool"].map(|operator| (operator, "reference".to_owned())))
            }
        }
    }

    /// The three operators on a picture.
    pub fn compute(
        &self,
        _operators: &Operators,
        plans: &Plans,
        x: TensorView<'_, f32>,
    ) -> Result<Results, ExecuteError> {
        match self {
            Engine::Cpu { .. } => by_reference(plans, x),
        }
    }
}

/// The adapters of a backend, one on a line.
pub fn list(_backend: Backend) -> Result<String, Box<dyn Error>> {
    Err("no adapters".into())
}
