//! Presets: the conventions of each runtime, as constructors.
//!
//! A preset sets the options whose default differs from the runtime's; options that the caller sets afterwards override
//! it. Each preset documents inputs that it accepts and the runtime refuses, and behaviour that no option reproduces.

use super::adaptive_max_pool::AdaptiveMaxPool;
use super::max_pool::MaxPool;
use super::max_unpool::MaxUnpool;
use crate::attributes::Ints;
use crate::options::{
    EmptyIndex, EmptyValue, IndexFlattening, Layout, NanPolicy, PadsLimit, SamePadding, SizeRounding, UnpoolMinSize,
    UnpoolSpace,
};

/// Presets.
impl MaxPool {
    /// ONNX's own conventions: the defaults of [`new`](MaxPool::new).
    ///
    /// Indices count through the whole tensor, also for NHWC data; `ceil_mode` 1 drops the window that would start in
    /// the end padding ("Sliding windows that would start in the right padded region are ignored": opset 22, onnx#5711,
    /// onnx#5741); `SAME_*` pads for the effective kernel; a NaN wins only as a window's first element; a window wholly
    /// in padding gives minus infinity and the index -1. The evaluator onnx.reference agrees for strided and dilated
    /// windows, except about `SAME_LOWER`, negative `SAME_*` totals and windows wholly in padding.
    ///
    /// The text of opsets 10 to 12 has the ceiling without the drop: `ceil_rule(CeilRule::CeilLiteral)`.
    ///
    /// ```
    /// use wgpu_pooling::MaxPool;
    /// assert_eq!(MaxPool::onnx([3, 3]), MaxPool::new([3, 3]));
    /// ```
    pub fn onnx(kernel_shape: impl Ints) -> Self {
        MaxPool::new(kernel_shape)
    }

    /// onnxruntime's CPU kernel with Indices, as it is since 1.29.
    ///
    /// * `SAME_*` pads for the undilated kernel, and a negative total moves windows right (onnxruntime#10083).
    /// * A window that exceeds the padded input by less than a stride gives one output, whose window is partly outside
    ///   (onnxruntime#25234).
    /// * A window wholly in padding gives the lowest finite value and the index of the coordinates (-1, .., -1). In f16
    ///   the value is minus infinity, because onnxruntime computes f16 in f32.
    /// * Pads at or above the undilated kernel are refused ("Pad should be smaller than kernel.").
    ///
    /// Not reproduced: until 1.28 that kernel ignored NaN, and treated a window without an element above the lowest
    /// finite value, such as -inf or zeros in u8, as one wholly in padding. Without Indices, onnxruntime computes f32
    /// and f16 by another kernel. There NaN and the choice between zeros of both signs depend on vector lanes, and -inf
    /// becomes the lowest finite value; here values do not depend on whether indices are requested. In onnxruntime a
    /// NaN in f16 keeps only its sign (0x7E00 or 0xFE00); here it keeps the bits of its element. onnxruntime refuses
    /// more than three spatial axes and C = 0.
    ///
    /// ```
    /// use wgpu_pooling::{DType, MaxPool};
    ///
    /// // onnxruntime#25234: a kernel of 5 on 4 elements, stride 2.
    /// let plan = |pool: MaxPool| pool.strides([2]).plan(&[1, 1, 4], DType::F32, None);
    /// assert_eq!(plan(MaxPool::onnxruntime([5]))?.output_shape(), &[1, 1, 1]);
    /// assert_eq!(plan(MaxPool::onnx([5]))?.output_shape(), &[1, 1, 0]);
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn onnxruntime(kernel_shape: impl Ints) -> Self {
        MaxPool::new(kernel_shape)
            .same_padding(SamePadding::OrtUndilated)
            .size_rounding(SizeRounding::Trunc)
            .empty_value(EmptyValue::LowestWidened)
            .empty_index(EmptyIndex::OrtUnderflow)
            .pads_limit(PadsLimit::Ort)
    }

    /// onnxruntime's internal domain `com.ms.internal.nhwc`: [`onnxruntime`](MaxPool::onnxruntime) with X and Y in
    /// NHWC.
    ///
    /// Indices stay in NCHW, in shape and in arithmetic ("I is in NCHW format and the contained indices use NCHW math":
    /// onnxruntime's pool.cc), and so do the spatial attributes.
    ///
    /// ```
    /// use wgpu_pooling::{DType, IndexType, MaxPool};
    ///
    /// let plan = MaxPool::onnxruntime_nhwc([2, 2]).plan(&[1, 4, 5, 3], DType::F32, Some(IndexType::I64))?;
    /// assert_eq!((plan.output_shape(), &plan.outputs()[1].shape[..]), (&[1, 3, 4, 3][..], &[1, 3, 3, 4][..]));
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn onnxruntime_nhwc(kernel_shape: impl Ints) -> Self {
        MaxPool::onnxruntime(kernel_shape).layout(Layout::Nhwc)
    }

    /// PyTorch's `max_pool1d`, `max_pool2d` and `max_pool3d` with `return_indices`.
    ///
    /// * The stride is the kernel unless it is given.
    /// * Indices count through their plane.
    /// * A NaN always wins; of several, the last one of the window.
    /// * A window wholly in padding gives minus infinity and the flat position of its first tap that is not negative,
    ///   which may lie beyond the plane.
    /// * Pads above half the kernel, and axes without outputs, are refused ("pad should be at most half of effective
    ///   kernel size", "Output size is too small").
    ///
    /// PyTorch's one padding number per axis is both pads: `padding=(1, 0)` is `pads([1, 0, 1, 0])`. PyTorch has no
    /// `auto_pad` and refuses C = 0.
    ///
    /// Not reproduced: the bits of a NaN in bf16 and f16, which PyTorch's CPU kernel computes in f32. In PyTorch a NaN
    /// in bf16 becomes 0x7FC0, or 0xFFFF in the vector lanes of a channels-last tensor, and a NaN in f16 gets its quiet
    /// bit set. Here a NaN keeps the bits of its element, as it does in PyTorch in f32, in f64, and in `max_pool1d`
    /// without indices (PyTorch 2.15.0).
    ///
    /// ```
    /// use wgpu_pooling::{MaxPool, Reference, TensorView};
    ///
    /// let x = TensorView::new(&[1, 2, 4], &[3.0f32, 1.0, 4.0, f32::NAN, 5.0, 9.0, 2.0, 6.0])?;
    /// let (y, indices) = MaxPool::pytorch([2]).on(x).with_indices::<i64>().run_blocking(&Reference)?;
    /// assert!(y.data()[1].is_nan());
    /// assert_eq!(indices.data(), &[0, 3, 1, 3]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn pytorch(kernel_shape: impl Ints) -> Self {
        let kernel_shape = kernel_shape.as_ref();
        MaxPool::new(kernel_shape)
            .strides(kernel_shape)
            .flatten(IndexFlattening::Plane)
            .nan_policy(NanPolicy::PropagateLast)
            .empty_index(EmptyIndex::ClampedStart)
            .size_rounding(SizeRounding::FloorPositive)
            .pads_limit(PadsLimit::Torch)
    }

    /// OpenVINO's MaxPool-8 and MaxPool-14, as its CPU plugin computes them.
    ///
    /// * A maximum starts at the lowest finite value (in f16 and bf16 at minus infinity), so NaN are ignored. A window
    ///   without an element above that value gives that value and the index of element 0 of its plane (openvino#35935).
    /// * A window wholly in padding gives the same value and index.
    /// * A kernel that leaves an axis without outputs is refused.
    ///
    /// The attributes that have other names in OpenVINO:
    ///
    /// | OpenVINO | here |
    /// | --- | --- |
    /// | `rounding_type` `floor`, `ceil_torch` | `ceil_mode` 0, 1 |
    /// | `rounding_type` `ceil`; `ceil_mode` 1 of an imported ONNX model | `ceil_rule(CeilRule::CeilLiteral)` |
    /// | `axis` 0, 1, 2 | `flatten` `Tensor` (the preset), `Batch`, `Plane` |
    /// | `index_element_type` | the index type given to `plan` |
    ///
    /// Not reproduced: `axis` 3 and above; the additional window that `ceil` gives together with `SAME_*` when the
    /// stride exceeds the kernel; f64, which OpenVINO computes in f32. OpenVINO refuses a kernel larger than the padded
    /// input with any rounding, and N = 0 and C = 0.
    ///
    /// ```
    /// use wgpu_pooling::{MaxPool, Reference, TensorView};
    ///
    /// let x = TensorView::new(&[1, 1, 4], &[f32::NAN, 2.0, f32::NEG_INFINITY, f32::NAN])?;
    /// let pool = MaxPool::openvino([2]).strides([2]);
    /// let (y, indices) = pool.on(x).with_indices::<i64>().run_blocking(&Reference)?;
    /// assert_eq!((y.data(), indices.data()), (&[2.0, f32::MIN][..], &[1, 0][..]));
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn openvino(kernel_shape: impl Ints) -> Self {
        MaxPool::new(kernel_shape)
            .nan_policy(NanPolicy::SeedLowest)
            .empty_value(EmptyValue::LowestWidened)
            .empty_index(EmptyIndex::UnitBase)
            .size_rounding(SizeRounding::FloorPositive)
    }

    /// TensorFlow's `tf.nn.max_pool_with_argmax`.
    ///
    /// X, Y and the indices are NHWC, and an index is `(y * W + x) * C + c` of its batch item. With
    /// `include_batch_in_index` add `flatten(IndexFlattening::Tensor)`. `padding="SAME"` is `AutoPad::SameUpper`,
    /// `"VALID"` is `AutoPad::Valid`. TensorFlow requires strides; here they are 1 unless they are given.
    ///
    /// Not reproduced: on the CPU TensorFlow compares subnormals as zeros. TensorFlow refuses N = 0 and C = 0.
    ///
    /// ```
    /// use wgpu_pooling::{MaxPool, Reference, TensorView};
    ///
    /// // One row of two pixels with two channels: the maxima are pixel 1 of channel 0 and pixel 0 of channel 1.
    /// let x = TensorView::new(&[1, 1, 2, 2], &[1.0f32, 8.0, 2.0, 4.0])?;
    /// let (y, indices) = MaxPool::tensorflow([1, 2]).on(x).with_indices::<i64>().run_blocking(&Reference)?;
    /// assert_eq!((y.data(), indices.data()), (&[2.0, 8.0][..], &[2, 1][..]));
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn tensorflow(kernel_shape: impl Ints) -> Self {
        MaxPool::new(kernel_shape).layout(Layout::Nhwc).index_layout(Layout::Nhwc).flatten(IndexFlattening::Batch)
    }
}

/// Presets.
impl MaxUnpool {
    /// The published ONNX operator (opsets 9, 11 and 22) and onnx.reference up to release 1.23: the defaults of
    /// [`new`](MaxUnpool::new).
    ///
    /// Indices are flat in the inferred shape. A larger `output_shape` is filled with zeros at the ends of the axes; a
    /// smaller one is an error. Of equal indices the last wins. The evaluator counts negative indices from the end;
    /// this preset refuses them.
    ///
    /// ```
    /// use wgpu_pooling::{MaxUnpool, Reference, TensorView};
    ///
    /// // The index 3 is row 1, column 1 of the inferred 2 by 2 block.
    /// let unpool = MaxUnpool::onnx([2, 2]).output_shape([1, 1, 2, 3]);
    /// let (x, indices) = (TensorView::new(&[1; 4], &[7.0f32])?, TensorView::new(&[1; 4], &[3i64])?);
    /// assert_eq!(unpool.on(x, indices).run_blocking(&Reference)?.data(), &[0.0, 0.0, 0.0, 0.0, 7.0, 0.0]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn onnx(kernel_shape: impl Ints) -> Self {
        MaxUnpool::new(kernel_shape)
    }

    /// ONNX after release 1.23: indices are flat in the given `output_shape`, which may have any size (onnx#2398,
    /// changed by onnx#8413).
    ///
    /// ```
    /// use wgpu_pooling::{MaxUnpool, Reference, TensorView};
    ///
    /// // The index 3 is row 1, column 0 of the 2 by 3 output.
    /// let unpool = MaxUnpool::onnx_after_1_23([2, 2]).output_shape([1, 1, 2, 3]);
    /// let (x, indices) = (TensorView::new(&[1; 4], &[7.0f32])?, TensorView::new(&[1; 4], &[3i64])?);
    /// assert_eq!(unpool.on(x, indices).run_blocking(&Reference)?.data(), &[0.0, 0.0, 0.0, 7.0, 0.0, 0.0]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn onnx_after_1_23(kernel_shape: impl Ints) -> Self {
        MaxUnpool::new(kernel_shape).unpool_space(UnpoolSpace::OutputShape)
    }

    /// onnxruntime's CPU kernel: indices are flat in the given `output_shape` (onnx#2398), which must not have fewer
    /// elements than the inferred shape; of equal indices the last wins; bad indices are an error (onnxruntime#27432).
    ///
    /// onnxruntime refuses pads at or above the kernel; here they are accepted, because pads move no value. onnxruntime
    /// always refuses an inferred extent below 1 ("Computed output dimension is not positive", onnxruntime 1.31.1);
    /// here it is refused unless an `output_shape` gives the extents.
    ///
    /// ```
    /// use wgpu_pooling::{DType, IndexType, MaxUnpool, PlanError};
    ///
    /// let unpool = |output_shape| MaxUnpool::onnxruntime([2, 2]).strides([2, 2]).output_shape(output_shape);
    /// let plan = |output_shape| unpool(output_shape).plan(&[1, 1, 2, 2], DType::F32, IndexType::I64);
    /// assert!(plan([1, 1, 2, 8]).is_ok(), "smaller than 4 by 4 on an axis, but not in elements");
    /// assert_eq!(plan([1, 1, 2, 7]), Err(PlanError::OutputCountTooSmall { given: 14, inferred: 16 }));
    /// ```
    pub fn onnxruntime(kernel_shape: impl Ints) -> Self {
        MaxUnpool::new(kernel_shape).unpool_space(UnpoolSpace::OutputShape).unpool_min_size(UnpoolMinSize::ElementCount)
    }

    /// onnxruntime's internal domain `com.ms.internal.nhwc`: [`onnxruntime`](MaxUnpool::onnxruntime) with X and Y in
    /// NHWC. Indices and `output_shape` stay in NCHW order.
    ///
    /// ```
    /// use wgpu_pooling::{DType, IndexType, MaxUnpool};
    ///
    /// let unpool = MaxUnpool::onnxruntime_nhwc([2, 2]).strides([2, 2]).output_shape([1, 3, 4, 5]);
    /// let plan = unpool.plan(&[1, 2, 2, 3], DType::F32, IndexType::I64)?;
    /// assert_eq!((&plan.inputs()[1].shape[..], plan.output_shape()), (&[1, 3, 2, 2][..], &[1, 4, 5, 3][..]));
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn onnxruntime_nhwc(kernel_shape: impl Ints) -> Self {
        MaxUnpool::onnxruntime(kernel_shape).layout(Layout::Nhwc)
    }

    /// PyTorch's `max_unpool1d`, `max_unpool2d` and `max_unpool3d`: indices count through their plane of the output,
    /// and the stride is the kernel unless it is given.
    ///
    /// PyTorch promises nothing about equal indices (pytorch#78249); here the last wins, as in PyTorch on the CPU.
    /// PyTorch takes an `output_size` only within a stride of the inferred size; here any size is valid. PyTorch
    /// refuses C = 0.
    ///
    /// Where an inferred extent is 0, PyTorch returns the empty tensor without checking the indices (2.15.0); where it
    /// is below 0, PyTorch returns an error. Here both are errors, as in ONNX; an `output_shape` with the extent 0
    /// together with `out_of_bounds(OutOfBounds::Skip)` gives the empty tensor.
    ///
    /// ```
    /// use wgpu_pooling::{MaxUnpool, Reference, TensorView};
    ///
    /// // Two planes with the same index.
    /// let (x, indices) = (TensorView::new(&[1, 2, 1], &[5.0f32, 6.0])?, TensorView::new(&[1, 2, 1], &[1i64, 1])?);
    /// let y = MaxUnpool::pytorch([2]).on(x, indices).run_blocking(&Reference)?;
    /// assert_eq!(y.data(), &[0.0, 5.0, 0.0, 6.0]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn pytorch(kernel_shape: impl Ints) -> Self {
        let kernel_shape = kernel_shape.as_ref();
        MaxUnpool::new(kernel_shape)
            .strides(kernel_shape)
            .flatten(IndexFlattening::Plane)
            .unpool_space(UnpoolSpace::OutputShape)
    }
}

/// Presets.
impl AdaptiveMaxPool {
    /// OpenVINO's AdaptiveMaxPool-8: the defaults of [`new`](AdaptiveMaxPool::new). Indices count through their plane,
    /// and a NaN wins only as a window's first element.
    ///
    /// Not reproduced: OpenVINO's CPU plugin computes the end of a window in f32. Where the input's extent times the
    /// output's exceeds 2^24, some of the plugin's windows have one element less or more than the specification's
    /// formula gives; here all bounds are exact. In OpenVINO a NaN in f16 or bf16 gets its quiet bit set; here it keeps
    /// its bits (2026.4.1).
    ///
    /// ```
    /// use wgpu_pooling::AdaptiveMaxPool;
    /// assert_eq!(AdaptiveMaxPool::openvino([3, 3]), AdaptiveMaxPool::new([3, 3]));
    /// ```
    pub fn openvino(output_size: impl Ints) -> Self {
        AdaptiveMaxPool::new(output_size)
    }

    /// PyTorch's `adaptive_max_pool1d`, `adaptive_max_pool2d` and `adaptive_max_pool3d`: the windows and the indices of
    /// OpenVINO, but a NaN always wins; of several, the last one of the window. PyTorch's indices are i64.
    ///
    /// `None` in PyTorch's `output_size` keeps an extent; here the extent has to be given. PyTorch refuses C = 0.
    ///
    /// Not reproduced: the bits of a NaN in bf16 and f16, except those of `adaptive_max_pool3d`; see
    /// [`MaxPool::pytorch`].
    ///
    /// ```
    /// use wgpu_pooling::{AdaptiveMaxPool, Reference, TensorView};
    ///
    /// let x = TensorView::new(&[1, 1, 4], &[1.0f32, f32::NAN, 3.0, 2.0])?;
    /// let (_, indices) = AdaptiveMaxPool::pytorch([2]).on(x).with_indices::<i64>().run_blocking(&Reference)?;
    /// assert_eq!(indices.data(), &[1, 2]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn pytorch(output_size: impl Ints) -> Self {
        AdaptiveMaxPool::new(output_size).nan_policy(NanPolicy::PropagateLast)
    }
}
