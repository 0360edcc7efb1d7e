//! Preparations of one-shot calls, kept for the next ones: applications call with few plans, again and again.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::preparation::Preparation;
use crate::plan::Plan;

/// The most preparations that are kept: all are compared with a call's plan.
const MOST_KEPT: usize = 8;

/// The most bytes of buffers that one of them may have: beyond, preparing is little beside computing.
const MOST_BYTES_EACH: u64 = 1 << 20;

/// What was prepared for one-shot calls, the longest unused first.
#[derive(Debug, Default)]
pub(in crate::gpu) struct PlanCache(Mutex<VecDeque<Preparation>>);

impl PlanCache {
    /// What was prepared for an equal plan.
    pub fn find(&self, plan: &Plan) -> Option<Preparation> {
        let mut kept = self.lock();
        let number = kept.iter().rposition(|preparation| preparation.schedule().plan() == plan)?;
        let found = kept.remove(number)?;
        kept.push_back(found.clone());
        Some(found)
    }

    /// Keeps a preparation, and lets the longest unused one go for it.
    pub fn keep(&self, preparation: Preparation) {
        if preparation.bytes() > MOST_BYTES_EACH {
            return;
        }
        let mut kept = self.lock();
        let gone = if kept.len() == MOST_KEPT { kept.pop_front() } else { None };
        kept.push_back(preparation);
        drop(kept);
        drop(gone);
    }

    /// Lets all of them go.
    pub fn clear(&self) {
        let gone = std::mem::take(&mut *self.lock());
        drop(gone);
    }

    /// How many bytes their buffers have.
    pub fn bytes(&self) -> u64 {
        self.lock().iter().map(Preparation::bytes).sum()
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Preparation>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
