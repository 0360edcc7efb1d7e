//! The GPU path. There is no device code yet, so no kernel applies and its tests are ignored.

use std::fmt;

use wgpu_pooling::{Element, ExecuteError, Index, Plan, PoolPlan, Tensor, TensorView, UnpoolPlan};

use crate::paths::{Failure, Path};

/// How a kernel is built.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Build {
    /// One pipeline for every configuration of a family.
    Generic,
}

/// The builds in which a case is run.
pub fn builds(_name: &str) -> &'static [Build] {
    &[Build::Generic]
}

pub struct Device;

pub fn device() -> Result<&'static Device, String> {
    Err("there is no GPU path yet".to_owned())
}

pub fn pipeline_count() -> usize {
    0
}

impl Device {
    pub fn kernels(&self, _plan: &Plan, _builds: &[Build]) -> Vec<Kernel> {
        Vec::new()
    }
}

pub struct Kernel;

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("none")
    }
}

impl Kernel {
    pub fn prepare(&self) -> Result<Prepared, Failure> {
        Ok(Prepared)
    }
}

pub struct Prepared;

impl Path for Prepared {
    fn max_pool<T: Element>(&self, _: &PoolPlan, _: TensorView<'_, T>) -> Result<Tensor<T>, ExecuteError> {
        Err(ExecuteError::NoAdapter("none".to_owned()))
    }
    fn max_pool_with_indices<T: Element, I: Index>(
        &self,
        _: &PoolPlan,
        _: TensorView<'_, T>,
    ) -> Result<(Tensor<T>, Tensor<I>), ExecuteError> {
        Err(ExecuteError::NoAdapter("none".to_owned()))
    }
    fn max_unpool<T: Element, I: Index>(
        &self,
        _: &UnpoolPlan,
        _: TensorView<'_, T>,
        _: TensorView<'_, I>,
    ) -> Result<Tensor<T>, ExecuteError> {
        Err(ExecuteError::NoAdapter("none".to_owned()))
    }
}
