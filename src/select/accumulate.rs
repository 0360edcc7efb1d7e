//! Schedules of pools whose windows are accumulated in parts. Each dispatch folds as many taps as fit a binding into
//! per-output accumulators; the last dispatches write Y and Indices.

use wgpu_pooling_plan::{PlanError, PoolPlan};

use super::bounds::{MAX_DISPATCHES, MAX_ITERATIONS, grid};
use super::epilogue::{Epilogue, PoolContext, lanes};
use super::partition::{OUTPUT_UNIT, bound_range, index_bytes, ranges, store};
use super::tap_by_tap;
use super::target::Target;
use super::view::{ElementRange, Pass, iterations, only_pass};
use crate::family::{Build, Family};
use crate::kernel::{ActivationKind, Operand, PassInput, PassOutput};
use crate::schedule::{BoundRange, Dispatch, Schedule};
use crate::uniform;
use crate::wgsl::key::KernelKey;

/// Bytes of an accumulator: three pairs of words.
const ACCUMULATOR_BYTES: usize = 24;

/// The most bytes of accumulators: kernels number the pairs in 32 bits.
const MOST_BYTES: u64 = 8 << 32;

/// The buffer with the accumulators of a tile of outputs.
const ACCUMULATORS: Operand = Operand::Scratch(0);

/// Appends the dispatches to a schedule that has none.
pub(super) fn dispatches(schedule: &mut Schedule, context: &PoolContext<'_>) -> Result<(), PlanError> {
    let PoolContext { plan, limits, activation_kind, activation } = *context;
    let pass = &only_pass(plan, Family::Accumulating, limits)?;
    // There are many parts of few taps each, so specialising would gain little.
    schedule.build = Build::Generic;
    let epilogue = Epilogue::of(plan, activation, &mut schedule.tables, limits)?;
    let uniform = epilogue.uniform_of(pass, &mut schedule.tables, limits)?;
    let (total, lanes) = (pass.outputs, lanes(plan.dtype()));
    let sink = PassOutput::of(plan);
    let stored = |outputs: ElementRange| store(plan, outputs).aligned(index_bytes(plan));
    let most = limits.max_binding_bytes.min(limits.max_buffer_bytes).min(MOST_BYTES);
    let fit = |outputs: ElementRange| {
        grid(outputs.count(), limits)?;
        PlanError::within("bytes of accumulators", outputs.device_bytes(ACCUMULATOR_BYTES), most)?;
        PlanError::within(
            "bytes of y (max_binding_bytes)",
            outputs.device_bytes(plan.dtype().bytes()),
            limits.max_binding_bytes,
        )?;
        // Where the indices' layout differs from the data's, a whole batch item of indices is bound at once.
        let indices = stored(outputs).device_bytes(index_bytes(plan));
        PlanError::within("bytes of the indices of a batch item (max_binding_bytes)", indices, limits.max_binding_bytes)
    };
    let tiles = ranges(total, OUTPUT_UNIT, fit)?;
    // However large bindings are, an invocation takes at most `MAX_ITERATIONS` taps, and a dispatch at most
    // `most_taps`. These bounds give a least number of dispatches before any dispatch is made.
    let taps = pass.taps().iter().fold(1, |product: u64, taps| product.saturating_mul(taps.count()));
    let least = tiles.iter().fold(0, |least: u64, tile| {
        let of_all = tile.count().saturating_mul(taps).div_ceil(limits.most_taps());
        least.saturating_add(taps.div_ceil(MAX_ITERATIONS).max(of_all))
    });
    PlanError::within("dispatches", least, MAX_DISPATCHES)?;
    let largest = tiles.iter().map(|tile| tile.device_bytes(ACCUMULATOR_BYTES)).max().unwrap_or(0);
    schedule.scratch.push(largest);
    // Each kernel's text is linked once for all its dispatches.
    let kernel = |input, sink, activation| tap_by_tap::kernel(plan, input, sink, activation, None);
    let accumulate = kernel(PassInput::Elements, PassOutput::Accumulators, ActivationKind::Identity);
    let finishing = kernel(PassInput::Accumulators, sink, activation_kind);
    for tile in tiles {
        let mut parts = WindowParts { pass, plan, limits, uniform, tile, accumulate: &accumulate, schedule };
        parts.take(tile, pass.taps())?;
        let iterations = epilogue.iterations().saturating_add(1).saturating_mul(lanes);
        parts.epilogue(finishing.clone(), sink, stored(tile), lanes, iterations)?;
    }
    Ok(())
}

/// The dispatches of one tile.
struct WindowParts<'a> {
    pass: &'a Pass,
    plan: &'a PoolPlan,
    limits: &'a Target,
    uniform: uniform::Pool,
    tile: ElementRange,
    accumulate: &'a KernelKey,
    schedule: &'a mut Schedule,
}

impl WindowParts<'_> {
    /// Accumulates these taps of these outputs in as few dispatches as bindings and iteration limits allow.
    fn take(&mut self, outputs: ElementRange, taps: [ElementRange; 3]) -> Result<(), PlanError> {
        let x = self.x(outputs, &taps);
        let bytes = x.device_bytes(self.plan.dtype().bytes());
        let work = taps.iter().fold(outputs.count(), |work, taps| work.saturating_mul(taps.count().max(1)));
        let many = iterations(&taps) >= MAX_ITERATIONS;
        if bytes <= self.limits.max_binding_bytes && work <= self.limits.most_taps() && !many {
            return self.dispatch(outputs, &taps, x);
        }
        // Halving the outputs reduces the range of X only as far as one output's range.
        let alone = self.x(ElementRange { end: outputs.first.saturating_add(1), ..outputs }, &taps);
        let wide = alone.device_bytes(self.plan.dtype().bytes()) > self.limits.max_binding_bytes / 2;
        if many || outputs.count() == 1 || (wide && taps.iter().any(|taps| taps.count() > 1)) {
            // Taps are halved on the outermost axis first: its taps are farthest apart.
            let Some(axis) = taps.iter().position(|taps| taps.count() > 1) else {
                let (what, limit) = ("bytes of an element (max_binding_bytes)", self.limits.max_binding_bytes);
                return Err(PlanError::ExceedsLimit { what, needed: bytes, limit });
            };
            for half in taps[axis].halves(1) {
                let mut part: [ElementRange; 3] = taps;
                part[axis] = half;
                self.take(outputs, part)?;
            }
            return Ok(());
        }
        for half in outputs.halves(1) {
            self.take(half, taps)?;
        }
        Ok(())
    }

    /// The range of X that these taps of these outputs read, extended down to an aligned offset.
    fn x(&self, outputs: ElementRange, taps: &[ElementRange; 3]) -> ElementRange {
        self.pass.input(outputs, taps).aligned(self.plan.dtype().bytes())
    }

    fn dispatch(&mut self, outputs: ElementRange, taps: &[ElementRange; 3], x: ElementRange) -> Result<(), PlanError> {
        let key = self.accumulate.clone();
        let mut uniform: uniform::Pool = self.uniform;
        uniform.x_first = x.first as u32;
        // Taps are halved in order, so the part that holds the first tap of every axis is the first part of a window.
        uniform.fresh = taps.iter().all(|taps| taps.first == 0).into();
        for (axis, taps) in taps.iter().enumerate() {
            uniform.tap_from[axis] = taps.first as u32;
            uniform.tap_to[axis] = taps.end as u32;
        }
        let elements = self.plan.input_elements();
        let operands = vec![
            bound_range(Operand::X, x, self.plan.dtype().bytes(), elements),
            BoundRange::whole(Operand::Tables),
            BoundRange::whole(ACCUMULATORS),
        ];
        self.push(key, uniform, operands, outputs, outputs.count(), iterations(taps).saturating_add(1))
    }

    /// Finalizes the tile: writes Y and, into the range `store` of the index tensor, the indices.
    fn epilogue(
        &mut self,
        key: KernelKey,
        sink: PassOutput,
        store: ElementRange,
        lanes: u64,
        iterations: u64,
    ) -> Result<(), PlanError> {
        let mut uniform: uniform::Pool = self.uniform;
        uniform.store_first = store.first as u32;
        let elements = self.plan.output_elements();
        let mut operands = vec![bound_range(Operand::Y, self.tile, self.plan.dtype().bytes(), elements)];
        if let PassOutput::ValuesAndIndices(index_type) = sink {
            operands.push(BoundRange::whole(Operand::Tables));
            operands.push(bound_range(Operand::IndicesOut, store, index_type.bytes(), elements));
        }
        operands.push(BoundRange::whole(ACCUMULATORS));
        self.push(key, uniform, operands, self.tile, self.tile.count().div_ceil(lanes), iterations)
    }

    fn push(
        &mut self,
        key: KernelKey,
        mut uniform: uniform::Pool,
        operands: Vec<BoundRange>,
        outputs: ElementRange,
        invocations: u64,
        iterations: u64,
    ) -> Result<(), PlanError> {
        let grid = grid(invocations, self.limits)?;
        uniform.outputs = outputs.count() as u32;
        uniform.output_first = outputs.first as u32;
        uniform.in_first = self.tile.first as u32;
        uniform.grid_width = grid[0];
        self.schedule.dispatches.push(Dispatch::new(key, &uniform, operands, grid, iterations));
        PlanError::within("dispatches", self.schedule.dispatches.len() as u64, MAX_DISPATCHES)
    }
}
