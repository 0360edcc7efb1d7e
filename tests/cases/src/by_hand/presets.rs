//! Each preset against the defaults, where the two differ.

use half::{bf16, f16};
use wgpu_pooling::{
    AdaptiveMaxPool, AutoPad, CeilRule, DType, ExecuteError, IndexFlattening, IndexType, MaxPool, MaxUnpool,
    OutOfBounds, PlanError,
};

use super::both::{output_shape, pools, unpools};

const NAN: f32 = f32::NAN;

/// Two taps, 3 apart, on 2 elements padded by 1 on both sides: one window, both taps in the padding.
fn straddling(pool: fn([i64; 1]) -> MaxPool) -> MaxPool {
    pool([2]).dilations([3]).strides([1])
}

#[test]
fn onnx_is_the_default() {
    assert_eq!(MaxPool::onnx([2, 3]), MaxPool::new([2, 3]));
    assert_eq!(MaxUnpool::onnx([2, 3]), MaxUnpool::new([2, 3]));
    assert_eq!(AdaptiveMaxPool::openvino([2, 3]), AdaptiveMaxPool::new([2, 3]));
}

#[test]
fn onnxruntime_max_pool() {
    // onnxruntime#25234. 4 elements, kernel 5, stride 2: -1 / 2 is 0 toward zero, so there is 0 + 1 window; the floor
    // is -1, so by default there is none.
    let x = [1.0f32, 4.0, 2.0, 3.0];
    pools::<_, i64>(
        &MaxPool::onnxruntime([5]).strides([2]),
        (&[1, 1, 4], &x),
        (&[1, 1, 1], &[4.0]),
        (&[1, 1, 1], &[1]),
    );
    assert_eq!(output_shape(&MaxPool::onnx([5]).strides([2]), &[1, 1, 4]), [1, 1, 0]);

    // onnxruntime#10083. 5 elements, kernel 2, dilation 2, SAME_UPPER: the undilated kernel pads 4 * 1 + 2 - 5 = 1 cell
    // at the end, and 5 + 1 - 3 + 1 = 4 windows are left, not 5.
    let same = |pool: MaxPool| pool.dilations([2]).auto_pad(AutoPad::SameUpper);
    assert_eq!(output_shape(&same(MaxPool::onnxruntime([2])), &[1, 1, 5]), [1, 1, 4]);
    assert_eq!(output_shape(&same(MaxPool::onnx([2])), &[1, 1, 5]), [1, 1, 5]);

    // 9 elements, kernel 1, stride 5: windows at 1 and 6, where the default has 0 and 5.
    let x = [0.0f32, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0];
    let same = |pool: MaxPool| pool.strides([5]).auto_pad(AutoPad::SameUpper);
    let two = [1, 1, 2];
    pools::<_, i64>(&same(MaxPool::onnxruntime([1])), (&[1, 1, 9], &x), (&two, &[10.0, 60.0]), (&two, &[1, 6]));
    pools::<_, i64>(&same(MaxPool::onnx([1])), (&[1, 1, 9], &x), (&two, &[0.0, 50.0]), (&two, &[0, 5]));

    // Empty windows in two planes of 2 elements have the index plane * 2 - 1. Their value is the lowest finite one; for
    // f16 it is f32's lowest one, converted.
    let pool = straddling(MaxPool::onnxruntime).pads([1, 1]);
    let shape = [1, 2, 1];
    pools::<_, i64>(&pool, (&[1, 2, 2], &[0.0f32; 4]), (&shape, &[f32::MIN; 2]), (&shape, &[-1, 1]));
    pools::<_, i64>(&pool, (&[1, 2, 2], &[f16::ONE; 4]), (&shape, &[f16::NEG_INFINITY; 2]), (&shape, &[-1, 1]));
    pools::<_, i64>(&pool, (&[1, 2, 2], &[0.0f64; 4]), (&shape, &[f64::MIN; 2]), (&shape, &[-1, 1]));

    // A pad has to be below the kernel, whatever the dilation is.
    assert_eq!(
        straddling(MaxPool::onnxruntime).pads([1, 2]).plan(&[1, 1, 2], DType::F32, None),
        Err(PlanError::PadExceedsLimit { position: 1, value: 2, limit: 1 })
    );
}

#[test]
fn onnxruntime_max_pool_nhwc() {
    // X is (x, c): channel 0 is 1 5 2, channel 1 is 4 3 7. The maxima of windows of two are 5 and 5, both at 1, and 4
    // and 7 at 0 and 2. Indices are (c, x), c * 3 + x.
    let pool = MaxPool::onnxruntime_nhwc([2]);
    let x: (&[usize], &[f32]) = (&[1, 3, 2], &[1.0, 4.0, 5.0, 3.0, 2.0, 7.0]);
    pools::<_, i64>(&pool, x, (&[1, 2, 2], &[5.0, 4.0, 5.0, 7.0]), (&[1, 2, 2], &[1, 1, 3, 5]));
    // By default the same numbers are 3 channels of 2 elements.
    let of_three = [4.0, 5.0, 7.0];
    pools::<_, i64>(&MaxPool::onnx([2]), x, (&[1, 3, 1], &of_three), (&[1, 3, 1], &[1, 2, 5]));
    // The conventions for empty windows are onnxruntime's: the plane's offset less 1, for offsets 0 and 2.
    let pool = straddling(MaxPool::onnxruntime_nhwc).pads([1, 1]);
    pools::<_, i64>(&pool, (&[1, 2, 2], &[0u8; 4]), (&[1, 1, 2], &[0; 2]), (&[1, 2, 1], &[-1, 1]));
}

#[test]
fn pytorch_max_pool() {
    // The stride is the kernel, a NaN wins, of two NaN the last one, and the indices of plane 1 start again at 0. By
    // default the stride is 1, a NaN wins only as the first element of its window, and the offset of plane 1 is 4.
    let x: (&[usize], &[f32]) = (&[1, 2, 4], &[1.0, 2.0, 3.0, NAN, 9.0, 4.0, NAN, NAN]);
    pools::<_, i64>(&MaxPool::pytorch([2]), x, (&[1, 2, 2], &[2.0, NAN, 9.0, NAN]), (&[1, 2, 2], &[1, 3, 0, 3]));
    let (y, indices) = ([2.0, 3.0, 9.0, NAN], [1, 2, 4, 6]);
    pools::<_, i64>(&MaxPool::onnx([2]).strides([2]), x, (&[1, 2, 2], &y), (&[1, 2, 2], &indices));
    assert_eq!(output_shape(&MaxPool::onnx([2]), x.0), [1, 2, 3]);
    // A stride that is given wins.
    assert_eq!(output_shape(&MaxPool::pytorch([2]).strides([1]), x.0), [1, 2, 3]);
    // The empty window starts at -1 and steps to 2, which is past the plane of 2.
    let pool = straddling(MaxPool::pytorch).pads([1, 1]);
    let none = [f32::NEG_INFINITY; 2];
    pools::<_, i64>(&pool, (&[1, 2, 2], &[0.0f32; 4]), (&[1, 2, 1], &none), (&[1, 2, 1], &[2, 2]));
    // Pads may be at most half the kernel, and every axis needs an output.
    let plan = |pool: MaxPool| pool.plan(&[1, 1, 4], DType::F32, None).map(|plan| plan.output_shape()[2]);
    assert_eq!(plan(MaxPool::pytorch([3]).pads([1, 1])), Ok(2));
    let limit = PlanError::PadExceedsLimit { position: 0, value: 2, limit: 1 };
    assert_eq!(plan(MaxPool::pytorch([3]).pads([2, 2])), Err(limit));
    let too_small = PlanError::KernelExceedsInput { axis: 0, effective_kernel: 5, padded_input: 4 };
    assert_eq!(plan(MaxPool::pytorch([5])), Err(too_small));
    assert_eq!(plan(MaxPool::onnx([5])), Ok(0));
}

#[test]
fn openvino_max_pool() {
    // NaN are ignored. A window without an element above the lowest value gives that value and the index of element 0
    // of its plane: for plane 1 this is 4 in the tensor and 0 in the plane. By default a NaN wins if it is the first
    // element.
    let lowest = f32::MIN;
    let infinite = f32::NEG_INFINITY;
    let x: (&[usize], &[f32]) = (&[1, 2, 4], &[NAN, 2.0, 7.0, NAN, 5.0, 6.0, infinite, NAN]);
    let pool = MaxPool::openvino([2]).strides([2]);
    let shape = [1, 2, 2];
    pools::<_, i64>(&pool, x, (&shape, &[2.0, 7.0, 6.0, lowest]), (&shape, &[1, 2, 5, 4]));
    let plane = pool.flatten(IndexFlattening::Plane);
    pools::<_, i32>(&plane, x, (&shape, &[2.0, 7.0, 6.0, lowest]), (&shape, &[1, 2, 1, 0]));
    let default = MaxPool::onnx([2]).strides([2]);
    pools::<_, i64>(&default, x, (&shape, &[NAN, 7.0, 6.0, infinite]), (&shape, &[0, 2, 5, 6]));
    // A window wholly in padding gives the same as one without an element above the lowest value.
    let pool = straddling(MaxPool::openvino).pads([1, 1]);
    pools::<_, i64>(&pool, (&[1, 2, 2], &[0.0f32; 4]), (&[1, 2, 1], &[lowest; 2]), (&[1, 2, 1], &[0, 2]));
    let f16s = [f16::NEG_INFINITY; 2];
    pools::<_, i64>(&pool, (&[1, 2, 2], &[f16::ONE; 4]), (&[1, 2, 1], &f16s), (&[1, 2, 1], &[0, 2]));
    // onnx#5711: 9 elements, kernel 2, stride 3. `ceil` keeps the window that starts at 9, `ceil_torch` drops it.
    let pool = MaxPool::openvino([2]).strides([3]);
    assert_eq!(output_shape(&pool.clone().ceil_rule(CeilRule::CeilLiteral), &[1, 1, 9]), [1, 1, 4]);
    assert_eq!(output_shape(&pool.ceil_mode(1), &[1, 1, 9]), [1, 1, 3]);
    // Pads may exceed the kernel, but every axis needs an output.
    assert_eq!(output_shape(&MaxPool::openvino([2]).pads([3, 0]), &[1, 1, 2]), [1, 1, 4]);
    assert_eq!(
        MaxPool::openvino([5]).plan(&[1, 1, 4], DType::F32, None),
        Err(PlanError::KernelExceedsInput { axis: 0, effective_kernel: 5, padded_input: 4 })
    );
}

#[test]
fn tensorflow_max_pool() {
    // Two items of 2 pixels with 3 channels. An index is x * 3 + c of its item; with the batch included item 1 adds 6.
    let pool = MaxPool::tensorflow([2]).strides([2]).auto_pad(AutoPad::Valid);
    let x: (&[usize], &[f32]) = (&[2, 2, 3], &[1.0, 8.0, 3.0, 2.0, 4.0, 9.0, 7.0, 0.0, 5.0, 6.0, 1.0, 5.0]);
    let shape = [2, 1, 3];
    let y = [2.0, 8.0, 9.0, 7.0, 1.0, 5.0];
    pools::<_, i64>(&pool, x, (&shape, &y), (&shape, &[3, 1, 5, 0, 4, 2]));
    let with_batch = pool.flatten(IndexFlattening::Tensor);
    pools::<_, i64>(&with_batch, x, (&shape, &y), (&shape, &[3, 1, 5, 6, 10, 8]));
    // By default these are 2 channels of 3 pixels, of which the last one is in no window.
    let pool = MaxPool::onnx([2]).strides([2]).auto_pad(AutoPad::Valid);
    pools::<_, i64>(&pool, x, (&[2, 2, 1], &[8.0, 4.0, 7.0, 6.0]), (&[2, 2, 1], &[1, 4, 6, 9]));
}

#[test]
fn onnx_after_1_23_max_unpool() {
    // onnx#2398, onnx#8413: 3 is (1, 1) of the inferred 2 by 2 and (1, 0) of the given 2 by 3.
    let x: (&[usize], &[f32]) = (&[1; 4], &[7.0]);
    let indices: (&[usize], &[i64]) = (&[1; 4], &[3]);
    let after = MaxUnpool::onnx_after_1_23([2, 2]).output_shape([1, 1, 2, 3]);
    unpools(&after, x, indices, Ok((&[1, 1, 2, 3], &[0.0, 0.0, 0.0, 7.0, 0.0, 0.0])));
    let before = MaxUnpool::onnx([2, 2]).output_shape([1, 1, 2, 3]);
    unpools(&before, x, indices, Ok((&[1, 1, 2, 3], &[0.0, 0.0, 0.0, 0.0, 7.0, 0.0])));
    // Any size is accepted; only indices beyond it are errors.
    let small = MaxUnpool::onnx_after_1_23([2, 2]).output_shape([1, 1, 1, 3]);
    let error = ExecuteError::IndexOutOfRange { position: 0, value: 3, index_count: 3, count: 1 };
    unpools(&small, x, indices, Err(error));
    unpools(&small, x, (&[1; 4], &[2i64]), Ok((&[1, 1, 1, 3], &[0.0, 0.0, 7.0])));
}

#[test]
fn onnxruntime_max_unpool() {
    // 3 is (1, 0) of the given 2 by 3, but (1, 1) of the inferred 2 by 2. 1 by 4 has as many elements as 2 by 2, 1 by 3
    // has fewer.
    let x: (&[usize], &[f32]) = (&[1; 4], &[7.0]);
    let indices: (&[usize], &[i64]) = (&[1; 4], &[3]);
    let into = |output_shape: [i64; 4]| MaxUnpool::onnxruntime([2, 2]).output_shape(output_shape);
    unpools(&into([1, 1, 2, 3]), x, indices, Ok((&[1, 1, 2, 3], &[0.0, 0.0, 0.0, 7.0, 0.0, 0.0])));
    unpools(&into([1, 1, 1, 4]), x, indices, Ok((&[1, 1, 1, 4], &[0.0, 0.0, 0.0, 7.0])));
    let plan = |unpool: MaxUnpool| unpool.plan(&[1; 4], DType::F32, IndexType::I64).map(|_| ());
    assert_eq!(plan(into([1, 1, 1, 3])), Err(PlanError::OutputCountTooSmall { given: 3, inferred: 4 }));
    // No count of 64 bits is 2^80.
    let most = MaxUnpool::onnxruntime([1 << 40; 2]).output_shape([1, 1, 1, 3]);
    assert_eq!(plan(most), Err(PlanError::OutputShapeTooSmall { axis: 0, given: 1, inferred: 1 << 40 }));
    let default = MaxUnpool::onnx([2, 2]).output_shape([1, 1, 1, 4]);
    assert_eq!(plan(default), Err(PlanError::OutputShapeTooSmall { axis: 0, given: 1, inferred: 2 }));
}

#[test]
fn onnxruntime_max_unpool_nhwc() {
    // X is (m, c), Y (position, c); indices are (c, m), c * 5 + position, and so is output_shape's order. 3 is position
    // 3 of channel 0, 5 and 9 are positions 0 and 4 of channel 1.
    let unpool = MaxUnpool::onnxruntime_nhwc([2]).strides([2]).output_shape([1, 2, 5]);
    let y = [0.0f32, 2.0, 1.0, 0.0, 0.0, 0.0, 3.0, 0.0, 0.0, 4.0];
    let x: (&[usize], &[f32]) = (&[1, 2, 2], &[1.0, 2.0, 3.0, 4.0]);
    unpools::<_, i64>(&unpool, x, (&[1, 2, 2], &[1, 3, 5, 9]), Ok((&[1, 5, 2], &y)));
    // By default the same X is (c, m), and indices are flat in 2 channels of 4.
    let unpool = MaxUnpool::onnx([2]).strides([2]).output_shape([1, 2, 5]);
    let y = [0.0, 1.0, 0.0, 2.0, 0.0, 0.0, 3.0, 0.0, 4.0, 0.0];
    unpools::<_, i64>(&unpool, x, (&[1, 2, 2], &[1, 3, 5, 7]), Ok((&[1, 2, 5], &y)));
}

#[test]
fn pytorch_max_unpool() {
    // The stride is the kernel, so 2 elements infer 4, and both planes count from 0. By default the stride is 1, 3
    // elements are inferred, and plane 1 starts at 3.
    let x: (&[usize], &[f32]) = (&[1, 2, 2], &[1.0, 2.0, 3.0, 4.0]);
    let unpool = MaxUnpool::pytorch([2]);
    let y = [0.0f32, 1.0, 0.0, 2.0, 3.0, 0.0, 4.0, 0.0];
    unpools::<_, i64>(&unpool, x, (&[1, 2, 2], &[1, 3, 0, 2]), Ok((&[1, 2, 4], &y)));
    let y = [0.0f32, 1.0, 2.0, 3.0, 0.0, 4.0];
    unpools::<_, i64>(&MaxUnpool::onnx([2]), x, (&[1, 2, 2], &[1, 2, 3, 5]), Ok((&[1, 2, 3], &y)));
    // With an output_size, indices are flat in it: 3 is (1, 0) of 2 by 3.
    let unpool = MaxUnpool::pytorch([2, 2]).output_shape([1, 1, 2, 3]);
    let y = [0.0f32, 0.0, 0.0, 7.0, 0.0, 0.0];
    unpools::<_, i64>(&unpool, (&[1; 4], &[7.0]), (&[1; 4], &[3]), Ok((&[1, 1, 2, 3], &y)));
}

#[test]
fn pytorch_adaptive_max_pool() {
    // 4 to 2: windows [0, 2) and [2, 4). The last NaN of a window wins; by default a NaN wins only as the first
    // element.
    let x: (&[usize], &[f32]) = (&[1, 1, 4], &[1.0, NAN, NAN, NAN]);
    let shape = [1, 1, 2];
    pools::<_, i64>(&AdaptiveMaxPool::pytorch([2]), x, (&shape, &[NAN, NAN]), (&shape, &[1, 3]));
    pools::<_, i64>(&AdaptiveMaxPool::openvino([2]), x, (&shape, &[1.0, NAN]), (&shape, &[0, 2]));
}

#[test]
fn presets_keep_the_bits_of_a_nan_that_runtimes_change() {
    // Signalling NaN of both signs, each the first element of its window. PyTorch itself gives 0x7FC0 in bf16 and sets
    // the quiet bit in f16, onnxruntime keeps the sign but not the payload, and OpenVINO's adaptive pool sets the quiet
    // bit.
    let x = [0x7F81, 0x3F80, 0xFFA3, 0x3F80].map(bf16::from_bits);
    let y = [x[0], x[2]];
    let (shape, out) = (&[1, 1, 4][..], &[1, 1, 2][..]);
    pools::<_, i64>(&MaxPool::pytorch([2]), (shape, &x), (out, &y), (out, &[0, 2]));
    pools::<_, i64>(&AdaptiveMaxPool::pytorch([2]), (shape, &x), (out, &y), (out, &[0, 2]));
    pools::<_, i64>(&AdaptiveMaxPool::openvino([2]), (shape, &x), (out, &y), (out, &[0, 2]));
    let x = [0x7C01, 0x3C00, 0xFD23, 0x3C00].map(f16::from_bits);
    let y = [x[0], x[2]];
    pools::<_, i64>(&MaxPool::pytorch([2]), (shape, &x), (out, &y), (out, &[0, 2]));
    pools::<_, i64>(&MaxPool::onnxruntime([2]).strides([2]), (shape, &x), (out, &y), (out, &[0, 2]));
    pools::<_, i64>(&AdaptiveMaxPool::openvino([2]), (shape, &x), (out, &y), (out, &[0, 2]));
}

#[test]
fn inferred_extents_below_1() {
    // One element, kernel 2, stride 2, pads 1 and 1: (1 - 1) * 2 + 2 - 2 is 0.
    let plan = |unpool: MaxUnpool| unpool.plan(&[1, 1, 1], DType::F32, IndexType::I64).map(|_| ());
    let padded = |unpool: MaxUnpool| unpool.strides([2]).pads([1, 1]);
    let not_positive = Err(PlanError::InferredNotPositive { axis: 0, inferred: 0 });
    for preset in [MaxUnpool::onnx, MaxUnpool::onnxruntime, MaxUnpool::pytorch] {
        assert_eq!(plan(padded(preset([2]))), not_positive);
    }
    // Beside an output_shape ONNX refuses it too, because the indices count in the inferred shape. So does onnxruntime
    // itself, but not its preset.
    let x: (&[usize], &[f32]) = (&[1; 3], &[7.0]);
    assert_eq!(plan(padded(MaxUnpool::onnx([2])).output_shape([1, 1, 2])), not_positive);
    let given = padded(MaxUnpool::onnxruntime([2])).output_shape([1, 1, 2]);
    unpools::<_, i64>(&given, x, (&[1; 3], &[1]), Ok((&[1, 1, 2], &[0.0, 7.0])));
    // PyTorch gives the empty tensor for an extent of 0.
    let empty = padded(MaxUnpool::pytorch([2])).output_shape([1, 1, 0]);
    let error = ExecuteError::IndexOutOfRange { position: 0, value: 0, index_count: 0, count: 1 };
    unpools::<_, i64>(&empty, x, (&[1; 3], &[0]), Err(error));
    unpools::<_, i64>(&empty.out_of_bounds(OutOfBounds::Skip), x, (&[1; 3], &[0]), Ok((&[1, 1, 0], &[])));
}

#[test]
fn adaptive_windows_end_where_the_formula_says_at_any_size() {
    // 1000003 to 1000: window 333 ends at ceil(334 * 1000003 / 1000), 334002, where f32 has 334001.
    let mut x = vec![0u8; 1_000_003];
    x[334_001] = 1;
    let (mut y, mut indices) = (vec![0u8; 1000], Vec::new());
    // The 1 lies in the windows 333 and 334; every other window gives the index of its first element.
    (y[333], y[334]) = (1, 1);
    indices
        .extend((0..1000i64).map(|window| if y[window as usize] == 1 { 334_001 } else { window * 1_000_003 / 1000 }));
    for preset in [AdaptiveMaxPool::openvino, AdaptiveMaxPool::pytorch] {
        pools::<_, i64>(&preset([1000]), (&[1, 1, 1_000_003], &x), (&[1, 1, 1000], &y), (&[1, 1, 1000], &indices));
    }
}
