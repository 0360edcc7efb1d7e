//! Partitions a pass into dispatches where a buffer exceeds a binding, a grid exceeds the device's limit, or the taps
//! exceed those of a dispatch.

use wgpu_pooling_plan::{DType, PlanError, PoolPlan};

use super::bounds::{MAX_DISPATCHES, grid};
use super::target::Target;
use super::view::{ALIGNMENT, ElementRange, Pass};
use crate::kernel::{Operand, PassInput, PassOutput, binding};
use crate::schedule::BoundRange;
use crate::uniform;
use crate::wgsl::key::KernelKey;

/// Bytes of a candidate: two words.
pub(super) const CANDIDATE_BYTES: u64 = 8;

/// Dispatches begin at multiples of this many outputs. The bytes of as many elements are a multiple of every device's
/// alignment, for every element and index type.
pub(super) const OUTPUT_UNIT: u64 = 256;

/// The division of outputs among invocations, in groups.
pub(super) struct Groups {
    /// Dispatches begin at multiples of this many outputs.
    pub unit: u64,
    pub outputs_per_group: u64,
    pub invocations_per_group: u64,
    /// Whether groups lie at fixed positions: a dispatch then runs all invocations of every group that its outputs
    /// overlap.
    pub whole: bool,
    /// Taps that are read for an output, where windows share most of theirs; otherwise all of the window.
    pub taps: Option<u64>,
}

impl Groups {
    /// `outputs` outputs per invocation.
    pub fn of(outputs: u64, dtype: DType) -> Groups {
        Groups { unit: unit(dtype), outputs_per_group: outputs, invocations_per_group: 1, whole: false, taps: None }
    }

    /// The invocations of a dispatch over these outputs.
    pub fn invocations(&self, outputs: ElementRange) -> u64 {
        let of = |outputs: u64| outputs.div_ceil(self.outputs_per_group).saturating_mul(self.invocations_per_group);
        if self.whole { of(outputs.end).saturating_sub(self.before(outputs.first)) } else { of(outputs.count()) }
    }

    /// The invocations before those of a dispatch that begins at output `first`.
    pub fn before(&self, first: u64) -> u64 {
        let before = if self.whole {
            first.checked_div(self.outputs_per_group).unwrap_or(0)
        } else {
            first.div_ceil(self.outputs_per_group)
        };
        before.saturating_mul(self.invocations_per_group)
    }
}

/// The counterpart of [`OUTPUT_UNIT`] for one element type. It is smaller, so that fewer outputs with large windows
/// have to fit one binding.
pub(super) fn unit(dtype: DType) -> u64 {
    ALIGNMENT.div_ceil(dtype.bytes() as u64)
}

/// The passes of a pool and the limits on their bindings.
pub(super) struct Partitioner<'a> {
    pub plan: &'a PoolPlan,
    pub passes: &'a [Pass],
    pub limits: &'a Target,
}

/// One dispatch: the ranges of its outputs, of X, of the candidates that it reads (`source`), and of the index tensor
/// (`store`), in elements.
pub(super) struct DispatchRanges {
    pub outputs: ElementRange,
    pub x: ElementRange,
    pub input: ElementRange,
    pub store: ElementRange,
}

impl Partitioner<'_> {
    /// The dispatches of a pass.
    ///
    /// # Errors
    /// [`PlanError::ExceedsLimit`] if the elements that one unit of outputs reads do not fit a binding.
    pub fn dispatches(
        &self,
        number: usize,
        sink: PassOutput,
        groups: &Groups,
    ) -> Result<Vec<DispatchRanges>, PlanError> {
        let total = self.passes[number].outputs;
        // A dispatch takes at most one unit of outputs, or as many outputs as keep its taps within the most.
        let most_taps = self.limits.most_taps();
        let most_outputs = groups.unit.max(most_taps.checked_div(self.most_taps(number, groups)).unwrap_or(most_taps));
        PlanError::within("dispatches", total.div_ceil(most_outputs), MAX_DISPATCHES)?;
        let ranges = ranges(total, groups.unit, |outputs| self.fit(number, sink, groups, outputs))?;
        Ok(ranges.into_iter().map(|outputs| self.ranges(number, outputs)).collect())
    }

    /// The ranges that a dispatch over these outputs binds.
    fn ranges(&self, number: usize, outputs: ElementRange) -> DispatchRanges {
        let pass = &self.passes[number];
        let whole = outputs.count() == pass.outputs;
        let input = pass.input(outputs, &pass.taps());
        // A pass in one dispatch binds its buffers from their first element on.
        let bound = |range: ElementRange, bytes: usize| {
            if whole { ElementRange { first: 0, ..range } } else { range.aligned(bytes) }
        };
        let mut x = bound(self.x(number, outputs), self.plan.dtype().bytes());
        // Wide loads may read beyond the last element that is needed.
        x.end = x.whole(unit(self.plan.dtype())).end.min(self.plan.input_elements());
        DispatchRanges {
            outputs,
            x,
            input: bound(input, CANDIDATE_BYTES as usize),
            store: bound(store(self.plan, outputs), index_bytes(self.plan)),
        }
    }

    /// The elements of X on which these outputs of a pass depend.
    fn x(&self, number: usize, outputs: ElementRange) -> ElementRange {
        let mut range = outputs;
        for pass in self.passes[..=number].iter().rev() {
            range = pass.input(range, &pass.taps());
        }
        range
    }

    /// The most taps that are read for an output of a pass, at least one.
    fn most_taps(&self, number: usize, groups: &Groups) -> u64 {
        let axes = self.passes[number].axes.iter();
        groups.taps.unwrap_or(axes.fold(1, |product: u64, axis| product.saturating_mul(axis.most_taps.max(1))))
    }

    /// Refuses more outputs than one dispatch can compute.
    fn fit(&self, number: usize, sink: PassOutput, groups: &Groups, outputs: ElementRange) -> Result<(), PlanError> {
        #[cfg(all(test, debug_assertions))]
        wgpu_pooling_plan::internal::steps::count();
        // A single unit of outputs is not divided further for its taps: the iterations of an invocation are bounded
        // anyway.
        if outputs.count() > groups.unit {
            let taps = outputs.count().saturating_mul(self.most_taps(number, groups));
            PlanError::within("taps of a dispatch", taps, self.limits.most_taps())?;
        }
        grid(groups.invocations(outputs), self.limits)?;
        PlanError::within(
            "bytes around a window (max_binding_bytes)",
            self.bytes(number, sink, outputs),
            self.limits.max_binding_bytes,
        )
    }

    /// The bytes of the largest binding of a dispatch over these outputs.
    fn bytes(&self, number: usize, sink: PassOutput, outputs: ElementRange) -> u64 {
        let ranges = self.ranges(number, outputs);
        let bytes = |range: ElementRange, element_bytes: usize| range.device_bytes(element_bytes);
        let value_bytes = match sink {
            PassOutput::Candidates => bytes(outputs, CANDIDATE_BYTES as usize),
            _ => bytes(outputs, self.plan.dtype().bytes()),
        };
        let index_bytes = match sink {
            PassOutput::ValuesAndIndices(index_type) => bytes(ranges.store, index_type.bytes()),
            _ => 0,
        };
        let input_bytes = if number == 0 { 0 } else { bytes(ranges.input, CANDIDATE_BYTES as usize) };
        let x_bytes = bytes(ranges.x, self.plan.dtype().bytes());
        value_bytes.max(index_bytes).max(input_bytes).max(x_bytes)
    }
}

/// Bytes of an index; 1 in a plan without indices.
pub(super) fn index_bytes(plan: &PoolPlan) -> usize {
    plan.indices.as_ref().map_or(1, |indices| indices.index_type.bytes())
}

/// The positions of these outputs in the index tensor. Where the two layouts order a batch item differently, the
/// outputs may be anywhere in the item.
pub(super) fn store(plan: &PoolPlan, outputs: ElementRange) -> ElementRange {
    if same_place(plan) {
        outputs
    } else {
        outputs.whole(plan.output_elements().checked_div(plan.batch as u64).unwrap_or(0))
    }
}

/// Whether indices are written in the order of Y.
pub(super) fn same_place(plan: &PoolPlan) -> bool {
    plan.indices.as_ref().is_none_or(|indices| {
        // Channels lie inside the spatial axes in one layout and outside in the other. If all spatial extents of Y are
        // 1, both orders are the same.
        let spatial = plan.axes.iter().fold(1, |all: usize, axis| all.saturating_mul(axis.output));
        indices.space.layout == plan.layout() || plan.channels == 1 || spatial == 1
    })
}

impl DispatchRanges {
    /// A pass's uniform with the fields that depend on the dispatch.
    pub fn uniform(&self, uniform: uniform::Pool, grid: [u32; 3]) -> uniform::Pool {
        uniform::Pool {
            outputs: self.outputs.count() as u32,
            output_first: self.outputs.first as u32,
            x_first: self.x.first as u32,
            in_first: self.input.first as u32,
            store_first: self.store.first as u32,
            grid_width: grid[0],
            ..uniform
        }
    }

    /// The bound ranges of the dispatch, in the order of the key's bindings.
    pub fn operands(
        &self,
        number: usize,
        input: PassInput,
        sink: PassOutput,
        plan: &PoolPlan,
        key: &KernelKey,
    ) -> Vec<BoundRange> {
        let (x, y) = (plan.input_elements(), plan.output_elements());
        let mut operands = vec![bound_range(Operand::X, self.x, plan.dtype().bytes(), x)];
        if sink != PassOutput::Candidates {
            operands.push(bound_range(Operand::Y, self.outputs, plan.dtype().bytes(), y));
        }
        if let (PassInput::Candidates, Some(before)) = (input, number.checked_sub(1)) {
            operands.push(bound_range(Operand::Scratch(before), self.input, CANDIDATE_BYTES as usize, u64::MAX));
        }
        if sink == PassOutput::Candidates {
            operands.push(bound_range(Operand::Scratch(number), self.outputs, CANDIDATE_BYTES as usize, u64::MAX));
        }
        if key.bindings().iter().any(|it| it.number == binding::TABLES) {
            operands.push(BoundRange::whole(Operand::Tables));
        }
        if let PassOutput::ValuesAndIndices(index_type) = sink {
            operands.push(bound_range(Operand::IndicesOut, self.store, index_type.bytes(), y));
        }
        operands
    }
}

/// The bound range that holds `range` of a buffer of `elements` elements, in whole words. It is the whole buffer if
/// `range` holds all elements.
pub(super) fn bound_range(operand: Operand, range: ElementRange, element_bytes: usize, elements: u64) -> BoundRange {
    if range.first == 0 && range.end >= elements {
        return BoundRange::whole(operand);
    }
    let offset = range.first.saturating_mul(element_bytes as u64);
    let end = ElementRange { first: 0, end: range.end.min(elements) }.device_bytes(element_bytes);
    BoundRange { operand, offset, bytes: Some(end.saturating_sub(offset)) }
}

/// The fewest ranges that cover `total` and fit. The length of each but the last is a multiple of `unit`.
///
/// # Errors
/// The error of `fit` for a single unit that does not fit, or [`PlanError::ExceedsLimit`] for too many dispatches.
pub(super) fn ranges(
    total: u64,
    unit: u64,
    fit: impl Fn(ElementRange) -> Result<(), PlanError>,
) -> Result<Vec<ElementRange>, PlanError> {
    let fits = |range: ElementRange| fit(range).is_ok();
    let mut ranges = Vec::new();
    // Where the next range begins, and the units of the previous range.
    let (mut first, mut before) = (0u64, 0u64);
    while first < total {
        let all = ElementRange { first, end: total };
        let end = if fits(all) {
            total
        } else {
            // A binary search for the most units that fit.
            let units = |count: u64| ElementRange { first, end: first.saturating_add(unit.saturating_mul(count)) };
            let (mut fitting, mut too_many) = (0, all.count().div_ceil(unit));
            // Consecutive ranges mostly have the same length, so the previous length is tried first.
            let next = before.saturating_add(1);
            if (1..too_many).contains(&before) {
                if !fits(units(before)) {
                    too_many = before;
                } else {
                    fitting = before;
                    too_many = if next < too_many && !fits(units(next)) { next } else { too_many };
                }
            }
            while too_many.abs_diff(fitting) > 1 {
                let middle = fitting.midpoint(too_many);
                if fits(units(middle)) { fitting = middle } else { too_many = middle }
            }
            if fitting == 0 {
                let one = ElementRange { first, end: units(1).end.min(total) };
                fit(one)?;
                fitting = 1;
            }
            before = fitting;
            units(fitting).end.min(total)
        };
        let range = ElementRange { first, end };
        ranges.push(range);
        if ranges.len() as u64 > MAX_DISPATCHES {
            let needed = total.div_ceil(range.count()).max(ranges.len() as u64);
            return Err(PlanError::ExceedsLimit { what: "dispatches", needed, limit: MAX_DISPATCHES });
        }
        first = end;
    }
    Ok(ranges)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_cover_everything_once_in_units() {
        let most = |most: u64| move |range: ElementRange| PlanError::within("outputs", range.count(), most);
        for total in [1, 255, 256, 257, 5_000] {
            for limit in [256, 300, 1_000, 10_000] {
                let found = ranges(total, OUTPUT_UNIT, most(limit)).unwrap();
                assert_eq!((found[0].first, found[found.len() - 1].end), (0, total));
                assert!(found.windows(2).all(|pair| pair[0].end == pair[1].first && pair[1].first % OUTPUT_UNIT == 0));
                assert!(found.iter().all(|range| range.count() <= limit && range.count() > 0));
            }
        }
        let too_many = PlanError::ExceedsLimit { what: "outputs", needed: 256, limit: 255 };
        assert_eq!(ranges(1_000, OUTPUT_UNIT, most(255)), Err(too_many));
        let endless = ranges(u64::MAX / 2, OUTPUT_UNIT, most(256));
        assert!(matches!(endless, Err(PlanError::ExceedsLimit { what: "dispatches", .. })), "{endless:?}");
    }
}
