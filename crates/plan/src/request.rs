//! Requests: a plan with tensors whose types are known at compile time. Below this file element types are values.

use std::marker::PhantomData;

use crate::backend::{Backend, Outputs};
use crate::element::{DType, Element, Index, IndexType};
use crate::error::{ExecuteError, PlanError};
use crate::plan::{IndexPlan, Plan};
use crate::pooling::Pooling;
use crate::tensor::{Tensor, TensorSpec, TensorView};
use crate::untyped::{TensorMut, TensorRef};

/// A dense host tensor, as a request takes it: `&Tensor<T>`, `TensorView<T>`, a pair of a shape and its elements, both
/// borrowed as slices, arrays or vectors, and with the feature `ndarray` a reference to an array. A program implements
/// it for its own arrays.
///
/// ```
/// use wgpu_pooling::{AsTensor, MaxPool, PlanError, Reference, TensorRef, TensorView};
///
/// struct Picture {
///     shape: [usize; 4],
///     pixels: Vec<u8>,
/// }
/// impl<'a> AsTensor<'a> for &'a Picture {
///     type Element = u8;
///     fn tensor(self) -> Result<TensorRef<'a>, PlanError> {
///         Ok(TensorView::new(&self.shape, &self.pixels)?.into())
///     }
/// }
/// let picture = Picture { shape: [1, 1, 2, 2], pixels: vec![3, 1, 2, 9] };
/// assert_eq!(MaxPool::new([2, 2]).on(&picture).run_blocking(&Reference)?.data(), &[9]);
/// # Ok::<(), wgpu_pooling::ExecuteError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tensor",
    label = "not a shape with elements",
    note = "`&Tensor<T>`, `TensorView<T>` and references to arrays of ndarray are",
    note = "so is a pair `(&shape, &elements)`: extents of `usize`, and floats or integers of 8 to 64 bits"
)]
pub trait AsTensor<'a> {
    /// The type of its elements.
    ///
    /// ```
    /// use wgpu_pooling::{AsTensor, DType, Element, Tensor};
    /// assert_eq!(<<&Tensor<f32> as AsTensor>::Element as Element>::DTYPE, DType::F32);
    /// ```
    type Element: Element;

    /// The tensor.
    ///
    /// # Errors
    /// Why it is not a dense tensor: [`PlanError::DataLength`] for a slice that does not fill its shape,
    /// [`PlanError::NotDense`] for gaps between elements.
    fn tensor(self) -> Result<TensorRef<'a>, PlanError>;
}

impl<'a, T: Element> AsTensor<'a> for &'a Tensor<T> {
    type Element = T;

    fn tensor(self) -> Result<TensorRef<'a>, PlanError> {
        Ok(self.into())
    }
}

impl<'a, T: Element> AsTensor<'a> for TensorView<'a, T> {
    type Element = T;

    fn tensor(self) -> Result<TensorRef<'a>, PlanError> {
        Ok(self.into())
    }
}

impl<'a, T: Element> AsTensor<'a> for &TensorView<'a, T> {
    type Element = T;

    fn tensor(self) -> Result<TensorRef<'a>, PlanError> {
        Ok(self.into())
    }
}

/// A shape of `usize` and elements in row-major order: slices, arrays or vectors. `AsRef` alone would leave the type of
/// the elements open, which `Index` tells.
///
/// ```
/// use wgpu_pooling::{MaxPool, Reference};
/// let (pool, shape, data) = (MaxPool::new([2]), vec![1, 1, 3], vec![3u8, 1, 2]);
/// let y = pool.on((&shape, &data)).run_blocking(&Reference)?;
/// assert_eq!(pool.on((&[1, 1, 3], &[3u8, 1, 2])).run_blocking(&Reference)?, y);
/// assert_eq!(pool.on((y.shape(), y.data())).run_blocking(&Reference)?.data(), &[3]);
/// # Ok::<(), wgpu_pooling::ExecuteError>(())
/// ```
#[diagnostic::do_not_recommend]
impl<'a, T, S, D> AsTensor<'a> for (&'a S, &'a D)
where
    T: Element,
    S: AsRef<[usize]> + ?Sized,
    D: AsRef<[T]> + std::ops::Index<usize, Output = T> + ?Sized,
{
    type Element = T;

    fn tensor(self) -> Result<TensorRef<'a>, PlanError> {
        Ok(TensorView::new(self.0.as_ref(), self.1.as_ref())?.into())
    }
}

/// The state of the request of a pool, which may still be asked for indices.
///
/// ```
/// use wgpu_pooling::{MaxPool, Request, Tensor, ValuesOnly};
/// fn request<'a>(pool: &MaxPool, x: &'a Tensor<f32>) -> Request<'a, Tensor<f32>, ValuesOnly> {
///     pool.on(x)
/// }
/// ```
#[derive(Debug)]
pub enum ValuesOnly {}

/// The state of any other request.
///
/// ```
/// use wgpu_pooling::{Complete, MaxPool, Request, Tensor};
/// fn request<'a>(pool: &MaxPool, x: &'a Tensor<f32>) -> Request<'a, (Tensor<f32>, Tensor<i32>), Complete> {
///     pool.on(x).with_indices()
/// }
/// ```
#[derive(Debug)]
pub enum Complete {}

/// An operator on tensors of known types, to be run on a backend; `O` is the type of its result. The method `on` of an
/// operator makes it.
///
/// It owns its plan and borrows the tensors, so that the operator may be a temporary. An error of the plan is kept
/// until the run.
///
/// ```
/// use wgpu_pooling::{MaxPool, MaxUnpool, Reference, Tensor};
///
/// let x = Tensor::new([1, 1, 2, 4], vec![1.0f32, 5.0, 2.0, 0.0, 4.0, 3.0, 7.0, 6.0])?;
/// let pool = MaxPool::new([2, 2]).strides([2, 2]);
/// let y = pool.on(&x).run_blocking(&Reference)?;
/// let (_, indices) = pool.on(&x).with_indices::<i64>().run_blocking(&Reference)?;
/// assert_eq!((y.data(), indices.data()), (&[5.0, 7.0][..], &[1, 6][..]));
/// let back = MaxUnpool::inverse_of(&pool, x.shape()).on(&y, &indices).run_blocking(&Reference)?;
/// assert_eq!(back.data(), &[0.0, 5.0, 0.0, 0.0, 0.0, 0.0, 7.0, 0.0]);
///
/// // A shape with a slice is a tensor, too; the index type may follow from its use; outputs may be the caller's.
/// let (mut mine, mut places) = (vec![0.0; 2], vec![0i32; 2]);
/// pool.on((&[1, 1, 2, 4], x.data())).with_indices().to(&mut mine, &mut places).run_blocking(&Reference)?;
/// assert_eq!((mine, places), (vec![5.0, 7.0], vec![1, 6]));
/// # Ok::<(), wgpu_pooling::ExecuteError>(())
/// ```
///
/// Mistakes that types can show do not compile:
///
/// ```compile_fail,E0277
/// # use wgpu_pooling::*;
/// # fn f(unpool: MaxUnpool, y: Tensor<f32>) -> Result<(), ExecuteError> {
/// // `f32` is not an index type
/// let back = unpool.on(&y, &y).run_blocking(&Reference)?;
/// # Ok(()) }
/// ```
///
/// ```compile_fail,E0308
/// # use wgpu_pooling::*;
/// # fn f(pool: MaxPool, x: Tensor<f32>) -> Result<(), ExecuteError> {
/// // expected `Tensor<f32>`, found `(_, _)`: `.with_indices` is missing
/// let (y, indices) = pool.on(&x).run_blocking(&Reference)?;
/// # Ok(()) }
/// ```
///
/// ```compile_fail,E0308
/// # use wgpu_pooling::*;
/// # fn f(pool: MaxPool, x: Tensor<f32>) -> Result<(), ExecuteError> {
/// // expected `Tensor<f16>`, found `Tensor<f32>`
/// let y: Tensor<half::f16> = pool.on(&x).run_blocking(&Reference)?;
/// # Ok(()) }
/// ```
///
/// ```compile_fail,E0283
/// # use wgpu_pooling::*;
/// # fn f(pool: MaxPool, x: Tensor<f32>) -> Result<(), ExecuteError> {
/// // cannot infer type of the type parameter `I` declared on the method `with_indices`
/// let (y, indices) = pool.on(&x).with_indices().run_blocking(&Reference)?;
/// # Ok(()) }
/// ```
///
/// ```compile_fail,E0599
/// # use wgpu_pooling::*;
/// # fn f(unpool: MaxUnpool, y: Tensor<f32>, i: Tensor<i64>) -> Result<(), ExecuteError> {
/// // no method named `with_indices`: an unpool has none
/// let back = unpool.on(&y, &i).with_indices::<i64>().run_blocking(&Reference)?;
/// # Ok(()) }
/// ```
///
/// ```compile_fail,E0277
/// # use wgpu_pooling::*;
/// # fn f(pool: MaxPool, x: &[f32]) -> Result<(), ExecuteError> {
/// // `&[f32]` is not a tensor: it has no shape
/// let y = pool.on(x).run_blocking(&Reference)?;
/// # Ok(()) }
/// ```
#[must_use = "a request computes nothing until it is run"]
#[derive(Debug)]
pub struct Request<'a, O, S = Complete> {
    call: Result<Call<'a>, PlanError>,
    types: PhantomData<fn() -> (O, S)>,
}

/// A request without its types.
#[derive(Debug)]
struct Call<'a> {
    plan: Plan,
    inputs: Vec<TensorRef<'a>>,
    given: Vec<(DType, &'a mut [u8])>,
    /// What the indices of a pool would be.
    rules: Option<IndexPlan>,
}

impl<'a> Call<'a> {
    fn with_indices(self, index_type: IndexType) -> Result<Self, PlanError> {
        match (self.plan, self.rules) {
            (Plan::Pool(plan), Some(rules)) => {
                let plan = Plan::Pool(plan.with_indices(IndexPlan { index_type, ..rules })?);
                Ok(Call { plan, rules: None, ..self })
            }
            (plan, rules) => Ok(Call { plan, rules, ..self }),
        }
    }

    /// The tensors of the caller's memory.
    fn outputs<'b>(plan: &'b Plan, given: &'b mut [(DType, &'a mut [u8])]) -> Result<Vec<TensorMut<'b>>, PlanError> {
        let outputs = given.iter_mut().zip(plan.outputs());
        let output = |((dtype, bytes), spec): (&'b mut (DType, &'a mut [u8]), &'b TensorSpec)| {
            spec.check_length(bytes.len() / dtype.bytes())?;
            TensorMut::new(*dtype, &spec.shape, bytes)
        };
        outputs.map(output).collect()
    }

    async fn run(mut self, made: &mut [TensorMut<'_>], backend: &dyn Backend) -> Result<(), ExecuteError> {
        if self.given.is_empty() {
            return backend.run(&self.plan, &self.inputs, made).await;
        }
        let outputs = &mut *Call::outputs(&self.plan, &mut self.given)?;
        backend.run(&self.plan, &self.inputs, outputs).await
    }

    #[cfg(not(target_arch = "wasm32"))]
    fn run_blocking(mut self, made: &mut [TensorMut<'_>], backend: &dyn Backend) -> Result<(), ExecuteError> {
        if self.given.is_empty() {
            return backend.run_blocking(&self.plan, &self.inputs, made);
        }
        let outputs = &mut *Call::outputs(&self.plan, &mut self.given)?;
        backend.run_blocking(&self.plan, &self.inputs, outputs)
    }
}

impl<'a, O, S> Request<'a, O, S> {
    fn new(call: Result<Call<'a>, PlanError>) -> Self {
        Request { call, types: PhantomData }
    }

    /// A request of a plan with its inputs, whose types the caller has checked.
    pub(crate) fn of(planned: Result<(Plan, Vec<TensorRef<'a>>), PlanError>) -> Self {
        Request::new(planned.map(|(plan, inputs)| Call { plan, inputs, given: Vec::new(), rules: None }))
    }

    fn given(self, given: Vec<(DType, &'a mut [u8])>) -> Request<'a, ()> {
        Request::new(self.call.map(|call| Call { given, ..call }))
    }

    /// The plan with its inputs, or why there is none.
    pub(crate) fn into_plan(self) -> Result<(Plan, Vec<TensorRef<'a>>), PlanError> {
        self.call.map(|call| (call.plan, call.inputs))
    }

    /// The plan, or why there is none.
    ///
    /// # Errors
    /// Those of the operator's `plan`, and of the tensors.
    pub fn plan(&self) -> Result<&Plan, &PlanError> {
        self.call.as_ref().map(|call| &call.plan)
    }
}

impl<'a, T: Element> Request<'a, Tensor<T>, ValuesOnly> {
    /// A request of any pool: the `on` of each pool calls this.
    ///
    /// ```
    /// use wgpu_pooling::{AdaptiveMaxPool, GlobalMaxPool, Pooling, Reference, Request, Tensor};
    /// let x = Tensor::new([1, 1, 3], vec![3u8, 1, 2])?;
    /// for pool in [&GlobalMaxPool::new() as &dyn Pooling, &AdaptiveMaxPool::new([1])] {
    ///     assert_eq!(Request::pool(pool, &x).run_blocking(&Reference)?.data(), &[3]);
    /// }
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn pool(pool: &(impl Pooling + ?Sized), x: impl AsTensor<'a, Element = T>) -> Self {
        let call = |x: TensorRef<'a>| {
            let (plan, rules) = pool.plan_and_rules(x.shape(), x.dtype())?;
            Ok(Call { plan: Plan::Pool(plan), inputs: vec![x], given: Vec::new(), rules: Some(rules) })
        };
        Request::new(x.tensor().and_then(call))
    }

    /// Asks for the indices of the maxima, too.
    pub fn with_indices<I: Index>(self) -> Request<'a, (Tensor<T>, Tensor<I>)> {
        Request::new(self.call.and_then(|call| call.with_indices(I::INDEX_TYPE)))
    }
}

impl<'a, T: Element, S> Request<'a, Tensor<T>, S> {
    /// Writes the caller's memory instead of returning a tensor: as many elements as the output has.
    ///
    /// ```
    /// use wgpu_pooling::{MaxPool, Reference, Tensor};
    /// let x = Tensor::new([1, 1, 3], vec![3u8, 1, 2])?;
    /// let mut y = [0; 2];
    /// MaxPool::new([2]).on(&x).to(&mut y).run_blocking(&Reference)?;
    /// assert_eq!(y, [3, 2]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn to(self, y: &'a mut [T]) -> Request<'a, ()> {
        self.given(vec![(T::DTYPE, bytemuck::cast_slice_mut(y))])
    }
}

impl<'a, T: Element, I: Index> Request<'a, (Tensor<T>, Tensor<I>)> {
    /// Writes the caller's memory instead of returning tensors: as many elements as the outputs have.
    ///
    /// ```
    /// use wgpu_pooling::{MaxPool, Reference, Tensor};
    /// let x = Tensor::new([1, 1, 3], vec![3u8, 1, 2])?;
    /// let (mut y, mut indices) = ([0; 2], [0i64; 2]);
    /// MaxPool::new([2]).on(&x).with_indices().to(&mut y, &mut indices).run_blocking(&Reference)?;
    /// assert_eq!((y, indices), ([3, 2], [0, 2]));
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn to(self, y: &'a mut [T], indices: &'a mut [I]) -> Request<'a, ()> {
        self.given(vec![(T::DTYPE, bytemuck::cast_slice_mut(y)), (I::DTYPE, bytemuck::cast_slice_mut(indices))])
    }
}

impl<O: Outputs, S> Request<'_, O, S> {
    /// Computes it on a backend.
    ///
    /// # Errors
    /// The plan's; [`PlanError::DataLength`] for memory of another length than the outputs'; the errors of
    /// [`Backend::run`].
    ///
    /// ```
    /// # async fn f(gpu: &dyn wgpu_pooling::Backend) -> Result<(), wgpu_pooling::ExecuteError> {
    /// use wgpu_pooling::{MaxPool, Tensor};
    /// let x = Tensor::new([1, 1, 3], vec![3u8, 1, 2])?;
    /// let y = MaxPool::new([2]).on(&x).run(gpu).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn run(self, backend: &dyn Backend) -> Result<O, ExecuteError> {
        let call = self.call?;
        let mut made = O::new(&call.plan)?;
        call.run(made.tensors().as_mut(), backend).await?;
        made.completed()
    }

    /// [`Request::run`], waiting for the result in this thread. Outside the web.
    ///
    /// # Errors
    /// As [`Request::run`].
    ///
    /// ```
    /// use wgpu_pooling::{MaxPool, Reference, Tensor};
    /// let x = Tensor::new([1, 1, 3], vec![3u8, 1, 2])?;
    /// assert_eq!(MaxPool::new([2]).on(&x).run_blocking(&Reference)?.data(), &[3, 2]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    #[cfg(not(target_arch = "wasm32"))]
    pub fn run_blocking(self, backend: &dyn Backend) -> Result<O, ExecuteError> {
        let call = self.call?;
        let mut made = O::new(&call.plan)?;
        call.run_blocking(made.tensors().as_mut(), backend)?;
        made.completed()
    }
}
