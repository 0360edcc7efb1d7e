//! A host: it executes a schedule on a wgpu device and uses none of the library's own device code. What it takes from
//! the library are values: the texts of the kernels, bytes, sizes and grids.

use std::collections::HashMap;
use std::error::Error;

use wgpu_pooling::{Operand, Schedule, wgsl};
// A program on another version of wgpu, or on another WebGPU, has its own in this place.
use wgpu_pooling::wgpu::{self, BufferUsages};

/// The contents of operands on the device.
pub type Contents = HashMap<Operand, Vec<u8>>;

/// A storage or uniform buffer in the layout of a bind group.
fn layout_entry(binding: u32, ty: wgpu::BufferBindingType) -> wgpu::BindGroupLayoutEntry {
    let ty = wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None };
    wgpu::BindGroupLayoutEntry { binding, visibility: wgpu::ShaderStages::COMPUTE, ty, count: None }
}

/// Runs a schedule on these inputs and returns the buffers that it has written: Y, Indices, the report.
pub fn execute(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    schedule: &Schedule,
    inputs: &Contents,
) -> Result<Contents, Box<dyn Error>> {
    let usage = BufferUsages::STORAGE | BufferUsages::COPY_DST | BufferUsages::COPY_SRC;
    let mut buffers = HashMap::new();
    for operand in schedule.operands() {
        let size = schedule.operand_bytes(operand).ok_or("an operand has no size")?;
        let label = operand.name();
        let buffer = wgpu::BufferDescriptor { label: Some(&label), size, usage, mapped_at_creation: false };
        buffers.insert(operand, device.create_buffer(&buffer));
    }
    let tables = schedule.window_tables()?;
    let filled = inputs.iter().map(|(&operand, bytes)| (operand, bytes)).chain([(Operand::Tables, &tables)]);
    for (operand, bytes) in filled {
        if let Some(buffer) = buffers.get(&operand) {
            queue.write_buffer(buffer, 0, bytes);
        }
    }

    let errors = device.push_error_scope(wgpu::ErrorFilter::Validation);
    let mut encoder = device.create_command_encoder(&Default::default());
    let mut pass = encoder.begin_compute_pass(&Default::default());
    for dispatch in schedule.dispatches() {
        let label = Some(dispatch.key().name());
        // Some kernels do not use their uniform, so that a layout derived from the text would lack it.
        let storage = dispatch.bindings().map(|(binding, _)| {
            let ty = wgpu::BufferBindingType::Storage { read_only: binding.read_only };
            layout_entry(binding.number, ty)
        });
        let entries: Vec<_> = [layout_entry(0, wgpu::BufferBindingType::Uniform)].into_iter().chain(storage).collect();
        let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label, entries: &entries });
        let text = wgpu::ShaderSource::Wgsl(wgsl(dispatch.key()).into());
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label,
            layout: Some(&device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label,
                bind_group_layouts: &[Some(&layout)],
                immediate_size: 0,
            })),
            module: &device.create_shader_module(wgpu::ShaderModuleDescriptor { label, source: text }),
            entry_point: Some(dispatch.entry_point()),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            cache: None,
        });
        let uniform = device.create_buffer(&wgpu::BufferDescriptor {
            label,
            size: dispatch.uniform().len() as u64,
            usage: BufferUsages::UNIFORM | BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        queue.write_buffer(&uniform, 0, dispatch.uniform());
        let mut entries = vec![wgpu::BindGroupEntry { binding: 0, resource: uniform.as_entire_binding() }];
        for (binding, range) in dispatch.bindings() {
            let (buffer, size) = (&buffers[&range.operand], range.bytes.and_then(wgpu::BufferSize::new));
            let resource = wgpu::BindingResource::Buffer(wgpu::BufferBinding { buffer, offset: range.offset, size });
            entries.push(wgpu::BindGroupEntry { binding: binding.number, resource });
        }
        let group = wgpu::BindGroupDescriptor { label, layout: &layout, entries: &entries };
        let group = device.create_bind_group(&group);
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &group, &[]);
        let [x, y, z] = dispatch.grid();
        pass.dispatch_workgroups(x, y, z);
    }
    drop(pass);

    let written = schedule.output_operands().iter().copied().chain([Operand::Report]);
    let written = written.filter_map(|operand| Some((operand, buffers.get(&operand)?)));
    let mut staging = Vec::new();
    for (operand, buffer) in written {
        let usage = BufferUsages::COPY_DST | BufferUsages::MAP_READ;
        let size = buffer.size();
        let copy =
            device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false });
        encoder.copy_buffer_to_buffer(buffer, 0, &copy, 0, size);
        staging.push((operand, copy));
    }
    queue.submit([encoder.finish()]);
    if let Some(error) = pollster::block_on(errors.pop()) {
        return Err(error.into());
    }
    for (_, copy) in &staging {
        // An error shows as a range that is not mapped.
        copy.slice(..).map_async(wgpu::MapMode::Read, |_| ());
    }
    device.poll(wgpu::PollType::wait_indefinitely())?;
    staging.into_iter().map(|(operand, copy)| Ok((operand, copy.slice(..).get_mapped_range()?.to_vec()))).collect()
}
