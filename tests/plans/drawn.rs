//! Drawn plans, most of small tensors, and some of tensors that exceed every limit.

use support::draw::bias::{
    Axis, Bias, CELLS, CHANNELS_LAST, FLAT, INTERLEAVED, LARGE_WINDOWS, POOLS, RUNS, SERIES, SHARED_PLANES,
    SMALL_WINDOWS, STRIPS, Size,
};
use support::draw::bytes::{Bytes, random};
use support::draw::compositions::CompositionCase;
use support::draw::pools::PoolCase;
use support::draw::unpools::{UNPOOLS, UnpoolCase};
use wgpu_pooling::{IndexType, MaxUnpool, Plan, PlanError};

/// Tensors of networks, and larger ones.
const NETWORKS: Bias = Bias {
    axes: &[2, 1, 3],
    axis: |bytes, rank, _| {
        let (longest, widest) = bytes.of(&[(120, 5), (300, 16), (3_000, 100), (200_000, 70_000)]);
        let longest = if rank == 3 { longest / 20 + 10 } else { longest };
        let (extent, kernel) = (bytes.between(1..=longest), bytes.between(1..=widest));
        let stride = bytes.of(&[1, 2, kernel, 3]);
        let (pad, output) = (bytes.between(0..=kernel / 2), bytes.between(0..=longest));
        Axis { size: Size::Input(extent), kernel, stride, dilation: bytes.of(&[1, 1, 2, 3]), pads: [pad; 2], output }
    },
    batch: &[1, 2, 16, 64],
    channels: &[1, 3, 64, 130, 2_000],
    ..CHANNELS_LAST
};

const BIASES: [Bias; 13] = [
    POOLS,
    SMALL_WINDOWS,
    NETWORKS,
    CHANNELS_LAST,
    NETWORKS,
    CELLS,
    LARGE_WINDOWS,
    STRIPS,
    SERIES,
    FLAT,
    INTERLEAVED,
    RUNS,
    SHARED_PLANES,
];

/// Nothing is computed, so there are no elements.
fn bias(number: u64) -> Bias {
    Bias { most_elements: 0, layouts: &[None], ..BIASES[number as usize % BIASES.len()] }
}

/// The composition that a number gives.
pub fn composed(number: u64) -> Result<Plan, PlanError> {
    CompositionCase::draw(&bias(number), &mut Bytes(&random(1, "composed plans", number))).plan()
}

/// The pool or the unpool that a number gives.
pub fn drawn(number: u64) -> Result<Plan, PlanError> {
    let data = random(1, "plans", number);
    let (bytes, bias) = (&mut Bytes(&data), bias(number));
    match bytes.byte() % 8 {
        0 => UnpoolCase::draw(&UNPOOLS, bytes).plan(),
        1 | 2 => {
            let pool = PoolCase::draw(&bias, bytes);
            let unpool = MaxUnpool::inverse_of(&*pool.written().value, &pool.shape());
            unpool.plan(pool.plan()?.output_shape(), pool.dtype, pool.indices.unwrap_or(IndexType::I64))
        }
        _ => PoolCase::draw(&bias, bytes).plan(),
    }
}
