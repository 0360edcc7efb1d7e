//! Streams on a GPU or on the CPU.

use wgpu_pooling_plan::{
    AsyncStreamSink, AsyncStreamSource, Element, ExecuteError, Index, PoolPlan, StreamOptions, StreamReport, UnpoolPlan,
};

use super::Device;
#[cfg(not(target_arch = "wasm32"))]
use wgpu_pooling_plan::{StreamSink, StreamSource};

/// Streaming runs: tensors of any size, within the caller's memory budget.
impl Device {
    /// Reads a tensor from `source` and writes its maxima to `sink`; neither has to be in memory. The tensor is cut
    /// into tiles that fit the budget, which on the CPU are larger than on a GPU, where a tile lies on the host and on
    /// the device. Both ends may wait; on the CPU nothing is computed meanwhile.
    ///
    /// # Errors
    /// As [`Cpu::stream_max_pool`](crate::Cpu::stream_max_pool), or as `Gpu::stream_max_pool`.
    ///
    /// ```no_run
    /// # async fn f(device: wgpu_pooling::Device) -> Result<(), wgpu_pooling::ExecuteError> {
    /// use wgpu_pooling::{DType, MaxPool, StreamOptions};
    /// let plan = MaxPool::new([2]).strides([2]).plan(&[1, 1, 4], DType::F32, None)?;
    /// let mut y = vec![0.0; 2];
    /// let mut x = &[3.0f32, 1.0, 2.0, 9.0][..];
    /// device.stream_max_pool(&plan, &mut x, &mut y, StreamOptions::new(64 << 20)).await?;
    /// assert_eq!(y, [3.0, 9.0]);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn stream_max_pool<T: Element>(
        &self,
        plan: &PoolPlan,
        source: &mut impl AsyncStreamSource<T>,
        sink: &mut impl AsyncStreamSink<T>,
        options: StreamOptions<'_>,
    ) -> Result<StreamReport, ExecuteError> {
        match self {
            Device::Cpu(cpu) => cpu.stream_max_pool_async(plan, source, sink, options).await,
            #[cfg(feature = "gpu")]
            Device::Gpu(gpu) => gpu.stream_max_pool(plan, source, sink, options).await,
        }
    }

    /// The maxima of a tensor and their indices, as in [`Device::stream_max_pool`]. Indices are those of the whole
    /// tensor.
    ///
    /// # Errors
    /// As [`Device::stream_max_pool`].
    ///
    /// ```no_run
    /// # async fn f(device: wgpu_pooling::Device) -> Result<(), wgpu_pooling::ExecuteError> {
    /// use wgpu_pooling::{DType, IndexType, MaxPool, StreamOptions};
    /// let plan = MaxPool::new([2]).strides([2]).plan(&[1, 1, 4], DType::F32, Some(IndexType::I64))?;
    /// let (mut y, mut indices) = (vec![0.0; 2], vec![0i64; 2]);
    /// let mut x = &[3.0f32, 1.0, 2.0, 9.0][..];
    /// let options = StreamOptions::new(64 << 20);
    /// device.stream_max_pool_with_indices(&plan, &mut x, &mut y, &mut indices, options).await?;
    /// assert_eq!(indices, [0, 3]);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn stream_max_pool_with_indices<T: Element, I: Index>(
        &self,
        plan: &PoolPlan,
        source: &mut impl AsyncStreamSource<T>,
        sink: &mut impl AsyncStreamSink<T>,
        indices: &mut impl AsyncStreamSink<I>,
        options: StreamOptions<'_>,
    ) -> Result<StreamReport, ExecuteError> {
        match self {
            Device::Cpu(cpu) => cpu.stream_max_pool_with_indices_async(plan, source, sink, indices, options).await,
            #[cfg(feature = "gpu")]
            Device::Gpu(gpu) => gpu.stream_max_pool_with_indices(plan, source, sink, indices, options).await,
        }
    }

    /// Reads values from `x` and indices from `indices`, and writes to `sink` the tensor with the values at the
    /// positions that the indices name, zeros elsewhere. None of the three has to be in memory. All indices are checked
    /// before anything is written.
    ///
    /// # Errors
    /// As [`Cpu::stream_max_unpool`](crate::Cpu::stream_max_unpool), or as `Gpu::stream_max_unpool`.
    ///
    /// ```no_run
    /// # async fn f(device: wgpu_pooling::Device) -> Result<(), wgpu_pooling::ExecuteError> {
    /// use wgpu_pooling::{DType, IndexType, MaxUnpool, StreamOptions};
    /// let plan = MaxUnpool::new([2]).plan(&[1, 1, 2], DType::F32, IndexType::I64)?;
    /// let (mut x, mut indices, mut y) = (&[3.0f32, 2.0][..], &[0i64, 2][..], vec![0.0; 3]);
    /// device.stream_max_unpool(&plan, &mut x, &mut indices, &mut y, StreamOptions::new(64 << 20)).await?;
    /// assert_eq!(y, [3.0, 0.0, 2.0]);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn stream_max_unpool<T: Element, I: Index>(
        &self,
        plan: &UnpoolPlan,
        x: &mut impl AsyncStreamSource<T>,
        indices: &mut impl AsyncStreamSource<I>,
        sink: &mut impl AsyncStreamSink<T>,
        options: StreamOptions<'_>,
    ) -> Result<StreamReport, ExecuteError> {
        match self {
            Device::Cpu(cpu) => cpu.stream_max_unpool_async(plan, x, indices, sink, options).await,
            #[cfg(feature = "gpu")]
            Device::Gpu(gpu) => gpu.stream_max_unpool(plan, x, indices, sink, options).await,
        }
    }
}

/// The blocking twins, outside wasm.
#[cfg(not(target_arch = "wasm32"))]
impl Device {
    /// The blocking twin of [`Device::stream_max_pool`].
    ///
    /// # Errors
    /// As [`Device::stream_max_pool`].
    ///
    /// ```
    /// use wgpu_pooling::{Cpu, DType, Device, MaxPool, StreamOptions};
    /// let plan = MaxPool::new([2]).strides([2]).plan(&[1, 1, 4], DType::F32, None)?;
    /// let mut y = vec![0.0; 2];
    /// let mut x = &[3.0f32, 1.0, 2.0, 9.0][..];
    /// let device = Device::from(Cpu::new());
    /// device.stream_max_pool_blocking(&plan, &mut x, &mut y, StreamOptions::new(64 << 20))?;
    /// assert_eq!(y, [3.0, 9.0]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn stream_max_pool_blocking<T: Element>(
        &self,
        plan: &PoolPlan,
        source: &mut impl StreamSource<T>,
        sink: &mut impl StreamSink<T>,
        options: StreamOptions<'_>,
    ) -> Result<StreamReport, ExecuteError> {
        match self {
            Device::Cpu(cpu) => cpu.stream_max_pool(plan, source, sink, options),
            #[cfg(feature = "gpu")]
            Device::Gpu(gpu) => gpu.stream_max_pool_blocking(plan, source, sink, options),
        }
    }

    /// The blocking twin of [`Device::stream_max_pool_with_indices`].
    ///
    /// # Errors
    /// As [`Device::stream_max_pool_with_indices`].
    ///
    /// ```
    /// use wgpu_pooling::{Cpu, DType, Device, IndexType, MaxPool, StreamOptions};
    /// let plan = MaxPool::new([2]).strides([2]).plan(&[1, 1, 4], DType::F32, Some(IndexType::I64))?;
    /// let (mut y, mut indices) = (vec![0.0; 2], vec![0i64; 2]);
    /// let mut x = &[3.0f32, 1.0, 2.0, 9.0][..];
    /// let (device, options) = (Device::from(Cpu::new()), StreamOptions::new(64 << 20));
    /// device.stream_max_pool_with_indices_blocking(&plan, &mut x, &mut y, &mut indices, options)?;
    /// assert_eq!(indices, [0, 3]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn stream_max_pool_with_indices_blocking<T: Element, I: Index>(
        &self,
        plan: &PoolPlan,
        source: &mut impl StreamSource<T>,
        sink: &mut impl StreamSink<T>,
        indices: &mut impl StreamSink<I>,
        options: StreamOptions<'_>,
    ) -> Result<StreamReport, ExecuteError> {
        match self {
            Device::Cpu(cpu) => cpu.stream_max_pool_with_indices(plan, source, sink, indices, options),
            #[cfg(feature = "gpu")]
            Device::Gpu(gpu) => gpu.stream_max_pool_with_indices_blocking(plan, source, sink, indices, options),
        }
    }

    /// The blocking twin of [`Device::stream_max_unpool`].
    ///
    /// # Errors
    /// As [`Device::stream_max_unpool`].
    ///
    /// ```
    /// use wgpu_pooling::{Cpu, DType, Device, IndexType, MaxUnpool, StreamOptions};
    /// let plan = MaxUnpool::new([2]).plan(&[1, 1, 2], DType::F32, IndexType::I64)?;
    /// let (mut x, mut indices, mut y) = (&[3.0f32, 2.0][..], &[0i64, 2][..], vec![0.0; 3]);
    /// let (device, options) = (Device::from(Cpu::new()), StreamOptions::new(64 << 20));
    /// device.stream_max_unpool_blocking(&plan, &mut x, &mut indices, &mut y, options)?;
    /// assert_eq!(y, [3.0, 0.0, 2.0]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn stream_max_unpool_blocking<T: Element, I: Index>(
        &self,
        plan: &UnpoolPlan,
        x: &mut impl StreamSource<T>,
        indices: &mut impl StreamSource<I>,
        sink: &mut impl StreamSink<T>,
        options: StreamOptions<'_>,
    ) -> Result<StreamReport, ExecuteError> {
        match self {
            Device::Cpu(cpu) => cpu.stream_max_unpool(plan, x, indices, sink, options),
            #[cfg(feature = "gpu")]
            Device::Gpu(gpu) => gpu.stream_max_unpool_blocking(plan, x, indices, sink, options),
        }
    }
}
