//! How cases are drawn: a given number from a seed that is printed. The bytes of a case that fails are made simpler,
//! and nothing is written to a file.

use std::cell::RefCell;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;
use std::time::{Duration, Instant};

#[cfg(feature = "gpu")]
use support::device::summary;
use support::draw::Case;
use support::draw::bytes::{Bytes, random, shrunk};
#[cfg(feature = "gpu")]
use support::harness::skips_gpu;
use support::net::Net;

/// Cases of all tests together, unless `WGPU_POOLING_CASES` says another number.
const CASES: u64 = 500;

/// The seed, unless `WGPU_POOLING_SEED` says another one.
const SEED: u64 = 20_260_917;

/// The longest that a failing case is made simpler, in seconds, unless `WGPU_POOLING_SHRINK_SECONDS` says otherwise.
const SHRINK_SECONDS: u64 = 60;

/// A number from the environment, decimal or hexadecimal.
pub fn environment(name: &str) -> Option<u64> {
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
    if !skips_gpu() {
        support::device::gpu();
        return summary();
    }
    "no GPU".to_owned()
}

/// Draws `percent` of all cases, `draw` makes each of bytes, and checks them. The first `specialised` cases to which
/// specialised kernels apply run in those too.
///
/// # Panics
/// At the first case that fails, after making it simpler, with the code that reproduces it.
pub fn run(
    name: &str,
    percent: u64,
    specialised: u32,
    draw: impl Fn(&mut Bytes<'_>) -> Case,
    check: impl Fn(&Case, &Net) -> Result<(), String>,
) {
    let seed = environment("WGPU_POOLING_SEED").unwrap_or(SEED);
    let cases = (environment("WGPU_POOLING_CASES").unwrap_or(CASES) * percent).div_ceil(100);
    say(&format!("{name}: {cases} cases, WGPU_POOLING_SEED={seed}"));
    // The GPU is opened here, so that a machine without an adapter fails once and nothing is made simpler.
    let (pipelines, net, start) = (pipelines(), Net::new(specialised).interpreted(), Instant::now());
    let mut judged = 0;
    for number in 0..cases {
        let (bytes, before) = (random(seed, name, number), net.counted("valid"));
        let fails = |bytes: &[u8]| caught(|| check(&draw(&mut Bytes(bytes)), &net)).err();
        if let Some(reason) = fails(&bytes) {
            let most = Duration::from_secs(environment("WGPU_POOLING_SHRINK_SECONDS").unwrap_or(SHRINK_SECONDS));
            let start = Instant::now();
            let bytes = shrunk(bytes, |bytes| fails(bytes).is_some(), || start.elapsed() < most);
            let (case, reason) = (draw(&mut Bytes(&bytes)), fails(&bytes).unwrap_or(reason));
            panic!("{name}: {reason}\nWGPU_POOLING_SEED={seed}; the simplest case found:\n\n{}", case.reproducer());
        }
        // A law computes several pools for one case, which counts once.
        judged += u64::from(net.counted("valid") > before);
    }
    // Of many cases, the kernel that computes every plan has had each level on each host.
    #[cfg(feature = "cpu")]
    if judged >= 180 {
        let operators: &[&str] = match name {
            "pools" => &["max_pool"],
            "unpools" => &["max_unpool"],
            _ => &[],
        };
        net.turns.is_complete(operators, &[wgpu_pooling::CpuKernel::General]);
    }
    let seconds = start.elapsed().as_secs_f32();
    say(&format!("{name}: {judged} of {cases} cases are valid ({seconds:.1} s): {net}; {pipelines}"));
    // Of few cases most can be invalid by chance.
    assert!(cases < 100 || judged * 100 >= cases * 60, "{name}: only {judged} of {cases} cases are valid: {net}");
}
