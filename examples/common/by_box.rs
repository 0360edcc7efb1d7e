//! Operators of flat morphology by their names.

use wgpu_pooling::{BlackHat, Close, DType, Dilate, Erode, Gradient, IndexType, Layout, Open, Plan, PlanError, TopHat};

/// The plan of an operator by a box of these extents, for an X of this shape, type and layout.
pub type ByBox = fn(&[i64], &[usize], DType, Layout, Option<IndexType>) -> Result<Plan, PlanError>;

macro_rules! by_box {
    ($type:ident) => {
        |extents, shape, dtype, layout, indices| $type::new(extents).layout(layout).plan(shape, dtype, indices)
    };
}

/// Each operator with its name.
pub const BY_BOX: [(&str, ByBox); 7] = [
    ("dilate", by_box!(Dilate)),
    ("erode", by_box!(Erode)),
    ("open", by_box!(Open)),
    ("close", by_box!(Close)),
    ("gradient", by_box!(Gradient)),
    ("top_hat", by_box!(TopHat)),
    ("black_hat", by_box!(BlackHat)),
];
