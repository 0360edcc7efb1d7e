//! Tiles for a device: the memory that one takes while the device computes it.

use wgpu_pooling_plan::internal::IN_FLIGHT;
use wgpu_pooling_plan::{Plan, PlanError};

use crate::kernel::Operand;
use crate::schedule::{Dispatch, Limits, MAX_WORK, Schedule};
use crate::select::{most_of_a_reduction, select_submit};

/// The memory that a tile takes while a device computes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TileBytes {
    /// The tensors, on their way from the sources and to the sinks.
    pub host: u64,
    /// The inputs with their staging buffers, the outputs with their readback buffers, and the schedule's own buffers.
    pub device: u64,
}

impl TileBytes {
    pub fn of(schedule: &Schedule) -> TileBytes {
        let bytes = |bytes: Option<u64>| bytes.unwrap_or(0);
        let sum = |of: &[u64]| of.iter().copied().fold(0, u64::saturating_add);
        let inputs = sum(&[bytes(schedule.operand_bytes(Operand::X)), bytes(schedule.operand_bytes(Operand::Indices))]);
        let outputs = [bytes(schedule.operand_bytes(Operand::Y)), bytes(schedule.operand_bytes(Operand::IndicesOut))];
        let read_back = outputs.map(|bytes| bytes.checked_next_multiple_of(8).unwrap_or(u64::MAX));
        let report = bytes(schedule.operand_bytes(Operand::Report)).saturating_mul(2);
        // Uploaded bytes also lie in a staging buffer until the submit is done.
        let uploaded = sum(&[inputs, schedule.constants_bytes()]).saturating_mul(2);
        let device = sum(&[uploaded, sum(&outputs), sum(&read_back), report, schedule.scratch_bytes()]);
        TileBytes { host: sum(&[inputs, sum(&outputs)]), device }
    }

    /// The peak memory while a sequence of such tiles is computed.
    fn peak(self) -> u64 {
        self.host.saturating_add(self.device).saturating_mul(IN_FLIGHT)
    }
}

/// The peak memory, on the host and on a device, of a stream whose largest tile has this plan, if the tile keeps to the
/// limits.
pub fn stream_bytes(plan: &Plan, limits: &Limits) -> Result<u64, PlanError> {
    let [read, written] = Plan::OPERAND_NAMES;
    let names = read.into_iter().zip(plan.inputs()).chain(written.into_iter().zip(plan.outputs()));
    for (name, tensor) in names {
        let what = match name {
            "x" => "bytes of x (max_binding_bytes)",
            "y" => "bytes of y (max_binding_bytes)",
            _ => "bytes of indices (max_binding_bytes)",
        };
        PlanError::within(what, tensor.device_bytes(), limits.max_binding_bytes)?;
    }
    // Where every tensor of a tile fits one binding, no pass is partitioned, so all tiles run the same way.
    let max_buffer_bytes = limits.max_buffer_bytes.min(limits.max_binding_bytes);
    let limits = &Limits { max_buffer_bytes, ..*limits };
    let schedule = select_submit(plan, limits)?;
    let mut bytes = TileBytes::of(&schedule);
    let steps = if let Plan::Composition(plan) = plan { &plan.steps[..] } else { &[] };
    for pool in steps.iter().map(|step| &step.plan).chain([plan]).filter_map(Plan::pool) {
        bytes.device = bytes.device.saturating_add(most_of_a_reduction(pool));
    }
    let work = schedule.dispatches.iter().map(Dispatch::work);
    PlanError::within("loop iterations of a submit", work.fold(0, u64::saturating_add), MAX_WORK)?;
    Ok(bytes.peak())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AdaptiveMaxPool, Choice, DType, IndexType, Layout, MaxPool, Pooling, select};
    use wgpu_pooling_plan::Tiling;

    #[test]
    fn tensors_of_any_size_are_cut_into_tiles_that_fit() {
        let pools: [Box<dyn Pooling>; 4] = [
            Box::new(MaxPool::new([2, 2]).strides([2, 2])),
            Box::new(MaxPool::new([3, 3]).pads([1, 1, 1, 1])),
            Box::new(MaxPool::new([5, 3]).dilations([3, 1]).pads([12, 0, 12, 0]).layout(Layout::Nhwc)),
            Box::new(AdaptiveMaxPool::new([1000, 700])),
        ];
        // From one tile to 2^42 elements; no two extents alike.
        for shape in
            [[3, 5, 7, 9], [1, 3, 1 << 16, 70_000], [1 << 11, 1 << 11, 1 << 10, 1021], [1, 1, 1 << 21, 1 << 21]]
        {
            for budget in [1 << 18, 64 << 20, 3 << 30] {
                for (pool, indices) in pools.iter().flat_map(|pool| [(pool, None), (pool, Some(IndexType::I64))]) {
                    let plan = pool.plan(&shape, DType::F32, indices).unwrap();
                    let tiling = Tiling::new(&plan, budget, |tile| stream_bytes(tile, &Limits::WEBGPU)).unwrap();
                    assert!(tiling.peak_bytes() <= budget);
                    let mut outputs = 0u128;
                    let looked_at = [0, 1, tiling.len() / 3, tiling.len().saturating_sub(2), tiling.len() - 1];
                    let looked_at = looked_at.into_iter().filter(|&number| number < tiling.len());
                    for tile in looked_at.filter_map(|number| tiling.tile(number)) {
                        let schedule = select(tile.plan(), &Limits::WEBGPU, &Choice::default()).unwrap();
                        assert!(
                            TileBytes::of(&schedule).peak() <= tiling.peak_bytes(),
                            "{}, {} bytes of scratch, {} of constants, {} of {}: {tile:?}",
                            schedule.kernel(),
                            schedule.scratch_bytes(),
                            schedule.constants_bytes(),
                            TileBytes::of(&schedule).peak(),
                            tiling.peak_bytes()
                        );
                        outputs = outputs.max(u128::from(tile.output().elements()));
                        let part = tile.plan().pool().unwrap();
                        let strides = part.indices.as_ref().map(|indices| indices.space.strides());
                        if let (Some(strides), false) = (strides, tile.is_part()) {
                            let spatial: Vec<i64> =
                                tile.input().spatial.iter().map(|range| range.start as i64).collect();
                            let (n, c) = (tile.input().batch.start, tile.input().channels.start);
                            let zeros = vec![0; spatial.len()];
                            assert_eq!(part.origin.flat(&strides, 0, 0, &zeros), strides.flat(n, c, &spatial));
                        }
                    }
                    // Where windows are cut, a tile is a part of one window.
                    let all = plan.output_shape().iter().map(|&extent| extent as u128).product::<u128>();
                    assert!(outputs * u128::from(tiling.len()) >= all);
                    let last = tiling.tile(tiling.len() - 1);
                    let ends = last.map(|tile| tile.output().spatial.iter().map(|range| range.end).collect::<Vec<_>>());
                    let extents: Vec<usize> = plan.pool().unwrap().axes.iter().map(|axis| axis.output).collect();
                    assert!(ends.is_none_or(|ends| ends == extents));
                    assert_eq!(tiling.tile(tiling.len()), None);
                }
            }
        }
    }
}
