//! A schedule with its device resources: pipelines, uniforms, tables and scratch memory.

use std::sync::Arc;

use super::context::{Gpu, Inner};
use super::pipeline::Pipeline;
use crate::attributes::OutOfBounds;
use crate::error::ExecuteError;
use crate::kernel::Slot;
use crate::plan::Plan;
use crate::schedule::Schedule;
use crate::select::{Choice, select};

/// The distance of uniforms in their buffer: no device asks for more.
const UNIFORM_ALIGNMENT: u64 = 256;

/// A schedule, ready to run any number of times. `Send + Sync`; it keeps its [`Gpu`] alive.
///
/// ```no_run
/// use wgpu_pooling::{DType, Gpu, MaxPool, TensorView};
///
/// let gpu = Gpu::new_blocking()?;
/// let plan = MaxPool::new([2]).strides([2]).plan(&[1, 1, 4], DType::F32, None)?;
/// let prepared = gpu.prepare_blocking(plan)?;
/// for data in [[1.0f32, 2.0, 3.0, 4.0], [8.0, 7.0, 6.0, 5.0]] {
///     println!("{:?}", prepared.max_pool_blocking(TensorView::new([1, 1, 4], &data)?)?);
/// }
/// # Ok::<(), wgpu_pooling::ExecuteError>(())
/// ```
#[derive(Debug)]
pub struct Prepared {
    pub(super) gpu: Gpu,
    pub(super) schedule: Schedule,
    pipelines: Vec<Arc<Pipeline>>,
    uniforms: wgpu::Buffer,
    tables: wgpu::Buffer,
    scratch: Vec<wgpu::Buffer>,
    /// Where an unpool that reports nothing keeps its report.
    status: Option<wgpu::Buffer>,
}

/// The buffers of one run. What the schedule does not need may be left out and is not looked at.
///
/// Slices begin at a multiple of the device's `min_storage_buffer_offset_alignment`, are at least as long as the schedule
/// says (whole words), and their buffers have the usage `STORAGE`. A buffer that is written is given for nothing else.
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
    /// The report of an unpool or a conversion, 32 bytes for [`Prepared::read_report`]. An unpool that skips bad indices
    /// reports nothing and needs none.
    pub status: Option<wgpu::BufferSlice<'a>>,
}

impl Gpu {
    /// Selects kernels for a plan and gets them ready.
    ///
    /// # Errors
    /// [`ExecuteError::Plan`] if the plan exceeds the device's limits; otherwise what compiling and allocating can give.
    pub async fn prepare(&self, plan: impl Into<Plan>) -> Result<Prepared, ExecuteError> {
        let schedule = select(&plan.into(), &self.inner.limits, &Choice::default())?;
        self.prepare_schedule(schedule).await
    }

    /// Gets the kernels of a schedule ready.
    ///
    /// # Errors
    /// [`ExecuteError::Plan`] if the schedule was made for larger limits than this device has; otherwise what compiling and
    /// allocating can give.
    pub async fn prepare_schedule(&self, schedule: Schedule) -> Result<Prepared, ExecuteError> {
        let inner = &self.inner;
        inner.check_alive()?;
        schedule.check(&inner.limits)?;
        log::debug!("{}: {} scratch bytes", schedule.kernel(), schedule.scratch_bytes());
        let mut pipelines = Vec::with_capacity(schedule.dispatches.len());
        for dispatch in &schedule.dispatches {
            pipelines.push(inner.pipeline(&dispatch.key).await?);
        }
        let ready = inner.scoped(|| resources(inner, &schedule)).await?;
        let Resources { uniforms, tables, scratch, status } = ready;
        Ok(Prepared { gpu: self.clone(), schedule, pipelines, uniforms, tables, scratch, status })
    }

    /// Selects kernels for a plan and gets them ready: the blocking twin of [`Gpu::prepare`].
    ///
    /// # Errors
    /// As [`Gpu::prepare`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn prepare_blocking(&self, plan: impl Into<Plan>) -> Result<Prepared, ExecuteError> {
        pollster::block_on(self.prepare(plan.into()))
    }

    /// Gets the kernels of a schedule ready: the blocking twin of [`Gpu::prepare_schedule`].
    ///
    /// # Errors
    /// As [`Gpu::prepare_schedule`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn prepare_schedule_blocking(&self, schedule: Schedule) -> Result<Prepared, ExecuteError> {
        pollster::block_on(self.prepare_schedule(schedule))
    }
}

/// The buffers that belong to a schedule.
struct Resources {
    uniforms: wgpu::Buffer,
    tables: wgpu::Buffer,
    scratch: Vec<wgpu::Buffer>,
    status: Option<wgpu::Buffer>,
}

fn resources(inner: &Inner, schedule: &Schedule) -> Resources {
    let mut bytes = Vec::new();
    for dispatch in &schedule.dispatches {
        bytes.resize(bytes.len().next_multiple_of(UNIFORM_ALIGNMENT as usize), 0);
        bytes.extend_from_slice(&dispatch.uniform);
    }
    let tables = bytemuck::cast_slice(&schedule.tables);
    let scratch = |&bytes: &u64| inner.output_buffer("wgpu-pooling scratch", bytes);
    let silent = matches!(&schedule.plan, Plan::Unpool(plan) if plan.out_of_bounds == OutOfBounds::Skip);
    Resources {
        uniforms: inner.filled_buffer("wgpu-pooling uniforms", wgpu::BufferUsages::UNIFORM, &bytes),
        tables: inner.filled_buffer("wgpu-pooling window tables", wgpu::BufferUsages::STORAGE, tables),
        scratch: schedule.scratch.iter().map(scratch).collect(),
        status: schedule
            .status_bytes()
            .filter(|_| silent)
            .map(|bytes| inner.output_buffer("wgpu-pooling status", bytes)),
    }
}

impl Prepared {
    /// What will run.
    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// Writes the dispatches into a command encoder, as one compute pass. Nothing is submitted, and no buffer is allocated.
    ///
    /// Encoder and buffers belong to this device and are not destroyed: that is the caller's part, and wgpu's to complain of.
    ///
    /// # Errors
    /// [`ExecuteError::BufferMissing`], [`ExecuteError::BufferTooShort`], [`ExecuteError::BufferMisaligned`],
    /// [`ExecuteError::BufferUsage`] and [`ExecuteError::BufferShared`], before anything is encoded.
    ///
    /// ```no_run
    /// use wgpu_pooling::{wgpu, Buffers, DType, Gpu, MaxPool};
    ///
    /// # fn encode(gpu: &Gpu, x: &wgpu::Buffer, y: &wgpu::Buffer) -> Result<(), wgpu_pooling::ExecuteError> {
    /// let plan = MaxPool::new([2, 2]).plan(&[1, 3, 8, 8], DType::F32, None)?;
    /// let prepared = gpu.prepare_blocking(plan)?;
    /// let mut encoder = gpu.device().create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    /// let buffers = Buffers { x: Some(x.slice(..)), y: Some(y.slice(..)), ..Buffers::default() };
    /// prepared.encode(&mut encoder, buffers)?;
    /// gpu.queue().submit([encoder.finish()]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn encode(&self, encoder: &mut wgpu::CommandEncoder, buffers: Buffers<'_>) -> Result<(), ExecuteError> {
        let bound = self.check(&buffers)?;
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
            label: Some(&self.schedule.kernel()),
            timestamp_writes: None,
        });
        self.dispatch(&mut pass, &bound);
        Ok(())
    }

    /// Writes the dispatches into an open compute pass. Pipeline and bind group 0 of the pass are others afterwards.
    ///
    /// # Errors
    /// As [`Prepared::encode`].
    pub fn encode_pass(&self, pass: &mut wgpu::ComputePass<'_>, buffers: Buffers<'_>) -> Result<(), ExecuteError> {
        let bound = self.check(&buffers)?;
        self.dispatch(pass, &bound);
        Ok(())
    }

    /// The slices that the dispatches use, checked and cut to what is needed.
    fn check<'a>(&'a self, buffers: &Buffers<'a>) -> Result<Vec<Bound<'a>>, ExecuteError> {
        let schedule = &self.schedule;
        let own_status = self.status.as_ref().map(|buffer| buffer.slice(..));
        // Name, slot, slice, bytes needed, whether it is written.
        let slices = [
            ("x", Slot::X, buffers.x, schedule.x_bytes(), false),
            ("y", Slot::Y, buffers.y, schedule.y_bytes(), true),
            ("indices", Slot::Indices, buffers.indices, schedule.indices_bytes(), false),
            ("the indices to write", Slot::IndicesOut, buffers.indices_out, schedule.indices_out_bytes(), true),
            ("the report", Slot::Status, buffers.status.or(own_status), schedule.status_bytes(), true),
        ];
        let mut bound: Vec<Bound<'a>> = Vec::new();
        for (what, slot, slice, bytes, written) in slices {
            let Some(needed) = bytes.filter(|_| self.uses(slot)) else {
                continue;
            };
            let slice = slice.ok_or(ExecuteError::BufferMissing { what })?;
            let (offset, alignment) = (slice.offset(), self.gpu.inner.alignment);
            if !slice.buffer().usage().contains(wgpu::BufferUsages::STORAGE) {
                return Err(ExecuteError::BufferUsage { what, usage: "STORAGE" });
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
            bound.push(Bound { what, slot, slice: slice.slice(..needed), written });
        }
        Ok(bound)
    }

    fn uses(&self, slot: Slot) -> bool {
        self.schedule.dispatches.iter().any(|dispatch| dispatch.slots.contains(&slot))
    }

    fn dispatch(&self, pass: &mut wgpu::ComputePass<'_>, bound: &[Bound<'_>]) {
        let device = &self.gpu.inner.device;
        let mut offset = 0;
        for (dispatch, pipeline) in self.schedule.dispatches.iter().zip(&self.pipelines) {
            let name = dispatch.key.name();
            let uniform = wgpu::BufferBinding {
                buffer: &self.uniforms,
                offset,
                size: wgpu::BufferSize::new(dispatch.uniform.len() as u64),
            };
            offset += (dispatch.uniform.len() as u64).next_multiple_of(UNIFORM_ALIGNMENT);
            let mut entries =
                vec![wgpu::BindGroupEntry { binding: 0, resource: wgpu::BindingResource::Buffer(uniform) }];
            for (binding, &slot) in dispatch.key.bindings().iter().zip(&dispatch.slots) {
                let slice = match slot {
                    Slot::Tables => Some(self.tables.slice(..)),
                    Slot::Scratch(number) => self.scratch.get(number).map(|buffer| buffer.slice(..)),
                    other => bound.iter().find(|bound| bound.slot == other).map(|bound| bound.slice),
                };
                // `check` has found every slice that a dispatch uses.
                if let Some(slice) = slice {
                    let resource = wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                        buffer: slice.buffer(),
                        offset: slice.offset(),
                        size: wgpu::BufferSize::new(slice.size()),
                    });
                    entries.push(wgpu::BindGroupEntry { binding: binding.number, resource });
                }
            }
            let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some(&name),
                layout: &pipeline.layout,
                entries: &entries,
            });
            pass.set_pipeline(&pipeline.pipeline);
            pass.set_bind_group(0, &group, &[]);
            let indirect = dispatch.indirect.and_then(|(number, offset)| Some((self.scratch.get(number)?, offset)));
            match indirect {
                Some((grids, offset)) => pass.dispatch_workgroups_indirect(grids, offset),
                None => {
                    let [x, y, z] = dispatch.grid;
                    pass.dispatch_workgroups(x, y, z);
                }
            }
        }
    }
}

/// A slice that a schedule uses.
struct Bound<'a> {
    what: &'static str,
    slot: Slot,
    slice: wgpu::BufferSlice<'a>,
    written: bool,
}
