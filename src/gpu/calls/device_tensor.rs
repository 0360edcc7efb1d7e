//! Dense tensors that stay on the device.

use std::num::NonZeroU64;

use wgpu_pooling_plan::internal::device_bytes;
use wgpu_pooling_plan::{
    DType, Element, ExecuteError, IndexSpace, Layout, PlanError, Tensor, TensorRef, TensorSpec, element_count,
};

use super::gpu::Gpu;
use crate::gpu::device::PendingError;
use crate::gpu::device::buffer_pool::MOST_IDLE_BYTES;
use crate::gpu::device::gate::Owned;
use crate::gpu::device::memory::TENSOR_USAGES;

/// A dense tensor on the device: a slice of a buffer, a shape, an element type and a layout. Indices are tensors of
/// `i32` or `i64`. Clones are cheap and share the memory. A tensor belongs to the [`Gpu`] that made it and to that
/// `Gpu`'s clones.
///
/// ```no_run
/// use wgpu_pooling::{Gpu, Layout, Tensor};
///
/// let gpu = Gpu::new_blocking()?;
/// let x = Tensor::new([1, 1, 4], vec![3.0f32, 1.0, 2.0, 9.0])?;
/// let on_device = gpu.upload_blocking(x.view(), Layout::Nchw)?;
/// assert_eq!(gpu.download_blocking::<f32>(&on_device)?, x);
/// # Ok::<(), wgpu_pooling::ExecuteError>(())
/// ```
#[derive(Debug, Clone)]
pub struct DeviceTensor {
    gpu: Gpu,
    buffer: Owned<wgpu::Buffer>,
    offset: u64,
    spec: TensorSpec,
    /// The convention of indices, if it is known.
    space: Option<IndexSpace>,
}

impl DeviceTensor {
    /// A tensor in a caller's buffer, from a byte offset on. Nothing is copied.
    ///
    /// The buffer must belong to this device and not be destroyed. wgpu may mistake a buffer of another instance for
    /// one of this device, or panic.
    ///
    /// # Errors
    /// [`ExecuteError::BufferMisaligned`], [`ExecuteError::BufferTooShort`] and [`ExecuteError::BufferUsage`] if
    /// kernels cannot use it (they need whole words from an aligned offset on, and the usage `STORAGE`);
    /// [`ExecuteError::Plan`] if the shape's product is too large.
    ///
    /// ```no_run
    /// use wgpu_pooling::{wgpu, DType, DeviceTensor, ExecuteError, Gpu, Layout};
    ///
    /// fn frame(gpu: &Gpu, buffer: &wgpu::Buffer) -> Result<DeviceTensor, ExecuteError> {
    ///     DeviceTensor::from_buffer(gpu, buffer.clone(), 0, [1, 720, 1280, 4], DType::U8, Layout::Nhwc)
    /// }
    /// ```
    pub fn from_buffer(
        gpu: &Gpu,
        buffer: wgpu::Buffer,
        offset: u64,
        shape: impl AsRef<[usize]>,
        dtype: DType,
        layout: Layout,
    ) -> Result<DeviceTensor, ExecuteError> {
        // A refused buffer is dropped here, possibly its last handle, so it is dropped inside the gate.
        let buffer = gpu.inner.device.wgpu.gate().own(buffer);
        let (what, alignment) = ("buffer", gpu.inner.device.alignment);
        let spec = TensorSpec { shape: shape.as_ref().to_vec(), dtype, layout };
        element_count(&spec.shape)?;
        let needed = spec.device_bytes();
        if !buffer.usage().contains(wgpu::BufferUsages::STORAGE) {
            return Err(ExecuteError::BufferUsage { what, usage: "STORAGE" });
        }
        if !offset.is_multiple_of(alignment) {
            return Err(ExecuteError::BufferMisaligned { what, offset, alignment });
        }
        let actual = buffer.size().saturating_sub(offset);
        if actual < needed {
            return Err(ExecuteError::BufferTooShort { what, needed, actual });
        }
        Ok(DeviceTensor { gpu: gpu.clone(), buffer, offset, spec, space: None })
    }

    /// A tensor that fills a buffer of its own.
    pub(super) fn whole(gpu: &Gpu, buffer: Owned<wgpu::Buffer>, spec: TensorSpec) -> Self {
        DeviceTensor { gpu: gpu.clone(), buffer, offset: 0, spec, space: None }
    }

    /// This tensor as indices of this convention. The convention of new indices from a chain's step is known; that of
    /// indices in a caller's buffer, from the host, or in a tensor that a step writes into has to be set here. A step
    /// refuses indices of another convention than its plan's; if the convention is not known, nothing is checked.
    ///
    /// ```no_run
    /// # use wgpu_pooling::{DeviceTensor, IndexFlattening, IndexSpace};
    /// # fn f(indices: DeviceTensor) {
    /// // Indices as PyTorch counts them, of a tensor of 2 x 3 x 8 x 8.
    /// let indices = indices.with_index_space(IndexSpace::new(2, 3, [8, 8]).with_flatten(IndexFlattening::Plane));
    /// # }
    /// ```
    #[must_use]
    pub fn with_index_space(self, space: IndexSpace) -> Self {
        self.of_space(Some(&space))
    }

    /// This tensor with its convention of indices, if it is known.
    pub(super) fn of_space(mut self, space: Option<&IndexSpace>) -> Self {
        self.space = space.cloned();
        self
    }

    /// The convention of these indices, if it is known.
    pub fn index_space(&self) -> Option<&IndexSpace> {
        self.space.as_ref()
    }

    /// The shape, element type and layout.
    pub fn spec(&self) -> &TensorSpec {
        &self.spec
    }

    /// The extents, outermost first, in the tensor's layout.
    pub fn shape(&self) -> &[usize] {
        &self.spec.shape
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.spec.dtype
    }

    /// The layout.
    pub fn layout(&self) -> Layout {
        self.spec.layout
    }

    /// The bytes that the tensor occupies: whole words, and at least one element's, since a binding cannot be empty.
    pub fn bytes(&self) -> u64 {
        self.spec.device_bytes()
    }

    /// The slice of the buffer that the tensor occupies, for [`Buffers`](crate::Buffers) and for copies.
    pub fn slice(&self) -> wgpu::BufferSlice<'_> {
        self.buffer.slice(self.offset..self.offset + self.bytes())
    }

    /// The tensor as a resource of the caller's own bind group: the tensor's bytes only, not the rest of its buffer.
    /// wgpu refuses a binding larger than the device's `max_storage_buffer_binding_size`. The page
    /// [`memory`](crate::docs::memory) says where each element lies.
    ///
    /// ```no_run
    /// use wgpu_pooling::{wgpu, DeviceTensor, Gpu};
    ///
    /// fn group(gpu: &Gpu, layout: &wgpu::BindGroupLayout, y: &DeviceTensor) -> wgpu::BindGroup {
    ///     let entries = [wgpu::BindGroupEntry { binding: 0, resource: y.as_binding() }];
    ///     gpu.device().create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout, entries: &entries })
    /// }
    /// ```
    pub fn as_binding(&self) -> wgpu::BindingResource<'_> {
        let size = NonZeroU64::new(self.bytes());
        wgpu::BindingResource::Buffer(wgpu::BufferBinding { buffer: &self.buffer, offset: self.offset, size })
    }

    /// Refuses a tensor that does not match the plan's tensor.
    pub(super) fn check_spec(&self, what: &'static str, expected: &TensorSpec) -> Result<(), ExecuteError> {
        expected.check_dtype(what, self.spec.dtype)?;
        expected.check_shape(what, &self.spec.shape)?;
        if self.spec.layout != expected.layout {
            let (expected, actual) = (expected.layout, self.spec.layout);
            return Err(ExecuteError::LayoutMismatch { what, expected, actual });
        }
        Ok(())
    }

    /// Refuses a tensor of another `Gpu`.
    pub(super) fn check_gpu(&self, what: &'static str, gpu: &Gpu) -> Result<(), ExecuteError> {
        self.gpu.check_same(what, gpu)
    }
}

impl Gpu {
    /// Copies a host tensor to the device, where it stays: a [`TensorView`](crate::TensorView), a `&`[`Tensor`] or a
    /// [`TensorRef`]. The copy waits for the next submit; if more than 64 MiB of copies wait, they are submitted now,
    /// and the blocking twin waits for them. A tensor that is dropped while its copy waits keeps its memory until that
    /// submit.
    ///
    /// # Errors
    /// [`ExecuteError::Plan`] with [`PlanError::ExceedsLimit`] if it is larger than the device's buffers can be;
    /// [`ExecuteError::OutOfMemory`] or another error of the device.
    ///
    /// ```no_run
    /// # async fn upload(gpu: wgpu_pooling::Gpu) -> Result<(), wgpu_pooling::ExecuteError> {
    /// use wgpu_pooling::{Layout, TensorView};
    /// let x = gpu.upload(TensorView::new(&[1, 1, 2], &[1u8, 2])?, Layout::Nchw).await?;
    /// assert_eq!(x.bytes(), 4);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn upload<'a>(&self, x: impl Into<TensorRef<'a>>, layout: Layout) -> Result<DeviceTensor, ExecuteError> {
        let x = x.into();
        let device = &self.inner.device;
        let (buffer, error) = self.tensor_of(&x, false)?;
        if let Some(error) = error {
            device.check_error(error.await)?;
        }
        device.probe()?;
        Ok(DeviceTensor::whole(self, buffer, TensorSpec { shape: x.shape().to_vec(), dtype: x.dtype(), layout }))
    }

    /// A tensor of zeros on the device, with the usages and size of an output to encode into. Nothing is submitted.
    ///
    /// # Errors
    /// As [`Gpu::upload`].
    ///
    /// ```no_run
    /// # use wgpu_pooling::{ExecuteError, Gpu, Prepared};
    /// # async fn outputs(gpu: Gpu, pool: Prepared) -> Result<(), ExecuteError> {
    /// use wgpu_pooling::{Buffers, DType, Layout};
    /// let x = gpu.zeros([1, 3, 8, 8], DType::F32, Layout::Nchw).await?;
    /// let y = gpu.zeros(pool.schedule().output_shape(), DType::F32, Layout::Nchw).await?;
    /// let buffers = Buffers { x: Some(x.slice()), y: Some(y.slice()), ..Buffers::default() };
    /// # let _ = buffers;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn zeros(
        &self,
        shape: impl AsRef<[usize]>,
        dtype: DType,
        layout: Layout,
    ) -> Result<DeviceTensor, ExecuteError> {
        self.inner.device.check_alive()?;
        let spec = TensorSpec { shape: shape.as_ref().to_vec(), dtype, layout };
        element_count(&spec.shape)?;
        let bytes = spec.device_bytes();
        self.check_buffer("bytes of the tensor (max_buffer_bytes)", bytes)?;
        // wgpu clears a fresh buffer before its first use.
        let memory = &self.inner.device.memory;
        let make = || memory.zeroed_buffer("wgpu-pooling tensor", TENSOR_USAGES, bytes);
        let buffer = self.inner.device.scoped(make).await?;
        Ok(DeviceTensor::whole(self, buffer, spec))
    }

    /// Copies a device tensor to the host, with its own submit. To read back a result of a chain, use
    /// [`Chain::read_back`](crate::Chain::read_back), which needs no second submit.
    ///
    /// # Errors
    /// [`ExecuteError::ReadBackType`] if `T` is not the tensor's element type, [`ExecuteError::OtherGpu`],
    /// [`ExecuteError::BufferUsage`] if a caller's buffer lacks the usage `COPY_SRC`; otherwise the errors of the
    /// device.
    ///
    /// ```no_run
    /// # async fn download(gpu: wgpu_pooling::Gpu, y: wgpu_pooling::DeviceTensor)
    /// # -> Result<(), wgpu_pooling::ExecuteError> {
    /// let y = gpu.download::<f32>(&y).await?;
    /// println!("{:?}", y.data());
    /// # Ok(())
    /// # }
    /// ```
    pub async fn download<T: Element>(&self, tensor: &DeviceTensor) -> Result<Tensor<T>, ExecuteError> {
        let mut chain = self.chain();
        let wanted = chain.read_back::<T>(tensor)?;
        chain.run().await?.take(wanted)
    }

    /// A buffer with a tensor's elements, or one if it has none, and the error that wgpu has not reported yet. With
    /// `pooled` the buffer is from the buffer pool: only for calls that submit or fail.
    pub(super) fn tensor_of(
        &self,
        x: &TensorRef<'_>,
        pooled: bool,
    ) -> Result<(Owned<wgpu::Buffer>, Option<PendingError>), ExecuteError> {
        let (device, label) = (&self.inner.device, "wgpu-pooling tensor");
        device.check_alive()?;
        let contents = if x.bytes().is_empty() { &[0; 8][..x.dtype().bytes()] } else { x.bytes() };
        self.check_buffer("bytes of x (max_buffer_bytes)", device_bytes(contents.len() as u64, 1))?;
        let (buffer, error) = device.scoped_now(|| match pooled {
            true => device.memory.pooled_filled_buffer(label, contents),
            false => device.memory.filled_buffer(label, TENSOR_USAGES, contents),
        })?;
        let buffer = buffer.map_err(|text| device.out_of_memory(text))?;
        if !pooled {
            device.submit_copies_beyond(MOST_IDLE_BYTES, self.polls);
        }
        Ok((buffer, error))
    }

    /// Refuses more bytes than a buffer of this device can hold, with a clearer error than wgpu's.
    pub(super) fn check_buffer(&self, what: &'static str, needed: u64) -> Result<(), PlanError> {
        PlanError::within(what, needed, self.inner.device.limits.max_buffer_bytes)
    }
}

/// The blocking twins, outside wasm.
#[cfg(not(target_arch = "wasm32"))]
mod blocking {
    use super::*;

    impl Gpu {
        /// The blocking twin of [`Gpu::upload`].
        ///
        /// # Errors
        /// As [`Gpu::upload`].
        ///
        /// ```no_run
        /// use wgpu_pooling::{Gpu, Layout, TensorView};
        /// let gpu = Gpu::new_blocking()?;
        /// let x = gpu.upload_blocking(TensorView::new(&[1, 1, 2], &[1u8, 2])?, Layout::Nchw)?;
        /// # Ok::<(), wgpu_pooling::ExecuteError>(())
        /// ```
        pub fn upload_blocking<'a>(
            &self,
            x: impl Into<TensorRef<'a>>,
            layout: Layout,
        ) -> Result<DeviceTensor, ExecuteError> {
            pollster::block_on(self.polling().upload(x, layout))
        }

        /// The blocking twin of [`Gpu::zeros`].
        ///
        /// # Errors
        /// As [`Gpu::upload`].
        ///
        /// ```no_run
        /// use wgpu_pooling::{DType, Gpu, Layout};
        /// let gpu = Gpu::new_blocking()?;
        /// let y = gpu.zeros_blocking([1, 3, 4, 4], DType::F16, Layout::Nchw)?;
        /// assert_eq!(y.bytes(), 96);
        /// # Ok::<(), wgpu_pooling::ExecuteError>(())
        /// ```
        pub fn zeros_blocking(
            &self,
            shape: impl AsRef<[usize]>,
            dtype: DType,
            layout: Layout,
        ) -> Result<DeviceTensor, ExecuteError> {
            pollster::block_on(self.zeros(shape, dtype, layout))
        }

        /// The blocking twin of [`Gpu::download`].
        ///
        /// # Errors
        /// As [`Gpu::download`].
        ///
        /// ```no_run
        /// # fn download(gpu: wgpu_pooling::Gpu, y: wgpu_pooling::DeviceTensor)
        /// # -> Result<(), wgpu_pooling::ExecuteError> {
        /// let y = gpu.download_blocking::<f32>(&y)?;
        /// # Ok(())
        /// # }
        /// ```
        pub fn download_blocking<T: Element>(&self, tensor: &DeviceTensor) -> Result<Tensor<T>, ExecuteError> {
            pollster::block_on(self.polling().download(tensor))
        }
    }
}
