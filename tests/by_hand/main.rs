//! Small cases worked out by hand: the rules that no recorded run of another runtime shows. Each test's comment has the
//! arithmetic. Every case is computed by the reference and, in every kernel family that applies, by the GPU.

mod activation;
mod both;
#[cfg(feature = "gpu")]
#[path = "../common/mod.rs"]
mod common;
mod far;
mod inverse;
mod pool;
mod presets;
mod sizes;
mod unpool;
