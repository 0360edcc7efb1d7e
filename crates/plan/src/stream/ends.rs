//! Where the elements of a streaming run come from and where they go: sources, sinks, and boxes of tensors in them.

use std::future::{Future, ready};
use std::io;
use std::{
    pin::pin,
    task::{Context, Poll, Waker},
};

use crate::element::Element;
use crate::error::ExecuteError;
use crate::options::Layout;
use crate::tensor::TensorView;
use crate::tile::Region;

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

/// `Send`, but on wasm32, where the futures of a page are not: what the futures of [`AsyncStreamSource`] and
/// [`AsyncStreamSink`] are.
///
/// ```
/// fn may_be_spawned(run: impl wgpu_pooling::MaybeSend) {}
/// may_be_spawned(async {});
/// ```
#[cfg(not(target_arch = "wasm32"))]
pub trait MaybeSend: Send {}
#[cfg(not(target_arch = "wasm32"))]
impl<T: Send + ?Sized> MaybeSend for T {}

/// Anything: the futures of a page are not `Send`.
///
/// ```
/// fn may_be_spawned(run: impl wgpu_pooling::MaybeSend) {}
/// may_be_spawned(async {});
/// ```
#[cfg(target_arch = "wasm32")]
pub trait MaybeSend {}
#[cfg(target_arch = "wasm32")]
impl<T: ?Sized> MaybeSend for T {}

/// The source of a streaming run that may have to wait for its elements, such as a file in a browser or a server. Every
/// [`StreamSource`] is one that never waits. Reads follow each other, and the writes of earlier tiles: the device
/// computes meanwhile, but two ends never wait at once. A tile that is narrower than its tensor is a read for each row.
///
/// A type implements this trait for each of its element types by itself: Rust refuses an implementation for all `T`
/// (E0119), because the type might be a [`StreamSource`] of some `T` as well.
///
/// ```
/// use std::io::{Error, ErrorKind, Result};
/// use wgpu_pooling::AsyncStreamSource;
///
/// # struct Server;
/// # impl Server {
/// #     async fn ask(&self, first: u64, bytes: usize) -> Result<Vec<u8>> {
/// #         Ok(vec![first as u8; bytes])
/// #     }
/// # }
/// struct Remote(Server);
///
/// impl AsyncStreamSource<u8> for Remote {
///     async fn read_async(&mut self, first: u64, elements: &mut [u8]) -> Result<()> {
///         let answer = self.0.ask(first, elements.len()).await?;
///         if answer.len() != elements.len() {
///             return Err(ErrorKind::UnexpectedEof.into());
///         }
///         elements.copy_from_slice(&answer);
///         Ok(())
///     }
/// }
/// ```
pub trait AsyncStreamSource<T> {
    /// Fills all of `elements` with the tensor's elements from `first` on, as [`StreamSource::read`] does. A run has
    /// one read at a time; one that is dropped drops the future of the read that it waits for.
    ///
    /// # Errors
    /// Any error; the run ends with [`ExecuteError::Source`].
    ///
    /// ```
    /// # async fn f() -> std::io::Result<()> {
    /// use wgpu_pooling::AsyncStreamSource;
    /// let mut two = [0u8; 2];
    /// (&[1u8, 2, 3, 4][..]).read_async(1, &mut two).await?;
    /// assert_eq!(two, [2, 3]);
    /// # Ok(())
    /// # }
    /// ```
    fn read_async(&mut self, first: u64, elements: &mut [T]) -> impl Future<Output = io::Result<()>> + MaybeSend;
}

/// The sink of a streaming run that may have to wait until its elements are taken. Every [`StreamSink`] is one that
/// never waits. A type implements this trait for each of its element types by itself, as it does [`AsyncStreamSource`].
///
/// ```
/// use std::io::Result;
/// use wgpu_pooling::AsyncStreamSink;
///
/// # struct Server;
/// # impl Server {
/// #     async fn put(&self, first: u64, bytes: &[u8]) -> Result<()> {
/// #         Ok(())
/// #     }
/// # }
/// struct Remote(Server);
///
/// impl AsyncStreamSink<u8> for Remote {
///     async fn write_async(&mut self, first: u64, elements: &[u8]) -> Result<()> {
///         self.0.put(first, elements).await
///     }
/// }
/// ```
pub trait AsyncStreamSink<T> {
    /// Writes the tensor's elements from `first` on. A run has one write at a time; one that is dropped drops the
    /// future of the write that it waits for.
    ///
    /// # Errors
    /// Any error; the run ends with [`ExecuteError::Sink`].
    ///
    /// ```
    /// # async fn f() -> std::io::Result<()> {
    /// use wgpu_pooling::AsyncStreamSink;
    /// let mut y = vec![0u8; 4];
    /// y.write_async(1, &[2, 3]).await?;
    /// assert_eq!(y, [0, 2, 3, 0]);
    /// # Ok(())
    /// # }
    /// ```
    fn write_async(&mut self, first: u64, elements: &[T]) -> impl Future<Output = io::Result<()>> + MaybeSend;
}

// Both have read or written when their futures are made, so that these are `Send` whatever the source or sink is.
impl<T, S: StreamSource<T>> AsyncStreamSource<T> for S {
    fn read_async(&mut self, first: u64, elements: &mut [T]) -> impl Future<Output = io::Result<()>> + MaybeSend {
        ready(self.read(first, elements))
    }
}

impl<T, S: StreamSink<T>> AsyncStreamSink<T> for S {
    fn write_async(&mut self, first: u64, elements: &[T]) -> impl Future<Output = io::Result<()>> + MaybeSend {
        ready(self.write(first, elements))
    }
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

/// Reads a box of a tensor into a dense tensor, which has the box's elements.
pub(crate) async fn gather<T: Element>(
    region: &Region,
    (shape, layout): (&[usize], Layout),
    source: &mut impl AsyncStreamSource<T>,
    mut rest: &mut [T],
) -> Result<(), ExecuteError> {
    for (first, length) in region.runs(shape, layout) {
        let (run, behind) = rest.split_at_mut(length);
        if cfg!(debug_assertions) {
            bytemuck::cast_slice_mut::<T, u8>(run).fill(0x7F);
        }
        source.read_async(first, run).await.map_err(|error| ExecuteError::Source {
            first,
            elements: length as u64,
            error: error.to_string(),
        })?;
        rest = behind;
    }
    Ok(())
}

/// Writes a box of Y or of Indices to its place in the sink; returns the bytes written.
pub(crate) async fn scatter<T: Element>(
    what: &'static str,
    region: &Region,
    (shape, layout): (&[usize], Layout),
    mut elements: &[T],
    sink: &mut impl AsyncStreamSink<T>,
) -> Result<u64, ExecuteError> {
    let bytes = size_of_val(elements) as u64;
    for (first, length) in region.runs(shape, layout) {
        let (run, behind) = elements.split_at(length);
        sink.write_async(first, run).await.map_err(|error| ExecuteError::Sink {
            what,
            first,
            elements: length as u64,
            error: error.to_string(),
        })?;
        elements = behind;
    }
    Ok(bytes)
}

/// The result of a run whose sources and sinks never wait, nor does anything else in it: it is ready at the first poll.
pub fn without_waiting<T>(run: impl Future<Output = Result<T, ExecuteError>>) -> Result<T, ExecuteError> {
    match pin!(run).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => result,
        Poll::Pending => Err(ExecuteError::Device("a synchronous streaming run waits".to_owned())),
    }
}

/// The sink of a run without indices.
pub struct Nowhere;

impl<T> StreamSink<T> for Nowhere {
    fn write(&mut self, _: u64, _: &[T]) -> io::Result<()> {
        Ok(())
    }
}
