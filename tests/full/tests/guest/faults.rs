//! What the tests of faults share: an error handler that must never be called, a watchdog, child processes, and
//! allocations that fail.

use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use wgpu_pooling::wgpu;

/// How long a call may take before it counts as hung. No call of these tests takes a tenth of it.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// Runs work on a thread of its own and waits for it.
///
/// # Panics
/// If the work panics, or does not come back in time.
#[track_caller]
pub fn comes_back<T: Send + 'static>(what: &str, work: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = mpsc::channel();
    let thread = std::thread::spawn(move || drop(sender.send(work())));
    match receiver.recv_timeout(PATIENCE) {
        Ok(result) => {
            // See `join_all` of the harness.
            thread.join().expect("its work has ended");
            result
        }
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("{what} hangs"),
        Err(mpsc::RecvTimeoutError::Disconnected) => {
            let panic = thread.join().expect_err("it sent nothing");
            let text = panic.downcast_ref::<String>().cloned();
            panic!(
                "{what}: {}",
                text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default()
            )
        }
    }
}

/// The errors that reached a device's own handler: what no error scope caught.
#[derive(Debug, Clone, Default)]
pub struct Uncaptured(Arc<Mutex<Vec<String>>>);

impl Uncaptured {
    /// Installs a handler of uncaptured errors on a device.
    pub fn on(device: &wgpu::Device) -> Uncaptured {
        let uncaptured = Uncaptured::default();
        let errors = uncaptured.clone();
        device
            .on_uncaptured_error(Arc::new(move |error: wgpu::Error| errors.0.lock().unwrap().push(error.to_string())));
        uncaptured
    }

    #[track_caller]
    pub fn assert_silent(&self) {
        assert_eq!(*self.0.lock().unwrap(), [""; 0], "errors outside every scope");
    }
}

/// A device that the library did not open, as a host has it.
pub fn host_device() -> (wgpu::Device, wgpu::Queue) {
    let opened = wgpu_pooling::Gpu::new_blocking().expect("the other tests have said what to install");
    let descriptor = wgpu::InstanceDescriptor::new_without_display_handle_from_env();
    let name = opened.adapter_info().name;
    let adapters = pollster(wgpu::Instance::new(descriptor).enumerate_adapters(wgpu::Backends::all()));
    let adapter = adapters.into_iter().find(|adapter| adapter.get_info().name == name).expect("it was there just now");
    let required_limits = wgpu_pooling::required_limits(&adapter);
    let descriptor = wgpu::DeviceDescriptor { required_limits, ..Default::default() };
    pollster(adapter.request_device(&descriptor)).expect("the library opened one")
}

/// Waits for a future by polling it: outside the web, wgpu's futures are ready at once.
fn pollster<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    loop {
        if let std::task::Poll::Ready(result) = future.as_mut().poll(&mut context) {
            return result;
        }
        std::thread::yield_now();
    }
}

/// Counts allocations, and makes one of them fail.
#[derive(Debug, Clone)]
pub struct Allocations(Arc<[AtomicU64; 2]>);

impl Allocations {
    pub fn new() -> Allocations {
        Allocations(Arc::new([AtomicU64::new(0), AtomicU64::new(u64::MAX)]))
    }

    /// What [`wgpu_pooling::TestHooks::failing_allocations_where`] takes.
    pub fn hook(&self) -> impl Fn() -> bool + Send + Sync + 'static {
        let this = self.clone();
        move || this.0[0].fetch_add(1, Ordering::SeqCst) == this.0[1].load(Ordering::SeqCst)
    }

    /// Counts from 0 again and lets the allocation of this number fail.
    pub fn fail(&self, number: u64) {
        self.0[0].store(0, Ordering::SeqCst);
        self.0[1].store(number, Ordering::SeqCst);
    }

    /// Counts from 0 again and lets all allocations succeed.
    pub fn succeed(&self) {
        self.fail(u64::MAX);
    }

    pub fn made(&self) -> u64 {
        self.0[0].load(Ordering::SeqCst)
    }
}

/// The environment variable that is set for a test that runs again as a child of itself.
const CHILD: &str = "WGPU_POOLING_TEST_CHILD";

/// Whether this process is such a child.
pub fn is_child() -> bool {
    std::env::var_os(CHILD).is_some()
}

/// Runs one test of this binary again, alone in a process of its own.
pub fn run_child(test: &str, environment: &[(&str, &str)]) -> Output {
    let mut command = Command::new(std::env::current_exe().expect("a test has a file"));
    // With one thread the harness would print the test's name in front of the test's own output, on the same line.
    command
        .args([test, "--exact", "--nocapture", "--test-threads", "2"])
        .env(CHILD, "1")
        .envs(environment.iter().copied());
    // A backtrace takes memory that a child may not have.
    command.env("RUST_BACKTRACE", "0").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("a test can start itself");
    let id = child.id().to_string();
    let (sender, receiver) = mpsc::channel();
    let waiter = std::thread::spawn(move || drop(sender.send(child.wait_with_output())));
    let output = receiver.recv_timeout(PATIENCE).unwrap_or_else(|_| {
        let _ = Command::new("kill").args(["-9", &id]).status();
        panic!("{test} hangs in a process of its own")
    });
    waiter.join().expect("it has sent the output");
    output.expect("a child's output can be read")
}

/// What a child printed, after checking that it passed.
#[track_caller]
pub fn passed(output: &Output) -> String {
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{}:\n{text}", output.status);
    assert!(text.contains("1 passed"), "{text}");
    text
}
