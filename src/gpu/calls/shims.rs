//! The calls of before, each over the new door.
#![allow(missing_docs)]

use wgpu_pooling_plan::{
    Backend, ConvertIndices, Element, ExecuteError, Index, MaxUnpool, Plan, Pooling, Request, Run, Tensor, TensorMut,
    TensorRef, TensorView,
};

use super::chain::Chain;
use super::device_tensor::DeviceTensor;
use super::gpu::Gpu;
use super::prepare::Prepared;

impl Prepared {
    fn pool(&self, with_indices: bool) -> Result<(), ExecuteError> {
        match self.schedule().plan() {
            Plan::Pool(plan) => plan.check_indices(with_indices),
            other => Err(ExecuteError::OperatorMismatch { planned: other.kind(), called: "pool" }),
        }
    }
    fn is(&self, called: &'static str) -> Result<(), ExecuteError> {
        let planned = self.schedule().plan().kind();
        if planned == called { Ok(()) } else { Err(ExecuteError::OperatorMismatch { planned, called }) }
    }
    fn to<'a, T: Element>(&'a self, number: usize, y: &'a mut [T]) -> Result<TensorMut<'a>, ExecuteError> {
        let plan = self.schedule().plan();
        let spec = &plan.outputs()[number];
        spec.check_dtype(plan.operand_names()[1][number], T::DTYPE)?;
        spec.check_slice(y)?;
        Ok(TensorMut::new(T::DTYPE, &spec.shape, bytemuck::cast_slice_mut(y))?)
    }
    pub async fn max_pool<'a, T: Element>(&self, x: impl Into<TensorView<'a, T>>) -> Result<Tensor<T>, ExecuteError> {
        self.pool(false)?;
        self.call(&[x.into().into()]).await
    }
    #[cfg(not(target_arch = "wasm32"))]
    pub fn max_pool_blocking<'a, T: Element>(
        &self,
        x: impl Into<TensorView<'a, T>>,
    ) -> Result<Tensor<T>, ExecuteError> {
        self.pool(false)?;
        self.call_blocking(&[x.into().into()])
    }
    pub async fn max_pool_into<'a, T: Element>(
        &self,
        x: impl Into<TensorView<'a, T>>,
        y: &mut [T],
    ) -> Result<(), ExecuteError> {
        self.pool(false)?;
        self.run(&[x.into().into()], &mut [self.to(0, y)?]).await
    }
    #[cfg(not(target_arch = "wasm32"))]
    pub fn max_pool_into_blocking<'a, T: Element>(
        &self,
        x: impl Into<TensorView<'a, T>>,
        y: &mut [T],
    ) -> Result<(), ExecuteError> {
        self.pool(false)?;
        self.run_blocking(&[x.into().into()], &mut [self.to(0, y)?])
    }
    pub async fn max_pool_with_indices<'a, T: Element, I: Index>(
        &self,
        x: impl Into<TensorView<'a, T>>,
    ) -> Result<(Tensor<T>, Tensor<I>), ExecuteError> {
        self.pool(true)?;
        self.call(&[x.into().into()]).await
    }
    #[cfg(not(target_arch = "wasm32"))]
    pub fn max_pool_with_indices_blocking<'a, T: Element, I: Index>(
        &self,
        x: impl Into<TensorView<'a, T>>,
    ) -> Result<(Tensor<T>, Tensor<I>), ExecuteError> {
        self.pool(true)?;
        self.call_blocking(&[x.into().into()])
    }
    pub async fn max_pool_with_indices_into<'a, T: Element, I: Index>(
        &self,
        x: impl Into<TensorView<'a, T>>,
        y: &mut [T],
        indices: &mut [I],
    ) -> Result<(), ExecuteError> {
        self.pool(true)?;
        self.run(&[x.into().into()], &mut [self.to(0, y)?, self.to(1, indices)?]).await
    }
    #[cfg(not(target_arch = "wasm32"))]
    pub fn max_pool_with_indices_into_blocking<'a, T: Element, I: Index>(
        &self,
        x: impl Into<TensorView<'a, T>>,
        y: &mut [T],
        indices: &mut [I],
    ) -> Result<(), ExecuteError> {
        self.pool(true)?;
        self.run_blocking(&[x.into().into()], &mut [self.to(0, y)?, self.to(1, indices)?])
    }
    pub async fn max_unpool<'a, T: Element, I: Index>(
        &self,
        x: impl Into<TensorView<'a, T>>,
        indices: impl Into<TensorView<'a, I>>,
    ) -> Result<Tensor<T>, ExecuteError> {
        self.is("unpool")?;
        self.call(&[x.into().into(), indices.into().into()]).await
    }
    #[cfg(not(target_arch = "wasm32"))]
    pub fn max_unpool_blocking<'a, T: Element, I: Index>(
        &self,
        x: impl Into<TensorView<'a, T>>,
        indices: impl Into<TensorView<'a, I>>,
    ) -> Result<Tensor<T>, ExecuteError> {
        self.is("unpool")?;
        self.call_blocking(&[x.into().into(), indices.into().into()])
    }
    pub async fn max_unpool_into<'a, T: Element, I: Index>(
        &self,
        x: impl Into<TensorView<'a, T>>,
        indices: impl Into<TensorView<'a, I>>,
        y: &mut [T],
    ) -> Result<(), ExecuteError> {
        self.is("unpool")?;
        self.run(&[x.into().into(), indices.into().into()], &mut [self.to(0, y)?]).await
    }
    #[cfg(not(target_arch = "wasm32"))]
    pub fn max_unpool_into_blocking<'a, T: Element, I: Index>(
        &self,
        x: impl Into<TensorView<'a, T>>,
        indices: impl Into<TensorView<'a, I>>,
        y: &mut [T],
    ) -> Result<(), ExecuteError> {
        self.is("unpool")?;
        self.run_blocking(&[x.into().into(), indices.into().into()], &mut [self.to(0, y)?])
    }
    pub async fn convert_indices<'a, F: Index, T: Index>(
        &self,
        indices: impl Into<TensorView<'a, F>>,
    ) -> Result<Tensor<T>, ExecuteError> {
        self.is("conversion")?;
        self.call(&[indices.into().into()]).await
    }
    #[cfg(not(target_arch = "wasm32"))]
    pub fn convert_indices_blocking<'a, F: Index, T: Index>(
        &self,
        indices: impl Into<TensorView<'a, F>>,
    ) -> Result<Tensor<T>, ExecuteError> {
        self.is("conversion")?;
        self.call_blocking(&[indices.into().into()])
    }
    pub async fn convert_indices_into<'a, F: Index, T: Index>(
        &self,
        indices: impl Into<TensorView<'a, F>>,
        converted: &mut [T],
    ) -> Result<(), ExecuteError> {
        self.is("conversion")?;
        self.run(&[indices.into().into()], &mut [self.to(0, converted)?]).await
    }
    #[cfg(not(target_arch = "wasm32"))]
    pub fn convert_indices_into_blocking<'a, F: Index, T: Index>(
        &self,
        indices: impl Into<TensorView<'a, F>>,
        converted: &mut [T],
    ) -> Result<(), ExecuteError> {
        self.is("conversion")?;
        self.run_blocking(&[indices.into().into()], &mut [self.to(0, converted)?])
    }
    pub async fn execute(&self, inputs: &[TensorRef<'_>], outputs: &mut [TensorMut<'_>]) -> Result<(), ExecuteError> {
        self.run(inputs, outputs).await
    }
    #[cfg(not(target_arch = "wasm32"))]
    pub fn execute_blocking(
        &self,
        inputs: &[TensorRef<'_>],
        outputs: &mut [TensorMut<'_>],
    ) -> Result<(), ExecuteError> {
        self.run_blocking(inputs, outputs)
    }
}

impl Gpu {
    pub async fn max_pool<'a, T: Element>(
        &self,
        pool: &(impl Pooling + ?Sized),
        x: impl Into<TensorView<'a, T>>,
    ) -> Result<Tensor<T>, ExecuteError> {
        Request::pool(pool, x.into()).run(self).await
    }
    #[cfg(not(target_arch = "wasm32"))]
    pub fn max_pool_blocking<'a, T: Element>(
        &self,
        pool: &(impl Pooling + ?Sized),
        x: impl Into<TensorView<'a, T>>,
    ) -> Result<Tensor<T>, ExecuteError> {
        Request::pool(pool, x.into()).run_blocking(self)
    }
    pub async fn max_pool_with_indices<'a, T: Element, I: Index>(
        &self,
        pool: &(impl Pooling + ?Sized),
        x: impl Into<TensorView<'a, T>>,
    ) -> Result<(Tensor<T>, Tensor<I>), ExecuteError> {
        Request::pool(pool, x.into()).with_indices().run(self).await
    }
    #[cfg(not(target_arch = "wasm32"))]
    pub fn max_pool_with_indices_blocking<'a, T: Element, I: Index>(
        &self,
        pool: &(impl Pooling + ?Sized),
        x: impl Into<TensorView<'a, T>>,
    ) -> Result<(Tensor<T>, Tensor<I>), ExecuteError> {
        Request::pool(pool, x.into()).with_indices().run_blocking(self)
    }
    pub async fn max_unpool<'a, T: Element, I: Index>(
        &self,
        unpool: &MaxUnpool,
        x: impl Into<TensorView<'a, T>>,
        indices: impl Into<TensorView<'a, I>>,
    ) -> Result<Tensor<T>, ExecuteError> {
        unpool.on(x.into(), indices.into()).run(self).await
    }
    #[cfg(not(target_arch = "wasm32"))]
    pub fn max_unpool_blocking<'a, T: Element, I: Index>(
        &self,
        unpool: &MaxUnpool,
        x: impl Into<TensorView<'a, T>>,
        indices: impl Into<TensorView<'a, I>>,
    ) -> Result<Tensor<T>, ExecuteError> {
        unpool.on(x.into(), indices.into()).run_blocking(self)
    }
    pub async fn convert_indices<'a, F: Index, T: Index>(
        &self,
        conversion: &ConvertIndices,
        indices: impl Into<TensorView<'a, F>>,
    ) -> Result<Tensor<T>, ExecuteError> {
        conversion.on(indices.into()).run(self).await
    }
    #[cfg(not(target_arch = "wasm32"))]
    pub fn convert_indices_blocking<'a, F: Index, T: Index>(
        &self,
        conversion: &ConvertIndices,
        indices: impl Into<TensorView<'a, F>>,
    ) -> Result<Tensor<T>, ExecuteError> {
        conversion.on(indices.into()).run_blocking(self)
    }
    pub async fn execute(
        &self,
        plan: &Plan,
        inputs: &[TensorRef<'_>],
        outputs: &mut [TensorMut<'_>],
    ) -> Result<(), ExecuteError> {
        self.run(plan, inputs, outputs).await
    }
    #[cfg(not(target_arch = "wasm32"))]
    pub fn execute_blocking(
        &self,
        plan: &Plan,
        inputs: &[TensorRef<'_>],
        outputs: &mut [TensorMut<'_>],
    ) -> Result<(), ExecuteError> {
        self.run_blocking(plan, inputs, outputs)
    }
}

impl Chain {
    pub fn max_pool(&mut self, pool: &Prepared, x: &DeviceTensor) -> Result<DeviceTensor, ExecuteError> {
        pool.pool(false)?;
        let [y] = self.step(pool, &[x])?;
        Ok(y)
    }
    pub fn max_pool_with_indices(
        &mut self,
        pool: &Prepared,
        x: &DeviceTensor,
    ) -> Result<(DeviceTensor, DeviceTensor), ExecuteError> {
        pool.pool(true)?;
        let [y, i] = self.step(pool, &[x])?;
        Ok((y, i))
    }
    pub fn max_unpool(
        &mut self,
        unpool: &Prepared,
        x: &DeviceTensor,
        indices: &DeviceTensor,
    ) -> Result<DeviceTensor, ExecuteError> {
        unpool.is("unpool")?;
        let [y] = self.step(unpool, &[x, indices])?;
        Ok(y)
    }
    pub fn convert_indices(
        &mut self,
        conversion: &Prepared,
        indices: &DeviceTensor,
    ) -> Result<DeviceTensor, ExecuteError> {
        conversion.is("conversion")?;
        let [y] = self.step(conversion, &[indices])?;
        Ok(y)
    }
    pub fn max_pool_into(&mut self, pool: &Prepared, x: &DeviceTensor, y: &DeviceTensor) -> Result<(), ExecuteError> {
        pool.pool(false)?;
        self.step_into(pool, &[x], &[y])
    }
    pub fn max_pool_with_indices_into(
        &mut self,
        pool: &Prepared,
        x: &DeviceTensor,
        y: &DeviceTensor,
        i: &DeviceTensor,
    ) -> Result<(), ExecuteError> {
        pool.pool(true)?;
        self.step_into(pool, &[x], &[y, i])
    }
    pub fn max_unpool_into(
        &mut self,
        unpool: &Prepared,
        x: &DeviceTensor,
        i: &DeviceTensor,
        y: &DeviceTensor,
    ) -> Result<(), ExecuteError> {
        unpool.is("unpool")?;
        self.step_into(unpool, &[x, i], &[y])
    }
    pub fn convert_indices_into(
        &mut self,
        conversion: &Prepared,
        i: &DeviceTensor,
        y: &DeviceTensor,
    ) -> Result<(), ExecuteError> {
        conversion.is("conversion")?;
        self.step_into(conversion, &[i], &[y])
    }
}
