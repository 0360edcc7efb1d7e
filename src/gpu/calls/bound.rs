//! Preparations bound to buffers once, and recorded any number of times.

use wgpu_pooling_plan::ExecuteError;

use super::gpu::Gpu;
use super::prepare::Prepared;
use crate::gpu::prepared::encode::{Bindings, Buffers};
use crate::gpu::prepared::preparation::Preparation;
use crate::schedule::Schedule;

/// A preparation bound to buffers: they are checked, and the bind groups of all dispatches are made. Recording it costs
/// little more than recording its dispatches, so a program that repeats a computation in every frame binds once.
/// `Send + Sync`; clones share the bind groups. It keeps its [`Gpu`] and the buffers alive.
///
/// ```no_run
/// use wgpu_pooling::{wgpu, Buffers, DType, Gpu, MaxPool};
///
/// # fn frames(gpu: &Gpu, x: &wgpu::Buffer, y: &wgpu::Buffer) -> Result<(), wgpu_pooling::ExecuteError> {
/// let pool = gpu.prepare_blocking(MaxPool::new([2, 2]).plan(&[1, 3, 8, 8], DType::F32, None)?)?;
/// let bound = pool.bind(Buffers { x: Some(x.slice(..)), y: Some(y.slice(..)), ..Buffers::default() })?;
/// for _frame in 0..60 {
///     let mut encoder = gpu.device().create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
///     let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
///     bound.encode(&mut pass)?;
///     drop(pass);
///     gpu.queue().submit([encoder.finish()]);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct Bound {
    gpu: Gpu,
    preparation: Preparation,
    bindings: Bindings,
}

impl Prepared {
    /// Checks the buffers and makes the bind groups of all dispatches. Nothing is recorded or submitted.
    ///
    /// The buffers must belong to this device, as in [`Prepared::encode`]. All `Bound`s of one preparation share its
    /// scratch memory, and its own report buffer if it has one: runs on one queue follow each other.
    ///
    /// # Errors
    /// As [`Prepared::encode`].
    ///
    /// ```no_run
    /// # use wgpu_pooling::{Bound, Buffers, ExecuteError, Prepared};
    /// # fn f(pool: &Prepared, buffers: Buffers<'_>) -> Result<Bound, ExecuteError> {
    /// let bound = pool.bind(buffers)?;
    /// # Ok(bound)
    /// # }
    /// ```
    pub fn bind(&self, buffers: Buffers<'_>) -> Result<Bound, ExecuteError> {
        let bindings = self.bindings(&buffers)?;
        Ok(Bound { gpu: self.gpu.clone(), preparation: self.preparation.clone(), bindings })
    }
}

impl Bound {
    /// The schedule.
    pub fn schedule(&self) -> &Schedule {
        &self.preparation.schedule
    }

    /// Records the dispatches into an open compute pass. This changes the pass's pipeline and bind group 0. The buffers
    /// are not checked again. If one was destroyed after binding, or the device was lost unnoticed, wgpu reports it
    /// when the encoder is finished or submitted.
    ///
    /// # Errors
    /// [`ExecuteError::DeviceLost`] if the device is known to be lost. The pass is then unchanged.
    ///
    /// ```no_run
    /// # use wgpu_pooling::{wgpu, Bound, ExecuteError};
    /// # fn f(pool: &Bound, unpool: &Bound, encoder: &mut wgpu::CommandEncoder) -> Result<(), ExecuteError> {
    /// let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
    /// pool.encode(&mut pass)?;
    /// unpool.encode(&mut pass)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn encode(&self, pass: &mut wgpu::ComputePass<'_>) -> Result<(), ExecuteError> {
        let device = &self.gpu.inner.device;
        device.check_alive()?;
        let all = 0..self.preparation.schedule.dispatches.len();
        device.wgpu.gate().exclusive(|| self.preparation.dispatch(pass, &self.bindings, all));
        Ok(())
    }
}
