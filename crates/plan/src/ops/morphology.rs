//! Flat dilation and erosion by boxes, as pools.

use super::max_pool::MaxPool;
use super::min_pool::Minimum;
use crate::element::{DType, IndexType};
use crate::error::PlanError;
use crate::options::{EmptyValue, Layout, NanPolicy};
use crate::plan::{IndexPlan, Plan, PoolPlan};
use crate::pooling::{Pooling, sealed::Sealed};
use crate::request::{AsTensor, Request, ValuesOnly};
use crate::tensor::Tensor;

/// How far the iterations of a box may reach: its windows and pads on any tensor then fit the positions of a pool.
const MOST_REACH: i64 = i64::MAX / 8;

/// A box that slides over an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SlidingBox {
    pub kernel_shape: Vec<i64>,
    pub anchor: Option<Vec<i64>>,
    pub iterations: i64,
    pub layout: Layout,
    pub nan_policy: NanPolicy,
    pub empty_value: EmptyValue,
}

impl SlidingBox {
    /// The pool over the box. The box of several iterations is as large as all of their boxes together: what lies
    /// outside never wins, and whatever iterations reach inside, they reach by steps inside.
    pub fn pool(&self) -> Result<MaxPool, PlanError> {
        let iterations = self.iterations;
        if iterations < 1 {
            return Err(PlanError::Iterations { iterations });
        }
        let expected = self.kernel_shape.len();
        let anchor = self.anchor.clone().unwrap_or_else(|| vec![-1; expected]);
        if anchor.len() != expected {
            return Err(PlanError::AttributeLength { attribute: "anchor", expected, actual: anchor.len() });
        }
        let all = |extent: i64| extent.saturating_mul(iterations);
        let mut kernel_shape = Vec::new();
        let (mut begins, mut ends) = (Vec::new(), Vec::new());
        for (axis, (&extent, &anchor)) in self.kernel_shape.iter().zip(&anchor).enumerate() {
            if extent < 1 {
                return Err(PlanError::NotPositive { attribute: "kernel_shape", axis, value: extent });
            }
            let anchor = if anchor == -1 { extent / 2 } else { anchor };
            if !(0..extent).contains(&anchor) {
                return Err(PlanError::AnchorOutside { axis, anchor, extent });
            }
            let before = extent.saturating_sub(1);
            if all(before) > MOST_REACH {
                return Err(PlanError::BoxOverflow { axis, extent, iterations });
            }
            kernel_shape.push(all(before).saturating_add(1));
            begins.push(all(anchor));
            ends.push(all(before.saturating_sub(anchor)));
        }
        let pool = MaxPool::new(kernel_shape).pads([begins, ends].concat()).layout(self.layout);
        Ok(pool.nan_policy(self.nan_policy).empty_value(self.empty_value))
    }
}

/// Flat dilation by a box: each element becomes the largest within the box around it.
///
/// Y has the shape of X: the first window begins `anchor` elements before the first element. What lies outside of X
/// never wins, which is OpenCV's default border, and what reflected and repeated borders give for centred boxes. By
/// default a NaN wins only as the first element of its window ([`NanPolicy::SeedFirst`](crate::NanPolicy)).
///
/// ```
/// use wgpu_pooling::{Dilate, Reference, TensorView};
///
/// let x = TensorView::new(&[1, 1, 7], &[5u8, 5, 5, 9, 1, 5, 5])?;
/// assert_eq!(Dilate::new([3]).on(x).run_blocking(&Reference)?.data(), &[5, 5, 9, 9, 9, 5, 5]);
/// # Ok::<(), wgpu_pooling::ExecuteError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Dilate(SlidingBox);

/// Flat erosion by a box: each element becomes the smallest within the box around it.
///
/// Y has the shape of X: the first window begins `anchor` elements before the first element. What lies outside of X
/// never wins, which is OpenCV's default border, and what reflected and repeated borders give for centred boxes. By
/// default a NaN wins only as the first element of its window ([`NanPolicy::SeedFirst`](crate::NanPolicy)).
///
/// ```
/// use wgpu_pooling::{Erode, Reference, TensorView};
///
/// let x = TensorView::new(&[1, 1, 7], &[5u8, 5, 5, 9, 1, 5, 5])?;
/// assert_eq!(Erode::new([3]).on(x).run_blocking(&Reference)?.data(), &[5, 5, 5, 1, 1, 1, 5]);
/// # Ok::<(), wgpu_pooling::ExecuteError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Erode(SlidingBox);

/// The methods that all operators over boxes have, and that which runs them.
macro_rules! by_boxes {
    ($type:ident) => {
        impl $type {
            /// By a box of these extents, one for each spatial axis.
            ///
            /// ```
            #[doc = concat!("use wgpu_pooling::{Reference, Tensor, ", stringify!($type), "};")]
            ///
            /// let x = Tensor::new([1, 3, 5, 6], vec![7u8; 90])?;
            #[doc = concat!("let y = ", stringify!($type), "::new([4, 99]).on(&x).run_blocking(&Reference)?;")]
            /// assert_eq!(y.shape(), x.shape());
            /// # Ok::<(), wgpu_pooling::ExecuteError>(())
            /// ```
            pub fn new(kernel_shape: impl $crate::attributes::Ints) -> Self {
                $type($crate::ops::morphology::SlidingBox {
                    kernel_shape: kernel_shape.as_ref().to_vec(),
                    anchor: None,
                    iterations: 1,
                    layout: Default::default(),
                    nan_policy: Default::default(),
                    empty_value: Default::default(),
                })
            }

            /// The element of the box that lies on the output's own position. -1 on an axis, the default, is half of
            /// the extent, rounded down, as in OpenCV.
            ///
            /// ```
            #[doc = concat!("use wgpu_pooling::{PlanError, TensorView, ", stringify!($type), "};")]
            ///
            /// let x = TensorView::new(&[1, 1, 3], &[3u8, 1, 2])?;
            #[doc = concat!("let request = ", stringify!($type), "::new([2]).anchor([2]).on(x);")]
            /// assert_eq!(request.plan(), Err(&PlanError::AnchorOutside { axis: 0, anchor: 2, extent: 2 }));
            /// # Ok::<(), PlanError>(())
            /// ```
            pub fn anchor(mut self, anchor: impl $crate::attributes::Ints) -> Self {
                self.0.anchor = Some(anchor.as_ref().to_vec());
                self
            }

            /// The layout of X and Y. Default NCHW.
            ///
            /// ```
            #[doc = concat!("use wgpu_pooling::{Layout, Reference, Tensor, ", stringify!($type), "};")]
            ///
            /// let x = Tensor::new([1, 4, 6, 3], vec![7u8; 72])?;
            #[doc = concat!("let by_box = ", stringify!($type), "::new([3, 3]).layout(Layout::Nhwc);")]
            /// assert_eq!(by_box.on(&x).run_blocking(&Reference)?.shape(), &[1, 4, 6, 3]);
            /// # Ok::<(), wgpu_pooling::ExecuteError>(())
            /// ```
            pub fn layout(mut self, layout: $crate::options::Layout) -> Self {
                self.0.layout = layout;
                self
            }

            /// The rule for NaN, in each step. Default [`NanPolicy::SeedFirst`](crate::NanPolicy::SeedFirst): a NaN
            /// wins only as the first element of its window.
            ///
            /// ```
            #[doc = concat!("use wgpu_pooling::{NanPolicy, Reference, TensorView, ", stringify!($type), "};")]
            ///
            /// let x = TensorView::new(&[1, 1, 3], &[f32::NAN, 2.0, 2.0])?;
            #[doc = concat!("let by_box = ", stringify!($type), "::new([3]).nan_policy(NanPolicy::Ignore);")]
            /// assert!(!by_box.on(x).run_blocking(&Reference)?.data()[1].is_nan());
            /// # Ok::<(), wgpu_pooling::ExecuteError>(())
            /// ```
            pub fn nan_policy(mut self, policy: $crate::options::NanPolicy) -> Self {
                self.0.nan_policy = policy;
                self
            }

            /// The value of a window of NaN alone where these are ignored, in each step. Default -inf in dilations and
            /// +inf in erosions; [`EmptyValue::Nan`](crate::EmptyValue::Nan) is ignored by the step after it.
            ///
            /// ```
            #[doc = concat!("use wgpu_pooling::", stringify!($type), ";")]
            /// use wgpu_pooling::{EmptyValue, NanPolicy, Reference, TensorView};
            ///
            /// let x = TensorView::new(&[1, 1, 5], &[2.0, 2.0, f32::NAN, f32::NAN, f32::NAN])?;
            #[doc = concat!("let by_box = ", stringify!($type), "::new([3]).nan_policy(NanPolicy::Ignore);")]
            /// let y = by_box.empty_value(EmptyValue::Nan).on(x).run_blocking(&Reference)?;
            /// assert!(!y.data()[1].is_nan() && y.data()[4].is_nan());
            /// # Ok::<(), wgpu_pooling::ExecuteError>(())
            /// ```
            pub fn empty_value(mut self, value: $crate::options::EmptyValue) -> Self {
                self.0.empty_value = value;
                self
            }
        }
    };
}
pub(super) use by_boxes;

/// The methods of a pool over boxes, its name in plans, and what makes it of the pool of maxima.
macro_rules! morphology {
    ($type:ident, $operator:literal, $pool:expr) => {
        impl $type {
            /// How often the box is applied, in one pass over one larger box. Default 1. The result is that of as many
            /// calls, but for the sign of zeros, for a NaN that can win, and for values of empty windows that elements
            /// can be below.
            ///
            /// ```
            #[doc = concat!("use wgpu_pooling::{", stringify!($type), ", Reference, Tensor};")]
            ///
            /// let x = Tensor::new([1, 1, 9], (0..9u8).map(|i| i * 7 % 9).collect())?;
            #[doc = concat!("let once = ", stringify!($type), "::new([2]);")]
            /// let twice = once.on(&once.on(&x).run_blocking(&Reference)?).run_blocking(&Reference)?;
            /// assert_eq!(once.iterations(2).on(&x).run_blocking(&Reference)?, twice);
            /// # Ok::<(), wgpu_pooling::ExecuteError>(())
            /// ```
            pub fn iterations(mut self, iterations: i64) -> Self {
                self.0.iterations = iterations;
                self
            }

            /// The plan for an X of this shape and type, with or without indices.
            ///
            /// # Errors
            /// As [`MaxPool::plan`], [`PlanError::AnchorOutside`], [`PlanError::Iterations`] and
            /// [`PlanError::BoxOverflow`].
            ///
            /// ```
            #[doc = concat!("use wgpu_pooling::{DType, PlanError, ", stringify!($type), "};")]
            #[doc = concat!("let by_box = ", stringify!($type), "::new([0]);")]
            /// let error = by_box.plan(&[1, 1, 9], DType::U8, None).unwrap_err();
            /// assert_eq!(error, PlanError::NotPositive { attribute: "kernel_shape", axis: 0, value: 0 });
            /// ```
            pub fn plan(&self, shape: &[usize], dtype: DType, indices: Option<IndexType>) -> Result<Plan, PlanError> {
                Pooling::plan(self, shape, dtype, indices)
            }

            /// This operator on `x`, to be run on a backend.
            ///
            /// ```
            #[doc = concat!("use wgpu_pooling::{", stringify!($type), ", Reference, Tensor};")]
            /// let x = Tensor::new([1, 1, 3], vec![3u8, 1, 2])?;
            #[doc = concat!("assert_eq!(", stringify!($type), "::new([1]).on(&x).run_blocking(&Reference)?, x);")]
            /// # Ok::<(), wgpu_pooling::ExecuteError>(())
            /// ```
            pub fn on<'a, X: AsTensor<'a>>(&self, x: X) -> Request<'a, Tensor<X::Element>, ValuesOnly> {
                Request::pool(self, x)
            }
        }

        impl Pooling for $type {}
        impl Sealed for $type {
            fn plan_and_rules(&self, shape: &[usize], dtype: DType) -> Result<(PoolPlan, IndexPlan), PlanError> {
                let pool = $pool(self.0.pool()?);
                let (plan, rules) = pool.plan_and_rules(shape, dtype)?;
                Ok((PoolPlan { operator: $operator, ..plan }, rules))
            }
        }
    };
}

by_boxes!(Dilate);
by_boxes!(Erode);
morphology!(Dilate, "dilate", std::convert::identity);
morphology!(Erode, "erode", Minimum::of);
