//! Streaming runs, on the CPU backend and on a GPU.

mod pools;
mod unpools;
mod waiting;

use support::device::gpu;
use support::harness::skips_gpu;
use wgpu_pooling::{Cpu, Device};

/// What a stream computes on.
struct On {
    device: Device,
    is_gpu: bool,
}

impl On {
    /// The CPU, and a GPU unless it is left out.
    fn each() -> impl Iterator<Item = On> {
        let gpu = || On { device: gpu().clone().into(), is_gpu: true };
        [On { device: Cpu::new().into(), is_gpu: false }].into_iter().chain((!skips_gpu()).then(gpu))
    }

    /// A budget for either kind. On a GPU a tile lies on the host and on the device, beside scratch memory.
    fn either<B>(&self, gpu: B, cpu: B) -> B {
        if self.is_gpu { gpu } else { cpu }
    }
}
