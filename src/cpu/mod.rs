//! The CPU backend: the operators on all processors of the host, with the bits of the [`mod@crate::reference`].
//!
//! `kernels/` computes plans on slices; `calls/` is what callers use. A kernel is chosen by `kernels/choose.rs`, a pure
//! function of the plan, and no choice changes a bit.

pub(crate) mod calls;
pub(crate) mod kernels;

pub use calls::cpu::Cpu;
pub use calls::prepared::PreparedCpu;
pub use kernels::choose::CpuKernel;
pub use kernels::simd::SimdLevel;
