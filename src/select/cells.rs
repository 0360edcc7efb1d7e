//! The streaming unpool in one pass: the stride cells of some sources for each invocation.

use super::block::{product, words};
use super::digits::dense_strides;
use crate::attributes::Layout;
use crate::error::PlanError;
use crate::kernel::Cells;
use crate::plan::{UnpoolPlan, count};
use crate::schedule::Family;
use crate::uniform;

/// The most elements that an invocation writes: they are written out one by one.
const MOST_PLACES: u64 = 64;

/// The most taps of a window: each is compared with the source's index.
const MOST_TAPS: u64 = 32;

/// The most taps of all windows of an invocation: beyond, drivers were measured to compile for seconds.
const MOST_TAPS_IN_ALL: u64 = 128;

fn refuse<T>(reason: &'static str) -> Result<T, PlanError> {
    Err(PlanError::KernelDoesNotApply { family: Family::Streaming, reason })
}

/// What an invocation writes, and how many there are. `windows` go from a source to its window, on three axes.
pub(super) fn cells(plan: &UnpoolPlan, windows: &[uniform::Axis; 3]) -> Result<(Cells, u64), PlanError> {
    if windows.iter().any(|axis| axis.kind != 0 || axis.dilation != 1 || axis.pad_begin < 0) {
        return refuse("the windows are not given by a kernel and a stride alone");
    }
    if plan.space.extents != plan.outputs {
        return refuse("indices count other extents than the output's");
    }
    let bytes = plan.dtype.bytes() as u64;
    let skipped = 3 - plan.outputs.len();
    let extent = |extents: &[usize], axis: usize| axis.checked_sub(skipped).map_or(1, |axis| extents[axis] as u64);
    let [inputs, outputs] = [&plan.inputs, &plan.outputs].map(|of| [0, 1, 2].map(|axis| extent(of, axis)));
    // Where an axis has one source and one output, they are each other's, whatever the window says: nothing is to be written
    // beside them.
    let of = |unit: u32, value: fn(&uniform::Axis) -> u32| {
        [0, 1, 2].map(|axis| if inputs[axis] == 1 && outputs[axis] == 1 { unit } else { value(&windows[axis]) })
    };
    let (kernel, stride, pad) =
        (of(1, |axis| axis.kernel), of(1, |axis| axis.stride), of(0, |axis| axis.pad_begin as u32));
    let (taps, cell) = (product(&kernel), product(&stride));
    if taps > MOST_TAPS || (0..3).any(|axis| inputs[axis] > outputs[axis].div_ceil(stride[axis].into())) {
        return refuse("the windows are too large, or windows begin behind the output");
    }
    let inner = plan.layout == Layout::Nhwc && plan.channels > 1;
    let same_place = plan.space.layout == plan.layout || plan.channels == 1 || count(&plan.inputs) == 1;
    let width = u64::from(stride[2]);
    let few_taps = |sources: &u64| taps * sources <= MOST_TAPS_IN_ALL;
    let (sources, lanes) = if inner {
        let channels = plan.channels as u64;
        let fits = |lanes: &u64| {
            channels.is_multiple_of(*lanes)
                && (lanes * bytes).is_multiple_of(4)
                && cell.saturating_mul(*lanes) <= MOST_PLACES
                && few_taps(lanes)
        };
        (Some(1), [8, 4, 2, 1].into_iter().find(fits))
    } else {
        let even =
            |sources: &u64| (sources * width * bytes).is_multiple_of(4) && (outputs[2] * bytes).is_multiple_of(4);
        let fits = |sources: &u64| {
            cell.saturating_mul(*sources) <= MOST_PLACES && few_taps(sources) && (bytes >= 4 || even(sources))
        };
        // Rows that sources come out even with are read in words.
        let whole =
            [8, 4, 2].into_iter().filter(|sources| inputs[2] % sources == 0 && sources * bytes <= 32).find(fits);
        (whole.or([4, 2, 1].into_iter().find(fits)), Some(1).filter(|_| same_place))
    };
    let (Some(sources), Some(lanes)) = (sources, lanes) else {
        return refuse("the last axis does not come out even with words, or the cells are too large");
    };
    let steps = [u64::from(stride[0]), u64::from(stride[1]), width * sources];
    let exact = [0, 1, 2].map(|axis| outputs[axis] % steps[axis] == 0);
    let reach = |axis: usize| (inputs[axis].max(1) - 1) * u64::from(stride[axis]) + u64::from(kernel[axis]);
    let load = |bytes: u64| match (inner, inputs[2] % sources == 0 && (sources * bytes).is_multiple_of(4)) {
        (true, _) => words(lanes * bytes),
        (false, true) => words(sources * bytes),
        (false, false) => 0,
    };
    let load_words = load(bytes);
    let index_bytes = plan.index_type.bytes() as u64;
    let store = if inner { lanes * bytes } else { width * sources * bytes };
    let cells = Cells {
        kernel,
        stride,
        pad,
        axes: outputs
            .iter()
            .zip(inputs)
            .position(|(&output, input)| output > 1 || input > 1)
            .map_or(1, |axis| 3 - axis),
        sources: sources as u32,
        lanes: lanes as u32,
        inner,
        exact,
        filled: (0..3).all(|axis| pad[axis] == 0 && inputs[axis] * u64::from(stride[axis]) == outputs[axis])
            && (0..3).all(|axis| kernel[axis] <= stride[axis])
            && exact[2],
        position_index: plan.space.strides() == dense_strides(plan.layout, plan.channels, &plan.outputs),
        clipped: (0..3).any(|axis| pad[axis] > 0 || reach(axis) > outputs[axis]),
        load_words,
        index_words: if load_words > 0 && same_place { load(index_bytes) } else { 0 },
        store_words: if inner || exact[2] { words(store) } else { 0 },
        same_place,
    };
    let outer = if plan.layout == Layout::Nhwc { plan.batch } else { plan.batch * plan.channels } as u64;
    let across = if inner { plan.channels as u64 / lanes } else { 1 };
    let blocks = (0..3).fold(outer * across, |blocks, axis| blocks * outputs[axis].div_ceil(steps[axis]));
    Ok((cells, blocks))
}
