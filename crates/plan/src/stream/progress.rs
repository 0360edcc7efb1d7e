//! Streaming runs: their options, their progress, and the memory that they hold.

use std::ops::ControlFlow;

use crate::error::ExecuteError;
use crate::tensor::zeros;

/// How far a streaming run has come.
///
/// ```no_run
/// let print = |progress: &wgpu_pooling::StreamProgress| println!("{} of {} tiles", progress.done, progress.tiles);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct StreamProgress {
    /// The tiles that were written, out of `tiles`. Where windows are cut into parts, some numbers have no tile; they
    /// count as soon as they are come to.
    pub done: u64,
    /// The numbers of tiles of the whole run ([`Tiling::len`](crate::Tiling::len)).
    pub tiles: u64,
    /// The bytes that were read from the source.
    pub bytes_read: u64,
    /// The bytes that were written to the sinks.
    pub bytes_written: u64,
}

/// The statistics of a finished streaming run.
///
/// ```no_run
/// # fn f(report: wgpu_pooling::StreamReport) {
/// println!("{} tiles, {} MiB at a time", report.tiles, report.peak_bytes >> 20);
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct StreamReport {
    /// The number of tiles that were computed. On a GPU each has its own submit.
    pub tiles: u64,
    /// The bytes that were uploaded to a GPU. They exceed X where tiles overlap in their halo. On the CPU nothing is.
    pub bytes_uploaded: u64,
    /// The bytes that were downloaded from a GPU.
    pub bytes_downloaded: u64,
    /// The peak of the run's vectors, in bytes.
    pub peak_host_bytes: u64,
    /// The peak of the run's buffers on a GPU, in bytes, staging included. On software Vulkan this memory belongs to
    /// the process too. On the CPU there are none.
    pub peak_device_bytes: u64,
    /// The peak of both together, which is at most the budget.
    pub peak_bytes: u64,
}

/// The progress callback. On the web, where a program has one thread and its callbacks hold objects of JavaScript, it
/// need not be `Send`.
#[cfg(not(target_arch = "wasm32"))]
type Callback<'a> = Box<dyn FnMut(&StreamProgress) -> ControlFlow<()> + Send + 'a>;
#[cfg(target_arch = "wasm32")]
type Callback<'a> = Box<dyn FnMut(&StreamProgress) -> ControlFlow<()> + 'a>;

/// The options of a streaming run: its budget and its progress callback.
///
/// ```
/// use wgpu_pooling::StreamOptions;
/// // At most 256 MiB at a time, on the host and on the device together.
/// let options = StreamOptions::new(256 << 20);
/// # let _ = options;
/// ```
#[must_use]
pub struct StreamOptions<'a> {
    #[doc(hidden)]
    pub budget_bytes: u64,
    progress: Option<Callback<'a>>,
}

impl std::fmt::Debug for StreamOptions<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("StreamOptions").field("budget_bytes", &self.budget_bytes).finish_non_exhaustive()
    }
}

impl<'a> StreamOptions<'a> {
    /// The options with a budget: the most bytes that the run may hold at a time, on the host and on the device
    /// together, in vectors, buffers and staging memory. Memory of the device object, the driver and pipelines is not
    /// counted, nor what the kernels of the CPU take for themselves, at most some 3 MiB for each thread.
    ///
    /// ```
    /// let options = wgpu_pooling::StreamOptions::new(1 << 30);
    /// # let _ = options;
    /// ```
    pub fn new(budget_bytes: u64) -> Self {
        StreamOptions { budget_bytes, progress: None }
    }

    /// Sets a callback that is called before the first tile and after each written tile. If it returns
    /// `ControlFlow::Break`, the run ends with [`ExecuteError::Stopped`]. On the web it need not be `Send`.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    /// use wgpu_pooling::StreamOptions;
    ///
    /// let options = StreamOptions::new(1 << 30).progress(|progress| match progress.bytes_read {
    ///     0..1_000_000_000 => ControlFlow::Continue(()),
    ///     _ => ControlFlow::Break(()),
    /// });
    /// # let _ = options;
    /// ```
    #[cfg(not(target_arch = "wasm32"))]
    pub fn progress(mut self, callback: impl FnMut(&StreamProgress) -> ControlFlow<()> + Send + 'a) -> Self {
        self.progress = Some(Box::new(callback));
        self
    }

    /// Sets a callback that is called before the first tile and after each written tile. If it returns
    /// `ControlFlow::Break`, the run ends with [`ExecuteError::Stopped`].
    ///
    /// ```
    /// use std::{cell::Cell, ops::ControlFlow, rc::Rc};
    /// use wgpu_pooling::StreamOptions;
    ///
    /// let tiles = Rc::new(Cell::new(0));
    /// let shown = Rc::clone(&tiles);
    /// let options = StreamOptions::new(1 << 30).progress(move |progress| {
    ///     shown.set(progress.done);
    ///     ControlFlow::Continue(())
    /// });
    /// # let _ = options;
    /// ```
    #[cfg(target_arch = "wasm32")]
    pub fn progress(mut self, callback: impl FnMut(&StreamProgress) -> ControlFlow<()> + 'a) -> Self {
        self.progress = Some(Box::new(callback));
        self
    }
}

/// The memory that a run holds, and its peaks.
#[derive(Default)]
pub struct MemoryTracker {
    host: u64,
    device: u64,
    pub report: StreamReport,
}

impl MemoryTracker {
    pub fn host(&mut self, more: u64, less: u64) {
        self.host = self.host + more - less;
        self.note();
    }

    pub fn device(&mut self, more: u64, less: u64) {
        self.device = self.device + more - less;
        self.note();
    }

    /// Makes a vector at least so long, and returns its first elements, whatever they are.
    pub fn first<'v, T: bytemuck::Zeroable>(
        &mut self,
        vector: &'v mut Vec<T>,
        elements: u64,
    ) -> Result<&'v mut [T], ExecuteError> {
        let length = usize::try_from(elements).unwrap_or(usize::MAX);
        if vector.len() < length {
            // The shorter one is freed before the longer one is allocated.
            self.host(0, size_of_val(vector.as_slice()) as u64);
            *vector = Vec::new();
            *vector = zeros(&[length])?;
            self.host(size_of_val(vector.as_slice()) as u64, 0);
        }
        Ok(&mut vector[..length])
    }

    fn note(&mut self) {
        let report = &mut self.report;
        report.peak_host_bytes = report.peak_host_bytes.max(self.host);
        report.peak_device_bytes = report.peak_device_bytes.max(self.device);
        report.peak_bytes = report.peak_bytes.max(self.host + self.device);
    }
}

/// A streaming run.
pub struct StreamState<'a> {
    pub memory: MemoryTracker,
    pub progress: StreamProgress,
    callback: Option<Callback<'a>>,
    /// The tiles that were done at the last call of the callback.
    told: Option<u64>,
}

impl<'a> StreamState<'a> {
    /// A run before its first tile.
    pub fn new(tiles: u64, options: StreamOptions<'a>) -> StreamState<'a> {
        let progress = StreamProgress { done: 0, tiles, bytes_read: 0, bytes_written: 0 };
        StreamState { memory: MemoryTracker::default(), progress, callback: options.progress, told: None }
    }

    /// Calls the progress callback; an error if it stops the run.
    pub fn tell(&mut self) -> Result<(), ExecuteError> {
        let StreamProgress { done, tiles, .. } = self.progress;
        self.told = Some(done);
        match self.callback.as_mut().map(|callback| callback(&self.progress)) {
            Some(ControlFlow::Break(())) => Err(ExecuteError::Stopped { done, tiles }),
            _ => Ok(()),
        }
    }

    /// Calls the progress callback at the end of the run, if the last numbers had no tile.
    pub fn finish(&mut self) -> Result<(), ExecuteError> {
        if self.told == Some(self.progress.done) { Ok(()) } else { self.tell() }
    }
}
