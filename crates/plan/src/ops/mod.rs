//! The operators: attributes in ONNX's words, and `plan()`, which turns them and a shape into a [`PoolPlan`] or an
//! [`UnpoolPlan`](crate::UnpoolPlan).

mod adaptive_max_pool;
mod compositions;
mod max_pool;
mod max_unpool;
mod min_pool;
mod morphology;
mod node;
mod onnx_node;
mod openvino_node;
mod operator;
mod pool_options;
mod presets;

pub use adaptive_max_pool::AdaptiveMaxPool;
pub use compositions::{BlackHat, Close, Gradient, Open, TopHat};
pub use max_pool::{GlobalMaxPool, MaxPool};
pub use max_unpool::MaxUnpool;
pub use min_pool::{AdaptiveMinPool, GlobalMinPool, MinPool, Minimum};
pub use morphology::{Dilate, Erode};
pub use onnx_node::{Node, NodeInput};
pub use operator::Operator;
