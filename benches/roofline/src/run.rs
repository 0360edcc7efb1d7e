//! Runs a row from end to end: plans it, fills its inputs, computes, verifies and times it.

use wgpu_pooling::{Choice, DType, Prepared, Report, Schedule, families, select};

use crate::catalogue::Row;
use crate::clock::cpu_time;
use crate::device::Device;
use crate::failure::Failure;
use crate::figures::{Checked, Figures, Other};
use crate::set::Set;
use crate::settings::Settings;
use crate::tensors::{Tensors, parts};
use crate::timed::Timed;
use crate::verify::same_outputs;
use crate::work::Plans;

/// Runs a row in an element type.
pub fn run(device: &Device, row: &Row, dtype: DType, settings: &Settings) -> Result<Figures, Failure> {
    let plans = Plans::new(row, dtype)?;
    let schedule = select(&plans.plan, &device.gpu.limits(), &Choice::default())?;
    let (selected, ready) = cpu_time(|| Ok(device.gpu.prepare_blocking(schedule.clone())?))?;

    let set = Set::new(&schedule, |label, bytes| device.buffer(label, bytes))?;
    let inputs = Tensors::new(&plans, settings.data)?.inputs;
    set.inputs().zip(&inputs).try_for_each(|(buffer, input)| device.upload(buffer, input))?;
    let (outputs, ran) = cpu_time(|| compute(device, &selected, &set))?;
    let first_use = ready.zip(ran).map(|(ready, ran)| ready + ran);
    let checked = Checked::new((row, dtype), &parts(&inputs), &parts(&outputs), settings.verify_taps, first_use)?;
    let (others, left_out) = others(device, &schedule, settings, |other| {
        same_outputs(&parts(&outputs), &parts(&compute(device, other, &set)?))
    })?;
    // The tensors on the host are not needed for timing, and may be large.
    drop((inputs, outputs));

    let kernels: Vec<&Prepared> = std::iter::once(&selected).chain(&others).collect();
    let names = kernels.iter().map(|kernel| named(kernel.schedule()));
    let f32_bytes = if settings.f32_copy { Some(Plans::new(row, DType::F32)?.plan.bytes()) } else { None };
    let times = Timed::new(device, &schedule, set, f32_bytes, settings)?.measure(device, &kernels, settings)?;
    Figures::new(&plans.plan, checked, names, times, left_out)
}

/// What a schedule is called, and its number of dispatches.
fn named(schedule: &Schedule) -> (String, Option<usize>) {
    (schedule.kernel(), Some(schedule.dispatches().len()))
}

/// Poisons the outputs, runs the kernel once and reads the outputs back. A report that is kept from run to run begins
/// with zeros.
fn compute(device: &Device, kernel: &Prepared, set: &Set) -> Result<Vec<Vec<u8>>, Failure> {
    set.outputs().chain(&set.report).try_for_each(|output| device.poison(output))?;
    device.submit(|encoder| {
        if let Some(report) = set.report.as_ref().filter(|_| kernel.schedule().keeps_report()) {
            encoder.clear_buffer(report, 0, None);
        }
        Ok(kernel.encode(encoder, set.buffers())?)
    })?;
    if let Some(report) = &set.report {
        let bytes = device.read_back(report)?;
        let report = Report::from_bytes(&bytes);
        kernel.read_report(report.ok_or_else(|| Failure::Other(format!("a report of {} bytes", bytes.len())))?)?;
    }
    set.outputs().map(|output| device.read_back(output)).collect()
}

/// The kernels that apply beside the selected one, each checked, and those that were left out.
fn others(
    device: &Device,
    selected: &Schedule,
    settings: &Settings,
    check: impl Fn(&Prepared) -> Result<(), Failure>,
) -> Result<(Vec<Prepared>, Vec<Other>), Failure> {
    let (mut others, mut left_out): (Vec<Prepared>, Vec<Other>) = Default::default();
    if settings.selected_only {
        return Ok((others, left_out));
    }
    let limits = device.gpu.limits();
    let mut leave_out = |schedule: &Schedule, why: String| {
        let (kernel, dispatches) = named(schedule);
        left_out.push(Other { kernel, dispatches, outcome: Err(why) });
    };
    let mut seen = vec![selected.clone()];
    for family in families(selected.plan(), &limits) {
        for &build in family.builds() {
            let choice = Choice { family: Some(family), build: Some(build) };
            let Ok(schedule) = select(selected.plan(), &limits, &choice) else {
                continue;
            };
            // The selected schedule, and any other that was seen before, is not run again.
            if seen.contains(&schedule) {
                continue;
            }
            seen.push(schedule.clone());
            let work = schedule.dispatches().iter().fold(0u64, |work, dispatch| work.saturating_add(dispatch.work()));
            if work > settings.others_limit {
                let why = format!("left out: {work} loop iterations, and --others-limit is {}", settings.others_limit);
                leave_out(&schedule, why);
                continue;
            }
            let prepared = match device.gpu.prepare_blocking(schedule.clone()) {
                Ok(prepared) => prepared,
                Err(error) => {
                    leave_out(&schedule, format!("does not get ready: {error}"));
                    continue;
                }
            };
            check(&prepared).map_err(|failure| failure.of(&schedule.kernel()))?;
            others.push(prepared);
        }
    }
    Ok((others, left_out))
}
