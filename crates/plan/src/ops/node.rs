//! Common parts of the operators: the trait of pools, per-axis attributes, the index options.

use crate::attributes::Activation;
use crate::element::{DType, IndexType};
use crate::error::PlanError;
use crate::index::IndexSpace;
use crate::options::{IndexFlattening, Layout, StorageOrder};
use crate::plan::{Dimensions, PoolPlan};

pub(super) mod sealed {
    pub trait Sealed {}
}

/// MaxPool, GlobalMaxPool and AdaptiveMaxPool: operators that plan a pool from a shape. Sealed.
///
/// ```
/// use wgpu_pooling::{AdaptiveMaxPool, DType, MaxPool, Pooling};
///
/// let pools: [&dyn Pooling; 2] = [&MaxPool::new([2, 2]), &AdaptiveMaxPool::new([3, 3])];
/// for pool in pools {
///     assert_eq!(pool.plan(&[1, 1, 4, 4], DType::F32, None)?.output_shape(), &[1, 1, 3, 3]);
/// }
/// # Ok::<(), wgpu_pooling::PlanError>(())
/// ```
pub trait Pooling: sealed::Sealed + Send + Sync {
    /// The plan for an X of this shape and type, with or without indices.
    ///
    /// # Errors
    /// A [`PlanError`] with the numbers that do not fit.
    ///
    /// ```
    /// use wgpu_pooling::{DType, GlobalMaxPool, PlanError, Pooling};
    ///
    /// fn output_shape(pool: &dyn Pooling, shape: &[usize]) -> Result<Vec<usize>, PlanError> {
    ///     Ok(pool.plan(shape, DType::F32, None)?.output_shape().to_vec())
    /// }
    /// assert_eq!(output_shape(&GlobalMaxPool::new(), &[2, 3, 5, 7])?, [2, 3, 1, 1]);
    /// # Ok::<(), PlanError>(())
    /// ```
    fn plan(&self, shape: &[usize], dtype: DType, indices: Option<IndexType>) -> Result<PoolPlan, PlanError>;
}

/// The names of a node's attributes so far; each may occur once.
pub(super) struct Seen {
    operator: &'static str,
    names: Vec<String>,
}

impl Seen {
    pub fn of(operator: &'static str) -> Self {
        Seen { operator, names: Vec::new() }
    }

    pub fn once<'a>(&mut self, name: &'a str) -> Result<&'a str, PlanError> {
        if self.names.iter().any(|seen| seen == name) {
            return Err(PlanError::RepeatedAttribute { operator: self.operator, name: name.to_owned() });
        }
        self.names.push(name.to_owned());
        Ok(name)
    }
}

/// The two attributes of a node that define an activation.
#[derive(Default)]
pub(super) struct NodeActivation {
    pub name: Option<String>,
    pub parameters: Vec<f32>,
}

impl NodeActivation {
    /// The activation, if the node has one. Parameters without a name have nothing to apply to.
    pub fn resolve(self, operator: &'static str) -> Result<Option<Activation>, PlanError> {
        match self.name {
            Some(name) => Activation::from_onnx(&name, &self.parameters).map(Some),
            None if self.parameters.is_empty() => Ok(None),
            None => Err(PlanError::MissingAttribute { operator, attribute: "activation" }),
        }
    }
}

/// A list attribute with one value per axis: the given values, or the default.
pub(super) fn per_axis(
    attribute: &'static str,
    given: Option<&[i64]>,
    default: i64,
    expected: usize,
) -> Result<Vec<i64>, PlanError> {
    match given {
        None => Ok(vec![default; expected]),
        Some(values) if values.len() == expected => Ok(values.to_vec()),
        Some(values) => Err(PlanError::AttributeLength { attribute, expected, actual: values.len() }),
    }
}

/// The pads of every axis, begin and end; none may be negative.
pub(super) fn pads_per_axis(given: Option<&[i64]>, axes: usize) -> Result<Vec<[i64; 2]>, PlanError> {
    let pads = per_axis("pads", given, 0, axes.saturating_mul(2))?;
    if let Some(axis) = pads.iter().position(|&pad| pad < 0) {
        return Err(PlanError::Negative { attribute: "pads", axis, value: pads[axis] });
    }
    let (begins, ends) = pads.split_at(axes);
    Ok(begins.iter().zip(ends).map(|(&begin, &end)| [begin, end]).collect())
}

/// Extents that the caller gives: `output_size`, `output_shape`.
pub(super) fn extents(attribute: &'static str, given: &[i64]) -> Result<Vec<usize>, PlanError> {
    given
        .iter()
        .enumerate()
        .map(|(axis, &value)| usize::try_from(value).map_err(|_| PlanError::Negative { attribute, axis, value }))
        .collect()
}

/// The index options that every operator has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct IndexOptions {
    pub flatten: IndexFlattening,
    pub order: StorageOrder,
    pub layout: Layout,
}

impl IndexOptions {
    pub fn on(self, dimensions: &Dimensions, extents: &[usize]) -> IndexSpace {
        IndexSpace {
            flatten: self.flatten,
            order: self.order,
            layout: self.layout,
            batch: dimensions.batch,
            channels: dimensions.channels,
            extents: extents.to_vec(),
        }
    }
}
