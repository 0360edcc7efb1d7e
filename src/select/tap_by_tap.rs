//! Schedules of pools that read windows tap by tap: a list of passes over three axes each. A pass keeps the best
//! candidate of every window.

use wgpu_pooling_plan::{DType, PlanError, PoolPlan};

use super::bounds::{MAX_ITERATIONS, check_buffer, check_bytes, grid};
use super::cost::{lines, of_an_index, per_tap};
use super::epilogue::{Epilogue, PoolContext, lanes};
use super::partition::{CANDIDATE_BYTES, Groups, Partitioner};
use super::tuning::cost::{CANDIDATE_FACTOR, CANDIDATE_FACTOR_OF_SOFTWARE, OPS_PER_WINDOW};
use super::view::{Pass, passes};
use crate::family::Build;
use crate::kernel::{ActivationKind, Fact, IndexDigits, Kernel, PassDigits, PassInput, PassOutput};
use crate::schedule::{Dispatch, Effort, Schedule};
use crate::wgsl::key::KernelKey;

/// How one invocation reads a row of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct RowLoads {
    /// Whether the row is loaded word by word: its elements are contiguous, several to a word.
    words: bool,
    /// The loads of a chunk, which are in flight together, at most eight; and the number of chunks in the longest row.
    together: u32,
    chunks: u32,
}

impl RowLoads {
    const MOST: u64 = 8;

    /// The loads for rows of at most `most_taps` elements, which are contiguous if `adjacent`. Equal chunks of at most
    /// eight loads leave few loads unused.
    fn of(dtype: DType, most_taps: u64, adjacent: bool) -> RowLoads {
        let per_word = 4u64.div_ceil(dtype.bytes() as u64);
        let words = adjacent && per_word > 1;
        // A row may begin and end within a word.
        let loads =
            if words { most_taps.saturating_add(per_word).saturating_sub(1).div_ceil(per_word) } else { most_taps };
        let loads = loads.max(1);
        let chunks = loads.div_ceil(RowLoads::MOST).max(1);
        let together = loads.div_ceil(chunks).clamp(1, RowLoads::MOST);
        RowLoads { words, together: together as u32, chunks: chunks as u32 }
    }
}

/// The constants of a specialised build of a tap-by-tap pass.
pub(super) struct SpecialisedPass {
    /// Of the windows and of the outputs' coordinates.
    consts: Vec<Fact>,
    row: RowLoads,
    /// The most taps on the outermost axis.
    layers: u32,
    index_digits: IndexDigits,
}

/// Appends the dispatches of the families whose passes read windows tap by tap.
pub(super) fn dispatches(schedule: &mut Schedule, context: &PoolContext<'_>) -> Result<(), PlanError> {
    let PoolContext { plan, limits, activation_kind, activation } = *context;
    let (family, build) = (schedule.family, schedule.build);
    let passes = passes(plan, family, limits)?;
    let epilogue = Epilogue::of(plan, activation, &mut schedule.tables, limits)?;
    let mut uniforms = Vec::new();
    for pass in &passes {
        uniforms.push(epilogue.uniform_of(pass, &mut schedule.tables, limits)?);
    }
    let partitioner = Partitioner { plan, passes: &passes, limits };
    for (number, (pass, uniform)) in passes.iter().zip(&uniforms).enumerate() {
        let last = number.saturating_add(1) == passes.len();
        let sink = if last { PassOutput::of(plan) } else { PassOutput::Candidates };
        let input = if number == 0 { PassInput::Elements } else { PassInput::Candidates };
        let lanes = if sink == PassOutput::Candidates { 1 } else { lanes(plan.dtype()) };
        let of_an_output = pass.iterations().saturating_add(1).saturating_add(epilogue.iterations());
        let iterations = of_an_output.saturating_mul(lanes);
        if iterations > MAX_ITERATIONS {
            return family.refuse("a window is too long for one invocation");
        }
        if sink == PassOutput::Candidates {
            let bytes = pass.outputs.saturating_mul(CANDIDATE_BYTES);
            check_buffer("bytes of candidates (max_buffer_bytes)", bytes, limits)?;
            schedule.scratch.push(bytes);
        }
        let activation = if sink == PassOutput::Candidates { ActivationKind::Identity } else { activation_kind };
        let specialised = (build == Build::Specialised).then(|| specialised(pass, &epilogue, plan));
        let key = kernel(plan, input, sink, activation, specialised.as_ref());
        let row = specialised.as_ref().map(|it| it.row);
        let effort = effort(pass, input, sink, row, context, of_an_index(plan, &epilogue));
        for ranges in partitioner.dispatches(number, sink, &Groups::of(lanes, plan.dtype()))? {
            let grid = grid(ranges.outputs.count().div_ceil(lanes), limits)?;
            let uniform = ranges.uniform(*uniform, grid);
            let operands = ranges.operands(number, input, sink, plan, &key);
            schedule.dispatches.push(Dispatch::new(key.clone(), &uniform, operands, grid, iterations).with(effort));
        }
    }
    check_bytes("bytes of window tables", schedule.tables.bytes(), limits)
}

/// What an invocation of a tap-by-tap pass does.
fn effort(
    pass: &Pass,
    input: PassInput,
    sink: PassOutput,
    row: Option<RowLoads>,
    context: &PoolContext<'_>,
    of_an_index: f64,
) -> Effort {
    let (dtype, software) = (context.plan.dtype(), context.limits.software);
    let [layers, rows, taps] = pass.axes.each_ref().map(|axis| axis.most_taps.max(1) as f64);
    let (rows, taps) = (layers * rows, layers * rows * taps);
    let of_a_candidate = if software { CANDIDATE_FACTOR_OF_SOFTWARE } else { CANDIDATE_FACTOR };
    // All elements of a word are compared.
    let (bytes, loads, compared, waits) = match (input, row) {
        (PassInput::Elements, Some(RowLoads { words, together, chunks })) => {
            let waits = rows * f64::from(chunks);
            let loads = waits * f64::from(together);
            (dtype.bytes() as u64, loads, if words { loads * lanes(dtype) as f64 } else { taps }, waits)
        }
        (PassInput::Elements, None) => (dtype.bytes() as u64, taps, taps, taps),
        _ => (CANDIDATE_BYTES, taps, of_a_candidate * taps, taps),
    };
    let (outputs, of_an_index) = if sink == PassOutput::Candidates { (1, 0.0) } else { (lanes(dtype), of_an_index) };
    // Keys of fewer bytes have room for the number of a tap.
    let places = input == PassInput::Elements && sink.index_type().is_some() && dtype.bytes() >= 4;
    let compared = if places { 2.0 * compared } else { compared };
    let of_an_output = OPS_PER_WINDOW + of_an_index + per_tap(dtype) * compared;
    let pitch = outputs.saturating_mul(bytes).saturating_mul(pass.pitch());
    let outputs = outputs as f64;
    Effort { operations: outputs * of_an_output, lines: outputs * loads * lines(pitch), waits: outputs * waits }
}

/// The constants of a specialised build of a tap-by-tap pass.
fn specialised(pass: &Pass, epilogue: &Epilogue, plan: &PoolPlan) -> SpecialisedPass {
    let [.., last] = pass.windows();
    let row = RowLoads::of(plan.dtype(), pass.axes[2].most_taps, pass.inner == 1 && last.dilation == 1);
    let layers = pass.axes[0].most_taps as u32;
    let consts = pass.consts(plan.nan_policy).chain(pass.digits().consts()).collect();
    SpecialisedPass { consts, row, layers, index_digits: epilogue.index_digits(plan) }
}

/// A pass of a pool that reads the taps of its windows one by one. `specialised: None` is the generic build.
pub(super) fn kernel(
    plan: &PoolPlan,
    input: PassInput,
    sink: PassOutput,
    activation: ActivationKind,
    specialised: Option<&SpecialisedPass>,
) -> KernelKey {
    let from = match input {
        PassInput::Elements => "elements",
        PassInput::Candidates => "candidates",
        PassInput::Accumulators => "accumulators",
    };
    let build = if specialised.is_some() { "specialised" } else { "generic" };
    let mut consts = specialised.map_or(PassDigits::ALL.consts().to_vec(), |it| it.consts.clone());
    if sink.index_type().is_some() {
        consts.extend(specialised.iter().flat_map(|it| it.index_digits.consts()));
    }
    let [candidates, accumulators] =
        [PassInput::Candidates, PassInput::Accumulators].map(|other| u32::from(input == other));
    let mut facts = vec![("CANDIDATES", candidates), ("ACCUMULATORS", accumulators)];
    if let Some(SpecialisedPass { row, layers, .. }) = specialised
        && input == PassInput::Elements
    {
        facts.push(("ROW_WORDS", row.words.into()));
        consts.extend([("LOADS", row.together), ("CHUNKS", row.chunks), ("LAYERS", *layers.min(&2))]);
    }
    let entry = match sink {
        PassOutput::Candidates => "pool_candidates",
        PassOutput::Accumulators => "pool_accumulate",
        PassOutput::Values | PassOutput::ValuesAndIndices(_) => "pool_values",
    };
    let name = format!("pool {} {from} to {}, {build}", plan.dtype().name(), sink.name());
    Kernel::of_pool(name, entry, plan, sink, activation).with(facts).constants(consts).into()
}
