//! The plan cache: preparations of one-shot calls, kept because applications call repeatedly with few plans.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use wgpu_pooling_plan::Plan;

use super::preparation::Preparation;
use crate::gpu::device::gate::lock;
use crate::schedule::Schedule;
use crate::select::Choice;

/// The most preparations that are kept: every call compares its plan with all of them.
const MOST_KEPT: usize = 8;

/// The most bytes of buffers of a kept preparation. With larger buffers, preparing is cheap compared with computing.
pub(in crate::gpu) const MOST_BYTES_EACH: u64 = 1 << 20;

/// The kept preparations, the longest unused first.
#[derive(Debug, Default)]
pub(in crate::gpu) struct PlanCache(Mutex<VecDeque<CachedPlan>>);

/// A preparation, and the choice by which its kernels were selected.
#[derive(Debug)]
struct CachedPlan {
    choice: Arc<[Choice]>,
    preparation: Preparation,
    specialised: Specialised,
}

/// The specialised schedule that takes a generic preparation's place when its kernels are compiled.
pub(in crate::gpu) type Specialised = Option<Arc<Schedule>>;

impl PlanCache {
    /// The preparation of an equal plan by the same choice, if there is one.
    pub fn find(&self, plan: &Plan, choice: &[Choice]) -> Option<(Preparation, Specialised)> {
        let mut kept = lock(&self.0);
        let number =
            kept.iter().rposition(|kept| *kept.choice == *choice && kept.preparation.schedule.plan() == plan)?;
        let found = kept.remove(number)?;
        let result = (found.preparation.clone(), found.specialised.clone());
        kept.push_back(found);
        Some(result)
    }

    /// Keeps a preparation, and drops the longest unused one if there are too many. If another thread has kept one of
    /// an equal plan meanwhile, that one is returned instead, unless it is generic and this one is its specialised
    /// replacement.
    pub fn keep(&self, choice: Arc<[Choice]>, preparation: Preparation, specialised: Specialised) -> Preparation {
        if preparation.bytes() > MOST_BYTES_EACH {
            return preparation;
        }
        let mut kept = lock(&self.0);
        let equal = |kept: &&CachedPlan| {
            kept.choice == choice && kept.preparation.schedule.plan() == preparation.schedule.plan()
        };
        let number = kept.iter().position(|kept| equal(&kept));
        let gone = match number.and_then(|number| kept.get(number)) {
            Some(before) if specialised.is_some() || before.specialised.is_none() => return before.preparation.clone(),
            Some(_) => number.and_then(|number| kept.remove(number)),
            None if kept.len() == MOST_KEPT => kept.pop_front(),
            None => None,
        };
        kept.push_back(CachedPlan { choice, preparation: preparation.clone(), specialised });
        drop(kept);
        drop(gone);
        preparation
    }

    /// Drops all preparations.
    pub fn clear(&self) {
        let gone = std::mem::take(&mut *lock(&self.0));
        drop(gone);
    }

    /// The bytes of the kept preparations' buffers.
    pub fn bytes(&self) -> u64 {
        lock(&self.0).iter().map(|kept| kept.preparation.bytes()).sum()
    }
}
