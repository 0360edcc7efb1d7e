//! Pipelines, compiled on demand and kept for the device's life.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::context::Inner;
use super::gate::Owned;
use crate::error::{ExecuteError, PlanError};
use crate::kernel::KernelKey;
use crate::schedule::Dispatch;
use crate::select::WORKGROUP;
use crate::wgsl::wgsl;

/// A compiled kernel and the layout of its bindings.
#[derive(Debug)]
pub(super) struct Pipeline {
    pub name: String,
    /// The numbers of the storage bindings.
    pub bindings: Vec<u32>,
    pub pipeline: Owned<wgpu::ComputePipeline>,
    pub layout: Owned<wgpu::BindGroupLayout>,
}

/// Where a pipeline is, or will be once somebody has compiled it. Those who want it meanwhile wait without a thread being
/// blocked.
type Slot = futures_intrusive::sync::Mutex<Option<Arc<Pipeline>>>;

/// The pipelines of a device, by key.
#[derive(Debug, Default)]
pub(super) struct Pipelines {
    slots: Mutex<HashMap<KernelKey, Arc<Slot>>>,
    compiled: AtomicUsize,
}

impl Pipelines {
    pub fn count(&self) -> usize {
        self.compiled.load(Ordering::Relaxed)
    }

    fn slot(&self, key: &KernelKey) -> Arc<Slot> {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(slots.entry(*key).or_insert_with(|| Arc::new(Slot::new(None, true))))
    }
}

impl Inner {
    /// The pipeline of a dispatch's kernel, compiled now if it was not before. What cannot be compiled now is tried again the next
    /// time.
    pub async fn pipeline(&self, dispatch: &Dispatch) -> Result<Arc<Pipeline>, ExecuteError> {
        let key = dispatch.key();
        let slot = self.pipelines.slot(key);
        let mut compiled = slot.lock().await;
        if let Some(pipeline) = &*compiled {
            return Ok(Arc::clone(pipeline));
        }
        check_limits(&self.device.limits(), dispatch)?;
        log::debug!("compiling {}", key.name());
        let pipeline = Arc::new(self.scoped(|| compile(&self.device, key)).await?);
        *compiled = Some(Arc::clone(&pipeline));
        self.pipelines.compiled.fetch_add(1, Ordering::Relaxed);
        Ok(pipeline)
    }
}

/// What a kernel asks of a device beside its storage buffers, which every schedule counts. WebGPU's defaults have all of it;
/// a device can be opened with less.
fn check_limits(limits: &wgpu::Limits, dispatch: &Dispatch) -> Result<(), PlanError> {
    let invocations = WORKGROUP as u32;
    let bindings = dispatch.key.bindings().len() as u32 + 1;
    let needs = [
        ("invocations of a workgroup", invocations, limits.max_compute_invocations_per_workgroup),
        ("invocations of a workgroup along x", invocations, limits.max_compute_workgroup_size_x),
        ("bind groups", 1, limits.max_bind_groups),
        ("bindings of a bind group", bindings, limits.max_bindings_per_bind_group),
        ("uniform buffers of a kernel", 1, limits.max_uniform_buffers_per_shader_stage),
    ];
    for (what, needed, limit) in needs {
        if needed > limit {
            return Err(PlanError::ExceedsLimit { what, needed: needed.into(), limit: limit.into() });
        }
    }
    let (what, needed) = ("bytes of a uniform", dispatch.uniform.len() as u64);
    let limit = limits.max_uniform_buffer_binding_size;
    if needed > limit { Err(PlanError::ExceedsLimit { what, needed, limit }) } else { Ok(()) }
}

fn compile(device: &Owned<wgpu::Device>, key: &KernelKey) -> Pipeline {
    let name = key.name();
    let label = Some(name.as_str());
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label,
        source: wgpu::ShaderSource::Wgsl(wgsl(key).into()),
    });
    let entry = |binding: u32, ty: wgpu::BufferBindingType| wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None },
        count: None,
    };
    let mut entries = vec![entry(0, wgpu::BufferBindingType::Uniform)];
    let bindings = key.bindings();
    for binding in &bindings {
        entries.push(entry(binding.number, wgpu::BufferBindingType::Storage { read_only: binding.read_only }));
    }
    let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label, entries: &entries });
    let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label,
        bind_group_layouts: &[Some(&layout)],
        immediate_size: 0,
    });
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label,
        layout: Some(&pipeline_layout),
        module: &module,
        entry_point: Some("main"),
        // Workgroup memory is written whole before it is read (src/wgsl/patch.rs).
        compilation_options: wgpu::PipelineCompilationOptions {
            zero_initialize_workgroup_memory: false,
            ..wgpu::PipelineCompilationOptions::default()
        },
        cache: None,
    });
    let bindings = bindings.iter().map(|binding| binding.number).collect();
    let gate = device.gate();
    Pipeline { name, bindings, pipeline: gate.own(pipeline), layout: gate.own(layout) }
}
