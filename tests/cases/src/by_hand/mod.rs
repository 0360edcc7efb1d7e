//! Small cases worked out by hand: the rules that no recorded run of another runtime shows. Each test's comment has the
//! arithmetic. Every case is computed by the reference, by the CPU backend in every kernel that applies and by a GPU
//! in every kernel family that applies.

mod activation;
mod both;
mod compositions;
mod far;
#[cfg(all(feature = "cpu", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod flushing;
mod ignore;
mod inverse;
#[cfg(feature = "cpu")]
mod long_windows;
mod pool;
mod presets;
mod sizes;
mod unpool;
