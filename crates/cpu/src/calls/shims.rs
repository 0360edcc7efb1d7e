//! The calls of before, each over the new door.

use super::cpu::Cpu;
use super::prepared::PreparedCpu;
use wgpu_pooling_plan::{
    Backend, ConvertIndices, Element, ExecuteError, Index, MaxUnpool, Plan, Pooling, Run, Tensor, TensorMut, TensorRef,
    TensorView,
};

#[allow(missing_docs)]
impl PreparedCpu {
    fn pool(&self, with_indices: bool) -> Result<(), ExecuteError> {
        match self.plan() {
            Plan::Pool(plan) => plan.check_indices(with_indices),
            other => Err(ExecuteError::OperatorMismatch { planned: other.kind(), called: "pool" }),
        }
    }
    fn is(&self, called: &'static str) -> Result<(), ExecuteError> {
        if self.plan().kind() == called {
            Ok(())
        } else {
            Err(ExecuteError::OperatorMismatch { planned: self.plan().kind(), called })
        }
    }
    fn to<'a, T: Element>(&'a self, number: usize, y: &'a mut [T]) -> Result<TensorMut<'a>, ExecuteError> {
        let spec = &self.plan().outputs()[number];
        spec.check_dtype(self.plan().operand_names()[1][number], T::DTYPE)?;
        spec.check_slice(y)?;
        Ok(TensorMut::new(T::DTYPE, &spec.shape, bytemuck::cast_slice_mut(y))?)
    }
    pub fn max_pool<'a, T: Element>(&self, x: impl Into<TensorView<'a, T>>) -> Result<Tensor<T>, ExecuteError> {
        self.pool(false)?;
        self.call_blocking(&[x.into().into()])
    }
    pub fn max_pool_into<'a, T: Element>(
        &self,
        x: impl Into<TensorView<'a, T>>,
        y: &mut [T],
    ) -> Result<(), ExecuteError> {
        self.pool(false)?;
        self.run_blocking(&[x.into().into()], &mut [self.to(0, y)?])
    }
    pub fn max_pool_with_indices<'a, T: Element, I: Index>(
        &self,
        x: impl Into<TensorView<'a, T>>,
    ) -> Result<(Tensor<T>, Tensor<I>), ExecuteError> {
        self.pool(true)?;
        self.call_blocking(&[x.into().into()])
    }
    pub fn max_pool_with_indices_into<'a, T: Element, I: Index>(
        &self,
        x: impl Into<TensorView<'a, T>>,
        y: &mut [T],
        indices: &mut [I],
    ) -> Result<(), ExecuteError> {
        self.pool(true)?;
        self.run_blocking(&[x.into().into()], &mut [self.to(0, y)?, self.to(1, indices)?])
    }
    pub fn max_unpool<'a, T: Element, I: Index>(
        &self,
        x: impl Into<TensorView<'a, T>>,
        indices: impl Into<TensorView<'a, I>>,
    ) -> Result<Tensor<T>, ExecuteError> {
        self.is("unpool")?;
        self.call_blocking(&[x.into().into(), indices.into().into()])
    }
    pub fn max_unpool_into<'a, T: Element, I: Index>(
        &self,
        x: impl Into<TensorView<'a, T>>,
        indices: impl Into<TensorView<'a, I>>,
        y: &mut [T],
    ) -> Result<(), ExecuteError> {
        self.is("unpool")?;
        self.run_blocking(&[x.into().into(), indices.into().into()], &mut [self.to(0, y)?])
    }
    pub fn convert_indices<'a, F: Index, T: Index>(
        &self,
        indices: impl Into<TensorView<'a, F>>,
    ) -> Result<Tensor<T>, ExecuteError> {
        self.is("conversion")?;
        self.call_blocking(&[indices.into().into()])
    }
    pub fn convert_indices_into<'a, F: Index, T: Index>(
        &self,
        indices: impl Into<TensorView<'a, F>>,
        converted: &mut [T],
    ) -> Result<(), ExecuteError> {
        self.is("conversion")?;
        self.run_blocking(&[indices.into().into()], &mut [self.to(0, converted)?])
    }
    pub fn execute(&self, inputs: &[TensorRef<'_>], outputs: &mut [TensorMut<'_>]) -> Result<(), ExecuteError> {
        self.run_blocking(inputs, outputs)
    }
}

#[allow(missing_docs)]
impl Cpu {
    pub fn max_pool<'a, T: Element>(
        &self,
        pool: &(impl Pooling + ?Sized),
        x: impl Into<TensorView<'a, T>>,
    ) -> Result<Tensor<T>, ExecuteError> {
        let x = x.into();
        Cpu::prepare(self, pool.plan(x.shape(), T::DTYPE, None)?)?.max_pool(x)
    }
    pub fn max_pool_with_indices<'a, T: Element, I: Index>(
        &self,
        pool: &(impl Pooling + ?Sized),
        x: impl Into<TensorView<'a, T>>,
    ) -> Result<(Tensor<T>, Tensor<I>), ExecuteError> {
        let x = x.into();
        Cpu::prepare(self, pool.plan(x.shape(), T::DTYPE, Some(I::INDEX_TYPE))?)?.max_pool_with_indices(x)
    }
    pub fn max_unpool<'a, T: Element, I: Index>(
        &self,
        unpool: &MaxUnpool,
        x: impl Into<TensorView<'a, T>>,
        indices: impl Into<TensorView<'a, I>>,
    ) -> Result<Tensor<T>, ExecuteError> {
        unpool.on(x.into(), indices.into()).run_blocking(self)
    }
    pub fn convert_indices<'a, F: Index, T: Index>(
        &self,
        conversion: &ConvertIndices,
        indices: impl Into<TensorView<'a, F>>,
    ) -> Result<Tensor<T>, ExecuteError> {
        conversion.on(indices.into()).run_blocking(self)
    }
    pub fn execute(
        &self,
        plan: &Plan,
        inputs: &[TensorRef<'_>],
        outputs: &mut [TensorMut<'_>],
    ) -> Result<(), ExecuteError> {
        self.run_blocking(plan, inputs, outputs)
    }
}
