//! The buffers of one run on a device.

use wgpu_pooling::{Buffers, Operand, Schedule, wgpu};

/// The buffers of a schedule that are not its own. The benchmarks of overheads have them too.
pub struct Set {
    pub x: Option<wgpu::Buffer>,
    pub indices: Option<wgpu::Buffer>,
    pub y: Option<wgpu::Buffer>,
    pub indices_out: Option<wgpu::Buffer>,
    pub report: Option<wgpu::Buffer>,
}

impl Set {
    /// `buffer` makes a buffer from its label and its bytes.
    pub fn new<E>(schedule: &Schedule, buffer: impl Fn(&str, u64) -> Result<wgpu::Buffer, E>) -> Result<Set, E> {
        let of = |operand, label| schedule.operand_bytes(operand).map(|bytes| buffer(label, bytes)).transpose();
        Ok(Set {
            x: of(Operand::X, "X")?,
            indices: of(Operand::Indices, "the indices")?,
            y: of(Operand::Y, "Y")?,
            indices_out: of(Operand::IndicesOut, "the indices to write")?,
            report: of(Operand::Report, "the report")?,
        })
    }

    /// Those of the plan's inputs, in their order.
    pub fn inputs(&self) -> impl Iterator<Item = &wgpu::Buffer> {
        self.x.iter().chain(&self.indices)
    }

    /// Those of the plan's outputs, in their order.
    pub fn outputs(&self) -> impl Iterator<Item = &wgpu::Buffer> {
        self.y.iter().chain(&self.indices_out)
    }

    pub fn buffers(&self) -> Buffers<'_> {
        fn whole(buffer: &Option<wgpu::Buffer>) -> Option<wgpu::BufferSlice<'_>> {
            buffer.as_ref().map(|buffer| buffer.slice(..))
        }
        Buffers {
            x: whole(&self.x),
            y: whole(&self.y),
            indices: whole(&self.indices),
            indices_out: whole(&self.indices_out),
            report: whole(&self.report),
            ..Buffers::default()
        }
    }
}
