//! The plan of a box of Y: what it reads, and how it is computed from that.

use std::ops::Range;

use super::region::Region;
use crate::attributes::Activation;
use crate::geometry::AxisWindow;
use crate::options::NanPolicy;
use crate::plan::{CompositionPlan, DifferencePlan, Origin, Plan, PlanStep, PoolAxis, PoolPlan};
use crate::reduction::Reduction;
use crate::tensor::TensorSpec;

/// The elements that the windows of a range of outputs of an axis reach, and these windows on these elements.
type PartOfAxis<'a> = dyn Fn(&PoolAxis, Range<usize>) -> (Range<usize>, AxisWindow) + 'a;

/// The box of X that a box of Y needs, and the plan that computes it from that.
pub fn part_of(plan: &Plan, output: &Region, part: &PartOfAxis<'_>) -> (Region, Plan) {
    match plan {
        Plan::Pool(plan) => {
            let (input, plan) = part_of_pool(plan, output, part);
            (input, Plan::Pool(plan))
        }
        Plan::Composition(plan) => {
            let (input, plan) = part_of_composition(plan, output, part);
            (input, Plan::Composition(plan))
        }
        // Each element of Y is that of the elements at its place.
        Plan::Difference(plan) => {
            let TensorSpec { dtype, layout, .. } = plan.inputs[0];
            let tensor = TensorSpec { shape: output.shape(layout), dtype, layout };
            (output.clone(), Plan::Difference(DifferencePlan::of(&tensor)))
        }
        Plan::Unpool(_) => (output.clone(), plan.clone()),
    }
}

fn part_of_pool(plan: &PoolPlan, output: &Region, part: &PartOfAxis<'_>) -> (Region, PoolPlan) {
    let axes = plan.axes.iter().zip(&output.spatial);
    let (inputs, windows) = axes.map(|(axis, outputs)| part(axis, outputs.clone())).unzip();
    let (input, mut plan) = pool_on(plan, output, inputs, windows);
    if plan.indices.is_none() {
        // Without indices the result does not depend on the tile's origin. Clearing it gives equal tiles equal
        // plans, which are prepared once.
        plan.origin = Origin::default();
    }
    (input, plan)
}

/// A pool of some of the outputs, whose windows are these on these ranges of the input.
pub fn pool_on(
    whole: &PoolPlan,
    output: &Region,
    inputs: Vec<Range<usize>>,
    windows: Vec<AxisWindow>,
) -> (Region, PoolPlan) {
    let input = Region { batch: output.batch.clone(), channels: output.channels.clone(), spatial: inputs };
    let mut plan = whole.clone();
    (plan.batch, plan.channels) = (output.batch.len(), output.channels.len());
    for (number, axis) in plan.axes.iter_mut().enumerate() {
        let (input, output) = (input.spatial[number].len(), output.spatial[number].len());
        *axis = PoolAxis { input, output, window: windows[number] };
    }
    let before = &whole.origin;
    let at = |axis: usize| input.spatial[axis].start.saturating_add(before.spatial.get(axis).copied().unwrap_or(0));
    plan.origin = Origin {
        batch: before.batch.saturating_add(output.batch.start),
        channel: before.channel.saturating_add(output.channels.start),
        spatial: (0..plan.axes.len()).map(at).collect(),
    };
    plan.derive_tensors(whole.dtype(), whole.layout());
    (input, plan)
}

/// From the last step to the first, each box that a step writes asks for the box that its windows reach, clipped where
/// the image ends. Of a tensor that several steps read the union of their boxes is there, and a step that needs less
/// reads a part of it:
///
/// ```text
///   X      |-----------------------------|     a top-hat, X minus the opening, of a box of Y
///   erosion    |---------------------|
///   dilation        |----------|
///   part of X       |----------|
///   Y               |----------|
/// ```
fn part_of_composition(whole: &CompositionPlan, output: &Region, part: &PartOfAxis<'_>) -> (Region, CompositionPlan) {
    let mut boxes: Vec<Option<Region>> = vec![None; whole.steps.len().saturating_add(1)];
    boxes[whole.steps.len()] = Some(output.clone());
    let mut parts = Vec::new();
    for (number, step) in whole.steps.iter().enumerate().rev() {
        // Every step but the last one is read by a later one.
        let written = boxes[number.saturating_add(1)].clone().unwrap_or_else(|| output.clone());
        let (read, plan) = part_of(&step.plan, &written, part);
        for &input in &step.inputs {
            let both = boxes[input].take().map_or_else(|| read.clone(), |other| other.union(&read));
            boxes[input] = Some(both);
        }
        parts.push((read, plan));
    }
    let (mut steps, mut numbers) = (Vec::new(), vec![0; boxes.len()]);
    for ((number, step), (read, plan)) in whole.steps.iter().enumerate().zip(parts.into_iter().rev()) {
        let mut inputs = Vec::new();
        for &input in &step.inputs {
            let there = boxes[input].as_ref().unwrap_or(&read);
            inputs.push(if *there == read {
                numbers[input]
            } else {
                let plan = Plan::Pool(crop(whole.tensor(input), there, &read));
                steps.push(PlanStep { plan, inputs: vec![numbers[input]] });
                steps.len()
            });
        }
        steps.push(PlanStep { plan, inputs });
        numbers[number.saturating_add(1)] = steps.len();
    }
    let input = boxes[0].take().unwrap_or_else(|| output.clone());
    let tensor = |of: &TensorSpec, region: &Region| TensorSpec { shape: region.shape(of.layout), ..of.clone() };
    let (inputs, outputs) = (vec![tensor(&whole.inputs[0], &input)], vec![tensor(&whole.outputs[0], output)]);
    (input, CompositionPlan { operator: whole.operator, inputs, outputs, steps })
}

/// The pool that copies a box of a tensor out of a larger one: its windows have one element each, and negative pads.
fn crop(tensor: &TensorSpec, there: &Region, wanted: &Region) -> PoolPlan {
    let axis = |(there, wanted): (&Range<usize>, &Range<usize>)| {
        let pad_begin = (there.start as i64).saturating_sub(wanted.start as i64);
        let window = AxisWindow::Strided { kernel: 1, stride: 1, dilation: 1, pad_begin };
        PoolAxis { input: there.len(), output: wanted.len(), window }
    };
    let mut plan = PoolPlan {
        operator: "crop",
        inputs: Vec::new(),
        outputs: Vec::new(),
        batch: wanted.batch.len(),
        channels: wanted.channels.len(),
        axes: there.spatial.iter().zip(&wanted.spatial).map(axis).collect(),
        reduction: Reduction::Max,
        nan_policy: NanPolicy::SeedFirst,
        empty_bits: 0,
        indices: None,
        activation: Activation::Identity,
        origin: Origin::default(),
    };
    plan.derive_tensors(tensor.dtype, tensor.layout);
    plan
}
