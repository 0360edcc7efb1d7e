//! A round trip with nothing but wgpu: bytes are written to a buffer, a kernel copies words, and bytes are read back.
//! No call of the library can be faster.

use wgpu_pooling::{Gpu, wgpu};

const KERNEL: &str = "
    @group(0) @binding(0) var<storage, read> source: array<u32>;
    @group(0) @binding(1) var<storage, read_write> destination: array<u32>;

    @compute @workgroup_size(64)
    fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
        let at = id.y * groups.x * 64u + id.x;
        if (at < arrayLength(&destination)) {
            destination[at] = source[at % arrayLength(&source)];
        }
    }";

/// A round trip that moves `up` bytes to the device and `down` bytes back.
pub struct RoundTrip {
    gpu: Gpu,
    pipeline: wgpu::ComputePipeline,
    up: u64,
    down: u64,
}

/// The buffers and the bind group of a round trip.
pub struct Bound {
    source: wgpu::Buffer,
    destination: wgpu::Buffer,
    staging: wgpu::Buffer,
    group: wgpu::BindGroup,
}

impl RoundTrip {
    pub fn new(gpu: &Gpu, up: u64, down: u64) -> RoundTrip {
        let device = gpu.device();
        let source = wgpu::ShaderSource::Wgsl(KERNEL.into());
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source });
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: None,
            module: &module,
            entry_point: Some("main"),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            cache: None,
        });
        RoundTrip { gpu: gpu.clone(), pipeline, up, down }
    }

    pub fn buffers(&self) -> Bound {
        use wgpu::BufferUsages as Usages;
        let device = self.gpu.device();
        let buffer = |size, usage| {
            device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false })
        };
        let source = buffer(self.up, Usages::STORAGE | Usages::COPY_DST);
        let destination = buffer(self.down, Usages::STORAGE | Usages::COPY_SRC);
        let staging = buffer(self.down, Usages::MAP_READ | Usages::COPY_DST);
        let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &self.pipeline.get_bind_group_layout(0),
            entries: &[
                wgpu::BindGroupEntry { binding: 0, resource: source.as_entire_binding() },
                wgpu::BindGroupEntry { binding: 1, resource: destination.as_entire_binding() },
            ],
        });
        Bound { source, destination, staging, group }
    }

    /// Records the kernel, whose bind group exists.
    pub fn record(&self, bound: &Bound, pass: &mut wgpu::ComputePass<'_>) {
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &bound.group, &[]);
        let groups = (self.down / 4).div_ceil(64);
        let rows = groups.div_ceil(65_535);
        pass.dispatch_workgroups(groups.div_ceil(rows) as u32, rows as u32, 1);
    }

    /// Runs the round trip and gives the bytes that come back.
    pub fn run(&self, bound: &Bound, bytes: &[u8]) -> Vec<u8> {
        let (device, queue) = (self.gpu.device(), self.gpu.queue());
        queue.write_buffer(&bound.source, 0, bytes);
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        self.record(bound, &mut pass);
        drop(pass);
        encoder.copy_buffer_to_buffer(&bound.destination, 0, &bound.staging, 0, self.down);
        encoder.map_buffer_on_submit(&bound.staging, wgpu::MapMode::Read, .., |answer| {
            answer.expect("the device maps what it has computed");
        });
        queue.submit([encoder.finish()]);
        device.poll(wgpu::PollType::wait_indefinitely()).expect("the device answers");
        let mapped = bound.staging.get_mapped_range(..).expect("mapped by now");
        let bytes = mapped.to_vec();
        drop(mapped);
        bound.staging.unmap();
        bytes
    }

    /// Whether `down` is what the kernel makes of `up`.
    pub fn moved(&self, up: &[u8], down: &[u8]) -> bool {
        let words = up.chunks_exact(4).cycle();
        down.chunks_exact(4).zip(words).all(|(down, up)| down == up)
    }
}
