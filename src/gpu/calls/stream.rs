//! Streaming pools: tensors of any size are read, computed and written tile by tile, in bounded memory. The three steps
//! of neighbouring tiles overlap in time.

use std::collections::VecDeque;
use std::io;

use super::gpu::Gpu;
use super::prepare::Prepared;
use super::progress::{Run, StreamOptions, StreamReport};
use super::results::{ReadBack, Submitted};
use crate::element::{Element, Index};
use crate::error::ExecuteError;
use crate::options::Layout;
use crate::plan::PoolPlan;
use crate::select::Choice;
use crate::tensor::{Tensor, TensorView, zeros};
use crate::tile::{IN_FLIGHT, Region, SplitWindow, Tile, TileBytes, Tiling};

/// The source of a streaming run: it reads elements of a dense tensor by their positions, in any order, some more than
/// once. Slices and [`TensorView`]s are sources.
///
/// ```
/// use std::io::{Read, Result, Seek, SeekFrom};
/// use wgpu_pooling::StreamSource;
///
/// struct Bytes(std::fs::File);
///
/// impl StreamSource<u8> for Bytes {
///     fn read(&mut self, first: u64, elements: &mut [u8]) -> Result<()> {
///         self.0.seek(SeekFrom::Start(first))?;
///         self.0.read_exact(elements)
///     }
/// }
/// ```
pub trait StreamSource<T> {
    /// Fills all of `elements` with the tensor's elements from `first` on. If it returns `Ok`, the run computes on
    /// whatever the slice holds. The slice's previous contents are meaningless. With debug assertions every byte of it
    /// is 0x7F, so that elements that a source leaves out are noticeable: in most types that is about the largest
    /// value, which wins its windows; in f16 it is a NaN; as an index it lies outside all but the largest tensors.
    ///
    /// # Errors
    /// Any error, for example the end of the file inside the slice; the run ends with [`ExecuteError::Source`].
    ///
    /// ```
    /// use wgpu_pooling::StreamSource;
    /// let mut two = [0u8; 2];
    /// (&[1u8, 2, 3, 4][..]).read(1, &mut two)?;
    /// assert_eq!(two, [2, 3]);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    fn read(&mut self, first: u64, elements: &mut [T]) -> io::Result<()>;
}

/// The sink of a streaming run: it writes elements of a dense tensor by their positions, each once. Vectors and mutable
/// slices are sinks.
///
/// ```
/// use std::io::{Result, Seek, SeekFrom, Write};
/// use wgpu_pooling::StreamSink;
///
/// struct Bytes(std::fs::File);
///
/// impl StreamSink<u8> for Bytes {
///     fn write(&mut self, first: u64, elements: &[u8]) -> Result<()> {
///         self.0.seek(SeekFrom::Start(first))?;
///         self.0.write_all(elements)
///     }
/// }
/// ```
pub trait StreamSink<T> {
    /// Writes the tensor's elements from `first` on.
    ///
    /// # Errors
    /// Any error; the run ends with [`ExecuteError::Sink`].
    ///
    /// ```
    /// use wgpu_pooling::StreamSink;
    /// let mut y = vec![0u8; 4];
    /// y.write(1, &[2, 3])?;
    /// assert_eq!(y, [0, 2, 3, 0]);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    fn write(&mut self, first: u64, elements: &[T]) -> io::Result<()>;
}

/// The range of a slice, or an error with the slice's length.
fn range(first: u64, wanted: usize, length: usize) -> io::Result<std::ops::Range<usize>> {
    let begin = usize::try_from(first).ok().filter(|&begin| begin <= length && wanted <= length - begin);
    begin
        .map(|begin| begin..begin + wanted)
        .ok_or_else(|| io::Error::new(io::ErrorKind::UnexpectedEof, format!("there are {length} elements and no more")))
}

impl<T: Copy> StreamSource<T> for &[T] {
    fn read(&mut self, first: u64, elements: &mut [T]) -> io::Result<()> {
        elements.copy_from_slice(&self[range(first, elements.len(), self.len())?]);
        Ok(())
    }
}

impl<T: Copy> StreamSource<T> for TensorView<'_, T> {
    fn read(&mut self, first: u64, elements: &mut [T]) -> io::Result<()> {
        self.data().read(first, elements)
    }
}

impl<T: Copy> StreamSink<T> for &mut [T] {
    fn write(&mut self, first: u64, elements: &[T]) -> io::Result<()> {
        let range = range(first, elements.len(), self.len())?;
        self[range].copy_from_slice(elements);
        Ok(())
    }
}

impl<T: Copy> StreamSink<T> for Vec<T> {
    fn write(&mut self, first: u64, elements: &[T]) -> io::Result<()> {
        self.as_mut_slice().write(first, elements)
    }
}

/// A tile on the device.
struct Flight<T, J> {
    tile: Tile,
    bytes: TileBytes,
    submitted: Submitted,
    y: ReadBack<T>,
    indices: Option<ReadBack<J>>,
}

/// A pool's run.
struct PoolRun<'a> {
    run: Run<'a>,
    plan: &'a PoolPlan,
    tiling: Tiling,
    /// The preparation of the last tile. It fits the next tile if the tiles' plans are equal, which most plans without
    /// indices are.
    prepared: Option<Prepared>,
}

impl PoolRun<'_> {
    /// Reads and computes the tiles; `emit` writes the results of each and returns the bytes written.
    async fn tiles<T: Element, J: Index>(
        &mut self,
        source: &mut impl StreamSource<T>,
        mut emit: impl FnMut(&Tile, &[T], Option<&[J]>) -> Result<u64, ExecuteError>,
    ) -> Result<(), ExecuteError> {
        self.run.tell()?;
        let mut flights = VecDeque::new();
        for number in 0..self.run.progress.tiles {
            match self.tiling.tile(number) {
                Some(tile) => flights.push_back(self.launch::<T, J>(tile, source).await?),
                None => self.run.progress.done += 1,
            }
            if flights.len() as u64 == IN_FLIGHT {
                self.land(&mut flights, &mut emit).await?;
            }
        }
        while !flights.is_empty() {
            self.land(&mut flights, &mut emit).await?;
        }
        Ok(())
    }

    /// Reads a tile and submits it.
    async fn launch<T: Element, J: Index>(
        &mut self,
        tile: Tile,
        source: &mut impl StreamSource<T>,
    ) -> Result<Flight<T, J>, ExecuteError> {
        if self.prepared.as_ref().is_none_or(|prepared| !prepared.computes(tile.plan())) {
            // The previous preparation is dropped before the next one is allocated.
            self.prepared = None;
            self.prepared = Some(self.run.gpu.prepare_chosen(tile.plan().clone().into(), &Choice::default()).await?);
        }
        let Some(prepared) = &self.prepared else {
            return Err(ExecuteError::BufferMissing { what: "a tile" });
        };
        let bytes = TileBytes::of(prepared.schedule());
        self.run.memory.host(bytes.host_in, 0);
        let x = gather(tile.input(), self.plan.input_shape(), self.plan.layout(), source)?;
        let read = x.len() as u64 * T::DTYPE.bytes() as u64;
        self.run.memory.device(bytes.device, 0);
        let mut chain = self.run.gpu.chain().on_its_own();
        let on_device = chain.upload(TensorView::new(tile.plan().input_shape(), &x)?, self.plan.layout())?;
        drop(x);
        self.run.memory.host(0, bytes.host_in);
        let (y, indices) = if tile.plan().indices().is_some() {
            let (y, indices) = chain.max_pool_with_indices(prepared, &on_device)?;
            (y, Some(chain.read_back(&indices)?))
        } else {
            (chain.max_pool(prepared, &on_device)?, None)
        };
        let y = chain.read_back(&y)?;
        let submitted = chain.submit()?;
        self.run.progress.bytes_read += read;
        self.run.memory.report.bytes_uploaded += read;
        self.run.memory.report.tiles += 1;
        Ok(Flight { tile, bytes, submitted, y, indices })
    }

    /// Waits for the tile that was submitted first, and passes its results to `emit`.
    async fn land<T: Element, J: Index>(
        &mut self,
        flights: &mut VecDeque<Flight<T, J>>,
        emit: &mut impl FnMut(&Tile, &[T], Option<&[J]>) -> Result<u64, ExecuteError>,
    ) -> Result<(), ExecuteError> {
        let Some(Flight { tile, bytes, submitted, y, indices }) = flights.pop_front() else {
            return Ok(());
        };
        let results = submitted.finished().await?;
        self.run.memory.host(bytes.host_out, 0);
        self.run.memory.report.bytes_downloaded += results.bytes_read_back();
        let y = results.take(y)?;
        let indices = indices.map(|indices| results.take(indices)).transpose()?;
        drop(results);
        self.run.memory.device(0, bytes.device);
        self.run.progress.bytes_written += emit(&tile, y.data(), indices.as_ref().map(Tensor::data))?;
        self.run.memory.host(0, bytes.host_out);
        self.run.progress.done += 1;
        self.run.tell()
    }
}

impl Prepared {
    fn computes(&self, plan: &PoolPlan) -> bool {
        matches!(self.schedule().plan(), crate::plan::Plan::Pool(own) if own == plan)
    }
}

/// Reads a box of a tensor into a dense tensor.
pub(super) fn gather<T: Element>(
    region: &Region,
    shape: &[usize],
    layout: Layout,
    source: &mut impl StreamSource<T>,
) -> Result<Vec<T>, ExecuteError> {
    let mut elements: Vec<T> = zeros(&region.shape(layout))?;
    let mut rest = elements.as_mut_slice();
    for (first, length) in region.runs(shape, layout) {
        let (run, behind) = rest.split_at_mut(length);
        if cfg!(debug_assertions) {
            bytemuck::cast_slice_mut::<T, u8>(run).fill(0x7F);
        }
        source.read(first, run).map_err(|error| ExecuteError::Source {
            first,
            elements: length as u64,
            error: error.to_string(),
        })?;
        rest = behind;
    }
    Ok(elements)
}

/// Writes a box of Y or of Indices to its place in the sink; returns the bytes written.
pub(super) fn scatter<T: Element>(
    what: &'static str,
    region: &Region,
    (shape, layout): (&[usize], Layout),
    mut elements: &[T],
    sink: &mut impl StreamSink<T>,
) -> Result<u64, ExecuteError> {
    let bytes = size_of_val(elements) as u64;
    for (first, length) in region.runs(shape, layout) {
        let (run, behind) = elements.split_at(length);
        sink.write(first, run).map_err(|error| ExecuteError::Sink {
            what,
            first,
            elements: length as u64,
            error: error.to_string(),
        })?;
        elements = behind;
    }
    Ok(bytes)
}

/// The sink of a run without indices.
struct Nowhere;

impl<T> StreamSink<T> for Nowhere {
    fn write(&mut self, _: u64, _: &[T]) -> io::Result<()> {
        Ok(())
    }
}

/// Streaming runs: tensors of any size, within the caller's memory budget.
impl Gpu {
    /// Reads a tensor from `source` and writes its maxima to `sink`; neither has to be in memory. The tensor is cut
    /// into tiles that fit the budget; while the device computes one tile, the next is read and the last is written.
    /// The result has the same bits as that of [`Gpu::max_pool`].
    ///
    /// # Errors
    /// [`ExecuteError::Plan`] if the budget is too small for the smallest tile; [`ExecuteError::Source`],
    /// [`ExecuteError::Sink`], [`ExecuteError::Stopped`]; [`ExecuteError::IndicesMismatch`] and
    /// [`ExecuteError::TypeMismatch`] if the call does not fit the plan; otherwise the errors of the device. Tiles that
    /// were written before an error stay written.
    ///
    /// ```no_run
    /// # async fn f(gpu: wgpu_pooling::Gpu) -> Result<(), wgpu_pooling::ExecuteError> {
    /// use wgpu_pooling::{DType, MaxPool, StreamOptions};
    /// let plan = MaxPool::new([2]).strides([2]).plan(&[1, 1, 4], DType::F32, None)?;
    /// let mut y = vec![0.0; 2];
    /// let mut x = &[3.0f32, 1.0, 2.0, 9.0][..];
    /// let report = gpu.stream_max_pool(&plan, &mut x, &mut y, StreamOptions::new(64 << 20)).await?;
    /// assert_eq!((y, report.tiles), (vec![3.0, 9.0], 1));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn stream_max_pool<T: Element>(
        &self,
        plan: &PoolPlan,
        source: &mut impl StreamSource<T>,
        sink: &mut impl StreamSink<T>,
        options: StreamOptions<'_>,
    ) -> Result<StreamReport, ExecuteError> {
        if plan.indices().is_some() {
            return Err(ExecuteError::IndicesMismatch { planned: "with", called: "without" });
        }
        self.stream::<T, i64>(plan, source, sink, &mut Nowhere, options).await
    }

    /// The maxima of a tensor and their indices, as in [`Gpu::stream_max_pool`]. Indices are those of the whole tensor.
    ///
    /// # Errors
    /// As [`Gpu::stream_max_pool`].
    ///
    /// ```no_run
    /// # async fn f(gpu: wgpu_pooling::Gpu) -> Result<(), wgpu_pooling::ExecuteError> {
    /// use wgpu_pooling::{DType, IndexType, MaxPool, StreamOptions};
    /// let plan = MaxPool::new([2]).strides([2]).plan(&[1, 1, 4], DType::F32, Some(IndexType::I64))?;
    /// let (mut y, mut indices) = (vec![0.0; 2], vec![0i64; 2]);
    /// let mut x = &[3.0f32, 1.0, 2.0, 9.0][..];
    /// let options = StreamOptions::new(64 << 20);
    /// gpu.stream_max_pool_with_indices(&plan, &mut x, &mut y, &mut indices, options).await?;
    /// assert_eq!(indices, [0, 3]);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn stream_max_pool_with_indices<T: Element, I: Index>(
        &self,
        plan: &PoolPlan,
        source: &mut impl StreamSource<T>,
        sink: &mut impl StreamSink<T>,
        indices: &mut impl StreamSink<I>,
        options: StreamOptions<'_>,
    ) -> Result<StreamReport, ExecuteError> {
        let Some(spec) = plan.outputs.get(1) else {
            return Err(ExecuteError::IndicesMismatch { planned: "without", called: "with" });
        };
        spec.check_dtype("indices", I::DTYPE)?;
        self.stream(plan, source, sink, indices, options).await
    }

    /// A one-shot call whose tensors exceed the device's limits.
    pub(super) async fn max_pool_in_tiles<T: Element>(
        &self,
        plan: &PoolPlan,
        mut x: TensorView<'_, T>,
    ) -> Result<Tensor<T>, ExecuteError> {
        let mut y: Vec<T> = zeros(plan.output_shape())?;
        self.stream_max_pool(plan, &mut x, &mut y, self.own_budget()).await?;
        Ok(Tensor::from_parts(plan.output_shape().to_vec(), y))
    }

    /// [`Gpu::max_pool_in_tiles`] with indices.
    pub(super) async fn max_pool_with_indices_in_tiles<T: Element, I: Index>(
        &self,
        plan: &PoolPlan,
        mut x: TensorView<'_, T>,
    ) -> Result<(Tensor<T>, Tensor<I>), ExecuteError> {
        let (mut y, mut indices): (Vec<T>, Vec<I>) = (zeros(plan.output_shape())?, zeros(&plan.outputs[1].shape)?);
        self.stream_max_pool_with_indices(plan, &mut x, &mut y, &mut indices, self.own_budget()).await?;
        let y = Tensor::from_parts(plan.output_shape().to_vec(), y);
        Ok((y, Tensor::from_parts(plan.outputs[1].shape.clone(), indices)))
    }

    /// The budget of a call that names none: four times the largest binding, and at most 1 GiB.
    pub(super) fn own_budget(&self) -> StreamOptions<'static> {
        let limits = &self.inner.device.limits;
        let binding = limits.max_binding_bytes.min(limits.max_buffer_bytes);
        StreamOptions::new(binding.saturating_mul(4).min(1 << 30))
    }

    async fn stream<T: Element, I: Index>(
        &self,
        plan: &PoolPlan,
        source: &mut impl StreamSource<T>,
        sink: &mut impl StreamSink<T>,
        indices_sink: &mut impl StreamSink<I>,
        options: StreamOptions<'_>,
    ) -> Result<StreamReport, ExecuteError> {
        plan.inputs[0].check_dtype("x", T::DTYPE)?;
        self.inner.device.check_alive()?;
        let tiling = Tiling::new(plan, &self.inner.device.limits, options.budget_bytes)?;
        let windows_are_cut = tiling.cuts_windows();
        let mut pool = PoolRun { run: Run::new(self, tiling.len(), options), plan, tiling, prepared: None };
        let y_of = (plan.output_shape(), plan.layout());
        let indices_of = plan.outputs.get(1).map(|indices| (&indices.shape[..], indices.layout));
        let mut write = |region: &Region, y: &[T], indices: Option<&[I]>| {
            let mut bytes = scatter("sink", region, y_of, y, sink)?;
            if let (Some(indices), Some(place)) = (indices, indices_of) {
                bytes += scatter("indices", region, place, indices, indices_sink)?;
            }
            Ok(bytes)
        };
        if !windows_are_cut {
            pool.tiles(source, |tile, y, indices| write(tile.output(), y, indices)).await?;
            return Ok(pool.run.memory.report);
        }
        // Every tile is one window or a part of one.
        let mut window = SplitWindow::new();
        let emit = |tile: &Tile, y: &[T], positions: Option<&[i64]>| {
            let Some(part) = tile.part() else {
                let indices =
                    positions.map(|indices| indices.iter().map(|&index| I::from_i64(index)).collect::<Vec<_>>());
                return write(tile.output(), y, indices.as_deref());
            };
            if let ([value], Some([position])) = (y, positions) {
                window.combine(tile.plan(), *value, *position as u64);
            }
            if !part.last {
                return Ok(0);
            }
            let (n, c) = (tile.output().batch.start, tile.output().channels.start);
            let (value, index) = std::mem::replace(&mut window, SplitWindow::new()).finish(plan, n, c);
            let index = index.map(I::from_i64);
            write(tile.output(), &[value], index.as_ref().map(std::slice::from_ref))
        };
        pool.tiles(source, emit).await?;
        Ok(pool.run.memory.report)
    }
}

/// The blocking twins, outside wasm.
#[cfg(not(target_arch = "wasm32"))]
mod blocking {
    use super::*;

    impl Gpu {
        /// The blocking twin of [`Gpu::stream_max_pool`].
        ///
        /// # Errors
        /// As [`Gpu::stream_max_pool`].
        ///
        /// ```no_run
        /// use wgpu_pooling::{DType, Gpu, MaxPool, StreamOptions};
        /// let gpu = Gpu::new_blocking()?;
        /// let plan = MaxPool::new([2]).strides([2]).plan(&[1, 1, 4], DType::F32, None)?;
        /// let mut y = vec![0.0; 2];
        /// let mut x = &[3.0f32, 1.0, 2.0, 9.0][..];
        /// gpu.stream_max_pool_blocking(&plan, &mut x, &mut y, StreamOptions::new(64 << 20))?;
        /// # Ok::<(), wgpu_pooling::ExecuteError>(())
        /// ```
        pub fn stream_max_pool_blocking<T: Element>(
            &self,
            plan: &PoolPlan,
            source: &mut impl StreamSource<T>,
            sink: &mut impl StreamSink<T>,
            options: StreamOptions<'_>,
        ) -> Result<StreamReport, ExecuteError> {
            pollster::block_on(self.polling().stream_max_pool(plan, source, sink, options))
        }

        /// The blocking twin of [`Gpu::stream_max_pool_with_indices`].
        ///
        /// # Errors
        /// As [`Gpu::stream_max_pool`].
        ///
        /// ```no_run
        /// # use wgpu_pooling::{ExecuteError, Gpu, PoolPlan, StreamOptions};
        /// # fn f(gpu: Gpu, plan: PoolPlan, x: Vec<f32>, mut y: Vec<f32>, mut indices: Vec<i64>) -> Result<(), ExecuteError> {
        /// let options = StreamOptions::new(64 << 20);
        /// gpu.stream_max_pool_with_indices_blocking(&plan, &mut &x[..], &mut y, &mut indices, options)?;
        /// # Ok(())
        /// # }
        /// ```
        pub fn stream_max_pool_with_indices_blocking<T: Element, I: Index>(
            &self,
            plan: &PoolPlan,
            source: &mut impl StreamSource<T>,
            sink: &mut impl StreamSink<T>,
            indices: &mut impl StreamSink<I>,
            options: StreamOptions<'_>,
        ) -> Result<StreamReport, ExecuteError> {
            pollster::block_on(self.polling().stream_max_pool_with_indices(plan, source, sink, indices, options))
        }
    }
}
