//! Computing without the GIL, and stopping when Python has a signal for the caller, such as Ctrl-C.

use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{Builder, Thread, current, park_timeout, scope};
use std::time::Duration;

use pyo3::prelude::*;
use wgpu_pooling::{Backend, Cpu, Element, ExecuteError, Gpu, Peaks, PeaksRequest, Plan, TensorMut, TensorRef};
use wgpu_pooling_plan::PoolPlan;

use crate::error::Fallible;
use crate::fork::cpu;

/// The time between two looks at Python's signals.
const PAUSE: Duration = Duration::from_millis(50);
/// Work that is over soon enough without looking: the bytes that it moves, and the elements that its windows have in
/// all.
const SHORT_BYTES: u64 = 4 << 20;
const SHORT_TAPS: u64 = 16 << 20;

/// Computes a plan on tensors of the host.
pub(crate) fn run(
    py: Python<'_>,
    gpu: Option<&Gpu>,
    plan: &Plan,
    inputs: &[TensorRef<'_>],
    outputs: &mut [TensorMut<'_>],
) -> Fallible<()> {
    match gpu {
        Some(gpu) if is_long(plan) => py.detach(|| until_signal(gpu.run(plan, inputs, outputs))),
        Some(gpu) => Ok(py.detach(|| gpu.run_blocking(plan, inputs, outputs))?),
        None => on_cpu(py, is_long(plan), |cpu| cpu.run_blocking(plan, inputs, outputs)),
    }
}

/// Finds the peaks of a tensor of the host, whose pool has this plan.
pub(crate) fn find<T: Element>(
    py: Python<'_>,
    gpu: Option<&Gpu>,
    plan: &Plan,
    peaks: PeaksRequest<'_, T>,
) -> Fallible<Peaks<T>> {
    match gpu {
        Some(gpu) => py.detach(|| until_signal(peaks.run(gpu))),
        None => on_cpu(py, is_long(plan), |cpu| peaks.run_blocking(cpu)),
    }
}

/// Work of the CPU backend, which stops at a signal if it is long.
fn on_cpu<T: Send>(
    py: Python<'_>,
    is_long: bool,
    work: impl FnOnce(&Cpu) -> Result<T, ExecuteError> + Send,
) -> Fallible<T> {
    let (cpu, pool) = cpu(py);
    py.detach(|| {
        let work = |cpu: Cpu| match &pool {
            Some(pool) => pool.install(|| work(&cpu)),
            None => work(&cpu),
        };
        if is_long { stoppable(cpu, work) } else { Ok(work(cpu)?) }
    })
}

/// Polls a future of a GPU's call until it is done, or drops it when there is a signal. The device finishes what was
/// submitted.
pub(crate) fn until_signal<T>(future: impl Future<Output = Result<T, ExecuteError>>) -> Fallible<T> {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(current())));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(result) = future.as_mut().poll(&mut context) {
            return Ok(result?);
        }
        park_timeout(PAUSE);
        Python::attach(|py| py.check_signals())?;
    }
}

/// Runs work of the CPU backend on another thread, since Python gives signals to this one, and stops it when there is
/// one. Where there can be no other thread, this one works, and Python has its signals afterwards.
fn stoppable<T: Send>(cpu: Cpu, work: impl FnOnce(Cpu) -> Result<T, ExecuteError> + Send) -> Fallible<T> {
    let stop = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&stop);
    let cpu = cpu.stop_when(move || asked.load(Ordering::Relaxed));
    // A thread that does not start drops what it was given, which is a reference.
    let work = Mutex::new(Some(move || work(cpu)));
    let take = || work.lock().unwrap_or_else(PoisonError::into_inner).take();
    scope(|scope| {
        let (done, waiting) = channel();
        let worker = Builder::new().name("wgpu_pooling".to_owned());
        let spawned = worker.spawn_scoped(scope, move || {
            // The receiver waits until there is a result.
            let _ = take().map(|work| done.send(work()));
        });
        if spawned.is_err()
            && let Some(work) = take()
        {
            return Ok(work()?);
        }
        loop {
            match waiting.recv_timeout(PAUSE) {
                Ok(result) => return Ok(result?),
                Err(RecvTimeoutError::Timeout) => {
                    if let Err(signal) = Python::attach(|py| py.check_signals()) {
                        stop.store(true, Ordering::Relaxed);
                        return Err(signal.into());
                    }
                }
                // The worker has panicked, which the end of the scope passes on.
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(ExecuteError::Device("a thread of the CPU backend ended".to_owned()).into());
                }
            }
        }
    })
}

fn is_long(plan: &Plan) -> bool {
    let is_long_step = |plan: &Plan| plan.pool().is_some_and(|pool| taps(pool) > SHORT_TAPS);
    match plan {
        _ if plan.bytes() > SHORT_BYTES => true,
        Plan::Composition(composition) => composition.steps.iter().any(|step| is_long_step(&step.plan)),
        plan => is_long_step(plan),
    }
}

/// At most the elements of all windows of a pool; windows that share elements count them each.
fn taps(plan: &PoolPlan) -> u64 {
    plan.outputs[0].element_count().saturating_mul(plan.most_taps())
}
