//! A plan in words.

use std::fmt::{self, Write};

use wgpu_pooling::{Activation, IndexSpace, Layout, Plan, TensorSpec};
use wgpu_pooling_plan::{AxisWindow, CompositionPlan, PoolAxis, PoolPlan, UnpoolPlan};

/// What must be computed.
pub fn describe(report: &mut String, plan: &Plan) -> fmt::Result {
    match plan {
        Plan::Pool(plan) => pool(report, plan),
        Plan::Unpool(plan) => unpool(report, plan),
        Plan::Difference(plan) => writeln!(report, "operator     difference\nx            {}", tensor(&plan.inputs[0])),
        Plan::Composition(plan) => composition(report, plan),
    }
}

/// The steps, of which each reads X, tensor 0, or what an earlier one writes.
fn composition(report: &mut String, plan: &CompositionPlan) -> fmt::Result {
    writeln!(report, "operator     {}", plan.operator)?;
    for (written, step) in (1..).zip(&plan.steps) {
        writeln!(report, "\ntensor {written:<6}of tensors {:?}", step.inputs)?;
        describe(report, &step.plan)?;
    }
    writeln!(report)
}

fn pool(report: &mut String, plan: &PoolPlan) -> fmt::Result {
    writeln!(report, "operator     {}", plan.operator)?;
    writeln!(report, "x            {}", tensor(&plan.inputs[0]))?;
    writeln!(report, "y            {}", tensor(&plan.outputs[0]))?;
    match plan.indices.as_ref().zip(plan.outputs.get(1)) {
        Some((made, written)) => writeln!(report, "indices      {}", indices(written, &made.space))?,
        None => writeln!(report, "indices      none")?,
    }
    for (number, axis) in plan.axes.iter().enumerate() {
        writeln!(report, "axis {number:<8}{} -> {}, {}", axis.input, axis.output, windows(axis))?;
    }
    writeln!(report, "NaN          {}", plan.nan_policy.name())?;
    activation(report, plan.activation)?;
    let empty = match (plan.has_empty_windows(), plan.ignores_nan()) {
        (false, false) => return writeln!(report, "in padding   no window lies wholly in padding"),
        (true, false) => "in padding   some windows lie wholly in padding",
        (false, true) => "empty        windows of NaN alone are empty",
        (true, true) => "empty        windows of NaN alone are empty, and some lie wholly in padding",
    };
    match &plan.indices {
        Some(made) => writeln!(report, "{empty}; their index is {}", made.empty.name()),
        None => writeln!(report, "{empty}"),
    }
}

fn unpool(report: &mut String, plan: &UnpoolPlan) -> fmt::Result {
    writeln!(report, "operator     max_unpool")?;
    let ([x, read], [y]) = (&plan.inputs[..], &plan.outputs[..]) else { return Err(fmt::Error) };
    writeln!(report, "x            {}", tensor(x))?;
    writeln!(report, "indices      {}", indices(read, &plan.space))?;
    writeln!(report, "y            {}", tensor(y))?;
    let [inputs, outputs] = [x, y].map(|tensor| spatial(&tensor.shape, tensor.layout));
    for (axis, (input, output)) in inputs.iter().zip(outputs).enumerate() {
        writeln!(report, "axis {axis:<8}{input} -> {output}")?;
    }
    activation(report, plan.activation)
}

/// The function that is applied to Y, if there is one.
fn activation(report: &mut String, activation: Activation) -> fmt::Result {
    match activation {
        Activation::Identity => Ok(()),
        activation => writeln!(report, "activation   {activation:?}"),
    }
}

fn tensor(TensorSpec { shape, dtype, layout }: &TensorSpec) -> String {
    format!("{} {shape:?} {}", dtype.name(), layout.name())
}

fn indices(spec: &TensorSpec, space: &IndexSpace) -> String {
    let (order, flatten) = (space.order().name(), space.flatten().name());
    let named = format!("{order} through the {flatten}, where N, C and the extents are {:?}", space.shape());
    format!("{}: {named}", tensor(spec))
}

/// The spatial extents of a shape.
fn spatial(shape: &[usize], layout: Layout) -> &[usize] {
    match layout {
        Layout::Nchw => &shape[2..],
        Layout::Nhwc => &shape[1..shape.len() - 1],
    }
}

/// Where the windows of an axis lie.
fn windows(axis: &PoolAxis) -> String {
    let shape = match axis.window {
        AxisWindow::Strided { kernel, stride, dilation, pad_begin } => {
            format!("kernel {kernel}, stride {stride}, dilation {dilation}, pads {pad_begin} before")
        }
        AxisWindow::Adaptive { .. } => "adaptive".to_owned(),
    };
    let Some(last) = axis.output.checked_sub(1) else {
        return format!("{shape}, no window");
    };
    let AxisWindow::Strided { kernel, stride, dilation, pad_begin } = axis.window else {
        let [first, last] = [0, last].map(|window| {
            let taps = axis.window.taps(window, axis.input);
            format!("{}..{}", taps.first, taps.first + taps.count)
        });
        return format!("{shape}, from {first} to {last}");
    };
    let [kernel, stride, dilation, pad_begin] = [kernel, stride, dilation, pad_begin].map(i128::from);
    // How far the last window reaches beyond the input: the part of a pad at the end that is used.
    let beyond = last as i128 * stride + (kernel - 1) * dilation + 1 - pad_begin - axis.input as i128;
    match beyond {
        0.. => format!("{shape} and {beyond} after"),
        _ => format!("{shape} and 0 after, {} elements behind the last window", -beyond),
    }
}
