//! One-shot calls whose tensors exceed the device's limits are computed in tiles.

use gpu_test::gpu_test;
use support::call::{Call, same};
use wgpu_pooling::{
    AdaptiveMaxPool, DType, GlobalMaxPool, Gpu, GpuOptions, Gradient, IndexType, MaxPool, MaxUnpool, Pooling, TopHat,
    wgpu,
};

use super::agree::{Undone, call};

/// A device of a test's own whose buffers hold 32768 floats.
pub(super) fn small_device() -> Gpu {
    let limits = wgpu::Limits {
        max_buffer_size: 128 << 10,
        max_storage_buffer_binding_size: 128 << 10,
        ..wgpu::Limits::defaults()
    };
    Gpu::open_blocking(&GpuOptions::new().limits(limits)).unwrap()
}

/// A call that exceeds the limits gives the reference's bits.
fn agrees(small: &Gpu, call: &Call) {
    same(&call.expected(), &call.on(small)).unwrap_or_else(|error| panic!("{error}: {:?}", &call.plan));
}

#[gpu_test]
fn pools_have_no_size_limit() {
    let small = small_device();
    let shape = [2, 3, 150, 170];
    let pools: [&dyn Pooling; 4] = [
        &MaxPool::new([3, 3]).pads([1, 1, 1, 1]),
        &MaxPool::new([2, 2]).strides([2, 2]),
        &GlobalMaxPool::new(),
        &AdaptiveMaxPool::new([40, 33]),
    ];
    for pool in pools {
        agrees(&small, &call(pool.plan(&shape, DType::F32, Some(IndexType::I64)).unwrap()));
        agrees(&small, &call(pool.plan(&shape, DType::F32, None).unwrap()));
    }
    // One plane that is larger than a binding, and one window over all of it.
    agrees(&small, &call(GlobalMaxPool::new().plan(&[1, 1, 400, 500], DType::U8, Some(IndexType::I32)).unwrap()));
}

#[gpu_test]
fn unpools_have_no_size_limit() {
    let shape = [2, 3, 150, 170];
    let pool = MaxPool::new([2, 2]).strides([2, 2]);
    let pooled = call(pool.plan(&shape, DType::F32, Some(IndexType::I32)).unwrap());
    let undone = Undone::new(&MaxUnpool::inverse_of(&pool, &shape), &pooled);
    agrees(&small_device(), &undone.with(&undone.own));
}

#[gpu_test]
fn compositions_have_no_size_limit() {
    let small = small_device();
    agrees(&small, &call(TopHat::new([4, 9]).anchor([3, 1]).plan(&[2, 3, 150, 170], DType::F32, None).unwrap()));
    // A last part that ends within a word; and the device that has room for all of it.
    let gradient = call(Gradient::new([3, 3]).plan(&[1, 1, 400, 501], DType::I8, None).unwrap());
    agrees(&small, &gradient);
    agrees(support::device::gpu(), &gradient);
}
