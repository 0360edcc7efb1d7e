//! The plain copy kernel that all other kernels are compared with. It moves as many bytes as a row's kernel has to,
//! half of them read and half of them written, in vectors of 16 bytes.

use wgpu_pooling::wgpu;

use crate::device::Device;
use crate::failure::Failure;

const VECTOR_BYTES: u64 = 16;
const WORKGROUP: u32 = 256;
/// The alignment that every device accepts for the offset of a binding.
const ALIGNMENT: u64 = 256;

/// The copy kernel for a row's bytes.
pub struct Copy {
    /// The bytes that are read; as many are written.
    half: u64,
    pipeline: wgpu::ComputePipeline,
    parts: Vec<Part>,
}

/// A part of the copy, which fits a binding.
struct Part {
    offset: u64,
    bytes: u64,
    grid: [u32; 2],
}

/// The copy bound to buffers.
pub struct Bound(Vec<wgpu::BindGroup>);

/// Offsets and lengths of parts that fit a binding.
fn parts(bytes: u64, most_bytes: u64) -> Vec<(u64, u64)> {
    let most = (most_bytes - most_bytes % ALIGNMENT).max(ALIGNMENT);
    (0..bytes.div_ceil(most)).map(|part| (part * most, most.min(bytes - part * most))).collect()
}

impl Copy {
    /// A copy that moves `bytes`, read and written together: those of a row's X, Y and indices.
    pub fn new(device: &Device, bytes: u64) -> Result<Copy, Failure> {
        let pipeline = device.pipeline("copy", include_str!("copy.wgsl"), WORKGROUP)?;
        let limits = device.gpu.limits();
        let half = bytes.div_ceil(2).next_multiple_of(VECTOR_BYTES);
        let parts = parts(half, limits.max_binding_bytes).into_iter().map(|(offset, bytes)| {
            let groups = (bytes / VECTOR_BYTES).div_ceil(u64::from(WORKGROUP));
            let rows = groups.div_ceil(u64::from(limits.max_workgroups_per_dimension));
            Part { offset, bytes, grid: [groups.div_ceil(rows) as u32, rows as u32] }
        });
        Ok(Copy { half, pipeline, parts: parts.collect() })
    }

    /// The bytes that a run moves.
    pub fn bytes(&self) -> u64 {
        2 * self.half
    }

    /// Buffers to copy from and to.
    pub fn buffers(&self, device: &Device) -> Result<[wgpu::Buffer; 2], Failure> {
        Ok([device.buffer("copy source", self.half)?, device.buffer("copy destination", self.half)?])
    }

    pub fn bind(&self, device: &Device, [source, destination]: &[wgpu::Buffer; 2]) -> Result<Bound, Failure> {
        let layout = self.pipeline.get_bind_group_layout(0);
        device.scoped(|device| {
            let group = |part: &Part| {
                let entry = |binding, buffer| wgpu::BindGroupEntry {
                    binding,
                    resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                        buffer,
                        offset: part.offset,
                        size: wgpu::BufferSize::new(part.bytes),
                    }),
                };
                let (label, entries) = (Some("roofline copy"), [entry(0, source), entry(1, destination)]);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_fit_bindings_and_cover_all() {
        for bytes in [16, 4096, (1 << 20) + 16, 160] {
            for most in [256, 1000, 4096, 1 << 22] {
                let mut end = 0;
                for (offset, length) in parts(bytes, most) {
                    assert!(offset == end && offset.is_multiple_of(ALIGNMENT), "{bytes} by {most}");
                    assert!(length > 0 && length <= most.max(ALIGNMENT), "{bytes} by {most}");
                    end += length;
                }
                assert_eq!(end, bytes);
            }
        }
    }
}
