//! A oneshot channel for the device's answer to a readback. Channels of other crates call the waker inside `send`,
//! which on GL is inside the gate; a caller's waker may not run there.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use super::gate::Gate;

/// Whether a staging buffer was mapped.
type MapResult = Result<(), wgpu::BufferAsyncError>;

/// The result if it has been sent, and the waker of the receiver.
#[derive(Debug, Default)]
struct MapState {
    result: Option<MapResult>,
    waker: Option<Waker>,
}

/// The sending end. It may be shared: the first result that is sent counts. If the last owner drops it and nothing was
/// sent, the result is an error.
#[derive(Debug)]
pub(in crate::gpu) struct MapSender {
    state: Arc<Mutex<MapState>>,
    gate: Gate,
}

/// The receiving end, a future.
#[derive(Debug)]
pub(in crate::gpu) struct MapReceiver(Arc<Mutex<MapState>>);

/// Both ends.
pub(in crate::gpu) fn oneshot(gate: &Gate) -> (Arc<MapSender>, MapReceiver) {
    let state = Arc::default();
    (Arc::new(MapSender { state: Arc::clone(&state), gate: gate.clone() }), MapReceiver(state))
}

impl MapSender {
    pub fn tell(&self, result: MapResult) {
        let mut state = lock(&self.state);
        if state.result.is_some() {
            return;
        }
        state.result = Some(result);
        let waker = state.waker.take();
        drop(state);
        if let Some(waker) = waker {
            self.gate.wake(waker);
        }
    }
}

impl Drop for MapSender {
    fn drop(&mut self) {
        self.tell(Err(wgpu::BufferAsyncError));
    }
}

impl Future for MapReceiver {
    type Output = MapResult;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<MapResult> {
        let mut state = lock(&self.0);
        match &state.result {
            Some(result) => Poll::Ready(result.clone()),
            None => {
                state.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

fn lock(state: &Mutex<MapState>) -> MutexGuard<'_, MapState> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(mapped: &mut MapReceiver) -> Poll<MapResult> {
        Pin::new(mapped).poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn the_first_result_counts_and_none_is_an_error() {
        let (answer, mut mapped) = super::oneshot(&Gate::default());
        assert_eq!(ask(&mut mapped), Poll::Pending);
        answer.tell(Ok(()));
        answer.tell(Err(wgpu::BufferAsyncError));
        drop(answer);
        assert_eq!(ask(&mut mapped), Poll::Ready(Ok(())));

        let (answer, mut mapped) = super::oneshot(&Gate::default());
        let another = Arc::clone(&answer);
        drop(answer);
        assert_eq!(ask(&mut mapped), Poll::Pending);
        drop(another);
        assert_eq!(ask(&mut mapped), Poll::Ready(Err(wgpu::BufferAsyncError)));
    }
}
