//! Streaming runs. They belong to two binaries: `device` computes on a GPU, `cpu` on the CPU backend.

pub mod pools;
pub mod unpools;
mod waiting;

use libtest_mimic::Trial;
use wgpu_pooling::{Cpu, Device};

#[cfg(feature = "gpu")]
use support::device::gpu;
use support::harness::computes_on_gpu;

pub fn tests() -> Vec<Trial> {
    [pools::tests(), unpools::tests(), waiting::tests()].into_iter().flatten().collect()
}

/// What this program computes on.
fn device() -> Device {
    #[cfg(feature = "gpu")]
    if computes_on_gpu() {
        return gpu().clone().into();
    }
    Cpu::new().into()
}

/// A budget, or what else depends on it, of the two kinds of device. On a GPU a tile lies on the host and on the
/// device, beside scratch memory, so that as much memory holds less of a tensor.
fn either<B>(gpu: B, cpu: B) -> B {
    if computes_on_gpu() { gpu } else { cpu }
}
