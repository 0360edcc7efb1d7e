//! Outside the web the futures of a `Gpu`'s own calls can be spawned on any runtime, as those of all backends can, and
//! their results are `Send`. Nothing here runs; it compiles only if this is so.

use wgpu_pooling_plan::{Plan, TensorView};

use super::bound::Bound;
use super::chain::Chain;
use super::device_tensor::DeviceTensor;
use super::gpu::Gpu;
use super::prepare::{Prepare, Prepared};
use super::results::{ReadBack, Results, Submitted};
use crate::gpu::device::adapter::{GpuOptions, list_adapters};
use crate::schedule::Schedule;

// Not every compiler sees that constants call it.
#[allow(dead_code, reason = "it only has to compile")]
const fn shared<T: Send + Sync>() {}
// Not every compiler sees that constants call it.
#[allow(dead_code, reason = "it only has to compile")]
const fn sent<T: Send>() {}
const fn spawnable<T: Send>(_: &T) {}

const _: () = {
    shared::<Gpu>();
    shared::<Prepared>();
    shared::<Bound>();
    shared::<DeviceTensor>();
    shared::<ReadBack<f32>>();
    shared::<Results>();
    sent::<Chain>();
    sent::<Submitted>();
};

type X<'a> = TensorView<'a, f32>;

#[allow(dead_code, reason = "it only has to compile")]
fn opening(options: &GpuOptions) {
    spawnable(&list_adapters(options));
    spawnable(&options.request_adapter());
    spawnable(&Gpu::new());
    spawnable(&Gpu::open(options));
}

#[allow(dead_code, reason = "it only has to compile")]
fn preparing(gpu: &Gpu, plan: Plan, schedule: &Schedule) {
    spawnable(&gpu.prepare(Prepare::from(plan).cached()));
    spawnable(&gpu.prepare(schedule.clone()));
    spawnable(&gpu.warm_up(std::slice::from_ref(schedule), |_, _| ()));
    spawnable(&gpu.until_lost());
}

#[allow(dead_code, reason = "it only has to compile")]
fn resident(gpu: &Gpu, x: X<'_>, y: &DeviceTensor, chain: Chain, submitted: Submitted) {
    spawnable(&gpu.upload(x, y.layout()));
    spawnable(&gpu.zeros(y.shape(), y.dtype(), y.layout()));
    spawnable(&gpu.download::<f32>(y));
    spawnable(&chain.run());
    spawnable(&submitted.results());
}
