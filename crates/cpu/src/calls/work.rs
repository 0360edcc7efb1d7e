//! A plan with the layout of its work.

use wgpu_pooling_plan::internal::check_operands;
use wgpu_pooling_plan::{ExecuteError, IndexType, Plan, TensorMut, TensorRef};

use crate::kernels::cpu_kernel::CpuKernel;
use crate::kernels::difference::difference;
use crate::kernels::indices::{Indices, IndicesMut};
use crate::kernels::parts::{Context, StopRef};
use crate::kernels::pool::PoolWork;
use crate::kernels::scratch::ScratchPool;
use crate::kernels::simd::SimdLevel;
use crate::kernels::threads::Threads;
use crate::kernels::unpool::UnpoolWork;

/// A plan with the layout of its work.
#[derive(Debug)]
pub(super) struct PlannedWork {
    pub plan: Plan,
    work: Work,
}

/// How the plan is computed.
#[derive(Debug)]
enum Work {
    Pool(PoolWork),
    Unpool(UnpoolWork),
    Difference,
}

impl PlannedWork {
    /// Lays out the work of the kernel that was asked for, or of the fastest one.
    pub fn new(plan: Plan, kernel: Option<CpuKernel>) -> Result<PlannedWork, ExecuteError> {
        let work = match &plan {
            Plan::Pool(plan) => Work::Pool(PoolWork::new(plan, kernel)?),
            Plan::Unpool(plan) => Work::Unpool(UnpoolWork::new(plan, kernel)?),
            Plan::Difference(_) => Work::Difference,
        };
        Ok(PlannedWork { plan, work })
    }

    pub fn kernel(&self) -> CpuKernel {
        match &self.work {
            Work::Pool(work) => work.kernel(),
            Work::Unpool(work) => work.kernel(),
            Work::Difference => CpuKernel::General,
        }
    }

    /// Reads X, and writes the outputs, as bytes.
    pub fn compute(
        &self,
        (simd, threads, scratch, stop): (SimdLevel, &Threads, &ScratchPool, Option<StopRef<'_>>),
        inputs: &[TensorRef<'_>],
        outputs: &mut [TensorMut<'_>],
    ) -> Result<(), ExecuteError> {
        check_operands(&self.plan, inputs, outputs)?;
        let fresh = outputs.iter().all(TensorMut::is_fresh);
        let context = &Context { simd, threads, scratch, fresh, stop };
        match (&self.plan, &self.work, inputs, outputs) {
            (Plan::Pool(plan), Work::Pool(work), [x], [y]) => {
                x.aligned(|x| y.aligned(|y| work.run(plan, context, x, y, None)))
            }
            (Plan::Pool(plan), Work::Pool(work), [x], [y, indices]) => {
                let index_type = plan.indices.as_ref().map_or(IndexType::I64, |indices| indices.index_type);
                x.aligned(|x| {
                    y.aligned(|y| {
                        indices.aligned(|indices| {
                            work.run(plan, context, x, y, Some(IndicesMut::new(indices, index_type)))
                        })
                    })
                })
            }
            (Plan::Unpool(plan), Work::Unpool(work), [x, indices], [y]) => x.aligned(|x| {
                indices.aligned(|indices| {
                    let indices = Indices::new(indices, plan.index_type);
                    y.aligned(|y| work.run(plan, context, x, indices, y))
                })
            }),
            (Plan::Difference(plan), Work::Difference, [a, b], [y]) => {
                a.aligned(|a| b.aligned(|b| y.aligned(|y| difference(plan, context, [a, b], y))))
            }
            // Unreachable: the operands were checked against the plan above.
            _ => Ok(()),
        }
    }
}
