//! What the others are measured by: a plain copy kernel that moves the same bytes.
//!
//! It reads as many bytes as the row's kernel has to read, X and an unpool's indices, and writes as many as that has to
//! write, Y and a pool's indices; so a pool of a large tensor to a small one is held against mostly reading, as it must be:
//! cards read faster than they write.

use wgpu_pooling::{Schedule, wgpu};

use crate::device::Device;
use crate::failure::Failure;

const VECTOR_BYTES: u64 = 16;
const WORKGROUP: u64 = 256;
/// The most loads of an invocation: with more, those of a workgroup's end would be far apart.
const MOST_LOADS: u64 = 8;
/// Where a part of a binding may begin on every device.
const ALIGNMENT: u64 = 256;

/// The bytes of a row that a kernel has to read, and those that it has to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Traffic {
    pub read: u64,
    pub written: u64,
}

impl Traffic {
    pub fn of(schedule: &Schedule) -> Traffic {
        let sum = |parts: [Option<u64>; 2]| parts.into_iter().flatten().sum::<u64>();
        Traffic {
            read: sum([schedule.x_bytes(), schedule.indices_bytes()]).next_multiple_of(VECTOR_BYTES),
            written: sum([schedule.y_bytes(), schedule.indices_out_bytes()]).next_multiple_of(VECTOR_BYTES),
        }
    }

    pub fn total(self) -> u64 {
        self.read + self.written
    }

    /// How many vectors an invocation reads, so that there are invocations enough to write.
    fn loads(self) -> u64 {
        (self.read / self.written.max(1)).clamp(1, MOST_LOADS)
    }

    /// Cuts both tensors into as many parts, each small enough for a binding: offset and bytes of what each reads, and
    /// of what it writes.
    fn parts(self, most_bytes: u64) -> Vec<[(u64, u64); 2]> {
        let most = (most_bytes - most_bytes % ALIGNMENT).max(ALIGNMENT);
        let count = self.read.max(self.written).div_ceil(most).max(1);
        let part = |bytes: u64, number: u64| {
            let size = bytes.div_ceil(count).next_multiple_of(ALIGNMENT);
            let begin = number * size;
            // Of a small tensor nothing is left for the last parts; they have its first vector again.
            if begin < bytes { (begin, size.min(bytes - begin)) } else { (0, VECTOR_BYTES) }
        };
        (0..count).map(|number| [part(self.read, number), part(self.written, number)]).collect()
    }
}

/// The copy kernel for a row's traffic.
pub struct Copy {
    traffic: Traffic,
    pipeline: wgpu::ComputePipeline,
    parts: Vec<Part>,
}

struct Part {
    read: (u64, u64),
    written: (u64, u64),
    sizes: wgpu::Buffer,
    grid: [u32; 2],
}

/// The copy bound to buffers.
pub struct Bound(Vec<wgpu::BindGroup>);

impl Copy {
    pub fn new(device: &Device, traffic: Traffic) -> Result<Copy, Failure> {
        let loads = traffic.loads();
        let text = format!("const LOADS: u32 = {loads}u;\n{}", include_str!("copy.wgsl"));
        let label = Some("roofline copy");
        let pipeline = device.scoped(|device| {
            let source = wgpu::ShaderSource::Wgsl(text.into());
            let module = device.wgpu().create_shader_module(wgpu::ShaderModuleDescriptor { label, source });
            device.wgpu().create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label,
                layout: None,
                module: &module,
                entry_point: Some("main"),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                cache: None,
            })
        })?;
        let parts = traffic.parts(device.gpu.limits().max_binding_bytes).into_iter();
        let parts = parts.map(|[read, written]| Part::new(device, loads, read, written)).collect::<Result<_, _>>()?;
        Ok(Copy { traffic, pipeline, parts })
    }

    pub fn traffic(&self) -> Traffic {
        self.traffic
    }

    /// Buffers to copy from and to.
    pub fn buffers(&self, device: &Device) -> Result<[wgpu::Buffer; 2], Failure> {
        Ok([device.buffer("copy source", self.traffic.read)?, device.buffer("copy destination", self.traffic.written)?])
    }

    pub fn bind(&self, device: &Device, [source, destination]: &[wgpu::Buffer; 2]) -> Result<Bound, Failure> {
        let layout = self.pipeline.get_bind_group_layout(0);
        device.scoped(|device| {
            let group = |part: &Part| {
                let entry = |binding, buffer, (offset, bytes): (u64, u64)| wgpu::BindGroupEntry {
                    binding,
                    resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                        buffer,
                        offset,
                        size: wgpu::BufferSize::new(bytes),
                    }),
                };
                let sizes = (0, part.sizes.size());
                let entries =
                    [entry(0, &part.sizes, sizes), entry(1, source, part.read), entry(2, destination, part.written)];
                let label = Some("roofline copy");
                device.wgpu().create_bind_group(&wgpu::BindGroupDescriptor {
                    label,
                    layout: &layout,
                    entries: &entries,
                })
            };
            Bound(self.parts.iter().map(group).collect())
        })
    }

    pub fn encode(&self, pass: &mut wgpu::ComputePass<'_>, bound: &Bound) {
        pass.set_pipeline(&self.pipeline);
        for (part, group) in self.parts.iter().zip(&bound.0) {
            pass.set_bind_group(0, group, &[]);
            pass.dispatch_workgroups(part.grid[0], part.grid[1], 1);
        }
    }
}

impl Part {
    fn new(device: &Device, loads: u64, read: (u64, u64), written: (u64, u64)) -> Result<Part, Failure> {
        let [reads, writes] = [read, written].map(|(_, bytes)| bytes / VECTOR_BYTES);
        let invocations = reads.div_ceil(loads).max(writes);
        let groups = invocations.div_ceil(WORKGROUP);
        let rows = groups.div_ceil(u64::from(device.gpu.limits().max_workgroups_per_dimension));
        let grid = [groups.div_ceil(rows) as u32, rows as u32];
        let words = [reads as u32, writes as u32, invocations as u32, grid[0]];
        let sizes = device.scoped(|device| {
            device.wgpu().create_buffer(&wgpu::BufferDescriptor {
                label: Some("roofline copy sizes"),
                size: size_of_val(&words) as u64,
                usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            })
        })?;
        device.upload(&sizes, bytemuck::cast_slice(&words))?;
        Ok(Part { read, written, sizes, grid })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_fit_bindings_and_cover_all() {
        for (read, written) in [(16, 16), (4096, 16), (1 << 20, 1 << 18), (160, 4096), ((1 << 20) + 16, 48)] {
            for most in [256, 1000, 4096, 1 << 22] {
                let traffic = Traffic { read, written };
                let parts = traffic.parts(most);
                for (side, whole) in [read, written].into_iter().enumerate() {
                    let mut end = 0;
                    for (begin, bytes) in parts.iter().map(|part| part[side]) {
                        assert!(begin.is_multiple_of(ALIGNMENT) && bytes > 0 && bytes <= most.max(ALIGNMENT));
                        if begin == end {
                            end += bytes;
                        } else {
                            assert!(end == whole && (begin, bytes) == (0, VECTOR_BYTES), "{traffic:?}");
                        }
                    }
                    assert_eq!(end, whole, "{traffic:?}");
                }
            }
        }
    }
}
