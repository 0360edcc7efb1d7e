//! Prepared plans on tensors whose element type is known at run time only.

use wgpu_pooling_plan::internal::check_operands;
use wgpu_pooling_plan::with_element;
use wgpu_pooling_plan::{DType, Element, ExecuteError, Index, IndexType, Plan, TensorMut, TensorRef, TensorView};

use super::prepared::PreparedCpu;

impl PreparedCpu {
    /// Computes the plan: reads the tensors of [`Plan::inputs`] and writes those of [`Plan::outputs`]. If there is an
    /// error other than [`ExecuteError::Interrupted`] and [`ExecuteError::OutOfMemory`], nothing is written, unless
    /// [`Cpu::with_fresh_outputs`](crate::Cpu::with_fresh_outputs) says that this does not matter.
    ///
    /// # Errors
    /// [`PlanError::OperandCount`](wgpu_pooling_plan::PlanError::OperandCount), [`ExecuteError::TypeMismatch`] and
    /// [`ExecuteError::ShapeMismatch`] if the tensors are not the plan's; otherwise as [`PreparedCpu::max_pool`],
    /// [`PreparedCpu::max_unpool`] and [`PreparedCpu::convert_indices`].
    ///
    /// ```
    /// use wgpu_pooling::{Cpu, DType, MaxPool, TensorMut, TensorRef};
    /// let prepared = Cpu::new().prepare(MaxPool::new([2]).strides([2]).plan(&[1, 1, 4], DType::U8, None)?)?;
    /// let mut y = [0; 2];
    /// let x = TensorRef::new(DType::U8, [1, 1, 4], &[3, 1, 2, 9])?;
    /// prepared.execute(&[x], &mut [TensorMut::new(DType::U8, [1, 1, 2], &mut y)?])?;
    /// assert_eq!(y, [3, 9]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn execute(&self, inputs: &[TensorRef<'_>], outputs: &mut [TensorMut<'_>]) -> Result<(), ExecuteError> {
        let plan = self.plan();
        check_operands(plan.operator(), (plan.inputs(), inputs), (plan.outputs(), outputs))?;
        let dtype = plan.inputs()[0].dtype;
        match (plan, inputs, outputs) {
            (Plan::Pool(plan), [x], [y]) if plan.indices().is_none() => with_element!(dtype, T => {
                let elements = x.elements::<T>()?;
                let x = TensorView::new(x.shape(), &elements)?;
                y.write(|y| self.max_pool_into::<T>(x, y))
            }),
            (Plan::Pool(plan), [x], [y, indices]) => match plan.indices().map(|indices| indices.index_type) {
                Some(IndexType::I32) => with_element!(dtype, T => self.pool_with_indices::<T, i32>(x, y, indices)),
                _ => with_element!(dtype, T => self.pool_with_indices::<T, i64>(x, y, indices)),
            },
            (Plan::Unpool(plan), [x, indices], [y]) => match plan.index_type() {
                IndexType::I32 => with_element!(dtype, T => self.unpool_untyped::<T, i32>(x, indices, y)),
                IndexType::I64 => with_element!(dtype, T => self.unpool_untyped::<T, i64>(x, indices, y)),
            },
            (Plan::Convert(plan), [indices], [converted]) => match (dtype, plan.outputs[0].dtype) {
                (DType::I32, DType::I32) => self.convert_untyped::<i32, i32>(indices, converted),
                (DType::I32, _) => self.convert_untyped::<i32, i64>(indices, converted),
                (_, DType::I32) => self.convert_untyped::<i64, i32>(indices, converted),
                _ => self.convert_untyped::<i64, i64>(indices, converted),
            },
            // A plan has the operands that were checked above.
            _ => Ok(()),
        }
    }

    fn pool_with_indices<T: Element, I: Index>(
        &self,
        x: &TensorRef<'_>,
        y: &mut TensorMut<'_>,
        indices: &mut TensorMut<'_>,
    ) -> Result<(), ExecuteError> {
        let elements = x.elements::<T>()?;
        let x = TensorView::new(x.shape(), &elements)?;
        y.write(|y| indices.write(|indices| self.max_pool_with_indices_into::<T, I>(x, y, indices)))
    }

    fn unpool_untyped<T: Element, I: Index>(
        &self,
        x: &TensorRef<'_>,
        indices: &TensorRef<'_>,
        y: &mut TensorMut<'_>,
    ) -> Result<(), ExecuteError> {
        let (elements, of_indices) = (x.elements::<T>()?, indices.elements::<I>()?);
        let x = TensorView::new(x.shape(), &elements)?;
        let indices = TensorView::new(indices.shape(), &of_indices)?;
        y.write(|y| self.max_unpool_into(x, indices, y))
    }

    fn convert_untyped<F: Index, T: Index>(
        &self,
        indices: &TensorRef<'_>,
        converted: &mut TensorMut<'_>,
    ) -> Result<(), ExecuteError> {
        let elements = indices.elements::<F>()?;
        let indices = TensorView::new(indices.shape(), &elements)?;
        converted.write(|converted| self.convert_indices_into::<F, T>(indices, converted))
    }
}
