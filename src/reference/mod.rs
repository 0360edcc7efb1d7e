//! The operators as plain loops over a plan: the oracle that every kernel is compared with.
//!
//! Nothing here is clever. Each function can be checked by eye against the definition of its operator; speed is not its
//! business.

mod activation;
mod convert_indices;
mod max_pool;
mod max_unpool;

pub use convert_indices::convert_indices;
#[cfg(feature = "gpu")]
pub(crate) use max_pool::Parts;
pub use max_pool::{max_pool, max_pool_with_indices};
pub use max_unpool::max_unpool;

use crate::error::ExecuteError;

/// Calls `visit` with every tuple of coordinates below `extents`, the last axis fastest; with none if an extent is 0.
pub(crate) fn for_each(extents: &[usize], mut visit: impl FnMut(&[usize])) {
    if extents.contains(&0) {
        return;
    }
    let mut coordinates = vec![0; extents.len()];
    loop {
        visit(&coordinates);
        // Count up like an odometer.
        let Some(axis) = (0..extents.len()).rev().find(|&axis| coordinates[axis] + 1 < extents[axis]) else {
            return;
        };
        coordinates[axis] += 1;
        coordinates[axis + 1..].fill(0);
    }
}

/// The position of an element in a dense tensor of a layout: N, C, spatial or N, spatial, C.
pub(crate) fn position(
    layout: crate::Layout,
    channels: usize,
    extents: &[usize],
    n: usize,
    c: usize,
    at: &[usize],
) -> usize {
    let spatial = extents.iter().zip(at).fold(0, |position, (extent, coordinate)| position * extent + coordinate);
    let plane: usize = extents.iter().product();
    match layout {
        crate::Layout::Nchw => (n * channels + c) * plane + spatial,
        crate::Layout::Nhwc => (n * plane + spatial) * channels + c,
    }
}

/// A zeroed buffer for a tensor of this shape, or an error where memory does not suffice.
pub(crate) fn zeros<T: bytemuck::Zeroable>(shape: &[usize]) -> Result<Vec<T>, ExecuteError> {
    let count = crate::plan::count(shape);
    usize::try_from(count)
        .ok()
        .and_then(|count| bytemuck::allocation::try_zeroed_vec(count).ok())
        .ok_or_else(|| ExecuteError::OutOfMemory(format!("{count} elements of shape {shape:?}")))
}

/// Refuses a tensor of another shape than the plan's.
pub(crate) fn check_shape(what: &'static str, expected: &[usize], actual: &[usize]) -> Result<(), ExecuteError> {
    if expected == actual {
        Ok(())
    } else {
        Err(ExecuteError::ShapeMismatch { what, expected: expected.to_vec(), actual: actual.to_vec() })
    }
}

/// Refuses a tensor of another type than the plan's.
pub(crate) fn check_type(what: &'static str, expected: &'static str, actual: &'static str) -> Result<(), ExecuteError> {
    if expected == actual { Ok(()) } else { Err(ExecuteError::TypeMismatch { what, expected, actual }) }
}
