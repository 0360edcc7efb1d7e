//! From a caller's buffers to bind groups and recorded dispatches.

use std::ops::Range;
use std::sync::Arc;

use wgpu_pooling_plan::ExecuteError;

use super::pipelines::Pipeline;
use super::preparation::Preparation;
use crate::gpu::device::gate::Owned;
use crate::gpu::device::{OpenDevice, PendingError};
use crate::kernel::Operand;
use crate::schedule::Dispatch;

/// The buffers of one run. Buffers that the schedule does not need may be left out and are ignored.
///
/// Slices begin at a multiple of the device's `min_storage_buffer_offset_alignment`, are at least as long as the
/// schedule says (whole words), and their buffers have the usage `STORAGE`. A buffer that is written must not be given
/// for any other field, except that `y`, `indices_out` and `report` may be parts of one buffer that do not overlap;
/// with [`Schedule::with_writable_inputs`](crate::Schedule::with_writable_inputs) `x` and `indices` may lie there too.
/// Errors name a buffer by its field.
///
/// ```no_run
/// # use wgpu_pooling::{wgpu, Buffers, ExecuteError, Prepared};
/// # fn f(
/// #     pool: &Prepared, encoder: &mut wgpu::CommandEncoder, x: wgpu::Buffer, y: wgpu::Buffer, i: wgpu::Buffer,
/// # ) -> Result<(), ExecuteError> {
/// // A pool with indices.
/// let buffers = Buffers {
///     x: Some(x.slice(..)),
///     y: Some(y.slice(..)),
///     indices_out: Some(i.slice(..)),
///     ..Buffers::default()
/// };
/// pool.encode(encoder, buffers)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Buffers<'a> {
    /// X.
    pub x: Option<wgpu::BufferSlice<'a>>,
    /// Y, written whole.
    pub y: Option<wgpu::BufferSlice<'a>>,
    /// The indices that an unpool reads.
    pub indices: Option<wgpu::BufferSlice<'a>>,
    /// The indices that a pool writes.
    pub indices_out: Option<wgpu::BufferSlice<'a>>,
    /// The report of an unpool, 32 bytes for [`Prepared::read_report`](crate::Prepared::read_report).
    /// An unpool that skips bad indices reports nothing and needs none. It must be zero before the first run if
    /// [`Schedule::keeps_report`](crate::Schedule::keeps_report) is true; its documentation says which unpools may
    /// share a report.
    pub report: Option<wgpu::BufferSlice<'a>>,
    /// Scratch memory in place of the [`Prepared`](crate::Prepared)'s own: a slice for each of
    /// [`Schedule::scratch`](crate::Schedule::scratch), each in a buffer of its own. The contents need not persist
    /// between two runs.
    pub scratch: &'a [wgpu::BufferSlice<'a>],
}

impl Preparation {
    /// Checks the buffers of a run and makes the bind groups of its dispatches. Everything is validated before anything
    /// is recorded, so that a refused call leaves the caller's encoder unchanged. Errors name operands as `name` does.
    pub fn bind(
        &self,
        device: &OpenDevice,
        buffers: &Buffers<'_>,
        name: impl Fn(Operand) -> &'static str,
    ) -> Result<(Bindings, Option<PendingError>), ExecuteError> {
        let slices = self.check(device, buffers, name)?;
        // The preparation's own scratch memory is clear already.
        let first = usize::from(self.schedule.clears_scratch && buffers.scratch.is_empty());
        let (bindings, error) = device.scoped_now(|| {
            let tables = self.resources.constants.slice(self.schedule.constants_offsets().last().unwrap_or(0)..);
            let dispatches =
                self.schedule.dispatches.iter().zip(&self.resources.pipelines).zip(self.schedule.constants_offsets());
            let group = |((dispatch, pipeline), uniform): ((&Dispatch, &Arc<Pipeline>), u64)| {
                self.group(device, dispatch, pipeline, uniform, tables, &slices)
            };
            dispatches.skip(first).map(group).collect()
        })?;
        Ok((Bindings { groups: bindings, first }, error))
    }

    /// Records some of the dispatches as one compute pass, with timestamps if requested.
    pub fn record(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        bindings: &Bindings,
        dispatches: Range<usize>,
        timestamp_writes: Option<wgpu::ComputePassTimestampWrites<'_>>,
    ) {
        let label = Some(self.resources.label.as_str());
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor { label, timestamp_writes });
        self.dispatch(&mut pass, bindings, dispatches);
    }

    pub fn dispatch(&self, pass: &mut wgpu::ComputePass<'_>, bindings: &Bindings, dispatches: Range<usize>) {
        let all = self.schedule.dispatches.iter().zip(&self.resources.pipelines).take(dispatches.end);
        let bound = all.skip(bindings.first).zip(bindings.groups.iter());
        for ((dispatch, pipeline), group) in bound.skip(dispatches.start.saturating_sub(bindings.first)) {
            pass.set_pipeline(&pipeline.pipeline);
            pass.set_bind_group(0, &**group, &[]);
            let [x, y, z] = dispatch.grid;
            pass.dispatch_workgroups(x, y, z);
        }
    }

    /// The slices that the dispatches use, checked and cut to the needed length.
    fn check<'a>(
        &'a self,
        device: &OpenDevice,
        buffers: &Buffers<'a>,
        name: impl Fn(Operand) -> &'static str,
    ) -> Result<Vec<Given<'a>>, ExecuteError> {
        device.check_alive()?;
        let schedule = &self.schedule;
        let own_report = self.resources.report.as_ref().map(|buffer| buffer.slice(..));
        let own_scratch = |number: usize| Some(self.resources.scratch.as_ref()?.get(number)?.slice(..));
        let inputs = schedule.writable_inputs();
        let scratch = (0..schedule.scratch.len()).map(Operand::Scratch);
        let tensors = [Operand::X, Operand::Y, Operand::Indices, Operand::IndicesOut, Operand::Report];
        let used = schedule.operands();
        let mut given: Vec<Given<'a>> = Vec::new();
        for operand in tensors.into_iter().filter(|operand| used.contains(operand)).chain(scratch) {
            let Some(needed) = schedule.operand_bytes(operand) else { continue };
            let (slice, writable) = match operand {
                Operand::X => (buffers.x, inputs),
                Operand::Y => (buffers.y, true),
                Operand::Indices => (buffers.indices, inputs),
                Operand::IndicesOut => (buffers.indices_out, true),
                Operand::Report => (buffers.report.or(own_report), true),
                // The caller provides all scratch memory or none.
                Operand::Scratch(number) if buffers.scratch.is_empty() => (own_scratch(number), true),
                Operand::Scratch(number) => (buffers.scratch.get(number).copied(), true),
                // The tables lie in the preparation's own buffer of constants.
                Operand::Tables => continue,
            };
            let what = name(operand);
            let slice = slice.ok_or(ExecuteError::BufferMissing { what })?;
            add(device, &mut given, Given { what, operand, slice, writable }, needed)?;
        }
        Ok(given)
    }

    fn group(
        &self,
        device: &OpenDevice,
        dispatch: &Dispatch,
        pipeline: &Pipeline,
        uniform: u64,
        tables: wgpu::BufferSlice<'_>,
        given: &[Given<'_>],
    ) -> Owned<wgpu::BindGroup> {
        let resource = |binding: u32, buffer, offset, size: u64| wgpu::BindGroupEntry {
            binding,
            resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                buffer,
                offset,
                size: wgpu::BufferSize::new(size),
            }),
        };
        let mut entries = Vec::with_capacity(1 + dispatch.operands.len());
        entries.push(resource(0, &self.resources.constants, uniform, dispatch.uniform.len() as u64));
        for (&number, range) in pipeline.bindings.iter().zip(&dispatch.operands) {
            let whole = if range.operand == Operand::Tables { Some(tables) } else { slice_of(given, range.operand) };
            // `check` has made sure that there is a slice for every operand.
            if let Some(whole) = whole {
                let (offset, size) = (whole.offset() + range.offset, range.bytes.unwrap_or(whole.size()));
                entries.push(resource(number, whole.buffer(), offset, size));
            }
        }
        device.wgpu.gate().own(device.wgpu.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some(&pipeline.name),
            layout: &pipeline.layout,
            entries: &entries,
        }))
    }
}

/// The bind groups of a run's dispatches. Clones share them, and they keep the buffers alive.
#[derive(Debug, Clone)]
pub(in crate::gpu) struct Bindings {
    groups: Arc<[Owned<wgpu::BindGroup>]>,
    /// The first dispatch that runs.
    first: usize,
}

/// A slice that was given for an operand.
struct Given<'a> {
    what: &'static str,
    operand: Operand,
    slice: wgpu::BufferSlice<'a>,
    /// Whether kernels bind it as writable storage.
    writable: bool,
}

/// The slice that was given for an operand.
fn slice_of<'a>(given: &[Given<'a>], operand: Operand) -> Option<wgpu::BufferSlice<'a>> {
    given.iter().find(|given| given.operand == operand).map(|given| given.slice)
}

/// Checks a slice's usages, length, offset and sharing, cuts it to the needed length and adds it to `given`.
fn add<'a>(device: &OpenDevice, given: &mut Vec<Given<'a>>, new: Given<'a>, needed: u64) -> Result<(), ExecuteError> {
    let Given { what, slice, .. } = new;
    let (offset, alignment) = (slice.offset(), device.alignment);
    let usages = slice.buffer().usage();
    if !usages.contains(wgpu::BufferUsages::STORAGE) {
        return Err(ExecuteError::BufferUsage { what, usage: "STORAGE" });
    }
    if slice.size() < needed {
        return Err(ExecuteError::BufferTooShort { what, needed, actual: slice.size() });
    }
    if !offset.is_multiple_of(alignment) {
        return Err(ExecuteError::BufferMisaligned { what, offset, alignment });
    }
    let new = Given { slice: slice.slice(..needed), ..new };
    for other in given.iter() {
        other.check_sharing(&new)?;
    }
    given.push(new);
    Ok(())
}

impl Given<'_> {
    /// Refuses two slices of one buffer of which one is writable, unless both are writable tensors that do not overlap.
    /// A dispatch that binds a buffer as read-only and as writable storage is invalid even if the slices do not
    /// overlap.
    fn check_sharing(&self, other: &Given<'_>) -> Result<(), ExecuteError> {
        if !(self.writable || other.writable) || self.slice.buffer() != other.slice.buffer() {
            return Ok(());
        }
        let (first, second) = (self.what, other.what);
        let may_share = |given: &Given<'_>| given.writable && !matches!(given.operand, Operand::Scratch(_));
        if !may_share(self) || !may_share(other) {
            return Err(ExecuteError::BufferShared { first, second });
        }
        let [of_first, of_second] = [self, other].map(|given| {
            let begin = given.slice.offset();
            begin..begin + given.slice.size()
        });
        if of_first.start < of_second.end && of_second.start < of_first.end {
            return Err(ExecuteError::BufferOverlap { first, second, of_first, of_second });
        }
        Ok(())
    }
}
