//! Runs a row from end to end: plans it, fills its inputs, computes, verifies and times it.

use std::time::Duration;

use wgpu_pooling::{
    Buffers, Choice, DType, Element, Operand, Prepared, Report, Schedule, families, select, wgpu, with_element,
};

use crate::catalogue::Row;
use crate::clock::cpu_seconds;
use crate::data::{self, Data};
use crate::device::Device;
use crate::failure::Failure;
use crate::fill::fill;
use crate::measure::{Method, Time};
use crate::timed::{Timed, Times};
use crate::verify::{Tensors, Verified, same_bytes, verify};
use crate::work::{Plans, Slices};

/// How rows are run.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    pub data: Data,
    pub rounds: usize,
    pub pass_seconds: f64,
    pub warm_up: Duration,
    pub verify_taps: u64,
    pub selected_only: bool,
    pub others_limit: u64,
    pub cache_bytes: u64,
    pub least_sets: u64,
    pub memory_bytes: u64,
    /// Whether an f32 copy of as many elements is timed too.
    pub f32_copy: bool,
    /// A kernel that has run for longer than this gets no further rounds.
    pub patience_seconds: f64,
}

/// The most buffer sets. Each set costs a bind group and a few buffers, and more sets are of no use.
const MOST_SETS: u64 = 64;

impl Settings {
    /// How many sets of buffers are used in turn, if a kernel, and the copy beside it, move `bytes` and the f32 copy
    /// moves `f32_bytes`. Each copy has sets of its own, as large as the bytes that it moves.
    pub fn sets(&self, bytes: u64, f32_bytes: u64) -> u64 {
        let affordable = self.memory_bytes / (2 * bytes + f32_bytes).max(1);
        let wanted = self.cache_bytes.div_ceil(bytes.max(1)).max(self.least_sets);
        wanted.min(affordable).clamp(1, MOST_SETS)
    }

    pub fn method(&self, sets: usize) -> Method {
        let Settings { rounds, pass_seconds, warm_up, patience_seconds, .. } = *self;
        Method { rounds, pass_seconds, warm_up, sets, patience_seconds }
    }
}

/// The figures of a row.
#[derive(Debug, Clone)]
pub struct Figures {
    pub x_shape: Vec<usize>,
    pub y_shape: Vec<usize>,
    pub kernel: String,
    /// How many dispatches the kernel takes; `None` on the CPU.
    pub dispatches: Option<usize>,
    /// The fewest bytes that have to be moved.
    pub bytes: u64,
    pub time: Time,
    /// The CPU seconds of this process for preparing the kernel and running it once, mostly for compiling if the
    /// tensors are small. `None` on platforms that do not measure CPU time.
    pub first_use_cpu: Option<f64>,
    pub copy: Time,
    /// The bytes that the copy moved, rounded up to whole vectors.
    pub copy_bytes: u64,
    /// An f32 copy of as many elements, if it was asked for.
    pub f32_copy: Option<F32Copy>,
    pub sets: usize,
    pub verified: Verified,
    pub y_checksum: u64,
    /// The checksum of a pool's indices, widened to 64 bits.
    pub indices_checksum: Option<u64>,
    pub others: Vec<Other>,
}

impl Figures {
    pub fn gbps(&self) -> f64 {
        self.bytes as f64 / self.time.best * 1e-9
    }

    pub fn copy_gbps(&self) -> f64 {
        self.copy_bytes as f64 / self.copy.best * 1e-9
    }

    pub fn percent_of_copy(&self) -> f64 {
        self.gbps() / self.copy_gbps() * 100.0
    }

    pub fn time_over_copy(&self) -> f64 {
        self.time.best / self.copy.best
    }

    pub fn time_over_f32_copy(&self) -> Option<f64> {
        self.f32_copy.map(|copy| self.time.best / copy.time.best)
    }

    /// `None` unless other kernels were timed too.
    pub fn time_over_fastest(&self) -> Option<f64> {
        let others = self.others.iter().filter_map(|other| Some(other.outcome.as_ref().ok()?.best));
        let fastest = others.reduce(f64::min)?;
        Some(self.time.best / fastest.min(self.time.best))
    }
}

/// A copy of the bytes that a row would move if its elements were f32: 4 for each element of X and Y, and the indices
/// as they are.
#[derive(Debug, Clone, Copy)]
pub struct F32Copy {
    pub time: Time,
    pub bytes: u64,
}

/// A kernel that was not selected.
#[derive(Debug, Clone)]
pub struct Other {
    pub kernel: String,
    /// As in `Figures`.
    pub dispatches: Option<usize>,
    /// The time, or why the kernel did not run.
    pub outcome: Result<Time, String>,
}

impl Other {
    fn new(schedule: &Schedule, outcome: Result<Time, String>) -> Other {
        Other { kernel: schedule.kernel(), dispatches: Some(schedule.dispatches().len()), outcome }
    }
}

/// Runs a row in an element type.
pub fn run(device: &Device, row: &Row, dtype: DType, settings: &Settings) -> Result<Figures, Failure> {
    with_element!(dtype, T => run_as::<T>(device, row, settings))
}

fn run_as<T: Element>(device: &Device, row: &Row, settings: &Settings) -> Result<Figures, Failure> {
    let plans = Plans::new(row, T::DTYPE)?;
    let slices = Slices::new(row, T::DTYPE)?;
    let schedule = select(&plans.plan, &device.gpu.limits(), &Choice::default())?;
    let (selected, ready) = cpu_time(|| Ok(device.gpu.prepare_blocking(schedule.clone())?))?;

    let set = Set::new(device, &schedule)?;
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
    // The tensors on the host are not needed for timing, and may be large.
    drop((inputs, outputs));

    let kernels: Vec<&Prepared> = std::iter::once(&selected).chain(&others).collect();
    let f32_bytes = if settings.f32_copy { Some(Plans::new(row, DType::F32)?.bytes()) } else { None };
    let timed = Timed::new(device, &schedule, set, f32_bytes, settings)?;
    let Times { copy, f32_copy, kernels: times } = timed.measure(device, &kernels, settings)?;
    let [time, rest @ ..] = &times[..] else {
        return Err(Failure::Other("nothing was measured".to_owned()));
    };
    let timed_others = others.iter().zip(rest);
    let timed_others = timed_others.map(|(other, &time)| Other::new(other.schedule(), Ok(time)));
    Ok(Figures {
        x_shape: plans.x_shape().to_vec(),
        y_shape: plans.y_shape().to_vec(),
        kernel: schedule.kernel(),
        dispatches: Some(schedule.dispatches().len()),
        bytes: schedule.bytes_moved(),
        time: *time,
        first_use_cpu: ready.zip(ran).map(|(ready, ran)| ready + ran),
        copy,
        copy_bytes: timed.copy.bytes(),
        f32_copy,
        sets: timed.sets.len(),
        verified,
        y_checksum,
        indices_checksum,
        others: timed_others.chain(left_out).collect(),
    })
}

/// The result of `work`, and the CPU seconds that all threads of this process took for it, if the platform measures
/// them.
pub fn cpu_time<R>(work: impl FnOnce() -> Result<R, Failure>) -> Result<(R, Option<f64>), Failure> {
    let begin = cpu_seconds().ok();
    let result = work()?;
    Ok((result, begin.zip(cpu_seconds().ok()).map(|(begin, end)| end - begin)))
}

/// The buffers of one run.
pub struct Set {
    pub x: Option<wgpu::Buffer>,
    pub indices: Option<wgpu::Buffer>,
    pub y: Option<wgpu::Buffer>,
    pub indices_out: Option<wgpu::Buffer>,
    pub report: Option<wgpu::Buffer>,
}

impl Set {
    fn new(device: &Device, schedule: &Schedule) -> Result<Set, Failure> {
        let buffer = |label, bytes: Option<u64>| bytes.map(|bytes| device.buffer(label, bytes)).transpose();
        Ok(Set {
            x: buffer("X", schedule.operand_bytes(Operand::X))?,
            indices: buffer("the indices", schedule.operand_bytes(Operand::Indices))?,
            y: buffer("Y", schedule.operand_bytes(Operand::Y))?,
            indices_out: buffer("the indices to write", schedule.operand_bytes(Operand::IndicesOut))?,
            report: buffer("the report", schedule.operand_bytes(Operand::Report))?,
        })
    }

    /// Another set with the same inputs.
    pub fn like(&self, device: &Device, schedule: &Schedule) -> Result<Set, Failure> {
        let set = Set::new(device, schedule)?;
        device.submit(|encoder| {
            for (from, to) in [(&self.x, &set.x), (&self.indices, &set.indices)] {
                if let (Some(from), Some(to)) = (from, to) {
                    encoder.copy_buffer_to_buffer(from, 0, to, 0, from.size());
                }
            }
            Ok(())
        })?;
        Ok(set)
    }

    pub fn buffers(&self) -> Buffers<'_> {
        fn whole(buffer: &Option<wgpu::Buffer>) -> Option<wgpu::BufferSlice<'_>> {
            buffer.as_ref().map(|buffer| buffer.slice(..))
        }
        Buffers {
            x: whole(&self.x),
            y: whole(&self.y),
            indices: whole(&self.indices),
            indices_out: whole(&self.indices_out),
            report: whole(&self.report),
            ..Buffers::default()
        }
    }
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
                left_out.push(Other::new(&schedule, Err(why)));
                continue;
            }
            let prepared = match device.gpu.prepare_blocking(schedule.clone()) {
                Ok(prepared) => prepared,
                Err(error) => {
                    left_out.push(Other::new(&schedule, Err(format!("does not get ready: {error}"))));
                    continue;
                }
            };
            check(&prepared).map_err(|failure| match failure {
                Failure::Mismatch(text) => Failure::Mismatch(format!("{}: {text}", schedule.kernel())),
                other => other,
            })?;
            others.push(prepared);
        }
    }
    Ok((others, left_out))
}
