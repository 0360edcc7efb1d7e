//! Separable pools as a kernel: what they cost, and the lanes that compute a part.

use bytemuck::{cast_slice, cast_slice_mut};
use wgpu_pooling_plan::{ExecuteError, with_element};

use super::lanes::BlockLanes;
use super::pool::{Separable, SeparableSizes};
use super::steps::steps;
use super::work::PartWork;
use crate::kernels::elements::LaneElement;
use crate::kernels::kernel::{Offer, OfferedPool, Operands, PoolKernel};
use crate::kernels::parts::{PartOf, few_parts};
use crate::kernels::scratch::ThreadMemory;
use crate::kernels::tuning::separable::{BYTE, GATHERED, HALF, LOADED, OUTPUT, PERMUTED_PLANE, REDUCED, ROW, STEP};

/// `Err` says why the kernel does not apply.
pub(crate) fn offer<'a>(pool: &'a OfferedPool<'a>) -> Result<Offer<'a>, &'static str> {
    let sizes = SeparableSizes::new(pool)?;
    Ok(Offer::new(cost(pool, &sizes), move || Separable::new(pool, sizes)))
}

/// The time for all blocks, as if all were as large as the largest.
fn cost(pool: &OfferedPool<'_>, sizes: &SeparableSizes) -> f64 {
    let SeparableSizes { axes, inner, block, .. } = sizes;
    let row = &axes[*inner];
    let extents: Vec<f64> = axes.iter().zip(block).map(|(axis, &outputs)| axis.loaded(outputs) as f64).collect();
    let blocks: f64 =
        axes.iter().zip(block).map(|(axis, &outputs)| axis.output.max(1).div_ceil(outputs) as f64).product();
    let rows = blocks * extents[..*inner].iter().product::<f64>();
    let loaded = rows * extents[*inner..].iter().product::<f64>();
    let (mut left, mut reduced, mut of_rows) = (extents.clone(), 0.0, 0.0);
    for step in steps(axes, *inner) {
        left[step.axis] = ((block[step.axis] - 1) * axes[step.axis].pick() + 1) as f64;
        reduced += blocks * left.iter().product::<f64>() * step.taps.len() as f64;
        of_rows += if step.axis == *inner { 1.0 } else { 0.0 };
    }
    let channels = pool.view.inner as f64;
    let gathered = if row.stride == 1 { 0.0 } else { loaded / channels };
    let in_vectors = if row.stride == 1 || channels > 1.0 { pool.vectors(loaded, sizes.lane_bytes) } else { 0.0 };
    let reduced = pool.vectors(reduced, sizes.lane_bytes);
    // A position that is loaded by itself is converted by itself too, as an eighth of a vector.
    let half = in_vectors + reduced + gathered / 8.0;
    pool.cost(&[
        (BYTE, pool.bytes()),
        (STEP, blocks * of_rows),
        (ROW, rows * row.phase_count() as f64),
        (LOADED, in_vectors),
        (REDUCED, reduced),
        (GATHERED, gathered),
        (OUTPUT, pool.outputs()),
        (PERMUTED_PLANE, pool.permuted_planes()),
        (HALF, pool.if_half(half)),
    ])
}

impl PoolKernel for Separable {
    fn parts(&self, planes: usize, wanted: usize) -> (usize, usize) {
        (few_parts(&self.axes[1], planes, wanted), 1)
    }

    fn run(
        &self,
        part: &PartOf<'_>,
        (x, y, indices): Operands<'_>,
        scratch: &mut ThreadMemory,
    ) -> Result<(), ExecuteError> {
        let indexed = indices.is_some();
        let mut work = PartWork::new(self, part, indices, scratch);
        with_element!(part.plan.dtype(), T => match indexed {
            false => <T as LaneElement>::Blocks::values(&mut work, cast_slice(x), cast_slice_mut(y)),
            true => <T as LaneElement>::Blocks::indexed(&mut work, cast_slice(x), cast_slice_mut(y)),
        })
    }
}
