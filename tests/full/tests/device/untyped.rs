//! Tensors whose element type is known at run time only: in tiles, at an odd address; and an output is never written
//! where there is an error.

use gpu_test::gpu_test;
use support::call::{Call, same};
use support::device::{POISON, gpu};
use wgpu_pooling::TestHooks;
use wgpu_pooling::{
    Backend, DType, ExecuteError, Gpu, GpuOptions, IndexType, Layout, MaxPool, MaxUnpool, Plan, PlanError,
    PreparedPlan, Reference, Tensor, TensorMut, TensorRef, wgpu,
};

use super::agree::{Undone, call};

/// A way to compute a plan on given inputs.
type Execute<'a> = dyn Fn(&mut [TensorMut<'_>]) -> Result<(), ExecuteError> + 'a;

/// The byte that outputs are filled with.
const GARBAGE: u8 = 0xB9;

#[gpu_test]
fn tensors_beyond_the_limits_in_tiles() {
    let limits = wgpu::Limits {
        max_storage_buffer_binding_size: 16 << 10,
        max_buffer_size: 32 << 10,
        ..wgpu::Limits::downlevel_defaults()
    };
    let small = Gpu::open_blocking(&GpuOptions::new().limits(limits).poison(POISON)).unwrap();
    let shape = [1, 2, 160, 70];
    let pool = MaxPool::new([2, 2]).strides([2, 2]);
    let agree = |call: Call| {
        let call = Call { offset: 1, ..call };
        same(&call.expected(), &call.on(&small)).unwrap_or_else(|error| panic!("{error}: {:?}", &call.plan));
    };
    for (dtype, index_type) in
        [(DType::F32, IndexType::I64), (DType::I64, IndexType::I32), (DType::F16, IndexType::I32)]
    {
        let values = call(pool.plan(&shape, dtype, None).unwrap());
        // The tensors exceed what one schedule can have here.
        let refused = small.prepare_blocking(values.plan.clone());
        assert!(matches!(refused, Err(ExecuteError::Plan(PlanError::ExceedsLimit { .. }))), "{refused:?}");
        agree(values);
        let pooled = call(pool.plan(&shape, dtype, Some(index_type)).unwrap());
        let undone = Undone::new(&MaxUnpool::inverse_of(&pool, &shape), &pooled);
        agree(pooled);
        agree(undone.with(&undone.own));
        // A bad index is the same error, and nothing is written.
        let mut bad = undone.own.clone();
        bad[0] = 0x7F7F_7F7F;
        agree(undone.with(&bad));
    }
}

#[gpu_test]
fn an_error_leaves_the_outputs_as_they_were() {
    let plan: Plan = MaxPool::new([2]).plan(&[1, 1, 4], DType::F32, Some(IndexType::I64)).unwrap();
    let prepared = gpu().prepare_blocking(plan.clone()).unwrap();
    let x = TensorRef::new(DType::F32, &[1, 1, 4], &[0; 16]).unwrap();
    let integers = TensorRef::new(DType::I32, &[1, 1, 4], &[0; 16]).unwrap();
    let longer = TensorRef::new(DType::F32, &[1, 1, 5], &[0; 20]).unwrap();
    let same = |inputs: &[TensorRef<'_>], [y, indices]: [(DType, usize); 2], outputs: usize| {
        let calls: [&Execute<'_>; 3] = [
            &|outputs| Reference.run_blocking(&plan, inputs, outputs),
            &|outputs| gpu().run_blocking(&plan, inputs, outputs),
            &|outputs| prepared.run_blocking(inputs, outputs),
        ];
        let results = calls.map(|call| {
            let sizes = [y, indices].map(|(dtype, extent)| dtype.bytes() * extent);
            let mut bytes = sizes.map(|size| vec![GARBAGE; size]);
            let [of_y, of_indices] = &mut bytes;
            let shapes = [[1, 1, y.1], [1, 1, indices.1]];
            let mut tensors = [
                TensorMut::new(y.0, &shapes[0], of_y).unwrap(),
                TensorMut::new(indices.0, &shapes[1], of_indices).unwrap(),
            ];
            let result = call(&mut tensors[..outputs]);
            let untouched = bytes.iter().flatten().all(|&byte| byte == GARBAGE);
            assert_eq!(untouched, result.is_err());
            result
        });
        assert!(results.iter().all(|result| *result == results[0]), "{results:?}");
        let [result, ..] = results;
        result
    };
    let good = [(DType::F32, 3), (DType::I64, 3)];
    assert_eq!(same(std::slice::from_ref(&x), good, 2), Ok(()));
    let count = |what, actual| {
        let expected = if what == "inputs" { "1" } else { "2" };
        Err(ExecuteError::Plan(PlanError::OperandCount { operator: "max_pool", what, expected, actual }))
    };
    assert_eq!(same(&[], good, 2), count("inputs", 0));
    assert_eq!(same(&[x, x], good, 2), count("inputs", 2));
    assert_eq!(same(std::slice::from_ref(&x), good, 1), count("outputs", 1));
    assert_eq!(same(std::slice::from_ref(&x), good, 0), count("outputs", 0));
    let what = "x";
    let error = same(&[integers], good, 2);
    assert_eq!(error, Err(ExecuteError::TypeMismatch { what, expected: "f32", actual: "i32" }));
    let error = same(&[longer], good, 2);
    let (expected, actual) = (vec![1, 1, 4], vec![1, 1, 5]);
    assert_eq!(error, Err(ExecuteError::ShapeMismatch { what, expected, actual }));
    let error = same(std::slice::from_ref(&x), [(DType::F32, 3), (DType::I32, 3)], 2);
    assert_eq!(error, Err(ExecuteError::TypeMismatch { what: "indices", expected: "i64", actual: "i32" }));
    let error = same(&[x], [(DType::F32, 4), (DType::I64, 3)], 2);
    let (expected, actual) = (vec![1, 1, 3], vec![1, 1, 4]);
    assert_eq!(error, Err(ExecuteError::ShapeMismatch { what: "y", expected, actual }));
    // Bad indices are known after the device has computed.
    let unpool: Plan = MaxUnpool::new([2]).plan(&[1, 1, 2], DType::U8, IndexType::I64).unwrap();
    let bad = Call::unpool(unpool, &[7, 8], &[1, 3]);
    assert_eq!(bad.on(gpu()), Err(ExecuteError::IndexOutOfRange { position: 1, value: 3, index_count: 3, count: 1 }));
    assert_eq!(bad.on(gpu()), bad.expected());
}

#[gpu_test]
fn a_tensor_stays_on_the_device() {
    let x = Tensor::new([1, 1, 3], vec![3u8, 1, 2]).unwrap();
    let untyped = TensorRef::new(DType::U8, &[1, 1, 3], x.data()).unwrap();
    let uploaded = gpu().upload_blocking(untyped, Layout::Nchw).unwrap();
    assert_eq!((uploaded.dtype(), uploaded.shape()), (DType::U8, &[1, 1, 3][..]));
    assert_eq!(gpu().download_blocking::<u8>(&uploaded).unwrap(), x);
    let mut chain = gpu().chain();
    let uploaded = chain.upload(untyped, Layout::Nchw).unwrap();
    let wanted = chain.read_back::<u8>(&uploaded).unwrap();
    assert_eq!(chain.run_blocking().unwrap().take(wanted).unwrap(), x);
}
