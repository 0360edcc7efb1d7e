//! A schedule with its device resources: pipelines, uniforms, tables and scratch memory.

use std::sync::Arc;

use wgpu_pooling_plan::{ExecuteError, Plan};

use super::pipelines::{Pipeline, Pipelines};
use crate::gpu::device::OpenDevice;
use crate::gpu::device::gate::Owned;
use crate::gpu::device::memory::Memory;
use crate::kernel::Operand;
use crate::schedule::Schedule;

/// A schedule and its device resources. Clones share both. A preparation does not keep the device alive.
#[derive(Debug, Clone)]
pub(in crate::gpu) struct Preparation {
    pub schedule: Arc<Schedule>,
    pub resources: Arc<Resources>,
}

/// The device resources of a schedule.
#[derive(Debug)]
pub(in crate::gpu) struct Resources {
    pub label: String,
    pub pipelines: Vec<Arc<Pipeline>>,
    /// The uniforms and the window tables.
    pub constants: Owned<wgpu::Buffer>,
    /// `None` where every run has its own. If the schedule's first dispatch clears it, it is clear between runs.
    pub scratch: Option<Vec<Owned<wgpu::Buffer>>>,
    /// The report buffer of an unpool whose report is not read.
    pub report: Option<Owned<wgpu::Buffer>>,
}

/// The owner of a schedule's scratch memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::gpu) enum ScratchOwner {
    /// The preparation: the memory is allocated once.
    Own,
    /// The run: every run allocates the memory, or its caller provides it.
    OfTheRun,
}

impl Preparation {
    /// Compiles a schedule's kernels and makes its buffers. The schedule has been checked against the device's limits.
    pub async fn new(
        device: &OpenDevice,
        pipelines: &Pipelines,
        schedule: Arc<Schedule>,
        scratch: ScratchOwner,
    ) -> Result<Preparation, ExecuteError> {
        let label = schedule.kernel();
        log::debug!("{label}: {} scratch bytes", schedule.scratch_bytes());
        let pipelines = pipelines.all(device, &schedule).await?;
        let no_room = |error| {
            let bytes = schedule.constants_bytes();
            ExecuteError::OutOfMemory(format!("{bytes} bytes of uniforms and window tables on the host: {error}"))
        };
        let constants = schedule.constants().map_err(no_room)?;
        let memory = &device.memory;
        let buffers = || {
            let usages = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::STORAGE;
            let constants = memory.filled_buffer("wgpu-pooling constants", usages, &constants);
            let report = if reports(&schedule) { None } else { report_buffer(memory, &schedule) };
            (constants, report, (scratch == ScratchOwner::Own).then(|| scratch_buffers(memory, &schedule)))
        };
        let (constants, report, scratch) = device.scoped(buffers).await?;
        let constants = constants.map_err(|text| device.out_of_memory(text))?;
        device.probe()?;
        let resources = Arc::new(Resources { label, pipelines, constants, scratch, report });
        Ok(Preparation { schedule, resources })
    }

    /// The bytes of the constants and of the scratch memory, unless that is the run's.
    pub fn bytes(&self) -> u64 {
        let scratch = if self.resources.scratch.is_some() { self.schedule.scratch_bytes() } else { 0 };
        self.schedule.constants_bytes() + scratch
    }

    /// Whether a run has a report that is read back.
    pub fn reports(&self) -> bool {
        reports(&self.schedule)
    }

    /// The buffers that a run must allocate besides its tensors: none, unless the schedule was prepared without scratch
    /// memory or another run may come between two submits of this one. `output` makes buffers of scratch memory.
    pub fn missing(
        &self,
        memory: &Memory,
        several_submits: bool,
        mut output: impl FnMut(&str, u64) -> Owned<wgpu::Buffer>,
    ) -> Missing {
        let scratch = several_submits || self.resources.scratch.is_none();
        let sizes = if scratch { self.schedule.scratch.as_slice() } else { &[] };
        Missing {
            scratch: sizes.iter().map(|&bytes| output(SCRATCH, bytes)).collect(),
            report: if several_submits && !self.reports() { report_buffer(memory, &self.schedule) } else { None },
        }
    }
}

/// The buffers that a run must allocate besides its tensors.
pub(in crate::gpu) struct Missing {
    pub scratch: Vec<Owned<wgpu::Buffer>>,
    pub report: Option<Owned<wgpu::Buffer>>,
}

/// Whether the report is read back.
fn reports(schedule: &Schedule) -> bool {
    matches!(&schedule.plan, Plan::Unpool(plan) if plan.refuses_bad_indices())
}

const SCRATCH: &str = "wgpu-pooling scratch";

/// The scratch memory that a schedule declares: zeros, if runs leave out the dispatch that clears it.
fn scratch_buffers(memory: &Memory, schedule: &Schedule) -> Vec<Owned<wgpu::Buffer>> {
    let usages = wgpu::BufferUsages::STORAGE;
    let buffer = |&bytes: &u64| match schedule.clears_scratch {
        true => memory.zeroed_buffer(SCRATCH, usages, bytes),
        false => memory.output_buffer(SCRATCH, usages, bytes),
    };
    schedule.scratch.iter().map(buffer).collect()
}

/// The report buffer of an unpool whose report is not read.
fn report_buffer(memory: &Memory, schedule: &Schedule) -> Option<Owned<wgpu::Buffer>> {
    let buffer = |bytes| memory.output_buffer("wgpu-pooling report", wgpu::BufferUsages::STORAGE, bytes);
    schedule.operand_bytes(Operand::Report).map(buffer)
}
