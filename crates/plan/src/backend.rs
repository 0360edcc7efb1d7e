//! Backends: where plans are computed. Below this file a tensor is bytes with a [`TensorSpec`], and every call of every
//! kind ends in one `run`.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use crate::element::{Element, Index};
use crate::error::{ExecuteError, PlanError};
use crate::plan::{CompositionPlan, Plan};
use crate::tensor::{Tensor, TensorSpec};
use crate::untyped::{TensorMut, TensorRef, words_for};

/// What the methods of a [`Backend`], and of [sources](crate::AsyncSource) and [sinks](crate::AsyncSink) that wait,
/// return: a boxed future of a result, `Send` outside the web. The box is what makes `dyn Backend` possible.
///
/// ```
/// use wgpu_pooling::BoxFuture;
/// fn nothing() -> BoxFuture<'static, ()> {
///     Box::pin(async { Ok(()) })
/// }
/// ```
#[cfg(not(target_arch = "wasm32"))]
pub type BoxFuture<'a, T, E = ExecuteError> = Pin<Box<dyn Future<Output = Result<T, E>> + Send + 'a>>;
/// What the methods of a [`Backend`] return: a boxed future of a result, `Send` outside the web.
///
/// ```
/// use wgpu_pooling::BoxFuture;
/// fn nothing() -> BoxFuture<'static, ()> {
///     Box::pin(async { Ok(()) })
/// }
/// ```
#[cfg(target_arch = "wasm32")]
pub type BoxFuture<'a, T, E = ExecuteError> = Pin<Box<dyn Future<Output = Result<T, E>> + 'a>>;

/// `Send + Sync` outside the web. On the web the objects of a device belong to one thread.
///
/// ```
/// fn shared<T: wgpu_pooling::MaybeSendSync>() {}
/// shared::<wgpu_pooling::Reference>();
/// ```
#[cfg(not(target_arch = "wasm32"))]
pub trait MaybeSendSync: Send + Sync {}
#[cfg(not(target_arch = "wasm32"))]
impl<T: Send + Sync + ?Sized> MaybeSendSync for T {}

/// `Send + Sync` outside the web. On the web the objects of a device belong to one thread.
///
/// ```
/// fn shared<T: wgpu_pooling::MaybeSendSync>() {}
/// shared::<wgpu_pooling::Reference>();
/// ```
#[cfg(target_arch = "wasm32")]
pub trait MaybeSendSync {}
#[cfg(target_arch = "wasm32")]
impl<T: ?Sized> MaybeSendSync for T {}

/// Where plans are computed: `Gpu`, `Cpu`, `Device`, which is either of these, and [`Reference`](crate::Reference). All
/// give the same bits.
///
/// Programs call a [`Request`](crate::Request), which takes any backend; a runtime that chooses among several holds an
/// `Arc<dyn Backend>`.
///
/// ```
/// use wgpu_pooling::{Backend, MaxPool, Reference, Tensor};
///
/// let backends: [Box<dyn Backend>; 1] = [Box::new(Reference)];
/// let x = Tensor::new([1, 1, 3], vec![3u8, 1, 2])?;
/// for backend in &backends {
///     assert_eq!(MaxPool::new([2]).on(&x).run_blocking(backend)?.data(), &[3, 2], "{}", backend.name());
/// }
/// # Ok::<(), wgpu_pooling::ExecuteError>(())
/// ```
pub trait Backend: MaybeSendSync {
    /// The backend in words, for a line of a log.
    fn name(&self) -> String;

    /// Makes a plan ready, for calls that are made more than once.
    ///
    /// # Errors
    /// [`ExecuteError::Plan`] if the backend cannot compute the plan; errors of a device.
    ///
    /// ```
    /// use wgpu_pooling::{Backend, DType, MaxPool, PreparedPlan};
    ///
    /// # async fn f(backend: &dyn Backend) -> Result<(), wgpu_pooling::ExecuteError> {
    /// let plan = MaxPool::new([2]).plan(&[1, 1, 3], DType::U8, None)?;
    /// let prepared = backend.prepare(plan).await?;
    /// println!("{} by {}", backend.name(), prepared.kernel());
    /// # Ok(())
    /// # }
    /// ```
    fn prepare(&self, plan: Plan) -> BoxFuture<'_, Arc<dyn PreparedPlan>>;

    /// Computes a plan once: reads the tensors of [`Plan::inputs`] and writes those of [`Plan::outputs`].
    ///
    /// # Errors
    /// As [`Backend::prepare`] and [`PreparedPlan::run`].
    ///
    /// ```
    /// use wgpu_pooling::{Backend, DType, MaxPool, Tensor};
    ///
    /// # async fn f(backend: &dyn Backend) -> Result<(), wgpu_pooling::ExecuteError> {
    /// let plan = MaxPool::new([2]).plan(&[1, 1, 3], DType::U8, None)?;
    /// let x = Tensor::new([1, 1, 3], vec![3u8, 1, 2])?;
    /// let mut y = Tensor::new([1, 1, 2], vec![0u8; 2])?;
    /// backend.run(&plan, &[(&x).into()], &mut [(&mut y).into()]).await?;
    /// # Ok(())
    /// # }
    /// ```
    fn run<'a>(
        &'a self,
        plan: &'a Plan,
        inputs: &'a [TensorRef<'a>],
        outputs: &'a mut [TensorMut<'_>],
    ) -> BoxFuture<'a, ()> {
        Box::pin(async move { self.prepare(plan.clone()).await?.run(inputs, outputs).await })
    }

    /// [`Backend::run`], waiting for the result in this thread. Outside the web.
    ///
    /// # Errors
    /// As [`Backend::run`].
    #[cfg(not(target_arch = "wasm32"))]
    fn run_blocking(
        &self,
        plan: &Plan,
        inputs: &[TensorRef<'_>],
        outputs: &mut [TensorMut<'_>],
    ) -> Result<(), ExecuteError>;

    /// An error if there is no point in further calls. [Streams](crate::Stream) ask it before each tile.
    ///
    /// # Errors
    /// [`ExecuteError::DeviceLost`] if a device is lost; [`ExecuteError::Interrupted`] if the caller of a CPU backend
    /// wants calls to stop.
    ///
    /// ```
    /// use wgpu_pooling::{Backend, Reference};
    /// assert!(Reference.check_alive().is_ok());
    /// ```
    fn check_alive(&self) -> Result<(), ExecuteError> {
        Ok(())
    }

    /// The most bytes of the host and of a device that a [stream](crate::Stream) holds if its largest tile has this
    /// plan. On a device two tiles are in flight at a time. A backend that has no device and does not wait holds the
    /// tensors of one tile, and what lies between the steps of a composition.
    ///
    /// # Errors
    /// Why the backend cannot compute such a tile: [`PlanError::ExceedsLimit`](crate::PlanError::ExceedsLimit) if it is
    /// too large.
    ///
    /// ```
    /// use wgpu_pooling::{Backend, DType, MaxPool, Reference};
    /// let plan = MaxPool::new([2]).plan(&[1, 1, 3], DType::F32, None)?;
    /// assert_eq!(Reference.stream_bytes(&plan), Ok(4 * (3 + 2)));
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    fn stream_bytes(&self, tile: &Plan) -> Result<u64, PlanError> {
        Ok(tile.bytes().saturating_add(tile.bytes_between()))
    }

    /// [`Backend::prepare`] for a tile of a [stream](crate::Stream). The tile's plan decides the kernel, whatever
    /// choice the handle has.
    ///
    /// # Errors
    /// As [`Backend::prepare`].
    ///
    /// ```
    /// use wgpu_pooling::{Backend, DType, MaxPool, PreparedPlan};
    ///
    /// # async fn f(backend: &dyn Backend) -> Result<(), wgpu_pooling::ExecuteError> {
    /// let tile = backend.prepare_tile(MaxPool::new([2]).plan(&[1, 1, 3], DType::U8, None)?).await?;
    /// println!("{} holds {} bytes of a device in each call", tile.kernel(), tile.device_bytes());
    /// # Ok(())
    /// # }
    /// ```
    fn prepare_tile(&self, plan: Plan) -> BoxFuture<'_, Arc<dyn PreparedPlan>> {
        self.prepare(plan)
    }
}

/// A plan made ready on a backend, for any number of calls.
///
/// ```
/// use wgpu_pooling::{Backend, DType, MaxPool, Reference, PreparedPlan, Tensor};
///
/// # async fn f() -> Result<(), wgpu_pooling::ExecuteError> {
/// let plan = MaxPool::new([2]).plan(&[1, 1, 3], DType::U8, None)?;
/// let prepared = Backend::prepare(&Reference, plan).await?;
/// let x = Tensor::new([1, 1, 3], vec![3u8, 1, 2])?;
/// let y: Tensor<u8> = prepared.call(&[(&x).into()]).await?;
/// assert_eq!(y.data(), &[3, 2]);
/// # Ok(())
/// # }
/// ```
pub trait PreparedPlan: MaybeSendSync {
    /// The plan.
    fn plan(&self) -> &Plan;

    /// The name of the kernel that computes it.
    fn kernel(&self) -> String;

    /// The bytes of a device's memory that a call holds: tensors, staging and scratch memory.
    fn device_bytes(&self) -> u64 {
        0
    }

    /// Reads the tensors of [`Plan::inputs`] and writes those of [`Plan::outputs`], whatever their element types. A GPU
    /// submits its work at the first poll of the future, so runs overlap if each was polled once. A future that is
    /// dropped cancels the call.
    ///
    /// # Errors
    /// [`PlanError::OperandCount`](crate::PlanError::OperandCount), [`ExecuteError::TypeMismatch`] and
    /// [`ExecuteError::ShapeMismatch`] if the tensors are not the plan's; [`ExecuteError::IndexOutOfRange`] and
    /// [`ExecuteError::IndexOutsideWindow`] for bad indices, unless the plan skips them; [`ExecuteError::OutOfMemory`],
    /// [`ExecuteError::Interrupted`] and errors of a device. If there is an error other than `Interrupted` and
    /// `OutOfMemory`, outputs that are not [fresh](TensorMut::fresh) are as they were.
    ///
    /// ```
    /// use wgpu_pooling::{Backend, DType, MaxPool, PreparedPlan, Tensor};
    ///
    /// # async fn f(backend: &dyn Backend) -> Result<(), wgpu_pooling::ExecuteError> {
    /// let plan = MaxPool::new([2]).plan(&[1, 1, 3], DType::U8, None)?;
    /// let x = Tensor::new([1, 1, 3], vec![3u8, 1, 2])?;
    /// let mut y = Tensor::new([1, 1, 2], vec![0u8; 2])?;
    /// let prepared = backend.prepare(plan).await?;
    /// prepared.run(&[(&x).into()], &mut [(&mut y).into()]).await?;
    /// # Ok(())
    /// # }
    /// ```
    fn run<'a>(&'a self, inputs: &'a [TensorRef<'a>], outputs: &'a mut [TensorMut<'_>]) -> BoxFuture<'a, ()>;

    /// [`PreparedPlan::run`], waiting for the result in this thread. Outside the web.
    ///
    /// # Errors
    /// As [`PreparedPlan::run`].
    #[cfg(not(target_arch = "wasm32"))]
    fn run_blocking(&self, inputs: &[TensorRef<'_>], outputs: &mut [TensorMut<'_>]) -> Result<(), ExecuteError>;

    /// The outputs as new tensors of known types: `Tensor<T>`, or `(Tensor<T>, Tensor<I>)` for a pool with indices.
    ///
    /// # Errors
    /// As [`PreparedPlan::run`]; [`PlanError::OperandCount`](crate::PlanError::OperandCount) and
    /// [`ExecuteError::TypeMismatch`] if the plan has other outputs.
    ///
    /// ```
    /// use wgpu_pooling::{Backend, DType, MaxPool, PreparedPlan, Tensor};
    ///
    /// # async fn f(backend: &dyn Backend) -> Result<(), wgpu_pooling::ExecuteError> {
    /// let plan = MaxPool::new([2]).plan(&[1, 1, 3], DType::U8, None)?;
    /// let x = Tensor::new([1, 1, 3], vec![3u8, 1, 2])?;
    /// let prepared = backend.prepare(plan).await?;
    /// let y: Tensor<u8> = prepared.call(&[(&x).into()]).await?;
    /// # Ok(())
    /// # }
    /// ```
    fn call<'a, O: Outputs + 'a>(&'a self, inputs: &'a [TensorRef<'a>]) -> BoxFuture<'a, O>
    where
        Self: Sized,
    {
        Box::pin(async move {
            let mut made = O::new(self.plan())?;
            self.run(inputs, made.tensors().as_mut()).await?;
            made.completed()
        })
    }

    /// [`PreparedPlan::call`], waiting for the result in this thread. Outside the web.
    ///
    /// # Errors
    /// As [`PreparedPlan::call`].
    #[cfg(not(target_arch = "wasm32"))]
    fn call_blocking<O: Outputs>(&self, inputs: &[TensorRef<'_>]) -> Result<O, ExecuteError>
    where
        Self: Sized,
    {
        let mut made = O::new(self.plan())?;
        self.run_blocking(inputs, made.tensors().as_mut())?;
        made.completed()
    }
}

/// Computes the step with this number: reads these tensors and writes that one.
type RunStep<C> = for<'b> fn(&'b C, usize, &'b [TensorRef<'b>], &'b mut [TensorMut<'_>]) -> BoxFuture<'b, ()>;

/// Computes a composition step by step, with what lies between in memory of the host, as long as a later step reads it.
pub async fn step_by_step<C>(
    plan: &CompositionPlan,
    inputs: &[TensorRef<'_>],
    outputs: &mut [TensorMut<'_>],
    context: C,
    run: RunStep<C>,
) -> Result<(), ExecuteError> {
    let mut made: Vec<Vec<u64>> = Vec::new();
    for (number, step) in plan.steps.iter().enumerate() {
        let tensor = |&number: &usize| {
            let (Some(before), spec) = (number.checked_sub(inputs.len()), plan.tensor(number)) else {
                return Ok(inputs[number]);
            };
            TensorRef::new(spec.dtype, &spec.shape, &bytemuck::cast_slice(&made[before])[..spec.bytes() as usize])
        };
        let read = step.inputs.iter().map(tensor).collect::<Result<Vec<_>, _>>()?;
        let spec = plan.tensor(number + 1);
        if number + 1 == plan.steps.len() {
            return run(&context, number, &read, outputs).await;
        }
        let bytes = usize::try_from(spec.bytes()).unwrap_or(usize::MAX);
        let mut words = words_for(bytes)?;
        let y = TensorMut::new(spec.dtype, &spec.shape, &mut bytemuck::cast_slice_mut(&mut words)[..bytes])?;
        run(&context, number, &read, &mut [y.fresh()]).await?;
        made.push(words);
        for (_, words) in (1..).zip(&mut made).filter(|(between, _)| plan.last_reader(*between) <= Some(number)) {
            *words = Vec::new();
        }
    }
    Ok(())
}

/// The result of a future that never waits: it is ready when it is polled once.
pub fn at_once<T>(future: impl Future<Output = T>) -> T {
    let (mut future, mut context) = (std::pin::pin!(future), Context::from_waker(Waker::noop()));
    loop {
        if let Poll::Ready(result) = future.as_mut().poll(&mut context) {
            return result;
        }
    }
}

macro_rules! backend_by_reference {
    ($pointer:ty) => {
        impl<B: Backend + ?Sized> Backend for $pointer {
            fn name(&self) -> String {
                (**self).name()
            }

            fn prepare(&self, plan: Plan) -> BoxFuture<'_, Arc<dyn PreparedPlan>> {
                (**self).prepare(plan)
            }

            fn run<'a>(
                &'a self,
                plan: &'a Plan,
                inputs: &'a [TensorRef<'a>],
                outputs: &'a mut [TensorMut<'_>],
            ) -> BoxFuture<'a, ()> {
                (**self).run(plan, inputs, outputs)
            }

            #[cfg(not(target_arch = "wasm32"))]
            fn run_blocking(
                &self,
                plan: &Plan,
                inputs: &[TensorRef<'_>],
                outputs: &mut [TensorMut<'_>],
            ) -> Result<(), ExecuteError> {
                (**self).run_blocking(plan, inputs, outputs)
            }

            fn check_alive(&self) -> Result<(), ExecuteError> {
                (**self).check_alive()
            }

            fn stream_bytes(&self, tile: &Plan) -> Result<u64, PlanError> {
                (**self).stream_bytes(tile)
            }

            fn prepare_tile(&self, plan: Plan) -> BoxFuture<'_, Arc<dyn PreparedPlan>> {
                (**self).prepare_tile(plan)
            }
        }
    };
}

backend_by_reference!(&B);
backend_by_reference!(Box<B>);
backend_by_reference!(Arc<B>);

macro_rules! run_by_reference {
    ($pointer:ty) => {
        impl<R: PreparedPlan + ?Sized> PreparedPlan for $pointer {
            fn plan(&self) -> &Plan {
                (**self).plan()
            }

            fn kernel(&self) -> String {
                (**self).kernel()
            }

            fn device_bytes(&self) -> u64 {
                (**self).device_bytes()
            }

            fn run<'a>(&'a self, inputs: &'a [TensorRef<'a>], outputs: &'a mut [TensorMut<'_>]) -> BoxFuture<'a, ()> {
                (**self).run(inputs, outputs)
            }

            #[cfg(not(target_arch = "wasm32"))]
            fn run_blocking(
                &self,
                inputs: &[TensorRef<'_>],
                outputs: &mut [TensorMut<'_>],
            ) -> Result<(), ExecuteError> {
                (**self).run_blocking(inputs, outputs)
            }
        }
    };
}

run_by_reference!(&R);
run_by_reference!(Box<R>);
run_by_reference!(Arc<R>);

mod sealed {
    use super::{ExecuteError, Plan, TensorMut};

    pub trait Sealed: Send + Sized {
        /// Tensors without their elements yet.
        fn new(plan: &Plan) -> Result<Self, ExecuteError>;

        /// The tensors, to be written.
        fn tensors(&mut self) -> impl AsMut<[TensorMut<'_>]> + Send;

        /// The tensors after a call. Elements that a backend has not written are zeros.
        fn completed(mut self) -> Result<Self, ExecuteError> {
            self.tensors().as_mut().iter_mut().try_for_each(|tensor| tensor.bytes_mut().map(|_| ()))?;
            Ok(self)
        }
    }
}

/// The types of what a call returns: `Tensor<T>`, `(Tensor<T>, Tensor<I>)`, and `()` if the caller gave memory. Sealed.
///
/// ```
/// use wgpu_pooling::{ExecuteError, Outputs, Reference, Request};
/// fn computed<O: Outputs>(request: Request<'_, O>) -> Result<O, ExecuteError> {
///     request.run_blocking(&Reference)
/// }
/// ```
pub trait Outputs: sealed::Sealed {}

/// The outputs of a plan, if there are `N`.
fn outputs<const N: usize>(plan: &Plan) -> Result<&[TensorSpec; N], ExecuteError> {
    plan.check_count("outputs", plan.outputs(), N)?;
    plan.outputs().try_into().map_err(|_| ExecuteError::BufferMissing { what: "an output" })
}

fn empty<T: Element>(what: &'static str, spec: &TensorSpec) -> Result<Tensor<T>, ExecuteError> {
    spec.check_dtype(what, T::DTYPE)?;
    Ok(Tensor::unfilled(spec.shape.clone()))
}

impl<T: Element> Outputs for Tensor<T> {}
impl<T: Element> sealed::Sealed for Tensor<T> {
    fn new(plan: &Plan) -> Result<Self, ExecuteError> {
        let [y] = outputs(plan)?;
        empty("y", y)
    }

    fn tensors(&mut self) -> impl AsMut<[TensorMut<'_>]> + Send {
        [TensorMut::to_fill(self)]
    }
}

impl<T: Element, I: Index> Outputs for (Tensor<T>, Tensor<I>) {}
impl<T: Element, I: Index> sealed::Sealed for (Tensor<T>, Tensor<I>) {
    fn new(plan: &Plan) -> Result<Self, ExecuteError> {
        let [y, indices] = outputs(plan)?;
        Ok((empty("y", y)?, empty("indices", indices)?))
    }

    fn tensors(&mut self) -> impl AsMut<[TensorMut<'_>]> + Send {
        [TensorMut::to_fill(&mut self.0), TensorMut::to_fill(&mut self.1)]
    }
}

impl Outputs for () {}
impl sealed::Sealed for () {
    fn new(_: &Plan) -> Result<Self, ExecuteError> {
        Ok(())
    }

    fn tensors(&mut self) -> impl AsMut<[TensorMut<'_>]> + Send {
        []
    }
}
