//! The operators that a node can be.

use super::adaptive_max_pool::AdaptiveMaxPool;
use super::max_pool::{GlobalMaxPool, MaxPool};
use super::max_unpool::MaxUnpool;

/// The operator of a node.
///
/// ```
/// use wgpu_pooling::{Attribute, MaxPool, Node, Operator};
///
/// let node = Node::new("MaxPool", 22).attribute("kernel_shape", Attribute::Ints(vec![3, 3]));
/// assert_eq!(node.operator()?, Operator::MaxPool(MaxPool::new([3, 3])));
/// # Ok::<(), wgpu_pooling::PlanError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Operator {
    /// A MaxPool.
    MaxPool(MaxPool),
    /// A GlobalMaxPool.
    GlobalMaxPool(GlobalMaxPool),
    /// A MaxUnpool, without its input `output_shape`.
    MaxUnpool(MaxUnpool),
    /// An AdaptiveMaxPool; OpenVINO's has an empty `output_size` here, because it is an input.
    AdaptiveMaxPool(AdaptiveMaxPool),
}
