//! A plan with the layout of its work.

use std::future::ready;

use wgpu_pooling_plan::internal::{at_once, check_operands, step_by_step};
use wgpu_pooling_plan::{ExecuteError, IndexType, Plan, PlanStep, TensorMut, TensorRef};

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
    /// The work of each step.
    Composition(Vec<PlannedWork>),
}

impl PlannedWork {
    /// Lays out the work of the kernel that was asked for, or of the fastest one. Each pool of a composition has the
    /// kernel that was asked for.
    pub fn new(plan: Plan, kernel: Option<CpuKernel>) -> Result<PlannedWork, ExecuteError> {
        let work = match &plan {
            Plan::Pool(plan) => Work::Pool(PoolWork::new(plan, kernel)?),
            Plan::Unpool(plan) => Work::Unpool(UnpoolWork::new(plan, kernel)?),
            Plan::Difference(_) => Work::Difference,
            Plan::Composition(plan) => {
                let step = |step: &PlanStep| PlannedWork::new(step.plan.clone(), kernel);
                Work::Composition(plan.steps.iter().map(step).collect::<Result<_, _>>()?)
            }
        };
        Ok(PlannedWork { plan, work })
    }

    /// The kernel; of a composition that of its first step.
    pub fn kernel(&self) -> CpuKernel {
        match &self.work {
            Work::Pool(work) => work.kernel(),
            Work::Unpool(work) => work.kernel(),
            Work::Difference => CpuKernel::General,
            Work::Composition(steps) => steps.first().map_or(CpuKernel::General, PlannedWork::kernel),
        }
    }

    /// The operator and its kernel; of a composition those of all steps.
    pub fn name(&self) -> String {
        let operator = self.plan.operator();
        match &self.work {
            Work::Composition(steps) => {
                let steps: Vec<String> = steps.iter().map(PlannedWork::name).collect();
                format!("{operator} ({})", steps.join(", "))
            }
            _ => format!("{operator} {}", self.kernel().name()),
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
        if let (Plan::Composition(plan), Work::Composition(steps)) = (&self.plan, &self.work) {
            let context = (steps, (simd, threads, scratch, stop));
            return at_once(step_by_step(plan, inputs, outputs, context, |(steps, of_all), step, inputs, outputs| {
                Box::pin(ready(steps[step].compute(*of_all, inputs, outputs)))
            }));
        }
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
