//! The common part of schedules with one pass and a specialised kernel: the uniform, and the division into dispatches.

use wgpu_pooling_plan::{IndexStrides, Layout, PlanError, PoolPlan};

use super::bounds::grid;
use super::digits::dense_strides;
use super::epilogue::{Epilogue, PoolContext};
use super::partition::{Groups, Partitioner, same_place};
use super::target::Target;
use super::view::Pass;
use crate::family::Build;
use crate::kernel::{Fact, PassInput, PassOutput};
use crate::schedule::{Dispatch, Effort, Schedule};
use crate::uniform;
use crate::wgsl::key::KernelKey;

/// A pool in one pass.
pub(super) struct OnePass<'a> {
    plan: &'a PoolPlan,
    limits: &'a Target,
    pub pass: Pass,
    pub uniform: uniform::Pool,
    pub epilogue: Epilogue,
}

impl<'a> OnePass<'a> {
    pub fn new(schedule: &mut Schedule, context: &PoolContext<'a>, pass: Pass) -> Result<OnePass<'a>, PlanError> {
        let PoolContext { plan, limits, activation, .. } = *context;
        schedule.build = Build::Specialised;
        let epilogue = Epilogue::of(plan, activation, &mut schedule.tables, limits)?;
        let uniform = epilogue.uniform_of(&pass, &mut schedule.tables, limits)?;
        Ok(OnePass { plan, limits, pass, uniform, epilogue })
    }

    /// The number of the conversion from a position to an index (shaders/thread_tile/indices.wgsl).
    pub fn index_map(&self) -> u32 {
        let inner = self.plan.layout() == Layout::Nhwc && self.plan.channels > 1;
        match index_strides(self.plan) {
            Some([index, own]) if index == own => 0,
            Some([index, own]) if index.spatial == own.spatial && (!inner || index.c == own.c) => 1,
            Some([index, own]) if inner && self.counts_columns(&index.spatial, &own.spatial) => 3,
            _ => 2,
        }
    }

    /// The numbers of digits as constants, where an index or its place in the index tensor is computed by digits.
    pub fn index_digits(&self) -> impl Iterator<Item = Fact> + use<> {
        let takes = self.plan.indices.is_some() && (self.index_map() != 0 || !same_place(self.plan));
        self.epilogue.index_digits(self.plan).consts().into_iter().filter(move |_| takes)
    }

    /// Whether each stride of the indices, times the channels, is the stride of the positions.
    fn counts_columns(&self, indices: &[i64], positions: &[i64]) -> bool {
        let inner = self.plan.channels as i64;
        let mut pairs = indices.iter().zip(positions);
        pairs.all(|(index, position)| index.checked_mul(inner) == Some(*position))
    }

    /// Appends the dispatches. `groups` divides the outputs among invocations; the uniform counts blocks of
    /// `block_invocations` invocations.
    pub fn dispatches(
        self,
        schedule: &mut Schedule,
        key: KernelKey,
        groups: &Groups,
        block_invocations: u64,
        iterations: u64,
        effort: Effort,
    ) -> Result<(), PlanError> {
        let (plan, sink) = (self.plan, PassOutput::of(self.plan));
        let partitioner = Partitioner { plan, passes: &[self.pass], limits: self.limits };
        // The number of invocations is a multiple of `block_invocations`.
        let blocks = |invocations: u64| invocations.div_ceil(block_invocations) as u32;
        for ranges in partitioner.dispatches(0, sink, groups)? {
            let grid = grid(groups.invocations(ranges.outputs), self.limits)?;
            let mut uniform = ranges.uniform(self.uniform, grid);
            uniform.blocks = blocks(groups.invocations(ranges.outputs));
            uniform.block_first = blocks(groups.before(ranges.outputs.first));
            let operands = ranges.operands(0, PassInput::Elements, sink, plan, &key);
            schedule.dispatches.push(Dispatch::new(key.clone(), &uniform, operands, grid, iterations).with(effort));
        }
        Ok(())
    }
}

/// The strides of the indices' convention, and those of X itself.
fn index_strides(plan: &PoolPlan) -> Option<[IndexStrides; 2]> {
    let inputs: Vec<usize> = plan.axes.iter().map(|axis| axis.input).collect();
    let own = || dense_strides(plan.layout(), plan.channels, &inputs);
    plan.indices.as_ref().map(|indices| [indices.space.strides(), own()])
}

/// Whether an index is a position in X, counted from the index of the first element.
pub(super) fn positions_are_indices(plan: &PoolPlan) -> bool {
    index_strides(plan).is_some_and(|[index, own]| index == own)
}
