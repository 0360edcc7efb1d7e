//! Waiting for the device: readbacks, and the thread that polls for calls that wait as futures or not at all.

#[cfg(not(target_arch = "wasm32"))]
use core::time::Duration;
use std::sync::Arc;
#[cfg(not(target_arch = "wasm32"))]
use std::sync::{Mutex, mpsc};
#[cfg(not(target_arch = "wasm32"))]
use std::thread::JoinHandle;

use super::gate::Gate;
#[cfg(not(target_arch = "wasm32"))]
use super::gate::{Owned, contained, lock};
use super::signal::{Signal, Until};
#[cfg(not(target_arch = "wasm32"))]
use wgpu_pooling_plan::ExecuteError;

/// The first and the longest pause between two polls.
#[cfg(not(target_arch = "wasm32"))]
const SHORTEST_PAUSE: Duration = Duration::from_micros(50);
#[cfg(not(target_arch = "wasm32"))]
const LONGEST_PAUSE: Duration = Duration::from_millis(2);

/// Whether a staging buffer was mapped.
type MapResult = Result<(), wgpu::BufferAsyncError>;

/// The future of the device's answer to a readback.
pub(in crate::gpu) type MapReceiver = Until<MapResult>;

/// The sending end of that answer, which may be shared: the first answer counts. If the last owner drops it and nothing
/// was answered, the answer is an error.
#[derive(Debug)]
pub(in crate::gpu) struct MapSender(Arc<Signal<MapResult>>);

impl MapSender {
    /// Both ends.
    fn new(gate: &Gate) -> (Arc<MapSender>, MapReceiver) {
        let signal = Arc::new(Signal::new(gate.clone()));
        (Arc::new(MapSender(Arc::clone(&signal))), Signal::until(signal))
    }

    fn tell(&self, result: MapResult) {
        self.0.tell(result);
    }
}

impl Drop for MapSender {
    fn drop(&mut self) {
        self.tell(Err(wgpu::BufferAsyncError));
    }
}

/// Maps a staging buffer after the commands so far. The returned sender can answer in the device's place, should the
/// device never call back.
pub(in crate::gpu) fn map_on_submit(
    gate: &Gate,
    encoder: &mut wgpu::CommandEncoder,
    staging: &wgpu::Buffer,
) -> (Arc<MapSender>, MapReceiver) {
    let (device, mapped) = MapSender::new(gate);
    let answer = Arc::clone(&device);
    encoder.map_buffer_on_submit(staging, wgpu::MapMode::Read, .., move |outcome| device.tell(outcome));
    (answer, mapped)
}

/// A submission to wait for, and the senders of its readbacks.
#[derive(Debug)]
pub(in crate::gpu) struct Submission {
    pub index: wgpu::SubmissionIndex,
    pub answers: Vec<Arc<MapSender>>,
}

#[cfg(not(target_arch = "wasm32"))]
impl Submission {
    pub fn wait(self, device: &Owned<wgpu::Device>) {
        // After a successful wait the callback has been called, or is about to be called by another polling thread.
        // After a failed wait it may never be called.
        if !wait(device, &self.index) {
            self.answers.iter().for_each(|answer| answer.tell(Err(wgpu::BufferAsyncError)));
        }
    }
}

/// The thread that waits for submissions, so that readbacks complete, and memory is freed, without the caller polling.
/// It starts with the first submission that no blocking call waits for, and ends with the device.
#[cfg(not(target_arch = "wasm32"))]
#[derive(Debug)]
pub(in crate::gpu) struct Poller {
    device: Owned<wgpu::Device>,
    watch: Mutex<Option<Watch>>,
}

/// The running thread and its channel.
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

    pub fn watch(&self, submission: Submission) -> Result<(), ExecuteError> {
        let mut watch = lock(&self.watch);
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
        let Some(Watch { submissions, thread }) = lock(&self.watch).take() else { return };
        drop(submissions);
        join(thread, "poller");
    }
}

/// Waits for one of the crate's threads, which has ended or is about to. A waker that it calls can drop the last
/// handle; a thread cannot join itself.
#[cfg(not(target_arch = "wasm32"))]
pub(in crate::gpu) fn join(thread: JoinHandle<()>, name: &str) {
    if thread.thread().id() != std::thread::current().id() && thread.join().is_err() {
        log::error!("the {name} thread panicked");
    }
}

#[cfg(not(target_arch = "wasm32"))]
fn wait_for_all(device: &Owned<wgpu::Device>, submissions: &mpsc::Receiver<Submission>) {
    while let Ok(submission) = submissions.recv() {
        submission.wait(device);
    }
}

/// The result of a poll, or `None` if wgpu panicked.
#[cfg(not(target_arch = "wasm32"))]
type Polled = Option<Result<wgpu::PollStatus, wgpu::PollError>>;

/// Waits for a submission; returns whether the device has finished it.
#[cfg(not(target_arch = "wasm32"))]
fn wait(device: &Owned<wgpu::Device>, index: &wgpu::SubmissionIndex) -> bool {
    let timeout = device.gate().longest_wait();
    poll_until_done(|| poll(device, wgpu::PollType::Wait { submission_index: Some(index.clone()), timeout }))
}

/// Polls until the wait has succeeded or failed, and sleeps in between.
#[cfg(not(target_arch = "wasm32"))]
fn poll_until_done(mut poll: impl FnMut() -> Polled) -> bool {
    let mut pause = SHORTEST_PAUSE;
    loop {
        match poll() {
            Some(Err(wgpu::PollError::Timeout)) => std::thread::sleep(pause),
            end => return matches!(end, Some(Ok(_))),
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// Lets callbacks run. wgpu panics if the driver has lost the device.
#[cfg(not(target_arch = "wasm32"))]
pub(in crate::gpu) fn poll(device: &Owned<wgpu::Device>, until: wgpu::PollType) -> Polled {
    let polled = contained("polling the device", || device.gate().exclusive(|| device.poll(until)));
    match &polled {
        // Success and timeout are results for the caller; a panic has been logged already.
        Some(Ok(_) | Err(wgpu::PollError::Timeout)) | None => {}
        Some(Err(error)) => log::warn!("{error}"),
    }
    polled
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    #[test]
    fn the_first_answer_counts_and_none_is_an_error() {
        let ask = |mapped: &mut MapReceiver| Pin::new(mapped).poll(&mut Context::from_waker(Waker::noop()));
        let (answer, mut mapped) = MapSender::new(&Gate::default());
        answer.tell(Ok(()));
        answer.tell(Err(wgpu::BufferAsyncError));
        drop(answer);
        assert_eq!(ask(&mut mapped), Poll::Ready(Ok(())));

        let (answer, mut mapped) = MapSender::new(&Gate::default());
        let another = Arc::clone(&answer);
        drop(answer);
        assert_eq!(ask(&mut mapped), Poll::Pending);
        drop(another);
        assert_eq!(ask(&mut mapped), Poll::Ready(Err(wgpu::BufferAsyncError)));
    }

    #[test]
    fn a_device_is_asked_until_it_is_done_or_fails() {
        let asked = |mut answers: Vec<Polled>| {
            let done = poll_until_done(|| answers.remove(0));
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
