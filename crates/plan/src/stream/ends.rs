//! Where the elements of a stream come from and where they go: sources, sinks, and boxes of tensors in them.

use std::future::ready;
use std::io;

use crate::backend::BoxFuture;
use crate::element::{DType, Element};
use crate::error::ExecuteError;
use crate::tensor::{TensorSpec, TensorView};
use crate::tile::Region;
use crate::untyped::{TensorMut, TensorRef};

/// A dense tensor that a [`Stream`](crate::Stream) reads, as the bytes of its elements, in any order, some more than
/// once. Slices, [`TensorView`]s and [`TensorRef`]s are sources.
///
/// ```
/// use std::io::{Read, Result, Seek, SeekFrom};
/// use wgpu_pooling::Source;
///
/// struct Raw(std::fs::File);
///
/// impl Source for Raw {
///     fn read(&mut self, offset: u64, bytes: &mut [u8]) -> Result<()> {
///         self.0.seek(SeekFrom::Start(offset))?;
///         self.0.read_exact(bytes)
///     }
/// }
/// ```
pub trait Source: MaybeSend {
    /// Fills all of `bytes` with the tensor's bytes from `offset` on: whole elements, as the host stores them. If it
    /// returns `Ok`, the run computes on whatever the slice holds. The slice's previous contents are meaningless. With
    /// debug assertions every byte of it is 0x7F, so that elements that a source leaves out are noticeable: in most
    /// types that is about the largest value, which wins its windows; in f16 it is a NaN; as an index it lies outside
    /// all but the largest tensors.
    ///
    /// # Errors
    /// Any error, for example the end of the file inside the slice; the run ends with [`ExecuteError::Source`].
    ///
    /// ```
    /// use wgpu_pooling::Source;
    /// let mut two = [0u8; 2];
    /// (&[1u8, 2, 3, 4][..]).read(1, &mut two)?;
    /// assert_eq!(two, [2, 3]);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    fn read(&mut self, offset: u64, bytes: &mut [u8]) -> io::Result<()>;

    /// The type of the elements, if it is known: a stream whose plan has another one is refused.
    fn dtype(&self) -> Option<DType> {
        None
    }
}

/// A dense tensor that a [`Stream`](crate::Stream) writes, as the bytes of its elements, each once. Vectors,
/// mutable slices and [`TensorMut`]s are sinks.
///
/// ```
/// use std::io::{Result, Seek, SeekFrom, Write};
/// use wgpu_pooling::Sink;
///
/// struct Raw(std::fs::File);
///
/// impl Sink for Raw {
///     fn write(&mut self, offset: u64, bytes: &[u8]) -> Result<()> {
///         self.0.seek(SeekFrom::Start(offset))?;
///         self.0.write_all(bytes)
///     }
/// }
/// ```
pub trait Sink: MaybeSend {
    /// Writes the tensor's bytes from `offset` on: whole elements, as the host stores them.
    ///
    /// # Errors
    /// Any error; the run ends with [`ExecuteError::Sink`].
    ///
    /// ```
    /// use wgpu_pooling::Sink;
    /// let mut y = vec![0u8; 4];
    /// y.write(1, &[2, 3])?;
    /// assert_eq!(y, [0, 2, 3, 0]);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    fn write(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// The type of the elements, if it is known: a stream whose plan has another one is refused.
    fn dtype(&self) -> Option<DType> {
        None
    }
}

/// The bound on [sources](AsyncSource) and [sinks](AsyncSink) of streams: `Send`, except on wasm32, where the futures
/// of a page are not.
///
/// ```
/// fn may_be_spawned(run: impl wgpu_pooling::MaybeSend) {}
/// may_be_spawned(async {});
/// ```
#[cfg(not(target_arch = "wasm32"))]
pub trait MaybeSend: Send {}
#[cfg(not(target_arch = "wasm32"))]
impl<T: Send + ?Sized> MaybeSend for T {}

/// No bound on wasm32: the futures of a page are not `Send`.
///
/// ```
/// fn may_be_spawned(run: impl wgpu_pooling::MaybeSend) {}
/// may_be_spawned(async {});
/// ```
#[cfg(target_arch = "wasm32")]
pub trait MaybeSend {}
#[cfg(target_arch = "wasm32")]
impl<T: ?Sized> MaybeSend for T {}

/// A [`Source`] that may have to wait for its bytes, such as a file in a browser or a server. Every [`Source`] is one
/// that never waits. A stream has at most one read or write at a time; the device computes meanwhile. A tile that is
/// narrower than its tensor takes a read for each row.
///
/// ```
/// use std::io::{Error, ErrorKind, Result};
/// use wgpu_pooling::{AsyncSource, BoxFuture};
///
/// # struct Server;
/// # impl Server {
/// #     async fn ask(&self, offset: u64, bytes: usize) -> Result<Vec<u8>> {
/// #         Ok(vec![offset as u8; bytes])
/// #     }
/// # }
/// struct Remote(Server);
///
/// impl AsyncSource for Remote {
///     fn read_async<'a>(&'a mut self, offset: u64, bytes: &'a mut [u8]) -> BoxFuture<'a, (), Error> {
///         Box::pin(async move {
///             let answer = self.0.ask(offset, bytes.len()).await?;
///             if answer.len() != bytes.len() {
///                 return Err(ErrorKind::UnexpectedEof.into());
///             }
///             bytes.copy_from_slice(&answer);
///             Ok(())
///         })
///     }
/// }
/// ```
pub trait AsyncSource: MaybeSend {
    /// [`Source::read`]. A run has one read at a time. If the run is dropped, so is the future of this read.
    ///
    /// # Errors
    /// Any error; the run ends with [`ExecuteError::Source`].
    ///
    /// ```
    /// # async fn f() -> std::io::Result<()> {
    /// use wgpu_pooling::AsyncSource;
    /// let mut two = [0u8; 2];
    /// (&[1u8, 2, 3, 4][..]).read_async(1, &mut two).await?;
    /// assert_eq!(two, [2, 3]);
    /// # Ok(())
    /// # }
    /// ```
    fn read_async<'a>(&'a mut self, offset: u64, bytes: &'a mut [u8]) -> BoxFuture<'a, (), io::Error>;

    /// [`Source::dtype`].
    fn dtype(&self) -> Option<DType> {
        None
    }
}

/// A [`Sink`] that may have to wait until its bytes are taken. Every [`Sink`] is one that never waits.
///
/// ```
/// use std::io::{Error, Result};
/// use wgpu_pooling::{AsyncSink, BoxFuture};
///
/// # struct Server;
/// # impl Server {
/// #     async fn put(&self, offset: u64, bytes: &[u8]) -> Result<()> {
/// #         Ok(())
/// #     }
/// # }
/// struct Remote(Server);
///
/// impl AsyncSink for Remote {
///     fn write_async<'a>(&'a mut self, offset: u64, bytes: &'a [u8]) -> BoxFuture<'a, (), Error> {
///         Box::pin(self.0.put(offset, bytes))
///     }
/// }
/// ```
pub trait AsyncSink: MaybeSend {
    /// [`Sink::write`]. A run has one write at a time. If the run is dropped, so is the future of this write.
    ///
    /// # Errors
    /// Any error; the run ends with [`ExecuteError::Sink`].
    ///
    /// ```
    /// # async fn f() -> std::io::Result<()> {
    /// use wgpu_pooling::AsyncSink;
    /// let mut y = vec![0u8; 4];
    /// y.write_async(1, &[2, 3]).await?;
    /// assert_eq!(y, [0, 2, 3, 0]);
    /// # Ok(())
    /// # }
    /// ```
    fn write_async<'a>(&'a mut self, offset: u64, bytes: &'a [u8]) -> BoxFuture<'a, (), io::Error>;

    /// [`Sink::dtype`].
    fn dtype(&self) -> Option<DType> {
        None
    }
}

impl<S: Source> AsyncSource for S {
    fn read_async<'a>(&'a mut self, offset: u64, bytes: &'a mut [u8]) -> BoxFuture<'a, (), io::Error> {
        Box::pin(ready(self.read(offset, bytes)))
    }

    fn dtype(&self) -> Option<DType> {
        Source::dtype(self)
    }
}

impl<S: Sink> AsyncSink for S {
    fn write_async<'a>(&'a mut self, offset: u64, bytes: &'a [u8]) -> BoxFuture<'a, (), io::Error> {
        Box::pin(ready(self.write(offset, bytes)))
    }

    fn dtype(&self) -> Option<DType> {
        Sink::dtype(self)
    }
}

/// The range of a tensor's bytes, or an error with their number.
fn range(offset: u64, wanted: usize, length: usize) -> io::Result<std::ops::Range<usize>> {
    let begin = usize::try_from(offset).ok().filter(|&begin| begin <= length && wanted <= length - begin);
    begin
        .map(|begin| begin..begin + wanted)
        .ok_or_else(|| io::Error::new(io::ErrorKind::UnexpectedEof, format!("there are {length} bytes and no more")))
}

impl Source for TensorRef<'_> {
    fn read(&mut self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        bytes.copy_from_slice(&self.bytes()[range(offset, bytes.len(), self.bytes().len())?]);
        Ok(())
    }

    fn dtype(&self) -> Option<DType> {
        Some(TensorRef::dtype(self))
    }
}

impl<T: Element> Source for &[T] {
    fn read(&mut self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        let own: &[u8] = bytemuck::cast_slice(self);
        bytes.copy_from_slice(&own[range(offset, bytes.len(), own.len())?]);
        Ok(())
    }

    fn dtype(&self) -> Option<DType> {
        Some(T::DTYPE)
    }
}

impl<T: Element> Source for TensorView<'_, T> {
    fn read(&mut self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.data().read(offset, bytes)
    }

    fn dtype(&self) -> Option<DType> {
        Some(T::DTYPE)
    }
}

impl Sink for TensorMut<'_> {
    fn write(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let own = self.bytes_mut().map_err(io::Error::other)?;
        let range = range(offset, bytes.len(), own.len())?;
        own[range].copy_from_slice(bytes);
        Ok(())
    }

    fn dtype(&self) -> Option<DType> {
        Some(TensorMut::dtype(self))
    }
}

impl<T: Element> Sink for &mut [T] {
    fn write(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let own: &mut [u8] = bytemuck::cast_slice_mut(self);
        let range = range(offset, bytes.len(), own.len())?;
        own[range].copy_from_slice(bytes);
        Ok(())
    }

    fn dtype(&self) -> Option<DType> {
        Some(T::DTYPE)
    }
}

impl<T: Element> Sink for Vec<T> {
    fn write(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.as_mut_slice().write(offset, bytes)
    }

    fn dtype(&self) -> Option<DType> {
        Some(T::DTYPE)
    }
}

/// The sources of a plan's inputs and the sinks of its outputs.
#[derive(Default)]
pub(super) struct Ends<'a> {
    pub sources: Vec<&'a mut dyn AsyncSource>,
    pub sinks: Vec<&'a mut dyn AsyncSink>,
}

/// Reads a box of a tensor into the bytes of a dense tensor, which has the box's elements; `what` names it in an error.
pub(super) async fn read_box(
    what: &'static str,
    region: &Region,
    spec: &TensorSpec,
    source: &mut dyn AsyncSource,
    mut rest: &mut [u8],
) -> Result<(), ExecuteError> {
    for (first, length) in region.runs(&spec.shape, spec.layout) {
        let (run, behind) = rest.split_at_mut(length * spec.dtype.bytes());
        if cfg!(debug_assertions) {
            run.fill(0x7F);
        }
        let read = source.read_async(first * spec.dtype.bytes() as u64, run).await;
        let elements = length as u64;
        read.map_err(|error| ExecuteError::Source { what, first, elements, error: error.to_string() })?;
        rest = behind;
    }
    Ok(())
}

/// Writes the bytes of a dense tensor to their box in a sink; `what` names it in an error.
pub(super) async fn write_box(
    what: &'static str,
    region: &Region,
    spec: &TensorSpec,
    mut bytes: &[u8],
    sink: &mut dyn AsyncSink,
) -> Result<(), ExecuteError> {
    for (first, length) in region.runs(&spec.shape, spec.layout) {
        let (run, behind) = bytes.split_at(length * spec.dtype.bytes());
        let written = sink.write_async(first * spec.dtype.bytes() as u64, run).await;
        let elements = length as u64;
        written.map_err(|error| ExecuteError::Sink { what, first, elements, error: error.to_string() })?;
        bytes = behind;
    }
    Ok(())
}
