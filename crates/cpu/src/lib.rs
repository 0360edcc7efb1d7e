//! The CPU backend of the crate wgpu-pooling: its operators on all processors of the host, with
//! the bits of the [reference](wgpu_pooling_plan::Reference).
//!
//! Programs use these items through the crate wgpu-pooling with its feature `cpu`, which re-exports them. So do the
//! examples here.
#![cfg_attr(docsrs, feature(doc_cfg))]

// `kernels` computes plans on slices; `calls` is what callers use. A kernel is chosen by kernels/policy.rs, a pure
// function of the plan, and no choice changes a bit.
mod calls;
mod kernels;

pub use calls::cpu::Cpu;
pub use calls::prepared::PreparedCpu;
pub use kernels::cpu_kernel::CpuKernel;
pub use kernels::simd::SimdLevel;
#[doc(hidden)]
pub use kernels::threads::Threads;
