//! Runs a row from end to end: plans it, fills its inputs, computes, verifies and times it.

use wgpu_pooling::{Choice, DType, Element, Prepared, Report, Schedule, families, select, with_element};

use crate::catalogue::Row;
use crate::clock::cpu_time;
use crate::data;
use crate::device::Device;
use crate::failure::Failure;
use crate::figures::{Checked, Figures, Other};
use crate::fill::fill;
use crate::set::Set;
use crate::settings::Settings;
use crate::timed::Timed;
use crate::verify::{Tensors, same_bytes, verify};
use crate::work::{Plans, Slices};

/// Runs a row in an element type.
pub fn run(device: &Device, row: &Row, dtype: DType, settings: &Settings) -> Result<Figures, Failure> {
    with_element!(dtype, T => run_as::<T>(device, row, settings))
}

fn run_as<T: Element>(device: &Device, row: &Row, settings: &Settings) -> Result<Figures, Failure> {
    let plans = Plans::new(row, T::DTYPE)?;
    let slices = Slices::new(row, T::DTYPE)?;
    let schedule = select(&plans.plan, &device.gpu.limits(), &Choice::default())?;
    let (selected, ready) = cpu_time(|| Ok(device.gpu.prepare_blocking(schedule.clone())?))?;

    let set = Set::new(&schedule, |label, bytes| device.buffer(label, bytes))?;
    let inputs = fill::<T>(device, &plans, settings.data, &set)?;
    let (outputs, ran) = cpu_time(|| compute(device, &selected, &set))?;
    let indices_out = outputs.indices.as_deref().unwrap_or_default();
    let tensors = Tensors { x: &inputs.x, indices: &inputs.indices, y: &outputs.y, indices_out };
    let verified = verify(&slices, &tensors, settings.verify_taps)?;
    let (others, left_out) = others(device, &schedule, settings, |other| {
        let found = compute(device, other, &set)?;
        same_bytes("Y", &outputs.y, &found.y)?;
        same_bytes("the index tensor", indices_out, found.indices.as_deref().unwrap_or_default())
    })?;
    let (y_checksum, indices_checksum) = checksums::<T>(&plans, &outputs);
    let first_use_cpu = ready.zip(ran).map(|(ready, ran)| ready + ran);
    let checked = Checked { verified, y_checksum, indices_checksum, first_use_cpu };
    // The tensors on the host are not needed for timing, and may be large.
    drop((inputs, outputs));

    let kernels: Vec<&Prepared> = std::iter::once(&selected).chain(&others).collect();
    let names = kernels.iter().map(|kernel| named(kernel.schedule()));
    let f32_bytes = if settings.f32_copy { Some(Plans::new(row, DType::F32)?.bytes()) } else { None };
    let times = Timed::new(device, &schedule, set, f32_bytes, settings)?.measure(device, &kernels, settings)?;
    Figures::new(&plans, checked, names, times, left_out)
}

/// What a schedule is called, and its number of dispatches.
fn named(schedule: &Schedule) -> (String, Option<usize>) {
    (schedule.kernel(), Some(schedule.dispatches().len()))
}

/// What a run wrote.
struct Outputs {
    y: Vec<u8>,
    indices: Option<Vec<u8>>,
}

/// Poisons the outputs, runs the kernel once and reads the outputs back. A report that is kept from run to run begins
/// with zeros.
fn compute(device: &Device, kernel: &Prepared, set: &Set) -> Result<Outputs, Failure> {
    for output in [&set.y, &set.indices_out, &set.report].into_iter().flatten() {
        device.poison(output)?;
    }
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
    let y = set.y.as_ref().map(|y| device.read_back(y)).transpose()?.unwrap_or_default();
    let indices = set.indices_out.as_ref().map(|indices| device.read_back(indices)).transpose()?;
    Ok(Outputs { y, indices })
}

fn checksums<T: Element>(plans: &Plans, outputs: &Outputs) -> (u64, Option<u64>) {
    let count: usize = plans.y_shape().iter().product();
    // Bytes read back are not aligned for every element type.
    let elements: Vec<T> = bytemuck::pod_collect_to_vec(&outputs.y[..(count * size_of::<T>()).min(outputs.y.len())]);
    let indices = outputs.indices.as_ref().map(|bytes| {
        if bytes.len() < 8 * count {
            data::checksum(&bytemuck::pod_collect_to_vec::<u8, i32>(bytes), |index| i64::from(index) as u64)
        } else {
            data::checksum(&bytemuck::pod_collect_to_vec::<u8, i64>(bytes), |index| index as u64)
        }
    });
    (data::checksum(&elements, T::to_bits64), indices)
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
