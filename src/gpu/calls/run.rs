//! The GPU as a backend: every call from bytes of the host to bytes of the host ends here.

use std::sync::Arc;

use wgpu_pooling_plan::internal::check_operands;
use wgpu_pooling_plan::with_element;
use wgpu_pooling_plan::{
    Backend, Element, ExecuteError, Index, IndexType, Later, Plan, PlanError, PoolPlan, Run, Tensor, TensorMut,
    TensorRef, TensorView, UnpoolPlan,
};

use super::chain::Chain;
use super::gpu::Gpu;
use super::prepare::Prepared;
use super::results::Results;
use crate::report::Report;
use crate::schedule::refuses_the_kernel;

impl Prepared {
    async fn compute(&self, inputs: &[TensorRef<'_>], outputs: &mut [TensorMut<'_>]) -> Result<(), ExecuteError> {
        check_operands(self.schedule().plan(), inputs, outputs)?;
        self.compute_checked(inputs, outputs).await
    }

    /// Uploads the inputs, which are the plan's as the outputs are, computes, and reads the outputs back: in one
    /// submit, unless a watchdog could stop it.
    async fn compute_checked(
        &self,
        inputs: &[TensorRef<'_>],
        outputs: &mut [TensorMut<'_>],
    ) -> Result<(), ExecuteError> {
        // Without outputs there is nothing to compute.
        if self.schedule().dispatches.is_empty() {
            return Ok(());
        }
        let mut chain = self.gpu.chain().one_shot();
        let mut tensors = Vec::with_capacity(inputs.len());
        for (&x, spec) in inputs.iter().zip(self.schedule().plan().inputs()) {
            tensors.push(chain.upload(x, spec.layout)?);
        }
        let tensors = chain.record(self, &tensors.iter().collect::<Vec<_>>(), &[])?;
        let places = tensors.iter().map(|tensor| chain.read_back_bytes(tensor)).collect::<Result<Vec<_>, _>>()?;
        only_step(chain).await?.write(&places, outputs)
    }

    /// Checks the report in [`Buffers::report`](crate::Buffers::report), which the caller has read back:
    /// [`Report::check`] with the plan of this preparation. If there were bad indices, Y still has the values of the
    /// good indices, and a conversion has written -1 for the bad ones.
    ///
    /// # Errors
    /// [`ExecuteError::IndexOutOfRange`], [`ExecuteError::IndexOutsideWindow`] or [`ExecuteError::IndexNotInPlane`] if
    /// there were bad indices; [`ExecuteError::OperatorMismatch`] if this is a pool, which has no report.
    ///
    /// ```no_run
    /// # use wgpu_pooling::{ExecuteError, Prepared, Report};
    /// # fn f(unpool: Prepared, read_back: &[u8]) -> Result<(), ExecuteError> {
    /// let report = Report::from_bytes(read_back).expect("32 bytes");
    /// unpool.read_report(report)?;
    /// println!("every index was good");
    /// # Ok(())
    /// # }
    /// ```
    pub fn read_report(&self, report: impl Into<Report>) -> Result<(), ExecuteError> {
        report.into().check(self.schedule().plan())
    }
}

impl Run for Prepared {
    fn plan(&self) -> &Plan {
        self.schedule().plan()
    }

    fn kernel(&self) -> String {
        self.schedule().kernel()
    }

    fn run<'a>(&'a self, inputs: &'a [TensorRef<'a>], outputs: &'a mut [TensorMut<'_>]) -> Later<'a, ()> {
        Box::pin(self.compute(inputs, outputs))
    }

    #[cfg(not(target_arch = "wasm32"))]
    fn run_blocking(&self, inputs: &[TensorRef<'_>], outputs: &mut [TensorMut<'_>]) -> Result<(), ExecuteError> {
        pollster::block_on(self.polling().compute(inputs, outputs))
    }
}

impl Backend for Gpu {
    fn name(&self) -> String {
        let info = self.adapter_info();
        let driver = format!("{} {}", info.driver, info.driver_info);
        let parts = [info.name, info.backend.to_string(), format!("{:?}", info.device_type), driver];
        // Drivers may have line breaks in their names, and browsers do not name drivers.
        let words = parts.map(|part| part.split_whitespace().collect::<Vec<_>>().join(" "));
        words.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
    }

    fn prepare(&self, plan: Plan) -> Later<'_, Arc<dyn Run>> {
        Box::pin(async move { Ok(Arc::new(Gpu::prepare(self, plan).await?) as Arc<dyn Run>) })
    }

    fn run<'a>(
        &'a self,
        plan: &'a Plan,
        inputs: &'a [TensorRef<'a>],
        outputs: &'a mut [TensorMut<'_>],
    ) -> Later<'a, ()> {
        Box::pin(self.compute(plan, inputs, outputs))
    }

    #[cfg(not(target_arch = "wasm32"))]
    fn run_blocking(
        &self,
        plan: &Plan,
        inputs: &[TensorRef<'_>],
        outputs: &mut [TensorMut<'_>],
    ) -> Result<(), ExecuteError> {
        pollster::block_on(self.polling().compute(plan, inputs, outputs))
    }
}

impl Gpu {
    /// A call through the plan cache; in tiles if the tensors exceed the device's limits.
    async fn compute(
        &self,
        plan: &Plan,
        inputs: &[TensorRef<'_>],
        outputs: &mut [TensorMut<'_>],
    ) -> Result<(), ExecuteError> {
        check_operands(plan, inputs, outputs)?;
        let whole = async { self.prepare_cached(plan).await?.compute_checked(inputs, outputs).await };
        match whole.await {
            Err(error) if exceeds_limits(&error) => self.run_in_tiles(plan, inputs, outputs, error).await,
            other => other,
        }
    }

    /// A plan whose tensors exceed the device's limits, as `error` says.
    async fn run_in_tiles(
        &self,
        plan: &Plan,
        inputs: &[TensorRef<'_>],
        outputs: &mut [TensorMut<'_>],
        error: ExecuteError,
    ) -> Result<(), ExecuteError> {
        let dtype = plan.inputs()[0].dtype;
        // Each future is boxed, so that this one is not as large as all of them.
        match plan {
            Plan::Pool(plan) => {
                with_element!(dtype, T => Box::pin(self.pool_in_tiles::<T>(plan, inputs, outputs)).await)
            }
            Plan::Unpool(plan) => match plan.index_type() {
                IndexType::I32 => {
                    with_element!(dtype, T => Box::pin(self.unpool_in_tiles::<T, i32>(plan, inputs, outputs)).await)
                }
                IndexType::I64 => {
                    with_element!(dtype, T => Box::pin(self.unpool_in_tiles::<T, i64>(plan, inputs, outputs)).await)
                }
            },
            Plan::Convert(_) => Err(error),
        }
    }

    async fn pool_in_tiles<T: Element>(
        &self,
        plan: &PoolPlan,
        inputs: &[TensorRef<'_>],
        outputs: &mut [TensorMut<'_>],
    ) -> Result<(), ExecuteError> {
        let elements = inputs[0].elements::<T>()?;
        let x = TensorView::new(inputs[0].shape(), &elements)?;
        match plan.indices().map(|indices| indices.index_type) {
            None => put(&mut outputs[0], &self.max_pool_in_tiles(plan, x).await?),
            Some(IndexType::I32) => {
                let (y, indices) = self.max_pool_with_indices_in_tiles::<T, i32>(plan, x).await?;
                put(&mut outputs[0], &y)?;
                put(&mut outputs[1], &indices)
            }
            Some(IndexType::I64) => {
                let (y, indices) = self.max_pool_with_indices_in_tiles::<T, i64>(plan, x).await?;
                put(&mut outputs[0], &y)?;
                put(&mut outputs[1], &indices)
            }
        }
    }

    async fn unpool_in_tiles<T: Element, I: Index>(
        &self,
        plan: &UnpoolPlan,
        inputs: &[TensorRef<'_>],
        outputs: &mut [TensorMut<'_>],
    ) -> Result<(), ExecuteError> {
        let (x, indices) = (inputs[0].elements::<T>()?, inputs[1].elements::<I>()?);
        let (x, indices) = (TensorView::new(inputs[0].shape(), &x)?, TensorView::new(inputs[1].shape(), &indices)?);
        put(&mut outputs[0], &self.max_unpool_in_tiles(plan, x, indices).await?)
    }
}

/// Writes a tensor whose elements are computed.
fn put<T: Element>(output: &mut TensorMut<'_>, tensor: &Tensor<T>) -> Result<(), ExecuteError> {
    output.put(bytemuck::cast_slice(tensor.data()))
}

/// Runs a chain of one step, whose error is returned without the step's number.
async fn only_step(chain: Chain) -> Result<Results, ExecuteError> {
    let results = chain.submit()?.finished().await?;
    match results.first_report()? {
        None => Ok(results),
        Some((_, error)) => Err(error),
    }
}

/// Whether a plan failed because a tensor is too large for one schedule on this device.
fn exceeds_limits(error: &ExecuteError) -> bool {
    matches!(error, ExecuteError::Plan(error @ PlanError::ExceedsLimit { .. }) if !refuses_the_kernel(error))
}
