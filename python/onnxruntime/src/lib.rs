//! The operators of wgpu-pooling as custom operators of onnxruntime: a library that
//! `SessionOptions.register_custom_ops_library` loads.
//!
//! | domain | operators | registered |
//! | --- | --- | --- |
//! | `wgpu.pooling` | MaxPool, MaxUnpool, AdaptiveMaxPool | always |
//! | `com.ms.internal.nhwc` | MaxPool, MaxUnpool: NHWC, with fused activations | always |
//! | `ai.onnx` | MaxPool, MaxUnpool: those of a model as it is | if the entry `wgpu_pooling.ai_onnx` of the session's configuration is `1` |
//!
//! Each operator is registered once for each of 12 element types: onnxruntime takes the operators of a custom domain
//! for all there are, so that a model with a type that is left out would not load. The entry `wgpu_pooling.device`
//! chooses where they compute: `auto` (a GPU, or the CPU backend if there is none but software), `gpu` or `cpu`.
//!
//! Operators of `ai.onnx` follow onnxruntime where it departs from the specification
//! ([`Preset::OnnxRuntime`](wgpu_pooling::Preset::OnnxRuntime)), so that a model gives the results that it gave before,
//! but for what [`MaxPool::onnxruntime`](wgpu_pooling::MaxPool::onnxruntime) does not reproduce.
//!
//! Every node says in onnxruntime's log, at level INFO, that it is computed here and where.
//!
//! All of onnxruntime's interface is in [`api`], the only file with `unsafe`.

#![warn(missing_docs)]
#![deny(unsafe_code)]

#[allow(unsafe_code)]
mod api;
mod operator;

pub use api::RegisterCustomOps;
