//! A window too large for one tile: each tile computes the maximum of its part, and the host reduces these maxima.

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

    /// The bytes of the element of Y, and the index if the plan of the whole pool has one, of the window at `out` in
    /// plane (n, c).
    pub fn finish(self, plan: &PoolPlan, n: usize, c: usize, out: &[usize]) -> (Vec<u8>, Option<i64>) {
        let extents: Vec<usize> = plan.axes.iter().map(|axis| axis.input).collect();
        let mut at = vec![0; extents.len()];
        let mut rest = self.best.map_or(0, |(_, position)| position);
        for (coordinate, &extent) in at.iter_mut().zip(&extents).rev() {
            *coordinate = take_digit(&mut rest, extent as u64) as i64;
        }
        let empty = self.best.is_none() && plan.ignores_nan();
        let index = plan.indices.as_ref().map(|indices| match empty {
            true => plan.empty_index(indices, n, c, out),
            false => indices.space.strides().flat(n, c, &at),
        });
        // Otherwise a window with elements can lack a winner only under SeedLowest.
        let without = if empty { plan.empty_bits } else { plan.reduction.seed_bits(plan.dtype()) };
        let bits = self.best.map_or(without, |(bits, _)| bits);
        let y = with_element!(plan.dtype(), T => {
            bytemuck::bytes_of(&plan.activation.apply(T::from_bits64(bits))).to_vec()
        });
        (y, index)
    }
}
