//! A window too large for one tile: each tile computes the maximum of its part, and the host reduces these maxima.

use crate::activation::activate;
use crate::element::Element;
use crate::index::take_digit;
use crate::plan::PoolPlan;
use crate::with_element;

/// The best element so far of a window whose parts several tiles compute, in any order.
#[derive(Default)]
pub(crate) struct SplitWindow {
    /// The bits of the element, and its position in the plane.
    best: Option<(u64, u64)>,
}

impl SplitWindow {
    /// Combines the maximum of a tile, as its bytes, with the maxima of earlier tiles. `tile` is the tile's plan.
    pub fn combine(&mut self, tile: &PoolPlan, value: &[u8], position: u64) {
        with_element!(tile.dtype(), T => {
            let value: T = bytemuck::pod_read_unaligned(value);
            // A result that cannot win on its own is that of a tile without an element that can.
            let may_win = tile.replaces(None, value);
            let wins = |(best, before): (u64, u64)| {
                let best = T::from_bits64(best);
                // Of the two, the later one in row-major order has to replace the earlier one.
                if before < position { tile.replaces(Some(best), value) } else { !tile.replaces(Some(value), best) }
            };
            if may_win && self.best.is_none_or(wins) {
                self.best = Some((value.to_bits64(), position));
            }
        });
    }

    /// The bytes of the element of Y, and the index if the plan of the whole pool has one, of the window in plane
    /// (n, c).
    pub fn finish(self, plan: &PoolPlan, n: usize, c: usize) -> (Vec<u8>, Option<i64>) {
        let extents: Vec<usize> = plan.axes.iter().map(|axis| axis.input).collect();
        let mut at = vec![0; extents.len()];
        let mut rest = self.best.map_or(0, |(_, position)| position);
        for (coordinate, &extent) in at.iter_mut().zip(&extents).rev() {
            *coordinate = take_digit(&mut rest, extent as u64) as i64;
        }
        let index = plan.indices.as_ref().map(|indices| indices.space.strides().flat(n, c, &at));
        // A window with elements can lack a winner only under SeedLowest.
        let bits = self.best.map_or_else(|| plan.reduction.seed_bits(plan.dtype()), |(bits, _)| bits);
        let y = with_element!(plan.dtype(), T => {
            bytemuck::bytes_of(&activate(plan.activation, T::from_bits64(bits))).to_vec()
        });
        (y, index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DType, IndexType, MaxPool, NanPolicy};

    fn plan(policy: NanPolicy, later_part: bool) -> PoolPlan {
        let pool = MaxPool::new([4]).nan_policy(policy);
        let plan = pool.plan(&[1, 1, 4], DType::F32, Some(IndexType::I64)).unwrap();
        PoolPlan { later_part, ..plan.pool().unwrap().clone() }
    }

    /// The winner among these maxima, each at the position of its number. It does not depend on the order in which they
    /// are combined.
    fn winner(policy: NanPolicy, maxima: &[f32]) -> (u32, Option<i64>) {
        let whole = plan(policy, false);
        let mut results = Vec::new();
        for turn in 0..maxima.len() {
            let mut window = SplitWindow::default();
            for number in (0..maxima.len()).map(|number| (number + turn) % maxima.len()) {
                window.combine(&plan(policy, number > 0), bytemuck::bytes_of(&maxima[number]), number as u64);
            }
            let (value, index) = window.finish(&whole, 0, 0);
            results.push((bytemuck::pod_read_unaligned::<u32>(&value), index));
        }
        assert!(results.iter().all(|result| *result == results[0]), "{policy:?} {maxima:?}: {results:?}");
        results[0]
    }

    #[test]
    fn the_parts_of_a_window_combine_as_its_elements_do_in_any_order() {
        let nan = f32::NAN;
        let table = [
            (NanPolicy::SeedFirst, [1.0, 3.0, 3.0, 2.0], (3.0f32.to_bits(), Some(1))),
            (NanPolicy::SeedFirst, [-0.0, 0.0, -1.0, 0.0], ((-0.0f32).to_bits(), Some(0))),
            (NanPolicy::SeedFirst, [nan, 3.0, 3.0, 2.0], (nan.to_bits(), Some(0))),
            (NanPolicy::SeedFirst, [1.0, nan, 3.0, nan], (3.0f32.to_bits(), Some(2))),
            (NanPolicy::PropagateLast, [nan, 3.0, nan, 2.0], (nan.to_bits(), Some(2))),
            (NanPolicy::SeedLowest, [f32::MIN, -1.0, -1.0, f32::MIN], ((-1.0f32).to_bits(), Some(1))),
            (NanPolicy::SeedLowest, [f32::MIN; 4], (f32::MIN.to_bits(), Some(0))),
        ];
        for (policy, maxima, expected) in table {
            assert_eq!(winner(policy, &maxima), expected, "{policy:?} {maxima:?}");
        }
    }
}
