//! The device's answer to a readback, told once and waited for as a future.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use super::gate::Gate;

/// Whether a staging buffer was mapped.
type Outcome = Result<(), wgpu::BufferAsyncError>;

/// What is known so far, and who wants to know.
#[derive(Debug, Default)]
struct State {
    outcome: Option<Outcome>,
    waker: Option<Waker>,
}

/// The end that is told. Those who share it may all tell; the first word counts, and if the last one goes without a word the
/// answer is an error.
#[derive(Debug)]
pub(super) struct Answer {
    state: Arc<Mutex<State>>,
    gate: Gate,
}

/// The end that is waited for.
#[derive(Debug)]
pub(super) struct Mapped(Arc<Mutex<State>>);

/// Both ends.
pub(super) fn answer(gate: &Gate) -> (Arc<Answer>, Mapped) {
    let state = Arc::default();
    (Arc::new(Answer { state: Arc::clone(&state), gate: gate.clone() }), Mapped(state))
}

impl Answer {
    pub fn tell(&self, outcome: Outcome) {
        let mut state = lock(&self.state);
        if state.outcome.is_some() {
            return;
        }
        state.outcome = Some(outcome);
        let waker = state.waker.take();
        drop(state);
        if let Some(waker) = waker {
            self.gate.wake(waker);
        }
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        self.tell(Err(wgpu::BufferAsyncError));
    }
}

impl Future for Mapped {
    type Output = Outcome;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Outcome> {
        let mut state = lock(&self.0);
        match &state.outcome {
            Some(outcome) => Poll::Ready(outcome.clone()),
            None => {
                state.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps a panic of the device layer or of a caller's waker from those who have nothing to do with it.
pub(super) fn contained<T>(what: &str, work: impl FnOnce() -> T) -> Option<T> {
    let result = catch_unwind(AssertUnwindSafe(work));
    result.inspect_err(|_| log::error!("{what} panicked")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(mapped: &mut Mapped) -> Poll<Outcome> {
        Pin::new(mapped).poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn the_first_word_counts_and_silence_is_an_error() {
        let (answer, mut mapped) = super::answer(&Gate::default());
        assert_eq!(ask(&mut mapped), Poll::Pending);
        answer.tell(Ok(()));
        answer.tell(Err(wgpu::BufferAsyncError));
        drop(answer);
        assert_eq!(ask(&mut mapped), Poll::Ready(Ok(())));

        let (answer, mut mapped) = super::answer(&Gate::default());
        let another = Arc::clone(&answer);
        drop(answer);
        assert_eq!(ask(&mut mapped), Poll::Pending);
        drop(another);
        assert_eq!(ask(&mut mapped), Poll::Ready(Err(wgpu::BufferAsyncError)));
    }
}
