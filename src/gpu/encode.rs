//! A schedule with its device resources: pipelines, uniforms, tables and scratch memory.

use std::sync::Arc;

use super::context::{Gpu, Inner};
use super::pipeline::Pipeline;
use crate::error::ExecuteError;
use crate::plan::Plan;
use crate::schedule::{Schedule, Slot};
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
}

/// The buffers of one run that are not the schedule's own.
pub(super) struct RunBuffers<'a> {
    pub x: Option<&'a wgpu::Buffer>,
    pub y: Option<&'a wgpu::Buffer>,
    pub indices: Option<&'a wgpu::Buffer>,
    pub indices_out: Option<&'a wgpu::Buffer>,
    pub status: Option<&'a wgpu::Buffer>,
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
    /// What compiling and allocating can give.
    pub async fn prepare_schedule(&self, schedule: Schedule) -> Result<Prepared, ExecuteError> {
        let inner = &self.inner;
        inner.check_alive()?;
        log::debug!("{}: {} scratch bytes", schedule.kernel(), schedule.scratch_bytes());
        let mut pipelines = Vec::with_capacity(schedule.dispatches.len());
        for dispatch in &schedule.dispatches {
            pipelines.push(inner.pipeline(&dispatch.key).await?);
        }
        let (uniforms, tables, scratch) = inner.scoped(|| resources(inner, &schedule)).await?;
        Ok(Prepared { gpu: self.clone(), schedule, pipelines, uniforms, tables, scratch })
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

fn resources(inner: &Inner, schedule: &Schedule) -> (wgpu::Buffer, wgpu::Buffer, Vec<wgpu::Buffer>) {
    let mut bytes = Vec::new();
    for dispatch in &schedule.dispatches {
        bytes.resize(bytes.len().next_multiple_of(UNIFORM_ALIGNMENT as usize), 0);
        bytes.extend_from_slice(&dispatch.uniform);
    }
    let uniforms = inner.filled_buffer("wgpu-pooling uniforms", wgpu::BufferUsages::UNIFORM, &bytes);
    let tables = bytemuck::cast_slice(&schedule.tables);
    let tables = inner.filled_buffer("wgpu-pooling window tables", wgpu::BufferUsages::STORAGE, tables);
    let scratch = schedule.scratch.iter().map(|&bytes| inner.output_buffer("wgpu-pooling scratch", bytes)).collect();
    (uniforms, tables, scratch)
}

impl Prepared {
    /// What will run.
    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// Writes the dispatches into an open pass.
    pub(super) fn encode(&self, pass: &mut wgpu::ComputePass<'_>, buffers: &RunBuffers<'_>) {
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
                let buffer = match slot {
                    Slot::X => buffers.x,
                    Slot::Y => buffers.y,
                    Slot::Indices => buffers.indices,
                    Slot::IndicesOut => buffers.indices_out,
                    Slot::Status => buffers.status,
                    Slot::Tables => Some(&self.tables),
                    Slot::Scratch(number) => self.scratch.get(number),
                };
                // A slot without a buffer leaves the group incomplete, which the error scope around us reports.
                if let Some(buffer) = buffer {
                    entries
                        .push(wgpu::BindGroupEntry { binding: binding.number, resource: buffer.as_entire_binding() });
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
