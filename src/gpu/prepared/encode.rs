//! From a caller's buffers to bind groups and recorded dispatches.

use std::ops::Range;

use super::pipelines::Pipeline;
use super::preparation::Preparation;
use crate::error::ExecuteError;
use crate::gpu::device::gate::Owned;
use crate::gpu::device::{Device, PendingError};
use crate::kernel::Operand;
use crate::schedule::Dispatch;

/// The buffers of one run. Buffers that the schedule does not need may be left out and are ignored.
///
/// Slices begin at a multiple of the device's `min_storage_buffer_offset_alignment`, are at least as long as the
/// schedule says (whole words), and their buffers have the usage `STORAGE`. A buffer that is written must not be given
/// for any other field.
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
    /// The indices that an unpool or a conversion reads.
    pub indices: Option<wgpu::BufferSlice<'a>>,
    /// The indices that a pool or a conversion writes.
    pub indices_out: Option<wgpu::BufferSlice<'a>>,
    /// The report of an unpool or a conversion, 32 bytes for [`Prepared::read_report`](crate::Prepared::read_report).
    /// An unpool that skips bad indices reports nothing and needs none.
    pub status: Option<wgpu::BufferSlice<'a>>,
    /// Scratch memory in place of the [`Prepared`](crate::Prepared)'s own: a slice for each of
    /// [`Schedule::scratch`](crate::Schedule::scratch), each in a buffer of its own, with the usages `STORAGE` and
    /// `INDIRECT`. The contents need not persist between two runs.
    pub scratch: &'a [wgpu::BufferSlice<'a>],
}

impl Preparation {
    /// Records some of the dispatches as one compute pass, with timestamps if requested.
    pub fn record(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        bound: &[Bound<'_>],
        groups: &Groups,
        dispatches: Range<usize>,
        timestamp_writes: Option<wgpu::ComputePassTimestampWrites<'_>>,
    ) {
        let label = Some(self.resources.label.as_str());
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor { label, timestamp_writes });
        self.dispatch(&mut pass, bound, groups, dispatches);
    }

    /// The slices that the dispatches use, checked and cut to the needed length.
    pub fn check<'a>(&'a self, device: &Device, buffers: &Buffers<'a>) -> Result<Vec<Bound<'a>>, ExecuteError> {
        device.check_alive()?;
        let schedule = &self.schedule;
        let own_status = self.resources.status.as_ref().map(|buffer| buffer.slice(..));
        // Name, operand, slice, bytes needed, whether it is written.
        let slices = [
            ("x", Operand::X, buffers.x, schedule.x_bytes(), false),
            ("y", Operand::Y, buffers.y, schedule.y_bytes(), true),
            ("indices", Operand::Indices, buffers.indices, schedule.indices_bytes(), false),
            ("the indices to write", Operand::IndicesOut, buffers.indices_out, schedule.indices_out_bytes(), true),
            ("the report", Operand::Report, buffers.status.or(own_status), schedule.status_bytes(), true),
        ];
        let mut bound: Vec<Bound<'a>> = Vec::new();
        for (what, operand, slice, bytes, written) in slices {
            let Some(needed) = bytes.filter(|_| self.uses(operand)) else {
                continue;
            };
            self.bind(device, &mut bound, what, operand, slice, needed, written)?;
        }
        for (number, &needed) in schedule.scratch.iter().enumerate() {
            let own = self.resources.scratch.as_ref().and_then(|own| own.get(number)).map(|buffer| buffer.slice(..));
            // The caller provides all scratch memory or none.
            let slice = if buffers.scratch.is_empty() { own } else { buffers.scratch.get(number).copied() };
            self.bind(device, &mut bound, "scratch memory", Operand::Scratch(number), slice, needed, true)?;
        }
        Ok(bound)
    }

    /// Checks a slice's usages, length, offset and sharing, and adds it to `bound`.
    #[expect(clippy::too_many_arguments, reason = "a row of the table in `check`")]
    fn bind<'a>(
        &self,
        device: &Device,
        bound: &mut Vec<Bound<'a>>,
        what: &'static str,
        operand: Operand,
        slice: Option<wgpu::BufferSlice<'a>>,
        needed: u64,
        written: bool,
    ) -> Result<(), ExecuteError> {
        let slice = slice.ok_or(ExecuteError::BufferMissing { what })?;
        let (offset, alignment) = (slice.offset(), device.alignment);
        let usages = slice.buffer().usage();
        if !usages.contains(wgpu::BufferUsages::STORAGE) {
            return Err(ExecuteError::BufferUsage { what, usage: "STORAGE" });
        }
        if matches!(operand, Operand::Scratch(_)) && !usages.contains(wgpu::BufferUsages::INDIRECT) {
            return Err(ExecuteError::BufferUsage { what, usage: "INDIRECT" });
        }
        if slice.size() < needed {
            return Err(ExecuteError::BufferTooShort { what, needed, actual: slice.size() });
        }
        if !offset.is_multiple_of(alignment) {
            return Err(ExecuteError::BufferMisaligned { what, offset, alignment });
        }
        let shared = |other: &&Bound<'_>| (written || other.written) && other.slice.buffer() == slice.buffer();
        if let Some(other) = bound.iter().find(shared) {
            return Err(ExecuteError::BufferShared { first: other.what, second: what });
        }
        bound.push(Bound { what, operand, slice: slice.slice(..needed), written });
        Ok(())
    }

    fn uses(&self, operand: Operand) -> bool {
        self.schedule.dispatches.iter().any(|dispatch| dispatch.operands.iter().any(|range| range.operand == operand))
    }

    /// The bind groups of all dispatches. They are created and validated before anything is recorded, so that a refused
    /// call leaves the caller's encoder unchanged.
    pub fn groups(&self, device: &Device, bound: &[Bound<'_>]) -> Result<(Groups, Option<PendingError>), ExecuteError> {
        device.scoped_now(|| {
            let tables = self.resources.constants.slice(self.schedule.constants_offsets().last().unwrap_or(0)..);
            let dispatches =
                self.schedule.dispatches.iter().zip(&self.resources.pipelines).zip(self.schedule.constants_offsets());
            dispatches
                .map(|((dispatch, pipeline), uniform)| self.group(device, dispatch, pipeline, uniform, tables, bound))
                .collect()
        })
    }

    fn group(
        &self,
        device: &Device,
        dispatch: &Dispatch,
        pipeline: &Pipeline,
        uniform: u64,
        tables: wgpu::BufferSlice<'_>,
        bound: &[Bound<'_>],
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
            let whole = if range.operand == Operand::Tables { Some(tables) } else { of(bound, range.operand) };
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

    pub fn dispatch(
        &self,
        pass: &mut wgpu::ComputePass<'_>,
        bound: &[Bound<'_>],
        groups: &Groups,
        dispatches: Range<usize>,
    ) {
        let all = self.schedule.dispatches.iter().zip(&self.resources.pipelines).zip(groups.iter());
        for ((dispatch, pipeline), group) in all.skip(dispatches.start).take(dispatches.len()) {
            pass.set_pipeline(&pipeline.pipeline);
            pass.set_bind_group(0, &**group, &[]);
            match dispatch.indirect.and_then(|(number, at)| Some((of(bound, Operand::Scratch(number))?, at))) {
                Some((grids, at)) => pass.dispatch_workgroups_indirect(grids.buffer(), grids.offset() + at),
                None => {
                    let [x, y, z] = dispatch.grid;
                    pass.dispatch_workgroups(x, y, z);
                }
            }
        }
    }
}

/// The bind group of each dispatch.
pub(in crate::gpu) type Groups = Vec<Owned<wgpu::BindGroup>>;

/// The slice that was given for an operand.
fn of<'a>(bound: &[Bound<'a>], operand: Operand) -> Option<wgpu::BufferSlice<'a>> {
    bound.iter().find(|bound| bound.operand == operand).map(|bound| bound.slice)
}

/// A slice that a schedule uses.
pub(in crate::gpu) struct Bound<'a> {
    what: &'static str,
    operand: Operand,
    slice: wgpu::BufferSlice<'a>,
    written: bool,
}
