//! The pipeline cache: pipelines are compiled on demand, shared while in use, and kept for a while afterwards.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use wgpu_pooling_plan::{ExecuteError, PlanError};

use crate::gpu::device::OpenDevice;
use crate::gpu::device::gate::{Owned, lock};
use crate::kernel::WORKGROUP;
use crate::schedule::{Dispatch, Schedule};
use crate::wgsl::key::KernelKey;
use crate::wgsl::wgsl;

/// The most bytes of idle pipelines that are kept.
const MOST_IDLE_BYTES: usize = 256 << 20;

/// The assumed bytes of a pipeline, on software adapters and on GPUs, since wgpu does not report them. On software
/// Vulkan (Mesa 22.3) specialised pipelines held 2 MiB (f32 without indices) to 6 MiB (f64 with indices), whatever the
/// window; 0.3 MiB of that is naga's module. Besides, the C library's allocator kept 2 to 30 MiB for each, of the
/// memory that compiling needs for a moment. The drivers of GPUs, which keep machine code, were not measured.
const BYTES_OF_A_PIPELINE: [usize; 2] = [8 << 20, 2 << 20];

/// A compiled kernel and the layout of its bindings.
#[derive(Debug)]
pub(in crate::gpu) struct Pipeline {
    pub name: String,
    /// The numbers of the storage bindings.
    pub bindings: Vec<u32>,
    pub pipeline: Owned<wgpu::ComputePipeline>,
    pub layout: Owned<wgpu::BindGroupLayout>,
}

/// The place of a pipeline, empty while it is being compiled. Other tasks that need the pipeline wait for it without
/// blocking a thread.
type Slot = futures_intrusive::sync::Mutex<Option<Arc<Pipeline>>>;

/// The pipelines of a device, by key: all that are in use, and the most recently used idle ones. A pipeline in use
/// stays in the cache, because removing it would free nothing and equal keys would no longer share it.
#[derive(Debug)]
pub(in crate::gpu) struct Pipelines {
    cache: Mutex<Cache>,
    /// The most idle pipelines that are kept.
    pub most_idle: usize,
    /// The caller's cache of compiled pipelines.
    saved: Mutex<Option<Owned<wgpu::PipelineCache>>>,
    compiled: AtomicUsize,
    resident: AtomicUsize,
}

/// The slots by key, and the number of requests so far.
#[derive(Debug, Default)]
struct Cache {
    entries: HashMap<KernelKey, Entry>,
    uses: u64,
}

#[derive(Debug)]
struct Entry {
    slot: Arc<Slot>,
    /// The number of the latest request for this entry.
    last_use: u64,
}

impl Pipelines {
    /// No pipelines yet, of a software adapter or of a GPU.
    pub fn new(software: bool) -> Self {
        let [on_software, on_gpus] = BYTES_OF_A_PIPELINE;
        Pipelines {
            cache: Mutex::default(),
            most_idle: MOST_IDLE_BYTES / if software { on_software } else { on_gpus },
            saved: Mutex::default(),
            compiled: AtomicUsize::default(),
            resident: AtomicUsize::default(),
        }
    }

    /// The pipeline of a dispatch's kernel, compiled now if it is not in the cache. A failed compilation is tried again
    /// at the next request.
    pub async fn get(&self, device: &OpenDevice, dispatch: &Dispatch) -> Result<Arc<Pipeline>, ExecuteError> {
        let key = dispatch.key();
        let slot = self.slot(key);
        let mut compiled = slot.lock().await;
        if let Some(pipeline) = &*compiled {
            return Ok(Arc::clone(pipeline));
        }
        check_limits(&device.wgpu.limits(), dispatch)?;
        log::debug!("compiling {}", key.name());
        let saved = lock(&self.saved).clone();
        let pipeline = Arc::new(device.scoped(|| compile(&device.wgpu, key, saved.as_deref())).await?);
        *compiled = Some(Arc::clone(&pipeline));
        self.compiled.fetch_add(1, Ordering::Relaxed);
        self.resident.fetch_add(1, Ordering::Relaxed);
        Ok(pipeline)
    }

    /// From now on looks pipelines up in the caller's cache, if there is one, and adds them to it.
    pub fn look_up_in(&self, cache: Option<Owned<wgpu::PipelineCache>>) {
        let before = std::mem::replace(&mut *lock(&self.saved), cache);
        drop(before);
    }

    /// The pipelines of a schedule's dispatches.
    pub async fn all(&self, device: &OpenDevice, schedule: &Schedule) -> Result<Vec<Arc<Pipeline>>, ExecuteError> {
        let mut pipelines = Vec::with_capacity(schedule.dispatches.len());
        for dispatch in &schedule.dispatches {
            pipelines.push(self.get(device, dispatch).await?);
        }
        Ok(pipelines)
    }

    /// A dispatch of each of a schedule's kernels that is not compiled.
    pub fn missing<'a>(&self, schedule: &'a Schedule) -> Vec<&'a Dispatch> {
        let cache = lock(&self.cache);
        let is_compiled = |key: &KernelKey| {
            let entry = cache.entries.get(key);
            entry.is_some_and(|entry| entry.slot.try_lock().is_some_and(|slot| slot.is_some()))
        };
        let mut missing: Vec<&Dispatch> = Vec::new();
        for dispatch in &schedule.dispatches {
            if missing.iter().all(|other| other.key() != dispatch.key()) && !is_compiled(dispatch.key()) {
                missing.push(dispatch);
            }
        }
        missing
    }

    /// The number of compilations so far.
    pub fn compiled(&self) -> usize {
        self.compiled.load(Ordering::Relaxed)
    }

    /// The number of pipelines in memory.
    pub fn resident(&self) -> usize {
        self.resident.load(Ordering::Relaxed)
    }

    /// Frees all idle pipelines.
    pub fn trim(&self) {
        let evicted = lock(&self.cache).evict(0);
        self.free(evicted);
    }

    /// The slot of a key. If the key is new, the longest unused idle pipelines are removed to make room for it.
    pub fn slot(&self, key: &KernelKey) -> Arc<Slot> {
        let mut cache = lock(&self.cache);
        cache.uses += 1;
        let last_use = cache.uses;
        if let Some(entry) = cache.entries.get_mut(key) {
            entry.last_use = last_use;
            return Arc::clone(&entry.slot);
        }
        let evicted = cache.evict(self.most_idle.saturating_sub(1));
        let slot = Arc::new(Slot::new(None, true));
        cache.entries.insert(key.clone(), Entry { slot: Arc::clone(&slot), last_use });
        drop(cache);
        self.free(evicted);
        slot
    }

    /// Drops pipelines that were removed from the cache, outside the cache's lock.
    fn free(&self, evicted: Vec<Arc<Pipeline>>) {
        self.resident.fetch_sub(evicted.len(), Ordering::Relaxed);
        drop(evicted);
    }
}

impl Cache {
    /// Removes idle entries until at most `most` are left: first those whose compilation failed, then the longest
    /// unused. Returns the removed pipelines.
    fn evict(&mut self, most: usize) -> Vec<Arc<Pipeline>> {
        let idle = self.entries.iter().filter_map(|(key, entry)| {
            let is_compiled = entry.idle()?;
            Some((is_compiled, entry.last_use, key.clone()))
        });
        let mut idle: Vec<(bool, u64, KernelKey)> = idle.collect();
        idle.sort_unstable_by_key(|&(is_compiled, last_use, _)| (is_compiled, last_use));
        idle.truncate(idle.len().saturating_sub(most));
        let evicted = idle.iter().filter_map(|(.., key)| self.entries.remove(key));
        evicted.filter_map(|entry| entry.slot.try_lock()?.take()).collect()
    }
}

impl Entry {
    /// Whether an idle entry has a pipeline; `None` while the entry is in use, being compiled or waited for.
    fn idle(&self) -> Option<bool> {
        // A task that compiles the pipeline or waits for it holds a handle on the slot. New handles are created under
        // the cache's lock only.
        if Arc::strong_count(&self.slot) > 1 {
            return None;
        }
        match self.slot.try_lock()?.as_ref() {
            Some(pipeline) if Arc::strong_count(pipeline) > 1 => None,
            pipeline => Some(pipeline.is_some()),
        }
    }
}

/// Checks the limits that a kernel needs, except the number of storage buffers, which `Schedule::check` covers.
/// WebGPU's default limits suffice, but a device can be opened with smaller ones.
fn check_limits(limits: &wgpu::Limits, dispatch: &Dispatch) -> Result<(), PlanError> {
    let invocations = WORKGROUP as u32;
    // The limit is on the numbers of bindings, not on how many there are.
    let bindings = dispatch.key.bindings().iter().map(|binding| binding.number + 1).max().unwrap_or(1);
    let needs = [
        ("max_compute_invocations_per_workgroup", invocations, limits.max_compute_invocations_per_workgroup),
        ("max_compute_workgroup_size_x", invocations, limits.max_compute_workgroup_size_x),
        ("max_bind_groups", 1, limits.max_bind_groups),
        ("max_bindings_per_bind_group", bindings, limits.max_bindings_per_bind_group),
        ("max_uniform_buffers_per_shader_stage", 1, limits.max_uniform_buffers_per_shader_stage),
    ];
    for (what, needed, limit) in needs {
        PlanError::within(what, needed.into(), limit.into())?;
    }
    PlanError::within(
        "max_uniform_buffer_binding_size",
        dispatch.uniform.len() as u64,
        limits.max_uniform_buffer_binding_size,
    )
}

fn compile(device: &Owned<wgpu::Device>, key: &KernelKey, saved: Option<&wgpu::PipelineCache>) -> Pipeline {
    let name = key.name();
    let label = Some(name);
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
    for binding in bindings {
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
        // No kernel reads workgroup memory that it has not written.
        compilation_options: wgpu::PipelineCompilationOptions {
            zero_initialize_workgroup_memory: false,
            ..wgpu::PipelineCompilationOptions::default()
        },
        cache: saved,
    });
    let bindings = bindings.iter().map(|binding| binding.number).collect();
    let gate = device.gate();
    Pipeline { name: name.to_owned(), bindings, pipeline: gate.own(pipeline), layout: gate.own(layout) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Build, Choice, DType, Family, Limits, MaxPool, select};

    /// The keys of pools whose windows have one row.
    fn keys() -> Vec<KernelKey> {
        let key = |columns| {
            let plan = MaxPool::new([1, columns]).plan(&[1, 1, 1, 32], DType::F32, None).unwrap();
            let choice = Choice { family: Some(Family::Direct), build: Some(Build::Specialised) };
            select(&plan, &Limits::WEBGPU, &choice).unwrap().dispatches()[0].key().clone()
        };
        (1..=20).map(key).collect()
    }

    #[test]
    fn what_was_not_compiled_does_not_pile_up() {
        let pipelines = Pipelines { most_idle: 3, ..Pipelines::new(true) };
        for (number, key) in keys().iter().enumerate() {
            drop(pipelines.slot(key));
            assert_eq!(lock(&pipelines.cache).entries.len(), (number + 1).min(3));
        }
        pipelines.trim();
        assert!(lock(&pipelines.cache).entries.is_empty());
    }

    #[test]
    fn those_who_wait_for_a_kernel_wait_for_the_same() {
        let pipelines = Pipelines { most_idle: 3, ..Pipelines::new(true) };
        let waiting: Vec<_> = keys().iter().map(|key| (key.clone(), pipelines.slot(key))).collect();
        pipelines.trim();
        for (key, slot) in &waiting {
            assert!(Arc::ptr_eq(slot, &pipelines.slot(key)));
        }
    }
}
