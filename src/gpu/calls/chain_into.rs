//! Steps of a chain that write tensors which exist, as those of the frame before.

use wgpu_pooling_plan::ExecuteError;

use super::chain::Chain;
use super::device_tensor::DeviceTensor;
use super::prepare::Prepared;

/// Steps into tensors that exist. They allocate no tensor, so a program that computes the same in every frame does so
/// with the memory of the first one. The outputs must have the shapes, types and layouts of the plan's, and a buffer
/// that no input of the step has; they are written whole. They are also valid inputs of later steps. A tensor of
/// indices is taken as what [`DeviceTensor::with_index_space`] says of it; one without a convention gets none.
impl Chain {
    /// The maxima of `x`, into `y`.
    ///
    /// # Errors
    /// As [`Chain::max_pool`], for `y` too; [`ExecuteError::BufferShared`] if `x` and `y` have one buffer.
    ///
    /// ```no_run
    /// # use wgpu_pooling::{Chain, DeviceTensor, ExecuteError, Prepared};
    /// # fn f(mut chain: Chain, pool: Prepared, x: DeviceTensor, y: DeviceTensor) -> Result<(), ExecuteError> {
    /// chain.max_pool_into(&pool, &x, &y)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn max_pool_into(&mut self, pool: &Prepared, x: &DeviceTensor, y: &DeviceTensor) -> Result<(), ExecuteError> {
        pool.values_plan()?;
        self.step_into(pool, &[x], &[y])
    }

    /// The maxima of `x` and where they were found, into `y` and `indices`, which may be parts of one buffer.
    ///
    /// # Errors
    /// As [`Chain::max_pool_into`], and [`ExecuteError::BufferOverlap`] if `y` and `indices` overlap.
    ///
    /// ```no_run
    /// # use wgpu_pooling::{Chain, DeviceTensor, ExecuteError, Prepared};
    /// # fn f(
    /// #     mut chain: Chain, pool: Prepared, x: DeviceTensor, y: DeviceTensor, indices: DeviceTensor,
    /// # ) -> Result<(), ExecuteError> {
    /// chain.max_pool_with_indices_into(&pool, &x, &y, &indices)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn max_pool_with_indices_into(
        &mut self,
        pool: &Prepared,
        x: &DeviceTensor,
        y: &DeviceTensor,
        indices: &DeviceTensor,
    ) -> Result<(), ExecuteError> {
        pool.indices_plan()?;
        self.step_into(pool, &[x], &[y, indices])
    }

    /// The values of `x` at the positions that `indices` name and zeros elsewhere, into `y`. Bad indices are an error
    /// of [`Submitted::results`](crate::Submitted::results), unless the plan skips them.
    ///
    /// # Errors
    /// As [`Chain::max_pool_into`].
    ///
    /// ```no_run
    /// # use wgpu_pooling::{Chain, DeviceTensor, ExecuteError, Prepared};
    /// # fn f(
    /// #     mut chain: Chain, unpool: Prepared, x: DeviceTensor, indices: DeviceTensor, y: DeviceTensor,
    /// # ) -> Result<(), ExecuteError> {
    /// chain.max_unpool_into(&unpool, &x, &indices, &y)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn max_unpool_into(
        &mut self,
        unpool: &Prepared,
        x: &DeviceTensor,
        indices: &DeviceTensor,
        y: &DeviceTensor,
    ) -> Result<(), ExecuteError> {
        unpool.unpool_plan()?;
        self.step_into(unpool, &[x, indices], &[y])
    }

    /// The indices in the second convention, into `converted`. Bad indices are an error of
    /// [`Submitted::results`](crate::Submitted::results).
    ///
    /// # Errors
    /// As [`Chain::max_pool_into`].
    ///
    /// ```no_run
    /// # use wgpu_pooling::{Chain, DeviceTensor, ExecuteError, Prepared};
    /// # fn f(
    /// #     mut chain: Chain, conversion: Prepared, indices: DeviceTensor, converted: DeviceTensor,
    /// # ) -> Result<(), ExecuteError> {
    /// chain.convert_indices_into(&conversion, &indices, &converted)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn convert_indices_into(
        &mut self,
        conversion: &Prepared,
        indices: &DeviceTensor,
        converted: &DeviceTensor,
    ) -> Result<(), ExecuteError> {
        conversion.convert_plan()?;
        self.step_into(conversion, &[indices], &[converted])
    }
}
