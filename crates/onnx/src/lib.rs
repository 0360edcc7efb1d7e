//! Models of ONNX and OpenVINO: their pooling nodes as [`Node`](wgpu_pooling_plan::Node)s and plans, without a device.
//!
//! Programs use the crate wgpu-pooling with its feature `onnx`, where this is the
//! module `onnx`. The examples here use it too.
//!
//! [`Model`] reads a file and lists the pooling nodes in it, also those inside `If`, `Loop` and `Scan` and inside the
//! model's own functions. Each has the operator as a [`Node`](wgpu_pooling_plan::Node), what the model says of the
//! inputs, and with that a plan; [`ModelNode::traps`] says where runtimes disagree about it. [`FileTensor`] reads the
//! tensors that test data consist of.
//!
//! A program that already has a node's attributes, such as a custom operator of onnxruntime, needs none of this: it
//! fills a [`Node`](wgpu_pooling_plan::Node) and calls [`Node::plan_for`](wgpu_pooling_plan::Node::plan_for).
//!
//! ```
//! use wgpu_pooling::{Preset, onnx::Model};
//!
//! let model = Model::open("models/test_maxpool_1d_default.onnx".as_ref())?;
//! for node in model.nodes() {
//!     let plan = node.plan(Preset::Onnx)?;
//!     assert_eq!((node.op_type(), &plan.outputs()[0].shape), ("MaxPool", &vec![1, 3, 31]));
//! }
//! # Ok::<(), wgpu_pooling::onnx::ModelError>(())
//! ```
//!
//! This preset, which is the default, unpools unlike onnxruntime where an `output_shape` exceeds the inferred shape: it
//! counts indices in the inferred one, as ONNX's published example does, and `Preset::OnnxRuntime` in the given one.
//!
//! Shapes between nodes are not inferred: `onnx.shape_inference.infer_shapes` writes them into models, where
//! [`Model::with_sizes`] gives sizes to extents such as `N`. [`ModelNode::run`] computes a node on any backend.
//!
//! # What is read
//!
//! Of ONNX: MaxPool, MaxUnpool and GlobalMaxPool of ONNX's own domain and of `com.ms.internal.nhwc`, and the operators
//! of `wgpu.pooling`. Of OpenVINO's IR, versions 10 and 11: MaxPool-1, -8, -14 and AdaptiveMaxPool-8.
//!
//! # Files from strangers
//!
//! Work and memory are bounded by a file's length, however graphs and functions are nested and called
//! ([`ModelError::TooMuchWork`]). Only regular files are opened, no pipes and no devices. A model's external data and
//! weights have to lie in its folder or below, after links are resolved.

#![cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod budget;
mod error;
mod external;
mod files;
mod ir;
mod model;
mod node;
mod proto;
mod run;
mod tensor;
mod traps;
mod walk;
mod wire;

pub use error::ModelError;
pub use model::Model;
pub use node::{ModelInput, ModelNode, ValueSource};
pub use tensor::FileTensor;
pub use traps::Trap;
