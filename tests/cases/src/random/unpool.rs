//! What an unpool is by its definition, before its indices are read.

use support::draw::pools::{Operator, PoolCase, small_count};
use support::draw::unpools::{Target, UnpoolCase};
use wgpu_pooling::{DType, EmptyValue, IndexFlattening, NanPolicy, StorageOrder};

use super::definition::{
    self, MOST_ELEMENTS, Pooled, Scatter, UnpoolSizes, Verdict, Window, activation_of, has_activation,
};

/// The definitions' verdict on the unpool, before its indices are read.
pub fn judge(case: &UnpoolCase) -> Verdict<Scatter> {
    if small_count(&case.shape(), MOST_ELEMENTS).is_none() {
        return Verdict::Unjudged;
    }
    if !has_activation(case.options.activation, case.dtype) {
        return Verdict::Refused;
    }
    let outer = (case.batch, case.channels);
    let scatter = match &case.target {
        Target::Attributes { kernel, strides, pads, output_shape } => {
            let sizes = UnpoolSizes {
                kernel,
                strides: strides.as_deref(),
                pads: pads.as_deref(),
                output_shape: output_shape.as_deref(),
                space: case.options.space.unwrap_or_default(),
                min_size: case.options.min_size,
            };
            let [space, outputs] = match sizes.extents(outer, &case.spatial) {
                Verdict::Accepted(extents) => extents,
                Verdict::Refused => return Verdict::Refused,
                Verdict::Unjudged => return Verdict::Unjudged,
            };
            if small_count(&[&outputs[..], &[case.batch.max(1), case.channels.max(1)]].concat(), MOST_ELEMENTS)
                .is_none()
            {
                return Verdict::Unjudged;
            }
            let flatten = IndexFlattening::Tensor;
            let scatter = Scatter::new(&case.conventions, flatten, outer, &space, &case.spatial, &outputs);
            scatter.map(|scatter| Scatter { windows: sizes.windows(&case.spatial, &space), ..scatter })
        }
        // An inverse does not apply the pool's options, so it may accept one that the element type does not have.
        Target::Inverse(pool) if has_options_of_floats(pool) => return Verdict::Unjudged,
        Target::Inverse(pool) => match definition::pool(pool) {
            Verdict::Accepted(pooled) => inverse(case, pool, &pooled),
            Verdict::Refused => None,
            Verdict::Unjudged => return Verdict::Unjudged,
        },
    };
    let Some(mut scatter) = scatter else { return Verdict::Refused };
    scatter.duplicates = case.options.duplicates.unwrap_or_default();
    scatter.out_of_bounds = case.options.out_of_bounds.unwrap_or_default();
    scatter.outside_window = case.options.outside_window.unwrap_or_default();
    scatter.activation = case.options.activation;
    Verdict::Accepted(scatter)
}

/// The inverse of a pool has the pool's index space, and its output is the pool's input. `None` if X has another
/// shape than the pool's output, or if the index of an empty window could also be that of an element.
fn inverse(case: &UnpoolCase, pool: &PoolCase, pooled: &Pooled) -> Option<Scatter> {
    let same_x = (case.batch, case.channels, &case.spatial) == (pool.batch, pool.channels, &pooled.outputs());
    let (flatten, order) = match &pool.operator {
        Operator::Max(options) => (IndexFlattening::Tensor, options.storage_order),
        Operator::Global => (IndexFlattening::Tensor, None),
        Operator::Adaptive(_) => (IndexFlattening::Plane, None),
    };
    let may_be_empty = pooled.has_empty_windows() || pool.nan_policy == Some(NanPolicy::Ignore);
    let told_apart = !may_be_empty || pool.empty.index.unwrap_or_default() == Default::default();
    if !same_x || !told_apart || case.spatial.contains(&0) {
        return None;
    }
    let outer = (case.batch, case.channels);
    let mut scatter = Scatter::new(&pool.conventions, flatten, outer, &pool.spatial, &case.spatial, &pool.spatial)?;
    if let (None, Some(1)) = (pool.conventions.index_order, order) {
        scatter.order(StorageOrder::ColumnMajor);
    }
    scatter.skip_minus_one = may_be_empty;
    scatter.skip_first = pool.nan_policy == Some(NanPolicy::SeedLowest);
    let taps = |windows: &Vec<Window>| windows.iter().map(|window| window.taps.clone()).collect();
    scatter.windows = pooled.windows.iter().map(taps).collect();
    Some(scatter)
}

/// Whether an option of a pool exists for floats only, and the elements are integers.
fn has_options_of_floats(pool: &PoolCase) -> bool {
    if pool.empty.value == Some(EmptyValue::Nan) && !pool.dtype.is_float() {
        return true;
    }
    let activation = activation_of(pool);
    has_activation(activation, DType::F32) && !has_activation(activation, pool.dtype)
}
