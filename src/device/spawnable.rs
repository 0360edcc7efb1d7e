//! Outside the web every call's future can be spawned on any runtime, on the CPU too, where it computes in the thread
//! that polls it. Nothing here runs; it compiles only if this is so.

use wgpu_pooling_plan::{
    AsyncStreamSink, AsyncStreamSource, ConvertIndices, MaxPool, MaxUnpool, Plan, PoolPlan, StreamOptions, TensorMut,
    TensorRef, TensorView, UnpoolPlan,
};

use super::Device;
use super::prepared::PreparedOn;

// Not every compiler sees that constants call it.
#[allow(dead_code, reason = "it only has to compile")]
const fn shared<T: Send + Sync>() {}
const fn spawnable<T: Send>(_: &T) {}

const _: () = {
    shared::<Device>();
    shared::<PreparedOn>();
};

type X<'a> = TensorView<'a, f32>;
type Indices<'a> = TensorView<'a, i64>;

#[allow(dead_code, reason = "it only has to compile")]
fn one_shot(
    device: &Device,
    (pool, unpool, conversion): (&MaxPool, &MaxUnpool, &ConvertIndices),
    x: X<'_>,
    i: Indices<'_>,
) {
    spawnable(&device.max_pool(pool, x.clone()));
    spawnable(&device.max_pool_with_indices::<f32, i64>(pool, x.clone()));
    spawnable(&device.max_unpool(unpool, x, i.clone()));
    spawnable(&device.convert_indices::<i64, i32>(conversion, i));
}

#[allow(dead_code, reason = "it only has to compile")]
fn untyped(device: &Device, prepared: &PreparedOn, plan: &Plan, x: &[TensorRef<'_>], y: &mut [TensorMut<'_>]) {
    spawnable(&device.prepare(plan.clone()));
    spawnable(&device.execute(plan, x, y));
    spawnable(&prepared.execute(x, y));
}

#[allow(dead_code, reason = "it only has to compile")]
fn prepared(prepared: &PreparedOn, x: X<'_>, i: Indices<'_>, (y, converted): (&mut [f32], &mut [i64])) {
    spawnable(&prepared.max_pool(x.clone()));
    spawnable(&prepared.max_pool_into(x.clone(), y));
    spawnable(&prepared.max_pool_with_indices::<f32, i64>(x.clone()));
    spawnable(&prepared.max_pool_with_indices_into(x.clone(), y, converted));
    spawnable(&prepared.max_unpool(x.clone(), i.clone()));
    spawnable(&prepared.max_unpool_into(x, i.clone(), y));
    spawnable(&prepared.convert_indices::<i64, i32>(i.clone()));
    spawnable(&prepared.convert_indices_into(i, converted));
}

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
