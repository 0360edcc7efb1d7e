//! Rows made smaller, for machines that could not hold them or would take too long.

use crate::catalogue::{Operator, Row};

/// The row with about 1 / `by` of its elements: fewer batch items, then fewer channels, then smaller extents, which
/// stay large enough for a window without padding.
pub fn shrunk(row: &Row, by: u64) -> Row {
    let mut shape: Vec<u64> = row.pooled.iter().map(|&extent| extent as u64).collect();
    let target = (shape.iter().product::<u64>() / by.max(1)).max(1);
    let least: Vec<u64> = (0..shape.len()).map(|axis| least(row, axis)).collect();
    for outer in [0, 1] {
        reduce(&mut shape, outer, least[outer], target);
    }
    // The largest extent shrinks first, and by at most half, so that planes roughly keep their proportions.
    while shape.iter().product::<u64>() > target {
        let can = (2..shape.len()).filter(|&axis| shape[axis] > least[axis]).max_by_key(|&axis| shape[axis]);
        let Some(axis) = can else { break };
        let half = shape[axis].div_ceil(2).max(least[axis]);
        reduce(&mut shape, axis, half, target);
    }
    Row { pooled: shape.iter().map(|&extent| extent as usize).collect(), ..row.clone() }
}

/// Makes one extent as small as the target asks, but not below `least`.
fn reduce(shape: &mut [u64], axis: usize, least: u64, target: u64) {
    let others: u64 = shape.iter().product::<u64>() / shape[axis];
    shape[axis] = (target / others).clamp(least.min(shape[axis]), shape[axis]);
}

/// The smallest extent of an axis with which the row is still meaningful.
fn least(row: &Row, axis: usize) -> u64 {
    let Some(spatial) = axis.checked_sub(2) else { return 1 };
    match &row.operator {
        Operator::MaxPool(window) | Operator::MaxUnpool { window, .. } => window.reach(spatial) as u64,
        Operator::GlobalMaxPool => 1,
        Operator::AdaptiveMaxPool { output_size } => output_size[spatial] as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{OWN, parse};
    use crate::work::Plans;
    use wgpu_pooling::DType;

    fn elements(row: &Row) -> u64 {
        row.pooled.iter().map(|&extent| extent as u64).product()
    }

    #[test]
    fn by_one_is_the_row_itself() {
        for row in parse(OWN).unwrap() {
            assert_eq!(shrunk(&row, 1), row);
        }
    }

    #[test]
    fn every_row_has_a_plan_at_every_size() {
        for row in parse(OWN).unwrap() {
            for by in [2, 3, 7, 10, 100, 999, 10_000, 123_456, 1_000_000] {
                let small = shrunk(&row, by);
                let plans = Plans::new(&small, DType::F32);
                assert!(plans.is_ok(), "{} by {by}: {:?}: {:?}", row.name, small.pooled, plans.err());
                let least: u64 = (0..row.pooled.len()).map(|axis| least(&row, axis)).product();
                let target = (elements(&row) / by).max(1);
                // Rounding down removes at most half; at the least size nothing more can be removed.
                assert!(2 * elements(&small) >= target, "{} by {by}: {:?}", row.name, small.pooled);
                assert!(elements(&small) <= target.max(least), "{} by {by}: {:?}", row.name, small.pooled);
            }
        }
    }

    #[test]
    fn the_batch_goes_first_then_channels_then_extents() {
        let rows = parse(OWN).unwrap();
        let row = rows.iter().find(|row| row.name == "segnet_2x2s2_i64").unwrap();
        assert_eq!(shrunk(row, 8).pooled, [2, 64, 224, 224]);
        assert_eq!(shrunk(row, 64).pooled, [1, 16, 224, 224]);
        assert_eq!(shrunk(row, 4096).pooled, [1, 1, 112, 112]);
        assert_eq!(shrunk(row, u64::MAX).pooled, [1, 1, 2, 2]);
    }
}
