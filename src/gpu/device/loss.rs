//! The loss of a device: its reason once it is known, and those who wait for it.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll, Waker};

use super::gate::Gate;

/// Whether a device is lost. The first reason stays, since later ones follow from it.
#[derive(Debug)]
pub(in crate::gpu) struct Loss {
    reason: OnceLock<String>,
    waiting: Mutex<Waiting>,
    gate: Gate,
}

/// The wakers of the futures that wait, by the futures' numbers.
#[derive(Debug, Default)]
struct Waiting {
    wakers: BTreeMap<u64, Waker>,
    next: u64,
}

impl Loss {
    /// No loss yet. Wakers are called outside this gate.
    pub fn new(gate: Gate) -> Loss {
        Loss { reason: OnceLock::new(), waiting: Mutex::default(), gate }
    }

    pub fn reason(&self) -> Option<&str> {
        self.reason.get().map(String::as_str)
    }

    /// Records why the device is lost, and wakes the futures that wait.
    pub fn tell(&self, reason: String) {
        if self.reason.set(reason).is_ok() {
            let wakers = std::mem::take(&mut self.lock().wakers);
            wakers.into_values().for_each(|waker| self.gate.wake(waker));
        }
    }

    /// A future that completes with the reason.
    pub fn until(loss: Arc<Loss>) -> impl Future<Output = String> {
        let number = {
            let mut waiting = loss.lock();
            waiting.next += 1;
            waiting.next
        };
        Until { loss, number }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Until {
    loss: Arc<Loss>,
    number: u64,
}

impl Future for Until {
    type Output = String;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<String> {
        // The lock is taken before the reason is read: a loss after that finds the waker.
        let mut waiting = self.loss.lock();
        if let Some(reason) = self.loss.reason() {
            return Poll::Ready(reason.to_owned());
        }
        let before = waiting.wakers.insert(self.number, context.waker().clone());
        // Dropping a waker may run any code, so the lock is released first.
        drop(waiting);
        drop(before);
        Poll::Pending
    }
}

impl Drop for Until {
    fn drop(&mut self) {
        let waker = self.loss.lock().wakers.remove(&self.number);
        drop(waker);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    use super::*;

    #[derive(Default)]
    struct Counts(AtomicUsize);

    impl Wake for Counts {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[test]
    fn all_who_wait_are_woken_once_and_learn_the_first_reason() {
        let loss = Arc::new(Loss::new(Gate::default()));
        let counts = Arc::new(Counts::default());
        let waker = Waker::from(Arc::clone(&counts));
        let mut waits: Vec<_> = (0..3).map(|_| Box::pin(Loss::until(Arc::clone(&loss)))).collect();
        let ask = |wait: &mut Pin<Box<_>>| Future::poll(Pin::as_mut(wait), &mut Context::from_waker(&waker));
        for _ in 0..2 {
            assert!(waits.iter_mut().all(|wait| ask(wait) == Poll::Pending));
        }
        // One that gave up is not woken, and leaves nothing behind.
        drop(waits.pop());
        assert_eq!(loss.lock().wakers.len(), 2);

        loss.tell("first".to_owned());
        loss.tell("second".to_owned());
        assert_eq!(counts.0.load(Ordering::SeqCst), 2);
        assert!(waits.iter_mut().all(|wait| ask(wait) == Poll::Ready("first".to_owned())));
        assert_eq!(ask(&mut Box::pin(Loss::until(Arc::clone(&loss)))), Poll::Ready("first".to_owned()));
    }
}
