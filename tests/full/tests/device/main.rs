//! What the kernels compute and what calls promise, on one device that all tests share.

mod activations;
mod agree;
mod any_wins;
mod beyond_limits;
mod chain;
mod downlevel;
mod either;
mod encode;
mod gpu;
mod hosts;
mod kernels;
mod left_out;
mod limits;
mod measure;
mod own_windows;
mod reuse;
mod streams;
mod untrusted;
mod untyped;
