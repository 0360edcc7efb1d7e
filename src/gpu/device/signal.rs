//! A value that is told once, such as why a device was lost or whether a buffer was mapped, and the futures that wait
//! for it. Channels of other crates call wakers inside `send`, which on GL is inside the gate; a caller's waker may not
//! run there.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, OnceLock};
use std::task::{Context, Poll, Waker};

use super::gate::{Gate, lock};

/// A value that is told at most once: the first one stays.
#[derive(Debug)]
pub(in crate::gpu) struct Signal<T> {
    value: OnceLock<T>,
    waiting: Mutex<Waiting>,
    gate: Gate,
}

/// The wakers of the futures that wait, by the futures' numbers.
#[derive(Debug, Default)]
struct Waiting {
    wakers: BTreeMap<u64, Waker>,
    next: u64,
}

impl<T> Signal<T> {
    /// No value yet. Wakers are called outside this gate.
    pub fn new(gate: Gate) -> Self {
        Signal { value: OnceLock::new(), waiting: Mutex::default(), gate }
    }

    pub fn get(&self) -> Option<&T> {
        self.value.get()
    }

    /// Sets the value, if there is none, and wakes the futures that wait.
    pub fn tell(&self, value: T) {
        if self.value.set(value).is_ok() {
            let wakers = std::mem::take(&mut lock(&self.waiting).wakers);
            wakers.into_values().for_each(|waker| self.gate.wake(waker));
        }
    }

    /// A future that completes with the value.
    pub fn until(signal: Arc<Self>) -> Until<T> {
        let number = {
            let mut waiting = lock(&signal.waiting);
            waiting.next += 1;
            waiting.next
        };
        Until { signal, number }
    }
}

/// A future that completes with the value of a signal.
#[derive(Debug)]
pub(in crate::gpu) struct Until<T> {
    signal: Arc<Signal<T>>,
    number: u64,
}

impl<T: Clone> Future for Until<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        // The lock is taken before the value is read: a value that is told after that finds the waker.
        let mut waiting = lock(&self.signal.waiting);
        if let Some(value) = self.signal.get() {
            return Poll::Ready(value.clone());
        }
        let before = waiting.wakers.insert(self.number, context.waker().clone());
        // Dropping a waker may run any code, so the lock is released first.
        drop(waiting);
        drop(before);
        Poll::Pending
    }
}

impl<T> Drop for Until<T> {
    fn drop(&mut self) {
        let waker = lock(&self.signal.waiting).wakers.remove(&self.number);
        drop(waker);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    use super::*;

    #[derive(Default)]
    struct Wakes(AtomicUsize);

    impl Wake for Wakes {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[test]
    fn all_who_wait_are_woken_once_and_learn_the_first_value() {
        let signal = Arc::new(Signal::new(Gate::default()));
        let counts = Arc::new(Wakes::default());
        let waker = Waker::from(Arc::clone(&counts));
        let mut waits: Vec<_> = (0..3).map(|_| Signal::until(Arc::clone(&signal))).collect();
        let ask = |wait: &mut Until<&'static str>| Pin::new(wait).poll(&mut Context::from_waker(&waker));
        for _ in 0..2 {
            assert!(waits.iter_mut().all(|wait| ask(wait) == Poll::Pending));
        }
        // One that gave up is not woken, and leaves nothing behind.
        drop(waits.pop());
        assert_eq!(lock(&signal.waiting).wakers.len(), 2);

        signal.tell("first");
        signal.tell("second");
        assert_eq!(counts.0.load(Ordering::SeqCst), 2);
        assert!(waits.iter_mut().all(|wait| ask(wait) == Poll::Ready("first")));
        assert_eq!(ask(&mut Signal::until(Arc::clone(&signal))), Poll::Ready("first"));
    }
}
