//! `Device`: a GPU and the CPU give the same bits and the same errors through it.

use std::sync::Arc;

use gpu_test::gpu_test;
use support::calls::{self, reference};
use support::device::gpu;
use support::tensors::{bits, of_all_styles as tensor};
use wgpu_pooling::{
    AdaptiveMaxPool, Backend, Cpu, DType, Device, ExecuteError, GlobalMaxPool, IndexFlattening, IndexType, Layout,
    MaxPool, MaxUnpool, NanPolicy, Plan, PlanError, Pooling, PreparedPlan, Request, Stream, Tensor, TensorMut,
    TensorRef, TensorView,
};

fn devices() -> [Device; 2] {
    [Device::from(Cpu::new()), Device::from(gpu().clone())]
}

/// Asserts that a call has the same result on all devices, and returns it.
fn same<R: PartialEq + std::fmt::Debug>(call: impl Fn(&Device) -> R) -> R {
    let [cpu, gpu] = devices().map(|device| call(&device));
    assert_eq!(cpu, gpu);
    cpu
}

/// The plan on every device.
fn prepared(device: &Device, plan: Plan) -> Arc<dyn PreparedPlan> {
    let prepared = pollster::block_on(device.prepare(plan.clone())).unwrap();
    assert_eq!(prepared.plan(), &plan);
    assert!(prepared.kernel().contains(plan.operator()), "{}", prepared.kernel());
    prepared
}

#[gpu_test]
fn every_call_gives_the_bits_of_the_reference() {
    let shape = [2, 3, 9, 11];
    let x = tensor::<f32>(&shape);
    let pools: [&dyn Pooling; 4] = [
        &MaxPool::new([3, 2]).strides([2, 1]).pads([1, 0, 1, 1]),
        &GlobalMaxPool::new(),
        &AdaptiveMaxPool::new([4, 3]),
        &MaxPool::new([2, 2]).nan_policy(NanPolicy::PropagateLast).flatten(IndexFlattening::Plane),
    ];
    for device in &devices() {
        for pool in pools {
            let plan = pool.plan(&shape, DType::F32, Some(IndexType::I64)).unwrap();
            let (y, indices) = reference::max_pool_with_indices::<f32, i64>(&plan, &x).unwrap();
            let (got, got_indices) = Request::pool(pool, &x).with_indices::<i64>().run_blocking(&device).unwrap();
            assert_eq!((bits(got.data()), &got_indices), (bits(y.data()), &indices), "{}", device.name());
            let got = Request::pool(pool, &x).run_blocking(&device).unwrap();
            assert_eq!(bits(got.data()), bits(y.data()), "{}", device.name());

            let ready = prepared(device, plan.clone());
            let (got, got_indices) = calls::max_pool_with_indices::<f32, i64>(&ready, &x).unwrap();
            assert_eq!((bits(got.data()), &got_indices), (bits(y.data()), &indices));
            let (mut into, mut indices_into) = (vec![7.0; y.data().len()], vec![7i64; y.data().len()]);
            calls::max_pool_with_indices_into(&ready, &x, &mut into, &mut indices_into).unwrap();
            assert_eq!((bits(&into), &indices_into[..]), (bits(y.data()), indices.data()));
            into.fill(7.0);
            let values = pool.plan(&shape, DType::F32, None).unwrap();
            calls::max_pool_into(&prepared(device, values.clone()), &x, &mut into).unwrap();
            assert_eq!(bits(&into), bits(y.data()));
            let mut out = Tensor::new(y.shape(), vec![7.0f32; y.data().len()]).unwrap();
            device.run_blocking(&values, &[(&x).into()], &mut [(&mut out).into()]).unwrap();
            assert_eq!(bits(out.data()), bits(y.data()));

            let unpool = MaxUnpool::inverse_of(pool, &shape);
            let plan = unpool.plan(y.shape(), DType::F32, IndexType::I64).unwrap();
            let back = reference::max_unpool(&plan, &y, &indices).unwrap();
            let got = unpool.on(&y, &indices).run_blocking(&device).unwrap();
            assert_eq!(bits(got.data()), bits(back.data()));
            let mut into = vec![7.0; back.data().len()];
            calls::max_unpool_into(&prepared(device, plan), &y, &indices, &mut into).unwrap();
            assert_eq!(bits(&into), bits(back.data()));
        }
    }
}

#[gpu_test]
fn every_call_that_does_not_fit_is_refused_in_the_same_words() {
    let x = Tensor::new([1, 1, 4], vec![1.0f32, 2.0, 3.0, 4.0]).unwrap();
    let positions = Tensor::new([1, 1, 4], vec![0i64; 4]).unwrap();
    let pool = MaxPool::new([2]);
    let values = pool.plan(&[1, 1, 4], DType::F32, None).unwrap();
    let with_indices = pool.plan(&[1, 1, 4], DType::F32, Some(IndexType::I64)).unwrap();
    let unpool = MaxUnpool::new([2]).plan(&[1, 1, 4], DType::F32, IndexType::I64).unwrap();
    let error = |call: &dyn Fn(&Device) -> Result<(), ExecuteError>| same(call).unwrap_err();
    let count = |operator, what, expected, actual| {
        ExecuteError::Plan(PlanError::OperandCount { operator, what, expected, actual })
    };
    // Calls with the operands of another operator, with and without indices.
    let wrong = error(&|device| calls::max_pool(&prepared(device, unpool.clone()), &x).map(drop));
    assert_eq!(wrong, count("max_unpool", "inputs", "2", 1));
    let wrong = error(&|device| calls::max_unpool(&prepared(device, values.clone()), &x, &positions).map(drop));
    assert_eq!(wrong, count("max_pool", "inputs", "1", 2));
    let wrong = error(&|device| calls::max_pool(&prepared(device, values.clone()), &positions).map(drop));
    assert_eq!(wrong, ExecuteError::TypeMismatch { what: "y", expected: "f32", actual: "i64" });
    let wrong = error(&|device| calls::max_pool(&prepared(device, with_indices.clone()), &x).map(drop));
    assert_eq!(wrong, count("max_pool", "outputs", "2", 1));
    let wrong = error(&|device| calls::max_pool_into(&prepared(device, with_indices.clone()), &x, &mut [0.0; 3]));
    assert_eq!(wrong, count("max_pool", "outputs", "2", 1));
    let wrong =
        error(&|device| calls::max_pool_with_indices::<f32, i64>(&prepared(device, values.clone()), &x).map(drop));
    assert_eq!(wrong, count("max_pool", "outputs", "1", 2));
    // Other types, shapes and lengths.
    let bytes = TensorView::new(&[1, 1, 4], &[1u8; 4]).unwrap();
    let wrong = error(&|device| calls::max_pool_into(&prepared(device, values.clone()), bytes, &mut [0; 3]));
    assert!(matches!(wrong, ExecuteError::TypeMismatch { what: "x", .. }), "{wrong}");
    let wrong = error(&|device| {
        calls::max_pool_with_indices::<f32, i32>(&prepared(device, with_indices.clone()), &x).map(drop)
    });
    assert!(matches!(wrong, ExecuteError::TypeMismatch { what: "indices", .. }), "{wrong}");
    let short = TensorView::new(&[1, 1, 3], &[1.0f32; 3]).unwrap();
    let wrong = error(&|device| calls::max_pool_into(&prepared(device, values.clone()), short, &mut [0.0; 3]));
    assert!(matches!(wrong, ExecuteError::ShapeMismatch { what: "x", .. }), "{wrong}");
    for length in [2, 4] {
        let wrong = error(&|device| {
            let mut y = vec![7.0; length];
            let result = calls::max_pool_into(&prepared(device, values.clone()), &x, &mut y);
            assert!(y.iter().all(|&value| value == 7.0), "nothing is written");
            result
        });
        let shape = vec![1, 1, 3];
        assert_eq!(wrong, ExecuteError::Plan(PlanError::DataLength { shape, expected: 3, actual: length }));
        let wrong = error(&|device| {
            let prepared = prepared(device, with_indices.clone());
            calls::max_pool_with_indices_into(&prepared, &x, &mut [0.0; 3], &mut vec![0i64; length])
        });
        assert!(matches!(wrong, ExecuteError::Plan(PlanError::DataLength { .. })), "{wrong}");
        let wrong = error(&|device| {
            calls::max_unpool_into(&prepared(device, unpool.clone()), &x, &positions, &mut vec![0.0; length])
        });
        assert!(matches!(wrong, ExecuteError::Plan(PlanError::DataLength { expected: 5, .. })), "{wrong}");
    }
    // Plans that do not exist, and operands that are not a plan's.
    let wrong = error(&|device| MaxPool::new([2, 2]).on(&x).run_blocking(&device).map(drop));
    assert!(matches!(wrong, ExecuteError::Plan(_)), "{wrong}");
    let wrong = error(&|device| device.run_blocking(&values, &[(&x).into()], &mut []));
    assert!(matches!(wrong, ExecuteError::Plan(PlanError::OperandCount { .. })), "{wrong}");
    let wrong = error(&|device| {
        let mut y = [0; 3];
        let y = TensorMut::new(DType::U8, &[1, 1, 3], &mut y).unwrap();
        device.run_blocking(&values, &[TensorRef::from(&x)], &mut [y])
    });
    assert!(matches!(wrong, ExecuteError::TypeMismatch { what: "y", .. }), "{wrong}");
    // Streams.
    let wrong = error(&|device| {
        let stream = Stream::new(with_indices.clone(), 1 << 20);
        stream.source(&mut x.view()).sink(&mut vec![0.0f32; 3]).run_blocking(device).map(drop)
    });
    let count = PlanError::OperandCount { operator: "max_pool", what: "sinks", expected: "2", actual: 1 };
    assert_eq!(wrong, count.into());
}

#[gpu_test]
fn bad_indices_are_the_same_error_and_leave_what_was_there() {
    let x = Tensor::new([1, 1, 3], vec![1.0f32, 2.0, 3.0]).unwrap();
    let indices = Tensor::new([1, 1, 3], vec![0i64, 9, -4]).unwrap();
    let unpool = MaxUnpool::new([2]);
    let expected = ExecuteError::IndexOutOfRange { position: 1, value: 9, index_count: 4, count: 2 };
    assert_eq!(same(|device| unpool.on(&x, &indices).run_blocking(&device)), Err(expected.clone()));
    let plan = unpool.plan(x.shape(), DType::F32, IndexType::I64).unwrap();
    let into = same(|device| {
        let mut y = [7.0; 4];
        let result = calls::max_unpool_into(&prepared(device, plan.clone()), &x, &indices, &mut y);
        assert_eq!(y, [7.0; 4], "nothing is written");
        result
    });
    assert_eq!(into, Err(expected.clone()));
    let streamed = same(|device| {
        let (mut x, mut indices, mut y) = (x.view(), indices.view(), vec![7.0f32; 4]);
        let stream = Stream::new(plan.clone(), 1 << 20).source(&mut x).source(&mut indices).sink(&mut y);
        let result = stream.run_blocking(device);
        assert_eq!(y, [7.0; 4], "nothing is written");
        result.map(drop)
    });
    assert_eq!(streamed, Err(expected));
}

#[gpu_test]
fn plans_without_elements_are_computed() {
    let x = Tensor::<f32>::new([0, 2, 4], Vec::new()).unwrap();
    let pool = MaxPool::new([2]).layout(Layout::Nchw);
    assert_eq!(same(|device| pool.on(&x).run_blocking(&device)).unwrap().shape(), &[0, 2, 3]);
    let plan = pool.plan(x.shape(), DType::F32, None).unwrap();
    assert_eq!(same(|device| calls::max_pool_into(&prepared(device, plan.clone()), &x, &mut [])), Ok(()));
}
