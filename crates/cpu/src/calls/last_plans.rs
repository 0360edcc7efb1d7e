//! The plans of the last calls with the layouts of their work, kept because applications call repeatedly with few
//! plans.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use wgpu_pooling_plan::{ExecuteError, Plan};

use super::work::PlannedWork;
use crate::kernels::cpu_kernel::CpuKernel;
use crate::kernels::scratch::ScratchPool;

/// The most plans that are kept: every call compares its plan with all of them.
const MOST_KEPT: usize = 8;

/// The most bytes of scratch memory of a thread that are kept. Taking more from the system costs little beside its use.
const MOST_SCRATCH_BYTES: usize = 4 << 20;

/// The kept plans, the longest unused first, and the scratch memory that their calls share.
#[derive(Debug)]
pub(super) struct LastPlans {
    kept: Mutex<VecDeque<Arc<PlannedWork>>>,
    pub scratch: ScratchPool,
}

impl Default for LastPlans {
    fn default() -> Self {
        LastPlans { kept: Mutex::default(), scratch: ScratchPool::with_most(MOST_SCRATCH_BYTES) }
    }
}

impl LastPlans {
    /// The work of an equal plan, laid out now unless it is kept.
    pub fn work(&self, plan: &Plan, kernel: Option<CpuKernel>) -> Result<Arc<PlannedWork>, ExecuteError> {
        let lock = || self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let find = |kept: &mut VecDeque<Arc<PlannedWork>>| {
            let number = kept.iter().rposition(|kept| kept.plan == *plan)?;
            let found = kept.remove(number)?;
            kept.push_back(Arc::clone(&found));
            Some(found)
        };
        if let Some(work) = find(&mut lock()) {
            return Ok(work);
        }
        // Other calls do not wait while the plan is laid out.
        let work = Arc::new(PlannedWork::new(plan.clone(), kernel)?);
        let mut kept = lock();
        if find(&mut kept).is_none() {
            if kept.len() == MOST_KEPT {
                kept.pop_front();
            }
            kept.push_back(Arc::clone(&work));
        }
        Ok(work)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wgpu_pooling_plan::{Activation, DType, MaxPool};

    fn plan(extent: usize) -> Plan {
        MaxPool::new([2]).plan(&[1, 1, extent], DType::F32, None).unwrap()
    }

    #[test]
    fn the_plans_of_the_last_calls_are_kept() {
        let last = LastPlans::default();
        let first = last.work(&plan(2), None).unwrap();
        for extent in 3..2 + MOST_KEPT {
            last.work(&plan(extent), None).unwrap();
        }
        // It is used again, so that another one is the longest unused.
        assert!(Arc::ptr_eq(&first, &last.work(&plan(2), None).unwrap()));
        let second = last.work(&plan(100), None).unwrap();
        assert!(Arc::ptr_eq(&first, &last.work(&plan(2), None).unwrap()));
        assert!(Arc::ptr_eq(&second, &last.work(&plan(100), None).unwrap()));
        let kept: Vec<Plan> = last.kept.lock().unwrap().iter().map(|work| work.plan.clone()).collect();
        assert!(kept.len() == MOST_KEPT && !kept.contains(&plan(3)), "{kept:?}");
    }

    #[test]
    fn plans_whose_bounds_differ_in_a_bit_are_not_the_same() {
        let last = LastPlans::default();
        for (number, min) in [0.0, -0.0, f32::from_bits(1), -f32::from_bits(1)].into_iter().enumerate() {
            let pool = MaxPool::new([2]).activation(Activation::Clip { min, max: 1.0 });
            last.work(&pool.plan(&[1, 1, 4], DType::F32, None).unwrap(), None).unwrap();
            assert_eq!(last.kept.lock().unwrap().len(), number + 1);
        }
    }

    #[test]
    fn much_scratch_memory_is_not_kept() {
        let last = LastPlans::default();
        let size = |bytes: usize| last.scratch.with(|scratch| scratch.elements::<u8>(bytes).map(|memory| memory.len()));
        assert_eq!((size(100).unwrap(), size(MOST_SCRATCH_BYTES + 8).unwrap()), (100, MOST_SCRATCH_BYTES + 8));
        assert_eq!(last.scratch.kept_bytes(), 0);
        size(1000).unwrap();
        assert_eq!(last.scratch.kept_bytes(), 1000);
    }
}
