//! Which kernel computes a plan: a pure function, and it never changes a bit.

use super::separable::pool::Separable;
use super::view::View;
use crate::error::PlanError;
use crate::plan::PoolPlan;

/// A kernel of the CPU backend. Which one computes a plan changes how long it takes and no bit of the result.
///
/// ```
/// use wgpu_pooling::{Cpu, CpuKernel, DType, MaxPool};
///
/// // A plan has a best kernel, and the general one computes every plan.
/// let plan = MaxPool::new([3, 3]).strides([2, 2]).plan(&[1, 8, 56, 56], DType::F32, None)?;
/// assert_eq!(Cpu::new().prepare(plan.clone())?.kernel(), CpuKernel::Separable);
/// assert_eq!(Cpu::new().with_kernel(CpuKernel::General).prepare(plan)?.kernel(), CpuKernel::General);
/// # Ok::<(), wgpu_pooling::ExecuteError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CpuKernel {
    /// Every plan: outputs, or indices, one after the other.
    General,
    /// Pools: a block of X in cache is reduced along one axis after the other.
    Separable,
    /// Unpools: a plane of Y is filled with zeros, then the elements of X are written to it.
    Scatter,
}

impl CpuKernel {
    /// Every kernel.
    ///
    /// ```
    /// use wgpu_pooling::CpuKernel;
    /// assert!(CpuKernel::ALL.contains(&CpuKernel::General));
    /// ```
    pub const ALL: &'static [CpuKernel] = &[CpuKernel::General, CpuKernel::Separable, CpuKernel::Scatter];

    /// The kernel's name.
    pub const fn name(self) -> &'static str {
        match self {
            CpuKernel::General => "general",
            CpuKernel::Separable => "separable",
            CpuKernel::Scatter => "scatter",
        }
    }
}

/// How a pool is computed.
#[derive(Debug)]
pub(crate) enum PoolKernel {
    General,
    Separable(Box<Separable>),
}

impl PoolKernel {
    /// The kernel that was asked for, or the best one.
    pub fn choose(plan: &PoolPlan, view: &View, asked: Option<CpuKernel>) -> Result<PoolKernel, PlanError> {
        let refused = |kernel: CpuKernel, reason| PlanError::CpuKernelDoesNotApply { kernel: kernel.name(), reason };
        let separable = || Separable::new(plan, view).map(|separable| PoolKernel::Separable(Box::new(separable)));
        match asked {
            Some(CpuKernel::General) => Ok(PoolKernel::General),
            Some(kernel @ CpuKernel::Separable) => separable().map_err(|reason| refused(kernel, reason)),
            Some(kernel @ CpuKernel::Scatter) => Err(refused(kernel, "it is for unpools")),
            None => Ok(separable().unwrap_or(PoolKernel::General)),
        }
    }

    pub fn name(&self) -> CpuKernel {
        match self {
            PoolKernel::General => CpuKernel::General,
            PoolKernel::Separable(_) => CpuKernel::Separable,
        }
    }

    /// The bytes whose moving takes about as long as the work.
    pub fn cost(&self, plan: &PoolPlan, view: &View) -> u64 {
        match self {
            PoolKernel::General => {
                let taps = view.most_taps().saturating_add(8).saturating_mul(16);
                plan.outputs[0].element_count().saturating_mul(taps)
            }
            PoolKernel::Separable(_) => plan.bytes(),
        }
    }
}
