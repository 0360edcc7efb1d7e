//! Runs a row on the CPU from end to end: plans it, fills its inputs, computes, verifies and times it.

use wgpu_pooling::{CpuKernel, DType, Element, ExecuteError, PlanError, PreparedCpu, with_element};

use super::host::Host;
use super::set::Set;
use super::timed::Timed;
use crate::catalogue::Row;
use crate::clock::cpu_time;
use crate::data;
use crate::failure::Failure;
use crate::figures::{Checked, Figures, Other};
use crate::settings::Settings;
use crate::verify::{Tensors, same_bytes, verify};
use crate::work::{Plans, Slices};

/// Runs a row in an element type.
pub fn run(host: &Host, row: &Row, dtype: DType, settings: &Settings) -> Result<Figures, Failure> {
    with_element!(dtype, T => run_as::<T>(host, row, settings))
}

fn run_as<T: Element>(host: &Host, row: &Row, settings: &Settings) -> Result<Figures, Failure> {
    let plans = Plans::new(row, T::DTYPE)?;
    let slices = Slices::new(row, T::DTYPE)?;
    let (selected, ready) = cpu_time(|| Ok(host.prepare(&plans.plan, None)?))?;
    let mut set = Set::<T>::new(&plans, settings.data)?;
    let ((), ran) = cpu_time(|| computed(host, &selected, &mut set))?;
    let tensors = Tensors {
        x: &set.x,
        indices: set.indices.bytes(),
        y: bytemuck::cast_slice(&set.y),
        indices_out: set.indices_out.bytes(),
    };
    let verified = verify(&slices, &tensors, settings.verify_taps)?;
    let (y_checksum, indices_checksum) = (data::checksum(&set.y, T::to_bits64), set.indices_out.checksum());
    let first_use_cpu = ready.zip(ran).map(|(ready, ran)| ready + ran);
    let checked = Checked { verified, y_checksum, indices_checksum, first_use_cpu };
    let (others, left_out) = others(host, &plans, selected.kernel(), &mut set, settings)?;

    let kernels: Vec<&PreparedCpu> = std::iter::once(&selected).chain(&others).collect();
    let names: Vec<_> = kernels.iter().map(|kernel| (kernel.kernel().name().to_owned(), None)).collect();
    let f32_bytes = if settings.f32_copy { Some(Plans::new(row, DType::F32)?.bytes()) } else { None };
    let times = Timed::new(host, kernels, set, plans.bytes(), f32_bytes, settings).measure(settings)?;
    Figures::new(&plans, checked, names.into_iter(), times, left_out)
}

/// Poisons the outputs and runs the kernel once.
fn computed<T: Element>(host: &Host, kernel: &PreparedCpu, set: &mut Set<T>) -> Result<(), Failure> {
    set.poison();
    Ok(host.install(|| set.run(kernel))?)
}

/// The kernels that apply beside the selected one, each checked, and those that were left out. None if one kernel was
/// asked for.
fn others<T: Element>(
    host: &Host,
    plans: &Plans,
    selected: CpuKernel,
    set: &mut Set<T>,
    settings: &Settings,
) -> Result<(Vec<PreparedCpu>, Vec<Other>), Failure> {
    let (mut others, mut left_out): (Vec<PreparedCpu>, Vec<Other>) = Default::default();
    if settings.selected_only || host.kernel.is_some() {
        return Ok((others, left_out));
    }
    let (y, indices) = (set.y.clone(), set.indices_out.clone());
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
        same_bytes("Y", bytemuck::cast_slice(&y), bytemuck::cast_slice(&set.y))
            .and_then(|()| same_bytes("the index tensor", indices.bytes(), set.indices_out.bytes()))
            .map_err(|failure| failure.of(kernel.name()))?;
        others.push(prepared);
    }
    Ok((others, left_out))
}
