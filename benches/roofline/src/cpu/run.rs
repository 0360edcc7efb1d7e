//! Runs a row on the CPU from end to end: plans it, fills its inputs, computes, verifies and times it.

use wgpu_pooling::{CpuKernel, DType, ExecuteError, PlanError, PreparedCpu};

use super::host::Host;
use super::timed::Timed;
use crate::catalogue::Row;
use crate::clock::cpu_time;
use crate::failure::Failure;
use crate::figures::{Checked, Figures, Other};
use crate::settings::Settings;
use crate::tensors::{Tensors, parts};
use crate::verify::same_outputs;
use crate::work::Plans;

/// Runs a row in an element type.
pub fn run(host: &Host, row: &Row, dtype: DType, settings: &Settings) -> Result<Figures, Failure> {
    let plans = Plans::new(row, dtype)?;
    let (selected, ready) = cpu_time(|| Ok(host.prepare(&plans.plan, None)?))?;
    let mut set = Tensors::new(&plans, settings.data)?;
    let ((), ran) = cpu_time(|| computed(host, &selected, &mut set))?;
    let first_use = ready.zip(ran).map(|(ready, ran)| ready + ran);
    let (inputs, outputs) = (parts(&set.inputs), parts(&set.outputs));
    let checked = Checked::new((row, dtype), &inputs, &outputs, settings.verify_taps, first_use)?;
    let (others, left_out) = others(host, &plans, selected.kernel(), &mut set, settings)?;

    let kernels: Vec<&PreparedCpu> = std::iter::once(&selected).chain(&others).collect();
    let names: Vec<_> = kernels.iter().map(|kernel| (kernel.kernel().name().to_owned(), None)).collect();
    let f32_bytes = if settings.f32_copy { Some(Plans::new(row, DType::F32)?.plan.bytes()) } else { None };
    let times = Timed::new(host, kernels, set, plans.plan.bytes(), f32_bytes, settings).measure(settings)?;
    Figures::new(&plans.plan, checked, names.into_iter(), times, left_out)
}

/// Poisons the outputs and runs the kernel once.
fn computed(host: &Host, kernel: &PreparedCpu, set: &mut Tensors) -> Result<(), Failure> {
    set.poison();
    Ok(host.install(|| set.run(kernel))?)
}

/// The kernels that apply beside the selected one, each checked, and those that were left out. None if one kernel was
/// asked for.
fn others(
    host: &Host,
    plans: &Plans,
    selected: CpuKernel,
    set: &mut Tensors,
    settings: &Settings,
) -> Result<(Vec<PreparedCpu>, Vec<Other>), Failure> {
    let (mut others, mut left_out): (Vec<PreparedCpu>, Vec<Other>) = Default::default();
    if settings.selected_only || host.kernel.is_some() {
        return Ok((others, left_out));
    }
    let outputs = set.outputs.clone();
    for &kernel in CpuKernel::ALL.iter().filter(|&&kernel| kernel != selected) {
        let prepared = match host.prepare(&plans.plan, Some(kernel)) {
            Err(ExecuteError::Plan(PlanError::KernelDoesNotApply { .. })) => continue,
            prepared => prepared?,
        };
        let (taps, limit) = (plans.taps(), settings.others_limit);
        if kernel == CpuKernel::General && taps > limit {
            let why = format!("left out: {taps} taps, and --others-limit is {limit}");
            left_out.push(Other { kernel: kernel.name().to_owned(), dispatches: None, outcome: Err(why) });
            continue;
        }
        computed(host, &prepared, set)?;
        same_outputs(&parts(&outputs), &parts(&set.outputs)).map_err(|failure| failure.of(kernel.name()))?;
        others.push(prepared);
    }
    Ok((others, left_out))
}
