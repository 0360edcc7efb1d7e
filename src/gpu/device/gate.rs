//! Exclusive access to the context of a GL device, which one thread can use at a time.

#[cfg(not(target_arch = "wasm32"))]
use core::time::Duration;
use std::ops::{Deref, DerefMut};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

/// Lets one thread at a time use a GL device. On other backends it never blocks and costs nothing.
///
/// A GL device has one context. wgpu locks it in most calls, also in drops and waits, and panics if another thread
/// holds it for longer than six seconds (one on Windows). A long kernel, a slow compiler or a busy machine is enough
/// for that. So threads wait here, outside wgpu, for as long as necessary.
///
/// Three rules make this work. Calls into wgpu that can need the context are made inside [`Gate::exclusive`]. None of
/// these calls waits for the device: the crate polls repeatedly, with the gate open in between. wgpu objects that the
/// crate keeps are [`Owned`], since dropping them is such a call as well.
///
/// A caller's wakers are called after the thread has left the gate, because they may run any code.
#[derive(Debug, Clone, Default)]
pub(in crate::gpu) struct Gate(Option<Arc<Turn>>);

/// The lock of a gate.
#[derive(Debug, Default)]
struct Turn {
    state: Mutex<GateState>,
    free: Condvar,
}

#[derive(Debug, Default)]
struct GateState {
    inside: Option<Thread>,
    /// The number of nested entries of that thread.
    depth: usize,
    /// Wakers to call when that thread has left.
    wakers: Vec<Waker>,
}

#[cfg(not(target_arch = "wasm32"))]
type Thread = std::thread::ThreadId;
/// The web has one thread.
#[cfg(target_arch = "wasm32")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Thread;

#[cfg(not(target_arch = "wasm32"))]
fn this_thread() -> Thread {
    std::thread::current().id()
}
#[cfg(target_arch = "wasm32")]
fn this_thread() -> Thread {
    Thread
}

impl Gate {
    /// The gate of a device.
    pub fn of(device: &wgpu::Device) -> Gate {
        Gate((device.adapter_info().backend == wgpu::Backend::Gl).then(Arc::default))
    }

    /// Does work while no other thread is inside. Calls may nest.
    pub fn exclusive<T>(&self, work: impl FnOnce() -> T) -> T {
        self.enter();
        let _leaves = Leaves(self.clone());
        work()
    }

    /// How long a call inside may wait for the device: not at all on GL, where other threads may wait to enter; without
    /// limit elsewhere. (A limit there would be worse: wgpu-core 30 panics if the time of a wait is up just when
    /// another thread's poll finds the queue empty.)
    #[cfg(not(target_arch = "wasm32"))]
    pub fn longest_wait(&self) -> Option<Duration> {
        self.0.is_some().then_some(Duration::ZERO)
    }

    /// Wraps a wgpu object that the crate keeps.
    pub fn own<T>(&self, object: T) -> Owned<T> {
        Owned { enters: Enters(self.clone()), object, leaves: Leaves(self.clone()) }
    }

    /// Calls a waker, after this thread has left the gate.
    pub fn wake(&self, waker: Waker) {
        if let Some(turn) = &self.0 {
            let mut state = lock(&turn.state);
            if state.inside == Some(this_thread()) {
                state.wakers.push(waker);
                return;
            }
        }
        wake(waker);
    }

    fn enter(&self) {
        let Some(turn) = &self.0 else { return };
        let me = this_thread();
        let mut state = lock(&turn.state);
        while state.inside.is_some_and(|inside| inside != me) {
            state = turn.free.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.inside = Some(me);
        state.depth += 1;
    }

    fn leave(&self) {
        let Some(turn) = &self.0 else { return };
        let mut state = lock(&turn.state);
        state.depth -= 1;
        if state.depth > 0 {
            return;
        }
        state.inside = None;
        let wakers = std::mem::take(&mut state.wakers);
        drop(state);
        turn.free.notify_one();
        wakers.into_iter().for_each(wake);
    }
}

/// A caller's waker may panic, and the thread that calls it may be serving another caller, so the panic is contained.
fn wake(waker: Waker) {
    contained("a waker", || waker.wake());
}

/// A wgpu object that the crate keeps. Dropping it uses the device, so it is dropped inside the gate.
#[derive(Debug, Clone)]
pub(in crate::gpu) struct Owned<T> {
    // Fields are dropped in this order.
    enters: Enters,
    object: T,
    leaves: Leaves,
}

/// Enters when it is dropped.
#[derive(Debug, Clone)]
struct Enters(Gate);

/// Leaves when it is dropped.
#[derive(Debug, Clone)]
struct Leaves(Gate);

impl<T> Owned<T> {
    pub fn gate(&self) -> &Gate {
        &self.enters.0
    }

    /// Gives the object away.
    pub fn into_inner(self) -> T {
        let Owned { enters, object, leaves } = self;
        drop(enters);
        drop(leaves);
        object
    }
}

impl<T> Deref for Owned<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.object
    }
}

impl<T> DerefMut for Owned<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.object
    }
}

impl Drop for Enters {
    fn drop(&mut self) {
        self.0.enter();
    }
}

impl Drop for Leaves {
    fn drop(&mut self) {
        self.0.leave();
    }
}

/// Locks a mutex, also after a panic of a thread that held it: what is locked in this crate is valid at any time.
pub(in crate::gpu) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Catches a panic of wgpu or of a caller's waker, so that it does not reach unrelated callers.
pub(in crate::gpu) fn contained<T>(what: &str, work: impl FnOnce() -> T) -> Option<T> {
    let result = catch_unwind(AssertUnwindSafe(work));
    result.inspect_err(|_| log::error!("{what} panicked")).ok()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;
    use std::task::Wake;

    use super::*;

    fn shared() -> Gate {
        Gate(Some(Arc::default()))
    }

    fn is_open(gate: &Gate) -> bool {
        gate.0.as_ref().is_none_or(|turn| lock(&turn.state).inside.is_none())
    }

    /// Sends whether the gate is open when it is dropped.
    struct Notes(Gate, mpsc::Sender<bool>);

    impl Drop for Notes {
        fn drop(&mut self) {
            self.1.send(is_open(&self.0)).unwrap();
        }
    }

    struct WakeNotes(Mutex<Option<Notes>>);

    impl Wake for WakeNotes {
        fn wake(self: Arc<Self>) {
            drop(self.0.lock().unwrap().take());
        }
    }

    #[test]
    fn one_thread_is_inside_at_a_time_as_often_as_it_likes() {
        let (gate, inside) = (shared(), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..1000 {
                        gate.exclusive(|| {
                            assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                            gate.exclusive(std::thread::yield_now);
                            assert!(!is_open(&gate));
                            inside.fetch_sub(1, Ordering::SeqCst);
                        });
                    }
                });
            }
        });
        assert!(is_open(&gate));
    }

    #[test]
    fn a_panic_leaves() {
        let gate = shared();
        assert!(contained("a test", || gate.exclusive(|| panic!("on purpose"))).is_none());
        assert!(is_open(&gate));
    }

    #[test]
    fn what_is_owned_is_dropped_inside_and_what_is_given_away_is_not() {
        let (gate, (sender, notes)) = (shared(), mpsc::channel());
        drop(gate.own(Notes(gate.clone(), sender.clone())));
        assert_eq!((notes.try_recv(), is_open(&gate)), (Ok(false), true));
        drop(gate.own(Notes(gate.clone(), sender)).into_inner());
        assert_eq!((notes.try_recv(), is_open(&gate)), (Ok(true), true));
    }

    #[test]
    fn wakers_are_called_outside() {
        let (gate, (sender, notes)) = (shared(), mpsc::channel());
        let waker = Waker::from(Arc::new(WakeNotes(Mutex::new(Some(Notes(gate.clone(), sender.clone()))))));
        gate.exclusive(|| {
            gate.exclusive(|| gate.wake(waker));
            assert!(notes.try_recv().is_err());
        });
        assert_eq!(notes.try_recv(), Ok(true));
        // A thread outside the gate wakes at once, even while another thread is inside.
        let waker = Waker::from(Arc::new(WakeNotes(Mutex::new(Some(Notes(gate.clone(), sender))))));
        gate.exclusive(|| std::thread::scope(|scope| drop(scope.spawn(|| gate.wake(waker)))));
        assert_eq!(notes.try_recv(), Ok(false));
    }

    #[test]
    fn elsewhere_it_is_open_to_all() {
        let gate = Gate::default();
        gate.exclusive(|| std::thread::scope(|scope| drop(scope.spawn(|| gate.exclusive(|| ())))));
        drop(gate.own(()));
    }
}
