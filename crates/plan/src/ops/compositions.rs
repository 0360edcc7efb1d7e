//! Flat morphology whose plans have several steps: compositions of dilation and erosion by one box.

use super::min_pool::Minimum;
use super::morphology::{SlidingBox, by_boxes};
use crate::element::{DType, IndexType};
use crate::error::PlanError;
use crate::plan::{CompositionPlan, DifferencePlan, Plan, PlanStep, PoolPlan};
use crate::pooling::sealed::Sealed;
use crate::request::{AsTensor, Request};
use crate::tensor::Tensor;

impl SlidingBox {
    /// The dilation by the box, and the erosion.
    fn both(&self, shape: &[usize], dtype: DType) -> Result<[PoolPlan; 2], PlanError> {
        let pool = self.pool()?;
        let (dilation, _) = pool.plan_and_rules(shape, dtype)?;
        let (erosion, _) = Minimum::of(pool).plan_and_rules(shape, dtype)?;
        Ok([PoolPlan { operator: "dilate", ..dilation }, PoolPlan { operator: "erode", ..erosion }])
    }
}

/// Two pools and, perhaps, a difference, with the numbers of the tensors that the second pool and the difference read:
/// 0 is X, 1 what the first pool writes, 2 what the second one writes.
fn composition(
    operator: &'static str,
    [first, second]: [PoolPlan; 2],
    of: usize,
    difference: Option<[usize; 2]>,
) -> CompositionPlan {
    let subtracts = Plan::Difference(DifferencePlan::of(&first.outputs[0]));
    let last = difference.map(|inputs| PlanStep { plan: subtracts, inputs: inputs.to_vec() });
    let second = PlanStep { plan: Plan::Pool(second), inputs: vec![of] };
    CompositionPlan::new(operator, first, [second].into_iter().chain(last).collect())
}

/// Flat opening by a box: the dilation of the erosion, which removes what is bright and smaller than the box.
///
/// Both take the box and the anchor as they are given, as OpenCV's `MORPH_OPEN` does. Borders and NaN are those of
/// [`Erode`](crate::Erode) and [`Dilate`](crate::Dilate).
///
/// ```
/// use wgpu_pooling::{Open, Reference, TensorView};
///
/// let x = TensorView::new(&[1, 1, 7], &[5u8, 9, 5, 9, 9, 9, 5])?;
/// assert_eq!(Open::new([3]).on(x).run_blocking(&Reference)?.data(), &[5, 5, 5, 9, 9, 9, 5]);
/// # Ok::<(), wgpu_pooling::ExecuteError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Open(SlidingBox);

/// Flat closing by a box: the erosion of the dilation, which fills what is dark and smaller than the box.
///
/// Both take the box and the anchor as they are given, as OpenCV's `MORPH_CLOSE` does. Borders and NaN are those of
/// [`Erode`](crate::Erode) and [`Dilate`](crate::Dilate).
///
/// ```
/// use wgpu_pooling::{Close, Reference, TensorView};
///
/// let x = TensorView::new(&[1, 1, 7], &[5u8, 1, 5, 1, 1, 1, 5])?;
/// assert_eq!(Close::new([3]).on(x).run_blocking(&Reference)?.data(), &[5, 5, 5, 1, 1, 1, 5]);
/// # Ok::<(), wgpu_pooling::ExecuteError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Close(SlidingBox);

/// The morphological gradient by a box: the dilation minus the erosion.
///
/// Integers saturate, as OpenCV's do; floats are subtracted by IEEE's rules, f16 and bf16 in f32 and rounded once more,
/// and every NaN is the same.
///
/// ```
/// use wgpu_pooling::{Gradient, Reference, TensorView};
///
/// let x = TensorView::new(&[1, 1, 7], &[5u8, 5, 5, 9, 9, 9, 9])?;
/// assert_eq!(Gradient::new([3]).on(x).run_blocking(&Reference)?.data(), &[0, 0, 4, 4, 0, 0, 0]);
/// # Ok::<(), wgpu_pooling::ExecuteError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Gradient(SlidingBox);

/// The white top-hat by a box: X minus its opening ([`Open`]).
///
/// Differences are those of [`Gradient`].
///
/// ```
/// use wgpu_pooling::{Reference, TensorView, TopHat};
///
/// let x = TensorView::new(&[1, 1, 7], &[5u8, 9, 5, 9, 9, 9, 5])?;
/// assert_eq!(TopHat::new([3]).on(x).run_blocking(&Reference)?.data(), &[0, 4, 0, 0, 0, 0, 0]);
/// # Ok::<(), wgpu_pooling::ExecuteError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
#[doc(alias = "WhiteTopHat")]
pub struct TopHat(SlidingBox);

/// The black top-hat by a box: the closing of X ([`Close`]) minus X.
///
/// Differences are those of [`Gradient`].
///
/// ```
/// use wgpu_pooling::{BlackHat, Reference, TensorView};
///
/// let x = TensorView::new(&[1, 1, 7], &[5u8, 1, 5, 1, 1, 1, 5])?;
/// assert_eq!(BlackHat::new([3]).on(x).run_blocking(&Reference)?.data(), &[0, 4, 0, 0, 0, 0, 0]);
/// # Ok::<(), wgpu_pooling::ExecuteError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
#[doc(alias = "BlackTopHat")]
pub struct BlackHat(SlidingBox);

/// The methods of a composition, and its plan by the dilation and the erosion.
macro_rules! by_both {
    ($type:ident, $composition:expr) => {
        impl $type {
            /// How often each of the two pools applies the box. Default 1. Openings and closings are those of a larger
            /// box, and not repeated.
            ///
            /// ```
            #[doc = concat!("use wgpu_pooling::{Reference, Tensor, ", stringify!($type), "};")]
            ///
            /// let x = Tensor::new([1, 1, 9], (0..9u8).map(|i| i * 7 % 9).collect())?;
            #[doc = concat!("let twice = ", stringify!($type), "::new([2]).anchor([1]).iterations(2);")]
            #[doc = concat!("let larger = ", stringify!($type), "::new([3]).anchor([2]);")]
            /// assert_eq!(twice.on(&x).run_blocking(&Reference)?, larger.on(&x).run_blocking(&Reference)?);
            /// # Ok::<(), wgpu_pooling::ExecuteError>(())
            /// ```
            pub fn iterations(mut self, iterations: i64) -> Self {
                self.0.iterations = iterations;
                self
            }

            /// The plan for an X of this shape and type. There are no indices: they would be those of the last pool
            /// in what the first one wrote.
            ///
            /// # Errors
            /// As [`Dilate::plan`](crate::Dilate::plan); [`PlanError::Combination`] if indices are asked for.
            ///
            /// ```
            #[doc = concat!("use wgpu_pooling::{DType, PlanError, ", stringify!($type), "};")]
            #[doc = concat!("let plan = ", stringify!($type), "::new([3]).plan(&[1, 1, 9], DType::U8, None)?;")]
            /// assert_eq!((plan.input_shape(), plan.output_shape()), (&[1, 1, 9][..], &[1, 1, 9][..]));
            #[doc = concat!("let of_nothing = ", stringify!($type), "::new([0]);")]
            /// let error = of_nothing.plan(&[1, 1, 9], DType::U8, None).unwrap_err();
            /// assert_eq!(error, PlanError::NotPositive { attribute: "kernel_shape", axis: 0, value: 0 });
            /// # Ok::<(), PlanError>(())
            /// ```
            pub fn plan(&self, shape: &[usize], dtype: DType, indices: Option<IndexType>) -> Result<Plan, PlanError> {
                if indices.is_some() {
                    let first = concat!("the composition ", stringify!($type));
                    return Err(PlanError::Combination { first, second: "indices, which pools alone have" });
                }
                let composition: fn([PoolPlan; 2]) -> CompositionPlan = $composition;
                Ok(Plan::Composition(composition(self.0.both(shape, dtype)?)))
            }

            /// This operator on `x`, to be run on a backend.
            ///
            /// ```
            #[doc = concat!("use wgpu_pooling::{Reference, Tensor, ", stringify!($type), "};")]
            /// let x = Tensor::new([1, 1, 3], vec![3u8, 1, 2])?;
            /// let mut y = [9; 3];
            #[doc = concat!(stringify!($type), "::new([1]).on(&x).to(&mut y).run_blocking(&Reference)?;")]
            /// assert!(y == [0; 3] || y == [3, 1, 2]);
            /// # Ok::<(), wgpu_pooling::ExecuteError>(())
            /// ```
            pub fn on<'a, X: AsTensor<'a>>(&self, x: X) -> Request<'a, Tensor<X::Element>> {
                Request::of(x.tensor().and_then(|x| Ok((self.plan(x.shape(), x.dtype(), None)?, vec![x]))))
            }
        }
    };
}

by_boxes!(Open);
by_boxes!(Close);
by_boxes!(Gradient);
by_boxes!(TopHat);
by_boxes!(BlackHat);
by_both!(Open, |[dilation, erosion]| composition("open", [erosion, dilation], 1, None));
by_both!(Close, |[dilation, erosion]| composition("close", [dilation, erosion], 1, None));
by_both!(Gradient, |[dilation, erosion]| composition("gradient", [dilation, erosion], 0, Some([1, 2])));
by_both!(TopHat, |[dilation, erosion]| composition("top_hat", [erosion, dilation], 1, Some([0, 2])));
by_both!(BlackHat, |[dilation, erosion]| composition("black_hat", [dilation, erosion], 1, Some([2, 0])));
