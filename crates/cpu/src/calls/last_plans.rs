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

/// The kept plans, the longest unused first, and the scratch memory that their calls share.
#[derive(Debug, Default)]
pub(super) struct LastPlans {
    kept: Mutex<VecDeque<Arc<PlannedWork>>>,
    pub scratch: ScratchPool,
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
