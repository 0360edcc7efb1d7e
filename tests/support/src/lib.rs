//! What the tests of several packages share: the harness, the recorded cases, elements, one device for a program.
//!
//! Without features it needs neither a GPU nor the CPU backend. The features `cpu` and `gpu` are those of wgpu-pooling.
//! Programs that compute nothing but examples compile it too, so what is heavy stands in tests/cases.

pub mod call;
pub mod calls;
#[cfg(feature = "cpu")]
pub mod cpu;
#[cfg(feature = "gpu")]
pub mod device;
pub mod draw;
#[cfg(feature = "cpu")]
pub mod flags;
pub mod harness;
#[cfg(feature = "gpu")]
#[path = "../../../examples/bare_wgpu/host.rs"]
pub mod host;
#[cfg(feature = "interpreter")]
pub mod interpreter;
pub mod net;
pub mod place;
pub mod queue;
pub mod splitmix;
pub mod tensors;
pub mod vectors;
