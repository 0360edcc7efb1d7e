//! Tensors whose element type is known at run time only: the same bits as typed calls and as the at any
//! address, in tiles too; and an output is never written where there is an error.

use support::device::{POISON, gpu};
use support::tests;
use wgpu_pooling::test_hooks::TestHooks;
use wgpu_pooling::{
    AdaptiveMaxPool, Backend, DType, Element, ExecuteError, Gpu, GpuOptions, IndexType, Layout, MaxPool, MaxUnpool,
    OutOfBounds, Plan, PlanError, Reference, Run, Tensor, TensorMut, TensorRef, wgpu, with_element,
};

tests! {
    gpu =>
        every_type_at_any_address,
        tensors_beyond_the_limits_in_tiles,
        an_error_leaves_the_outputs_as_they_were,
        tensors_without_elements,
        a_tensor_stays_on_the_device;
}

/// A way to compute a plan on given inputs.
type Execute<'a> = dyn Fn(&mut [TensorMut<'_>]) -> Result<(), ExecuteError> + 'a;

/// The byte that outputs are filled with.
const GARBAGE: u8 = 0xB9;

/// The bytes of a tensor with few different elements, so that there are ties.
fn elements(dtype: DType, count: usize) -> Vec<u8> {
    with_element!(dtype, T => {
        let bits = (0..count as u64).map(|number| T::from_bits64(number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40));
        bytemuck::cast_slice(&bits.collect::<Vec<T>>()).to_vec()
    })
}

/// What a plan computes on a GPU and on the reference, from inputs and into outputs that begin at an odd address.
fn both(gpu: &Gpu, plan: &Plan, inputs: &[Vec<u8>]) -> [Result<Vec<Vec<u8>>, ExecuteError>; 2] {
    let shifted: Vec<Vec<u8>> = inputs.iter().map(|bytes| [&[0xEE][..], bytes].concat()).collect();
    let views = shifted.iter().zip(plan.inputs());
    let views: Vec<TensorRef<'_>> =
        views.map(|(bytes, spec)| TensorRef::new(spec.dtype, &spec.shape, &bytes[1..]).unwrap()).collect();
    let run = |execute: &Execute<'_>| {
        let sizes = plan.outputs().iter().map(|spec| spec.bytes() as usize);
        let mut bytes: Vec<Vec<u8>> = sizes.map(|size| vec![GARBAGE; size + 2]).collect();
        let outputs = bytes.iter_mut().zip(plan.outputs()).map(|(bytes, spec)| {
            let end = bytes.len() - 1;
            TensorMut::new(spec.dtype, &spec.shape, &mut bytes[1..end]).unwrap()
        });
        let result = execute(&mut outputs.collect::<Vec<_>>());
        assert!(bytes.iter().all(|bytes| bytes[0] == GARBAGE && bytes.last() == Some(&GARBAGE)), "beside an output");
        if result.is_err() {
            assert!(bytes.iter().flatten().all(|&byte| byte == GARBAGE), "an output was written: {result:?}");
        }
        result.map(|()| bytes)
    };
    [
        run(&|outputs| gpu.run_blocking(plan, &views, outputs)),
        run(&|outputs| Reference.run_blocking(plan, &views, outputs)),
    ]
}

fn agree(gpu: &Gpu, plan: &Plan, inputs: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let [on_gpu, expected] = both(gpu, plan, inputs);
    let expected = expected.unwrap();
    assert!(on_gpu.as_ref() == Ok(&expected), "{plan:?}");
    expected.into_iter().map(|bytes| bytes[1..bytes.len() - 1].to_vec()).collect()
}

fn every_type_at_any_address() {
    let shape = [2, 3, 7, 9];
    let count: usize = shape.iter().product();
    let pool = MaxPool::new([3, 2]).strides([2, 2]).pads([1, 0, 1, 1]).layout(Layout::Nhwc);
    for dtype in DType::ALL {
        let x = elements(dtype, count);
        agree(gpu(), &AdaptiveMaxPool::new([3, 4]).plan(&shape, dtype, None).unwrap(), std::slice::from_ref(&x));
        for index_type in [IndexType::I32, IndexType::I64] {
            let plan = pool.plan(&shape, dtype, Some(index_type)).unwrap();
            let outputs = agree(gpu(), &plan, std::slice::from_ref(&x));
            let unpool = MaxUnpool::inverse_of(&pool, &shape).plan(plan.output_shape(), dtype, index_type).unwrap();
            agree(gpu(), &unpool, &outputs);
        }
    }
}

fn tensors_beyond_the_limits_in_tiles() {
    let limits = wgpu::Limits {
        max_storage_buffer_binding_size: 16 << 10,
        max_buffer_size: 32 << 10,
        ..wgpu::Limits::downlevel_defaults()
    };
    let small = Gpu::open_blocking(&GpuOptions::new().limits(limits).poison(POISON)).unwrap();
    let shape = [1, 2, 160, 70];
    let pool = MaxPool::new([2, 2]).strides([2, 2]);
    for (dtype, index_type) in
        [(DType::F32, IndexType::I64), (DType::I64, IndexType::I32), (DType::F16, IndexType::I32)]
    {
        let x = elements(dtype, shape.iter().product());
        let values: Plan = pool.plan(&shape, dtype, None).unwrap();
        // The tensors exceed what one schedule can have here.
        let refused = small.prepare_blocking(values.clone());
        assert!(matches!(refused, Err(ExecuteError::Plan(PlanError::ExceedsLimit { .. }))), "{refused:?}");
        agree(&small, &values, std::slice::from_ref(&x));
        let plan = pool.plan(&shape, dtype, Some(index_type)).unwrap();
        let outputs = agree(&small, &plan, &[x]);
        let unpool = MaxUnpool::inverse_of(&pool, &shape).plan(plan.output_shape(), dtype, index_type).unwrap();
        agree(&small, &unpool, &outputs);
        // A bad index is the same error, and nothing is written.
        let mut bad = outputs;
        bad[1][..index_type.bytes()].fill(0x7F);
        let [on_gpu, expected] = both(&small, &unpool, &bad);
        assert!(on_gpu.is_err() && on_gpu == expected, "{on_gpu:?}, {expected:?}");
    }
}

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
    let bad: Vec<u8> = [1i64, 3].iter().flat_map(|index| index.to_ne_bytes()).collect();
    let [on_gpu, expected] = both(gpu(), &unpool, &[vec![7, 8], bad]);
    assert_eq!(on_gpu, Err(ExecuteError::IndexOutOfRange { position: 1, value: 3, index_count: 3, count: 1 }));
    assert_eq!(on_gpu, expected);
}

fn tensors_without_elements() {
    let pool: Plan = MaxPool::new([2]).plan(&[0, 3, 4], DType::F16, Some(IndexType::I64)).unwrap();
    assert_eq!(agree(gpu(), &pool, &[Vec::new()]), [[], []] as [[u8; 0]; 2]);
    // An empty X beside an output that has elements.
    let unpool = MaxUnpool::new([2]).out_of_bounds(OutOfBounds::Skip).output_shape([1, 0, 4]);
    let unpool: Plan = unpool.plan(&[1, 0, 2], DType::F16, IndexType::I64).unwrap();
    agree(gpu(), &unpool, &[Vec::new(), Vec::new()]);
}

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
