//! How cases are drawn: a given number from a seed that is printed. A case that fails is shrunk, and nothing is written
//! to a file.

use std::cell::{Cell, RefCell};
use std::fmt::Debug;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;
use std::time::Instant;

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};

use super::check::Bench;
use super::pools::PoolCase;
use super::unpools::UnpoolCase;
#[cfg(feature = "gpu")]
use support::device::summary;
#[cfg(feature = "gpu")]
use support::harness::computes_on_gpu;
use support::splitmix::splitmix64;

/// Cases of all tests together, unless `WGPU_POOLING_CASES` says another number.
const CASES: u32 = 500;

/// The seed, unless `WGPU_POOLING_SEED` says another one.
const SEED: u64 = 20_260_917;

/// The longest that a failing case is shrunk, in milliseconds, unless `PROPTEST_MAX_SHRINK_TIME` says otherwise.
const MOST_SHRINKING: u32 = 60_000;

/// A case that can be printed as Rust code.
pub trait Case: Debug {
    fn reproducer(&self) -> String;
}

impl Case for PoolCase {
    fn reproducer(&self) -> String {
        PoolCase::reproducer(self)
    }
}

impl Case for UnpoolCase {
    fn reproducer(&self) -> String {
        UnpoolCase::reproducer(self)
    }
}

/// A number from the environment, decimal or hexadecimal.
fn environment(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    let number = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    Some(number.unwrap_or_else(|error| panic!("{name}={text}: {error}")))
}

/// Writes a line that the test harness does not keep back: counts and seeds are wanted when a run passes, too.
fn say(line: &str) {
    let mut stderr = std::io::stderr().lock();
    // A line that cannot be written is no reason to fail.
    let _ = writeln!(stderr, "{line}");
}

thread_local! {
    /// The panic of a check on this thread; `None` outside of checks.
    static PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Turns a panic into an error. Shrinking meets the same panic a thousand times, so its text is kept and not printed.
pub fn caught(check: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let default = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let kept = PANIC.with_borrow_mut(|panic| match panic {
                Some(text) => {
                    *text = info.to_string();
                    true
                }
                None => false,
            });
            if !kept {
                default(info);
            }
        }));
    });
    let outer = PANIC.replace(Some(String::new()));
    let result = catch_unwind(AssertUnwindSafe(check));
    let panic = PANIC.replace(outer);
    result.unwrap_or_else(|_| Err(panic.unwrap_or_default()))
}

/// What the shared device has compiled.
fn pipelines() -> String {
    #[cfg(feature = "gpu")]
    if computes_on_gpu() {
        return summary();
    }
    "no GPU".to_owned()
}

/// Draws `percent` of all cases from a strategy and checks each of them. The first `written_out` cases to which
/// specialised kernels apply run in those too. Panics at the first case that fails, after shrinking it, with the code
/// that reproduces it.
pub fn run<S>(
    name: &str,
    percent: u32,
    written_out: u32,
    strategy: S,
    check: impl Fn(&S::Value, &Bench) -> Result<(), String>,
) where
    S: Strategy,
    S::Value: Case,
{
    let all = environment("WGPU_POOLING_CASES").unwrap_or(CASES.into());
    let seed = environment("WGPU_POOLING_SEED").unwrap_or(SEED);
    let cases = u32::try_from((all * u64::from(percent)).div_ceil(100)).expect("a number of cases");
    say(&format!("{name}: {cases} cases, WGPU_POOLING_SEED={seed}"));
    // A test has its own sequence: it does not depend on which other tests run.
    let own = name.bytes().fold(seed, |hash, byte| splitmix64(hash ^ u64::from(byte)));
    let mut bytes = [0; 32];
    for (i, chunk) in bytes.chunks_exact_mut(8).enumerate() {
        chunk.copy_from_slice(&splitmix64(own.wrapping_add(i as u64)).to_le_bytes());
    }
    let mut config = Config { cases, failure_persistence: None, max_shrink_iters: 6_000, ..Config::default() };
    if config.max_shrink_time == 0 {
        config.max_shrink_time = MOST_SHRINKING;
    }
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));

    // The GPU is opened here, so that a machine without an adapter fails once and nothing is shrunk.
    let (bench, start) = (Bench::new(written_out), Instant::now());
    let judged = Cell::new(0);
    let result = runner.run(&strategy, |case| {
        let before = bench.counted("valid");
        let result = caught(|| check(&case, &bench)).map_err(TestCaseError::fail);
        // A law computes several pools for one case, which counts once.
        judged.set(judged.get() + u32::from(bench.counted("valid") > before));
        result
    });
    match result {
        Ok(()) => {}
        Err(TestError::Abort(reason)) => panic!("{name}: {reason}"),
        Err(TestError::Fail(reason, case)) => {
            panic!("{name}: {reason}\nWGPU_POOLING_SEED={seed}; the smallest case found:\n\n{}", case.reproducer())
        }
    }
    // Of many cases, the kernel that computes every plan has had each level on each host. For minima, which are drawn
    // less often, the tests of each CPU kernel say so.
    #[cfg(feature = "cpu")]
    if judged.get() >= 180 {
        let operators: &[&str] = match name {
            "pools" => &["max_pool"],
            "unpools" => &["max_unpool"],
            _ => &[],
        };
        bench.net.is_complete(operators, &[wgpu_pooling::CpuKernel::General]);
    }
    let pipelines = pipelines();
    let (judged, seconds) = (judged.get(), start.elapsed().as_secs_f32());
    say(&format!("{name}: {judged} of {cases} cases are valid ({seconds:.1} s): {bench}; {pipelines}"));

    // Of few cases most can be invalid by chance.
    if cases >= 100 {
        assert!(judged * 100 >= cases * 60, "{name}: only {judged} of {cases} cases are valid: {bench}");
    }
}
