//! Whole modules of tests that more than one program runs: cases by hand and at random, the fuzz targets, streams.
//!
//! The features `cpu` and `gpu` are those of wgpu-pooling; without both the cases run on the reference alone.

pub mod by_hand;
pub mod fuzz;
pub mod random;
#[cfg(feature = "cpu")]
pub mod streams;
