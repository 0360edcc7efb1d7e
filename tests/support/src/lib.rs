//! What the tests of several programs share: the harness, elements, cases, and whole modules of tests that more than
//! one program runs.
//!
//! Without features it needs neither a GPU nor the CPU backend. The features `cpu` and `gpu` are those of wgpu-pooling.

pub mod by_hand;
pub mod calls;
pub mod case;
#[cfg(feature = "cpu")]
pub mod cpu;
#[cfg(feature = "gpu")]
pub mod device;
pub mod fuzz;
pub mod harness;
pub mod nasty;
pub mod place;
pub mod random;
pub mod splitmix;
#[cfg(feature = "cpu")]
pub mod streams;
pub mod tensors;
pub mod translations;
pub mod vectors;
