//! One-shot calls whose tensors exceed the device's limits are computed in tiles.

use cases::streams::pools::{bits, tensor};
use cases::streams::unpools::values;
use support::calls::reference;
use support::tests;
use wgpu_pooling::{
    AdaptiveMaxPool, Backend, DType, GlobalMaxPool, Gpu, GpuOptions, Gradient, IndexType, MaxPool, MaxUnpool, Pooling,
    Reference, Request, TopHat, wgpu,
};

tests! {
    gpu =>
        pools_have_no_size_limit,
        unpools_have_no_size_limit,
        compositions_have_no_size_limit;
}

/// A device of a test's own whose buffers hold 32768 floats.
pub(super) fn small_device() -> Gpu {
    let limits = wgpu::Limits {
        max_buffer_size: 128 << 10,
        max_storage_buffer_binding_size: 128 << 10,
        ..wgpu::Limits::defaults()
    };
    Gpu::open_blocking(&GpuOptions::new().limits(limits)).unwrap()
}

fn pools_have_no_size_limit() {
    let small = small_device();
    let shape = [2, 3, 150, 170];
    let x = tensor::<f32>(&shape);
    let pools: [Box<dyn Pooling>; 4] = [
        Box::new(MaxPool::new([3, 3]).pads([1, 1, 1, 1])),
        Box::new(MaxPool::new([2, 2]).strides([2, 2])),
        Box::new(GlobalMaxPool::new()),
        Box::new(AdaptiveMaxPool::new([40, 33])),
    ];
    for pool in &pools {
        let plan = pool.plan(&shape, DType::F32, Some(IndexType::I64)).unwrap();
        let (y, indices) = reference::max_pool_with_indices::<f32, i64>(&plan, x.view()).unwrap();
        let (got_y, got_indices) =
            Request::pool(pool.as_ref(), x.view()).with_indices::<i64>().run_blocking(&small).unwrap();
        assert_eq!((bits(got_y.data()), got_y.shape()), (bits(y.data()), y.shape()), "{plan:?}");
        assert_eq!(got_indices, indices, "{plan:?}");
        let got_y = Request::pool(pool.as_ref(), x.view()).run_blocking(&small).unwrap();
        assert_eq!(bits(got_y.data()), bits(y.data()), "{plan:?}");
    }
    // One plane that is larger than a binding, and one window over all of it.
    let x = tensor::<u8>(&[1, 1, 400, 500]);
    let plan = GlobalMaxPool::new().plan(x.shape(), DType::U8, Some(IndexType::I32)).unwrap();
    let expected = reference::max_pool_with_indices::<u8, i32>(&plan, x.view()).unwrap();
    let got = GlobalMaxPool::new().on(x.view()).with_indices::<i32>().run_blocking(&small).unwrap();
    assert_eq!(got, expected);
}

fn unpools_have_no_size_limit() {
    let small = small_device();
    let shape = [2, 3, 150, 170];
    let (pool, x) = (MaxPool::new([2, 2]).strides([2, 2]), values(&shape));
    let plan = pool.plan(&shape, DType::F32, Some(IndexType::I32)).unwrap();
    let (y, indices) = reference::max_pool_with_indices::<f32, i32>(&plan, x.view()).unwrap();
    let unpool = MaxUnpool::inverse_of(&pool, &shape);
    let plan = unpool.plan(y.shape(), DType::F32, IndexType::I32).unwrap();
    let expected = reference::max_unpool(&plan, y.view(), indices.view()).unwrap();
    assert_eq!(unpool.on(y.view(), indices.view()).run_blocking(&small).unwrap(), expected);
}

fn compositions_have_no_size_limit() {
    let small = small_device();
    let x = tensor::<f32>(&[2, 3, 150, 170]);
    let by_box = TopHat::new([4, 9]).anchor([3, 1]);
    let expected = by_box.on(x.view()).run_blocking(&Reference).unwrap();
    assert_eq!(bits(by_box.on(x.view()).run_blocking(&small).unwrap().data()), bits(expected.data()));
    // Into memory that holds something else, and a last part that ends within a word.
    let x = tensor::<i8>(&[1, 1, 400, 501]);
    let by_box = Gradient::new([3, 3]);
    let expected = by_box.on(x.view()).run_blocking(&Reference).unwrap();
    let mut y = vec![77i8; x.data().len()];
    by_box.on(x.view()).to(&mut y).run_blocking(&small).unwrap();
    assert_eq!(y, expected.data());
    // The device that has room for all of it gives the same.
    let steps = by_box.steps(x.shape(), DType::I8).unwrap();
    let mut y = x.clone();
    support::device::gpu().run_steps_blocking(&steps, &[(&x).into()], &mut [(&mut y).into()]).unwrap();
    assert_eq!(y, expected);
}
