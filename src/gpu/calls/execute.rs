//! One-shot calls on tensors whose element type is known at run time only.

use wgpu_pooling_plan::internal::{assign_both, check_operands};
use wgpu_pooling_plan::with_element;
use wgpu_pooling_plan::{
    Element, ExecuteError, Index, IndexType, Plan, PoolPlan, TensorMut, TensorRef, TensorView, UnpoolPlan,
};

use super::gpu::Gpu;
use super::one_shot::{exceeds_limits, only_step};
use super::prepare::Prepared;

impl Prepared {
    /// Computes the plan: reads the tensors of [`Plan::inputs`] and writes those of [`Plan::outputs`]. If there is an
    /// error, nothing is written.
    ///
    /// # Errors
    /// [`PlanError::OperandCount`](crate::PlanError::OperandCount), [`ExecuteError::TypeMismatch`] and
    /// [`ExecuteError::ShapeMismatch`] if the tensors are not the plan's; otherwise as [`Prepared::max_pool`],
    /// [`Prepared::max_unpool`] and [`Prepared::convert_indices`].
    ///
    /// ```no_run
    /// # async fn f(prepared: wgpu_pooling::Prepared) -> Result<(), wgpu_pooling::ExecuteError> {
    /// use wgpu_pooling::{DType, TensorMut, TensorRef};
    /// let x = TensorRef::new(DType::U8, [1, 1, 4], &[3, 1, 2, 9])?;
    /// let mut y = [0; 2];
    /// prepared.execute(&[x], &mut [TensorMut::new(DType::U8, [1, 1, 2], &mut y)?]).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn execute(&self, inputs: &[TensorRef<'_>], outputs: &mut [TensorMut<'_>]) -> Result<(), ExecuteError> {
        let plan = self.schedule().plan();
        check_operands(plan.operator(), (plan.inputs(), inputs), (plan.outputs(), outputs))?;
        // Without outputs there is nothing to compute.
        if self.schedule().dispatches.is_empty() {
            return Ok(());
        }
        let mut chain = self.gpu.chain().one_shot();
        let mut tensors = Vec::with_capacity(inputs.len());
        for (x, spec) in inputs.iter().zip(plan.inputs()) {
            tensors.push(chain.upload(x.clone(), spec.layout)?);
        }
        let tensors = chain.record(self, &tensors.iter().collect::<Vec<_>>(), &[])?;
        let places = tensors.iter().map(|tensor| chain.read_back_bytes(tensor)).collect::<Result<Vec<_>, _>>()?;
        only_step(chain).await?.write(&places, outputs)
    }

    /// The blocking twin of [`Prepared::execute`].
    ///
    /// # Errors
    /// As [`Prepared::execute`].
    ///
    /// ```no_run
    /// # use wgpu_pooling::{ExecuteError, Prepared, TensorMut, TensorRef};
    /// # fn f(prepared: Prepared, inputs: &[TensorRef], outputs: &mut [TensorMut]) -> Result<(), ExecuteError> {
    /// prepared.execute_blocking(inputs, outputs)?;
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(not(target_arch = "wasm32"))]
    pub fn execute_blocking(
        &self,
        inputs: &[TensorRef<'_>],
        outputs: &mut [TensorMut<'_>],
    ) -> Result<(), ExecuteError> {
        pollster::block_on(self.polling().execute(inputs, outputs))
    }
}

impl Gpu {
    /// Computes a plan: reads the tensors of [`Plan::inputs`] and writes those of [`Plan::outputs`]. If there is an
    /// error, nothing is written. Pools and unpools beyond the device's limits are computed in tiles. This is the call
    /// for runtimes, whose tensors have their element type at run time only; [`Node`](crate::Node) leads from a model's
    /// node to its plan.
    ///
    /// # Errors
    /// As [`Prepared::execute`], and [`ExecuteError::Plan`] for a plan that no device of these limits computes.
    ///
    /// ```no_run
    /// # async fn f(gpu: wgpu_pooling::Gpu) -> Result<(), wgpu_pooling::ExecuteError> {
    /// use wgpu_pooling::{DType, MaxPool, Plan, TensorMut, TensorRef};
    /// let x = TensorRef::new(DType::U8, [1, 1, 4], &[3, 1, 2, 9])?;
    /// let plan: Plan = MaxPool::new([2]).strides([2]).plan(x.shape(), x.dtype(), None)?.into();
    /// let mut y = vec![0; plan.outputs()[0].bytes() as usize];
    /// gpu.execute(&plan, &[x], &mut [TensorMut::new(DType::U8, [1, 1, 2], &mut y)?]).await?;
    /// assert_eq!(y, [3, 9]);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn execute(
        &self,
        plan: &Plan,
        inputs: &[TensorRef<'_>],
        outputs: &mut [TensorMut<'_>],
    ) -> Result<(), ExecuteError> {
        check_operands(plan.operator(), (plan.inputs(), inputs), (plan.outputs(), outputs))?;
        let whole = async { self.prepare_cached(plan.clone()).await?.execute(inputs, outputs).await };
        match whole.await {
            Err(error) if exceeds_limits(&error) => self.execute_in_tiles(plan, inputs, outputs, error).await,
            other => other,
        }
    }

    /// The blocking twin of [`Gpu::execute`].
    ///
    /// # Errors
    /// As [`Gpu::execute`].
    ///
    /// ```no_run
    /// # use wgpu_pooling::{ExecuteError, Gpu, Plan, TensorMut, TensorRef};
    /// # fn f(gpu: Gpu, plan: Plan, inputs: &[TensorRef], outputs: &mut [TensorMut]) -> Result<(), ExecuteError> {
    /// gpu.execute_blocking(&plan, inputs, outputs)?;
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(not(target_arch = "wasm32"))]
    pub fn execute_blocking(
        &self,
        plan: &Plan,
        inputs: &[TensorRef<'_>],
        outputs: &mut [TensorMut<'_>],
    ) -> Result<(), ExecuteError> {
        pollster::block_on(self.polling().execute(plan, inputs, outputs))
    }

    /// A plan whose tensors exceed the device's limits, as `error` says.
    async fn execute_in_tiles(
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
            None => outputs[0].assign(&self.max_pool_in_tiles(plan, x).await?),
            Some(IndexType::I32) => {
                assign_both(outputs, &self.max_pool_with_indices_in_tiles::<T, i32>(plan, x).await?)
            }
            Some(IndexType::I64) => {
                assign_both(outputs, &self.max_pool_with_indices_in_tiles::<T, i64>(plan, x).await?)
            }
        }
        Ok(())
    }

    async fn unpool_in_tiles<T: Element, I: Index>(
        &self,
        plan: &UnpoolPlan,
        inputs: &[TensorRef<'_>],
        outputs: &mut [TensorMut<'_>],
    ) -> Result<(), ExecuteError> {
        let (x, indices) = (inputs[0].elements::<T>()?, inputs[1].elements::<I>()?);
        let (x, indices) = (TensorView::new(inputs[0].shape(), &x)?, TensorView::new(inputs[1].shape(), &indices)?);
        outputs[0].assign(&self.max_unpool_in_tiles(plan, x, indices).await?);
        Ok(())
    }
}
