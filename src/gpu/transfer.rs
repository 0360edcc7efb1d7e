//! To the device and back: buffers with contents, readbacks, and the thread that waits for them.

#[cfg(not(target_arch = "wasm32"))]
use core::time::Duration;
use std::sync::Arc;
#[cfg(not(target_arch = "wasm32"))]
use std::sync::{Mutex, PoisonError, mpsc};
#[cfg(not(target_arch = "wasm32"))]
use std::thread::JoinHandle;

#[cfg(not(target_arch = "wasm32"))]
use super::answer::contained;
use super::answer::{Answer, Mapped, answer};
use super::context::{Gpu, Inner};
use super::gate::Owned;
use crate::error::ExecuteError;

/// How long a thread sleeps between two questions whether the device is done, at first and at most.
#[cfg(not(target_arch = "wasm32"))]
const SHORTEST_PAUSE: Duration = Duration::from_micros(50);
#[cfg(not(target_arch = "wasm32"))]
const LONGEST_PAUSE: Duration = Duration::from_millis(2);

/// What the buffers of tensors are made for: kernels, copies either way.
pub(super) const TENSOR_USAGES: wgpu::BufferUsages =
    wgpu::BufferUsages::STORAGE.union(wgpu::BufferUsages::COPY_SRC).union(wgpu::BufferUsages::COPY_DST);

/// What scratch memory is made for: a kernel may decide on the grid of a later one.
pub(super) const SCRATCH_USAGES: wgpu::BufferUsages = wgpu::BufferUsages::STORAGE.union(wgpu::BufferUsages::INDIRECT);

impl Inner {
    /// A buffer with these contents, rounded up to whole words with zeros.
    pub fn filled_buffer(&self, label: &str, usage: wgpu::BufferUsages, contents: &[u8]) -> Owned<wgpu::Buffer> {
        self.mapped_buffer(label, usage, contents.len() as u64, |view| fill(view, contents))
    }

    /// A buffer that kernels write, poisoned if the options say so.
    pub fn output_buffer(&self, label: &str, usage: wgpu::BufferUsages, bytes: u64) -> Owned<wgpu::Buffer> {
        match self.poison {
            Some(word) => self.mapped_buffer(label, usage, bytes, |view| poison(view, word)),
            None => self.plain_buffer(label, usage, bytes),
        }
    }

    /// The same for a tensor that is used in one call: from the shelf if it has one.
    pub fn lent_filled_buffer(&self, label: &str, contents: &[u8]) -> Owned<wgpu::Buffer> {
        let bytes = whole_words(contents.len() as u64);
        let buffer = self.shelf.take(TENSOR_USAGES, bytes);
        let buffer = buffer.unwrap_or_else(|| self.plain_buffer(label, TENSOR_USAGES, bytes));
        self.memory.write(&self.queue, &buffer, bytes, |view| fill(view, contents));
        buffer
    }

    /// The same for an output.
    pub fn lent_output_buffer(&self, label: &str, bytes: u64) -> Owned<wgpu::Buffer> {
        let Some(buffer) = self.shelf.take(TENSOR_USAGES, bytes) else {
            return self.output_buffer(label, TENSOR_USAGES, bytes);
        };
        if let Some(word) = self.poison {
            self.memory.write(&self.queue, &buffer, bytes, |view| poison(view, word));
        }
        buffer
    }

    /// A buffer for so many bytes that the host will map; from the shelf, if that is wanted and it has one.
    pub fn staging_buffer(&self, bytes: u64, reuse: bool) -> Owned<wgpu::Buffer> {
        let usages = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let bytes = whole_words(bytes);
        let kept = if reuse { self.shelf.take(usages, bytes) } else { None };
        kept.unwrap_or_else(|| self.plain_buffer("wgpu-pooling readback", usages, bytes))
    }

    fn plain_buffer(&self, label: &str, usage: wgpu::BufferUsages, bytes: u64) -> Owned<wgpu::Buffer> {
        let (label, size) = (Some(label), whole_words(bytes));
        self.memory.buffer(&wgpu::BufferDescriptor { label, size, usage, mapped_at_creation: false })
    }

    /// A buffer of whole words, at least one, that the host fills before the device has it.
    fn mapped_buffer(
        &self,
        label: &str,
        usage: wgpu::BufferUsages,
        bytes: u64,
        fill: impl FnOnce(wgpu::WriteOnly<'_, [u8]>),
    ) -> Owned<wgpu::Buffer> {
        let (label, size) = (Some(label), whole_words(bytes));
        let buffer = self.memory.buffer(&wgpu::BufferDescriptor { label, size, usage, mapped_at_creation: true });
        // Where the allocation failed there is nothing to map; the error scope around us says so.
        if let Ok(mut view) = buffer.get_mapped_range_mut(..) {
            fill(view.slice(..));
            drop(view);
            buffer.unmap();
        }
        buffer
    }

    /// Asks for the mapping of a staging buffer once the commands so far are done. The answer can be given in the device's
    /// place, should it never give one.
    pub fn map_on_submit(&self, encoder: &mut wgpu::CommandEncoder, staging: &wgpu::Buffer) -> (Arc<Answer>, Mapped) {
        let (device, mapped) = answer(self.device.gate());
        let answer = Arc::clone(&device);
        encoder.map_buffer_on_submit(staging, wgpu::MapMode::Read, .., move |outcome| device.tell(outcome));
        (answer, mapped)
    }
}

/// Bytes as buffers have them: whole words, and at least one, since a binding cannot be empty.
fn whole_words(bytes: u64) -> u64 {
    bytes.next_multiple_of(4).max(4)
}

/// Writes these contents, and zeros behind them.
fn fill(view: wgpu::WriteOnly<'_, [u8]>, contents: &[u8]) {
    let (mut here, mut behind) = view.split_at(contents.len());
    here.copy_from_slice(contents);
    behind.fill(0);
}

/// Writes a word everywhere.
fn poison(view: wgpu::WriteOnly<'_, [u8]>, word: u32) {
    let (mut words, _) = view.into_chunks::<4>();
    words.fill(word.to_ne_bytes());
}

impl Gpu {
    /// Sees to it that the callbacks of a submission run, and that it is answered: now, or by the crate's own thread.
    pub(super) fn see_to(&self, submission: Submission) -> Result<(), ExecuteError> {
        #[cfg(not(target_arch = "wasm32"))]
        if self.polls {
            submission.wait(&self.inner.device);
        } else {
            self.inner.poller.watch(submission)?;
        }
        // A browser polls by itself, and answers.
        #[cfg(target_arch = "wasm32")]
        {
            let Submission { index, answers } = submission;
            drop((index, answers));
        }
        Ok(())
    }
}

/// What to wait for, and who is to be told of it.
#[derive(Debug)]
pub(super) struct Submission {
    pub index: wgpu::SubmissionIndex,
    pub answers: Vec<Arc<Answer>>,
}

#[cfg(not(target_arch = "wasm32"))]
impl Submission {
    fn wait(self, device: &Owned<wgpu::Device>) {
        // After a wait the callback has been called, or another thread that polls is about to. Without one it may never be.
        if !wait(device, &self.index) {
            self.answers.iter().for_each(|answer| answer.tell(Err(wgpu::BufferAsyncError)));
        }
    }
}

/// The thread that waits for submissions so that readbacks complete without the caller polling. It starts with the first
/// one that is waited for by a future and ends with the [`Gpu`](super::Gpu).
#[cfg(not(target_arch = "wasm32"))]
#[derive(Debug)]
pub(super) struct Poller {
    device: Owned<wgpu::Device>,
    watch: Mutex<Option<Watch>>,
}

/// The running thread and the way to it.
#[cfg(not(target_arch = "wasm32"))]
#[derive(Debug)]
struct Watch {
    submissions: mpsc::Sender<Submission>,
    thread: JoinHandle<()>,
}

#[cfg(not(target_arch = "wasm32"))]
impl Poller {
    pub fn new(device: Owned<wgpu::Device>) -> Self {
        Poller { device, watch: Mutex::new(None) }
    }

    fn watch(&self, submission: Submission) -> Result<(), ExecuteError> {
        let mut watch = self.watch.lock().unwrap_or_else(PoisonError::into_inner);
        let submissions = match &*watch {
            Some(watch) => &watch.submissions,
            None => {
                let (sender, submissions) = mpsc::channel();
                let device = self.device.clone();
                let thread = std::thread::Builder::new()
                    .name("wgpu-pooling poller".to_owned())
                    .spawn(move || wait_for_all(&device, &submissions))
                    .map_err(|error| ExecuteError::OutOfMemory(format!("no thread to wait for the device: {error}")))?;
                &watch.insert(Watch { submissions: sender, thread }).submissions
            }
        };
        let ended = |_| ExecuteError::Device("the poller thread has ended".to_owned());
        submissions.send(submission).map_err(ended)
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
fn wait_for_all(device: &Owned<wgpu::Device>, submissions: &mpsc::Receiver<Submission>) {
    while let Ok(submission) = submissions.recv() {
        submission.wait(device);
    }
}

/// What a poll found, or nothing where wgpu panicked.
#[cfg(not(target_arch = "wasm32"))]
type Polled = Option<Result<wgpu::PollStatus, wgpu::PollError>>;

/// Waits for a submission, and says whether the device has come to its end.
#[cfg(not(target_arch = "wasm32"))]
fn wait(device: &Owned<wgpu::Device>, index: &wgpu::SubmissionIndex) -> bool {
    let timeout = device.gate().patience();
    ask_again(|| poll(device, wgpu::PollType::Wait { submission_index: Some(index.clone()), timeout }))
}

/// Polls until that gives an end, good or bad, and sleeps in between.
#[cfg(not(target_arch = "wasm32"))]
fn ask_again(mut poll: impl FnMut() -> Polled) -> bool {
    let mut pause = SHORTEST_PAUSE;
    loop {
        match poll() {
            Some(Err(wgpu::PollError::Timeout)) => std::thread::sleep(pause),
            end => return matches!(end, Some(Ok(_))),
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// Lets callbacks run. wgpu panics over a device that the driver has lost.
#[cfg(not(target_arch = "wasm32"))]
pub(super) fn poll(device: &Owned<wgpu::Device>, until: wgpu::PollType) -> Polled {
    let polled = contained("polling the device", || device.gate().exclusive(|| device.poll(until)));
    match &polled {
        // That is an answer to those who ask.
        Some(Ok(_) | Err(wgpu::PollError::Timeout)) | None => {}
        Some(Err(error)) => log::warn!("{error}"),
    }
    polled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_asked_until_it_is_done_or_fails() {
        let asked = |mut answers: Vec<Polled>| {
            let done = ask_again(|| answers.remove(0));
            (done, answers.len())
        };
        let busy = || Some(Err(wgpu::PollError::Timeout));
        let done = || Some(Ok(wgpu::PollStatus::WaitSucceeded));
        assert_eq!(asked(vec![busy(), busy(), busy(), done(), done()]), (true, 1));
        assert_eq!(asked(vec![Some(Ok(wgpu::PollStatus::QueueEmpty)), done()]), (true, 1));
        assert_eq!(asked(vec![busy(), Some(Err(wgpu::PollError::WrongSubmissionIndex(2, 1))), done()]), (false, 1));
        assert_eq!(asked(vec![None, done()]), (false, 1));
    }
}
