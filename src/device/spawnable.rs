//! Outside the web every call's future can be spawned on any runtime, on the CPU too, where it computes in the thread
//! that polls it. Nothing here runs; it compiles only if this is so.

use wgpu_pooling_plan::{AsyncStreamSink, AsyncStreamSource, PoolPlan, StreamOptions, UnpoolPlan};

use super::Device;

// Not every compiler sees that constants call it.
#[allow(dead_code, reason = "it only has to compile")]
const fn shared<T: Send + Sync>() {}
const fn spawnable<T: Send>(_: &T) {}

const _: () = {
    shared::<Device>();
};

/// Streams as well, if their sources and sinks can be sent.
#[allow(dead_code, reason = "it only has to compile")]
fn streams<
    S: AsyncStreamSource<f32> + AsyncStreamSource<i64> + Send,
    D: AsyncStreamSink<f32> + AsyncStreamSink<i64> + Send,
>(
    device: &Device,
    (pool, unpool): (&PoolPlan, &UnpoolPlan),
    (x, indices): (&mut S, &mut S),
    (y, indices_out): (&mut D, &mut D),
) {
    let options = || StreamOptions::new(1 << 20);
    spawnable(&device.stream_max_pool::<f32>(pool, x, y, options()));
    spawnable(&device.stream_max_pool_with_indices::<f32, i64>(pool, x, y, indices_out, options()));
    spawnable(&device.stream_max_unpool::<f32, i64>(unpool, x, indices, y, options()));
}
