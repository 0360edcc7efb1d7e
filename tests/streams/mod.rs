//! Streaming runs. They belong to two binaries: `device` computes on a GPU, `cpu` on the CPU backend.

pub mod pools;
pub mod unpools;
pub mod waiting;

use libtest_mimic::Trial;

pub fn tests() -> Vec<Trial> {
    [pools::tests(), unpools::tests(), waiting::tests()].into_iter().flatten().collect()
}

/// A budget, or what else depends on it, of the two kinds of device. On a GPU a tile lies on the host and on the
/// device, beside scratch memory, so that as much memory holds less of a tensor.
fn either<B>(gpu: B, cpu: B) -> B {
    if crate::COMPUTES_ON_GPU { gpu } else { cpu }
}
