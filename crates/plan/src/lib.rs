//! The operators of the crate wgpu-pooling as attributes, their plans, tensors of the host, and the [`Reference`] that
//! defines what a plan means: all that the backends have in common, without any device.
//!
//! Programs use the crate wgpu-pooling, which has all of this under its own name. The examples here use it too.
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(target_endian = "big")]
compile_error!(
    "wgpu-pooling is for little-endian hosts: tensors go to devices as they lie in memory, and devices are little-endian"
);

mod activation;
#[cfg(feature = "ndarray")]
mod arrays;
mod attributes;
mod backend;
mod bad_indices;
#[cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]
mod convert;
mod difference;
mod element;
mod error;
mod geometry;
#[cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]
mod index;
mod indices;
#[cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]
mod ops;
mod options;
mod peaks;
#[cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]
mod plan;
mod pooling;
mod reduction;
mod reference;
mod request;
#[cfg(not(target_arch = "wasm32"))]
mod spawnable;
mod stream;
mod tensor;
#[cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]
mod tile;
mod untyped;

pub use attributes::{Activation, Attribute, Ints};
pub use backend::{Backend, BoxFuture, MaybeSendSync, Outputs, PreparedPlan};
pub use element::{DType, Element, Index, IndexType};
pub use error::{ExecuteError, PlanError};
pub use index::IndexSpace;
pub use ops::{
    AdaptiveMaxPool, AdaptiveMinPool, BlackHat, Close, Dilate, Erode, GlobalMaxPool, GlobalMinPool, Gradient, MaxPool,
    MaxUnpool, MinPool, Minimum, Node, NodeInput, Open, Operator, TopHat,
};
pub use options::{
    AutoPad, CeilRule, Duplicates, EmptyIndex, EmptyValue, IndexFlattening, Layout, NanPolicy, OutOfBounds,
    OutsideWindow, PadsLimit, Plateaus, Preset, SamePadding, SizeRounding, StorageOrder, UnpoolMinSize, UnpoolSpace,
};
pub use peaks::{Peak, Peaks, PeaksRequest};
pub use plan::{MAX_SPATIAL_AXES, Plan};
pub use pooling::Pooling;
pub use reference::Reference;
pub use request::{AsTensor, Complete, Request, ValuesOnly};
pub use stream::{AsyncSink, AsyncSource, MaybeSend, Sink, Source, Stream, StreamProgress, StreamReport};
pub use tensor::{Tensor, TensorSpec, TensorView, element_count};
pub use untyped::{TensorMut, TensorRef};

/// The crate `half` that this crate was built with, whose `f16` and `bf16` are its element types.
///
/// ```
/// use wgpu_pooling::{half::f16, DType, Element};
/// assert_eq!(f16::DTYPE, DType::F16);
/// ```
pub use half;

// What backends share. Any version may change it or leave it out.
#[doc(hidden)]
pub use geometry::{AxisWindow, Taps};
#[doc(hidden)]
pub use index::IndexStrides;
#[doc(hidden)]
pub use plan::{CompositionPlan, DifferencePlan, IndexPlan, PlanStep, PoolAxis, PoolPlan, UnpoolPlan};
#[doc(hidden)]
pub use tile::{Region, Tile, Tiling};
#[doc(hidden)]
pub mod internal {
    pub use crate::backend::{at_once, step_by_step};
    pub use crate::bad_indices::{BadIndices, stay_in_plane};
    pub use crate::difference::subtract;
    pub use crate::element::Number;
    #[cfg(debug_assertions)]
    pub use crate::geometry::steps;
    pub use crate::index::take_digit;
    pub use crate::indices::Indices;
    pub use crate::plan::{EmptyBase, IndexTarget};
    pub use crate::reduction::Reduction;
    pub use crate::stream::IN_FLIGHT;
    pub use crate::tensor::{advance, count, device_bytes, for_each, zeros};
    pub use crate::untyped::check_operands;
}
