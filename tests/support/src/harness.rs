//! The harness of the tests that may need a device: each binary hands over the lists of its modules.
//!
//! A test that is left out shows as ignored, and never as one that passed.

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::ScopedJoinHandle;

use libtest_mimic::{Arguments, Trial};

/// Lists the tests of a module, by what they need: `tests! { cpu => one, another; gpu => a_third; }`.
///
/// * `cpu`: nothing but a CPU.
/// * `gpu`: an adapter too, unless `WGPU_POOLING_SKIP_GPU` is 1. A condition may follow; where it does not hold, the
///   tests are left out as well.
/// * `here`: whatever the binary computes on, a GPU or the CPU, see [`compute_on_gpu`]. Such modules are this crate's.
/// * `when_asked_for`: not a test, but work that only `--ignored` starts.
///
/// A function that is not on the list is dead code, and the lints refuse it; so is a list of a binary's own module that
/// is not handed to [`run`].
#[macro_export]
macro_rules! tests {
    (@left_out cpu) => { false };
    (@left_out gpu) => { $crate::harness::skips_gpu() };
    (@left_out here) => { $crate::harness::computes_on_gpu() && $crate::harness::skips_gpu() };
    (@left_out when_asked_for) => { true };
    ($($needs:ident $(if $condition:expr)? => $($(#[$attribute:meta])* $test:ident),+);+;) => {
        pub fn tests() -> Vec<libtest_mimic::Trial> {
            use $crate::harness::trial;
            let lists = [
                $({
                    let left_out = $crate::tests!(@left_out $needs) $(|| !$condition)?;
                    vec![$($(#[$attribute])* trial(module_path!(), stringify!($test), left_out, $test)),+]
                }),+
            ];
            lists.into_iter().flatten().collect()
        }
    };
}

/// A test of a module, under the module's path in its binary. It runs in a thread of its own, see [`join_all`].
pub fn trial(module: &str, test: &str, left_out: bool, run: fn()) -> Trial {
    let name = module.split_once("::").map_or(test.to_owned(), |(_, module)| format!("{module}::{test}"));
    let trial = Trial::test(name, move || {
        joined(run);
        Ok(())
    });
    trial.with_ignored_flag(left_out)
}

/// Runs a test in a thread of its own, since those of the test runner are not joined, see [`join_all`].
///
/// # Panics
/// With the test's own panic.
pub fn joined<T: Send>(run: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| join_all([scope.spawn(run)]).remove(0))
}

/// Waits until threads that a scope has started are gone.
///
/// The end of a scope waits for its threads' closures alone. What a GL driver keeps for a thread is freed after its
/// closure, and once more when the process ends meanwhile (libEGL of libglvnd), which aborts the process. So whatever
/// thread computes on a device is joined.
///
/// # Panics
/// With a thread's own panic.
pub fn join_all<'a, T>(threads: impl IntoIterator<Item = ScopedJoinHandle<'a, T>>) -> Vec<T> {
    let outcomes: Vec<_> = threads.into_iter().map(ScopedJoinHandle::join).collect();
    outcomes.into_iter().map(|outcome| outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
}

static ON_GPU: AtomicBool = AtomicBool::new(false);

/// Lets the modules of this crate compute on a GPU, too. A binary that does so calls it before anything else.
pub fn compute_on_gpu() {
    ON_GPU.store(true, Ordering::Relaxed);
}

/// Whether this binary has called [`compute_on_gpu`].
pub fn computes_on_gpu() -> bool {
    ON_GPU.load(Ordering::Relaxed)
}

static IN_INTERPRETER: AtomicBool = AtomicBool::new(false);

/// Lets the modules of this crate run schedules in the interpreter instead of on a GPU: in every family and build, as
/// small and as large tensors run. A binary that does so calls it before anything else.
pub fn compute_in_interpreter() {
    IN_INTERPRETER.store(true, Ordering::Relaxed);
}

/// Whether this binary has called [`compute_in_interpreter`].
pub fn computes_in_interpreter() -> bool {
    IN_INTERPRETER.load(Ordering::Relaxed)
}

/// Whether the tests that need a GPU are to be left out.
pub fn skips_gpu() -> bool {
    std::env::var_os("WGPU_POOLING_SKIP_GPU").is_some_and(|value| value == "1")
}

/// Runs the tests that the command line asks for, and says what was left out.
pub fn run(arguments: &Arguments, tests: Vec<Trial>) -> ExitCode {
    let conclusion = libtest_mimic::run(arguments, tests);
    if !arguments.list && skips_gpu() {
        println!("WGPU_POOLING_SKIP_GPU=1: nothing was tested on a GPU");
    }
    conclusion.exit_code()
}
