//! To the device and back: buffers with contents, readbacks, and the thread that waits for them.

#[cfg(not(target_arch = "wasm32"))]
use std::sync::{Mutex, PoisonError, mpsc};
#[cfg(not(target_arch = "wasm32"))]
use std::thread::JoinHandle;

use futures_intrusive::channel::shared::{OneshotReceiver, oneshot_channel};

use super::context::Inner;
#[cfg(not(target_arch = "wasm32"))]
use crate::error::ExecuteError;

/// What the buffers of tensors are made for: kernels, copies either way.
pub(super) const TENSOR_USAGES: wgpu::BufferUsages =
    wgpu::BufferUsages::STORAGE.union(wgpu::BufferUsages::COPY_SRC).union(wgpu::BufferUsages::COPY_DST);

/// What scratch memory is made for: a kernel may decide on the grid of a later one.
pub(super) const SCRATCH_USAGES: wgpu::BufferUsages = wgpu::BufferUsages::STORAGE.union(wgpu::BufferUsages::INDIRECT);

impl Inner {
    /// A buffer with these contents, rounded up to whole words with zeros.
    pub fn filled_buffer(&self, label: &str, usage: wgpu::BufferUsages, contents: &[u8]) -> wgpu::Buffer {
        // A binding cannot be empty.
        let size = (contents.len() as u64).next_multiple_of(4).max(4);
        let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some(label),
            size,
            usage,
            mapped_at_creation: true,
        });
        // Where the allocation failed there is nothing to map; the error scope around us says so.
        if let Ok(mut view) = buffer.get_mapped_range_mut(..) {
            view.slice(..contents.len()).copy_from_slice(contents);
            drop(view);
            buffer.unmap();
        }
        buffer
    }

    /// A buffer that kernels write, poisoned if the options say so.
    pub fn output_buffer(&self, label: &str, usage: wgpu::BufferUsages, bytes: u64) -> wgpu::Buffer {
        let size = bytes.max(4);
        match self.poison {
            Some(word) => {
                let contents = vec![word; (size / 4) as usize];
                self.filled_buffer(label, usage, bytemuck::cast_slice(&contents))
            }
            None => self.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some(label),
                size,
                usage,
                mapped_at_creation: false,
            }),
        }
    }

    /// A buffer for so many bytes that the host will map.
    pub fn staging_buffer(&self, bytes: u64) -> wgpu::Buffer {
        self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("wgpu-pooling readback"),
            size: bytes.next_multiple_of(4).max(4),
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        })
    }

    /// Asks for the mapping of a staging buffer once the commands so far are done.
    pub fn map_on_submit(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        staging: &wgpu::Buffer,
    ) -> OneshotReceiver<Result<(), wgpu::BufferAsyncError>> {
        let (sender, mapped) = oneshot_channel();
        encoder.map_buffer_on_submit(staging, wgpu::MapMode::Read, .., move |result| {
            // Nobody listens any more if the future was dropped.
            let _ = sender.send(result);
        });
        mapped
    }
}

/// The thread that waits for submissions so that readbacks complete without the caller polling. It starts with the first
/// submission and ends with the [`Gpu`](super::Gpu).
#[cfg(not(target_arch = "wasm32"))]
#[derive(Debug)]
pub(super) struct Poller {
    device: wgpu::Device,
    watch: Mutex<Option<Watch>>,
}

/// The running thread and the way to it.
#[cfg(not(target_arch = "wasm32"))]
#[derive(Debug)]
struct Watch {
    submissions: mpsc::Sender<wgpu::SubmissionIndex>,
    thread: JoinHandle<()>,
}

#[cfg(not(target_arch = "wasm32"))]
impl Poller {
    pub fn new(device: wgpu::Device) -> Self {
        Poller { device, watch: Mutex::new(None) }
    }

    /// Sees to it that the callbacks of a submission run.
    pub fn watch(&self, submission: wgpu::SubmissionIndex) -> Result<(), ExecuteError> {
        let mut watch = self.watch.lock().unwrap_or_else(PoisonError::into_inner);
        let submissions = match &*watch {
            Some(watch) => &watch.submissions,
            None => {
                let (sender, submissions) = mpsc::channel();
                let device = self.device.clone();
                let thread = std::thread::Builder::new()
                    .name("wgpu-pooling poller".to_owned())
                    .spawn(move || poll(&device, &submissions))
                    .map_err(|error| ExecuteError::OutOfMemory(format!("no thread to wait for the device: {error}")))?;
                &watch.insert(Watch { submissions: sender, thread }).submissions
            }
        };
        submissions.send(submission).map_err(|_| ExecuteError::Device("the poller thread has ended".to_owned()))
    }
}

#[cfg(not(target_arch = "wasm32"))]
impl Drop for Poller {
    /// Ends the thread and waits for it, so that no driver code runs on it while the process ends.
    fn drop(&mut self) {
        let Some(Watch { submissions, thread }) = self.watch.get_mut().unwrap_or_else(PoisonError::into_inner).take()
        else {
            return;
        };
        drop(submissions);
        // A waker that the thread calls can drop the last handle; a thread cannot wait for itself.
        if thread.thread().id() != std::thread::current().id() && thread.join().is_err() {
            log::error!("the poller thread panicked");
        }
    }
}

#[cfg(not(target_arch = "wasm32"))]
fn poll(device: &wgpu::Device, submissions: &mpsc::Receiver<wgpu::SubmissionIndex>) {
    while let Ok(submission) = submissions.recv() {
        let wait = wgpu::PollType::Wait { submission_index: Some(submission), timeout: None };
        if let Err(error) = device.poll(wait) {
            log::warn!("waiting for the device: {error}");
        }
    }
}
