//! Calls of a preparation that write the caller's memory.

use wgpu_pooling_plan::{Element, ExecuteError, Index, TensorMut, TensorSpec, TensorView};

use super::prepare::Prepared;

impl Prepared {
    /// [`Prepared::max_pool`], written to `y`. If there is an error, nothing is written, here and below.
    pub(crate) async fn max_pool_into<T: Element>(
        &self,
        x: TensorView<'_, T>,
        y: &mut [T],
    ) -> Result<(), ExecuteError> {
        let plan = self.values_plan()?;
        plan.inputs[0].check_host("x", &x)?;
        let y = output(&plan.outputs[0], y)?;
        self.execute(&[x.into()], &mut [y]).await
    }

    /// [`Prepared::max_pool_with_indices`], written to `y` and `indices`.
    pub(crate) async fn max_pool_with_indices_into<T: Element, I: Index>(
        &self,
        x: TensorView<'_, T>,
        y: &mut [T],
        indices: &mut [I],
    ) -> Result<(), ExecuteError> {
        let plan = self.indices_plan()?;
        plan.inputs[0].check_host("x", &x)?;
        plan.outputs[1].check_dtype("indices", I::DTYPE)?;
        let outputs = &mut [output(&plan.outputs[0], y)?, output(&plan.outputs[1], indices)?];
        self.execute(&[x.into()], outputs).await
    }

    /// [`Prepared::max_unpool`], written to `y`.
    pub(crate) async fn max_unpool_into<T: Element, I: Index>(
        &self,
        x: TensorView<'_, T>,
        indices: TensorView<'_, I>,
        y: &mut [T],
    ) -> Result<(), ExecuteError> {
        let plan = self.unpool_plan()?;
        plan.inputs[0].check_host("x", &x)?;
        plan.inputs[1].check_host("indices", &indices)?;
        let y = output(&plan.outputs[0], y)?;
        self.execute(&[x.into(), indices.into()], &mut [y]).await
    }

    /// [`Prepared::convert_indices`], written to `converted`.
    pub(crate) async fn convert_indices_into<F: Index, T: Index>(
        &self,
        indices: TensorView<'_, F>,
        converted: &mut [T],
    ) -> Result<(), ExecuteError> {
        let plan = self.convert_plan()?;
        plan.inputs[0].check_host("indices", &indices)?;
        plan.outputs[0].check_dtype("converted", T::DTYPE)?;
        let converted = output(&plan.outputs[0], converted)?;
        self.execute(&[indices.into()], &mut [converted]).await
    }
}

/// A slice as the tensor of a plan's output, if it has as many elements.
fn output<'a, T: Element>(spec: &TensorSpec, slice: &'a mut [T]) -> Result<TensorMut<'a>, ExecuteError> {
    spec.check_slice(slice)?;
    Ok(TensorMut::new(T::DTYPE, &spec.shape, bytemuck::cast_slice_mut(slice))?)
}

/// The blocking twins, outside wasm.
#[cfg(not(target_arch = "wasm32"))]
mod blocking {
    use super::*;

    impl Prepared {
        /// The blocking twin of [`Prepared::max_pool_into`].
        pub(crate) fn max_pool_into_blocking<T: Element>(
            &self,
            x: TensorView<'_, T>,
            y: &mut [T],
        ) -> Result<(), ExecuteError> {
            pollster::block_on(self.polling().max_pool_into(x, y))
        }

        /// The blocking twin of [`Prepared::max_pool_with_indices_into`].
        pub(crate) fn max_pool_with_indices_into_blocking<T: Element, I: Index>(
            &self,
            x: TensorView<'_, T>,
            y: &mut [T],
            indices: &mut [I],
        ) -> Result<(), ExecuteError> {
            pollster::block_on(self.polling().max_pool_with_indices_into(x, y, indices))
        }

        /// The blocking twin of [`Prepared::max_unpool_into`].
        pub(crate) fn max_unpool_into_blocking<T: Element, I: Index>(
            &self,
            x: TensorView<'_, T>,
            indices: TensorView<'_, I>,
            y: &mut [T],
        ) -> Result<(), ExecuteError> {
            pollster::block_on(self.polling().max_unpool_into(x, indices, y))
        }

        /// The blocking twin of [`Prepared::convert_indices_into`].
        pub(crate) fn convert_indices_into_blocking<F: Index, T: Index>(
            &self,
            indices: TensorView<'_, F>,
            converted: &mut [T],
        ) -> Result<(), ExecuteError> {
            pollster::block_on(self.polling().convert_indices_into(indices, converted))
        }
    }
}
