//! How far a stream has come, and the memory that it holds.

use std::ops::ControlFlow;

use crate::error::ExecuteError;
use crate::tensor::zeros;

/// How far a [`Stream`](crate::Stream) has come.
///
/// ```no_run
/// let print = |progress: &wgpu_pooling::StreamProgress| println!("{} of {} tiles", progress.done, progress.tiles);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct StreamProgress {
    /// The tiles that are done, out of `tiles`. Where windows are cut into parts, some tile numbers have no tile; they
    /// count as done when they are reached.
    pub done: u64,
    /// All tile numbers, with or without a tile.
    pub tiles: u64,
    /// The bytes that were read from the source.
    pub bytes_read: u64,
    /// The bytes that were written to the sinks.
    pub bytes_written: u64,
}

/// The statistics of a finished [`Stream`](crate::Stream).
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
    /// The bytes that were uploaded to a GPU. They exceed X where tiles overlap in their halo. Zero on the CPU, and
    /// where the host put an unpool's values in place.
    pub bytes_uploaded: u64,
    /// The bytes that were downloaded from a GPU.
    pub bytes_downloaded: u64,
    /// The peak of the run's vectors, in bytes.
    pub peak_host_bytes: u64,
    /// The peak of the run's buffers on a GPU, in bytes, staging included. On software Vulkan this memory belongs to
    /// the process too. Zero on the CPU.
    pub peak_device_bytes: u64,
    /// The peak of both together, which is at most the budget.
    pub peak_bytes: u64,
}

/// The progress callback. On the web, where a program has one thread and its callbacks hold objects of JavaScript, it
/// need not be `Send`.
#[cfg(not(target_arch = "wasm32"))]
pub(super) type Callback<'a> = Box<dyn FnMut(&StreamProgress) -> ControlFlow<()> + Send + 'a>;
#[cfg(target_arch = "wasm32")]
pub(super) type Callback<'a> = Box<dyn FnMut(&StreamProgress) -> ControlFlow<()> + 'a>;

/// Bytes of a tile at an address that is aligned for elements of every type.
#[derive(Default)]
pub(super) struct Buffer {
    words: Vec<u64>,
    bytes: usize,
    /// The most bytes that it has had.
    most: usize,
}

impl Buffer {
    pub fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.bytes]
    }

    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.words)[..self.bytes]
    }
}

/// How often the tiles of a run may read a source before that is a warning.
pub(super) const MOST_READS: f64 = 4.0;

/// Warns of a budget whose tiles read a source so often.
pub(super) fn warn_of_reads(operator: &str, budget_bytes: u64, tiles: u64, reads: f64) {
    if reads > MOST_READS {
        let see = "see Stream::proposed_budget";
        log::warn!("{operator}: {tiles} tiles in {budget_bytes} bytes read their sources {reads:.0} times over; {see}");
    }
}

/// A run of a stream: its progress, its callback, and the memory that it holds.
pub(super) struct Running<'a> {
    pub progress: StreamProgress,
    pub report: StreamReport,
    callback: Option<Callback<'a>>,
    /// The tiles that were done at the last call of the callback.
    last_reported: Option<u64>,
    host: u64,
    device: u64,
}

impl<'a> Running<'a> {
    /// A run before its first tile.
    pub fn new(tiles: u64, callback: Option<Callback<'a>>) -> Running<'a> {
        let progress = StreamProgress { done: 0, tiles, bytes_read: 0, bytes_written: 0 };
        Running { progress, report: StreamReport::default(), callback, last_reported: None, host: 0, device: 0 }
    }

    /// Resizes a buffer to this number of bytes, whatever their values. Its memory counts towards the budget until it
    /// is freed.
    pub fn resize(&mut self, buffer: &mut Buffer, bytes: u64) -> Result<(), ExecuteError> {
        let wanted = usize::try_from(bytes).unwrap_or(usize::MAX);
        if buffer.most < wanted {
            // The shorter one is freed before the longer one is allocated.
            self.free(buffer);
            buffer.words = zeros(&[wanted.div_ceil(size_of::<u64>())])?;
            buffer.most = wanted;
            self.host = self.host.saturating_add(bytes);
            self.note();
        }
        buffer.bytes = wanted;
        Ok(())
    }

    /// Frees the memory of a buffer.
    pub fn free(&mut self, buffer: &mut Buffer) {
        self.host = self.host.saturating_sub(buffer.most as u64);
        *buffer = Buffer::default();
    }

    /// Counts memory of a device that is taken.
    pub fn take_device(&mut self, bytes: u64) {
        self.device = self.device.saturating_add(bytes);
        self.note();
    }

    /// Counts memory of the host that is taken for as long as the host computes a tile.
    pub fn pass_host(&mut self, bytes: u64) {
        self.host = self.host.saturating_add(bytes);
        self.note();
        self.host = self.host.saturating_sub(bytes);
    }

    /// Counts memory of a device that is free again.
    pub fn free_device(&mut self, bytes: u64) {
        self.device = self.device.saturating_sub(bytes);
    }

    fn note(&mut self) {
        let report = &mut self.report;
        report.peak_host_bytes = report.peak_host_bytes.max(self.host);
        report.peak_device_bytes = report.peak_device_bytes.max(self.device);
        report.peak_bytes = report.peak_bytes.max(self.host.saturating_add(self.device));
    }

    /// Counts a tile that was written, and calls the progress callback.
    pub fn tile_done(&mut self) -> Result<(), ExecuteError> {
        self.report.tiles += 1;
        self.progress.done += 1;
        self.tell()
    }

    /// Calls the progress callback; an error if it stops the run.
    pub fn tell(&mut self) -> Result<(), ExecuteError> {
        let StreamProgress { done, tiles, .. } = self.progress;
        self.last_reported = Some(done);
        match self.callback.as_mut().map(|callback| callback(&self.progress)) {
            Some(ControlFlow::Break(())) => Err(ExecuteError::Stopped { done, tiles }),
            _ => Ok(()),
        }
    }

    /// Calls the progress callback at the end of the run, if the last numbers had no tile.
    pub fn finish(&mut self) -> Result<(), ExecuteError> {
        if self.last_reported == Some(self.progress.done) { Ok(()) } else { self.tell() }
    }
}
