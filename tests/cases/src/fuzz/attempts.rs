//! Random bytes for `WGPU_POOLING_FUZZ_SECONDS` seconds a target (5 if it is not set), from the seed
//! `WGPU_POOLING_SEED`. A failing input is printed and tried alone with `WGPU_POOLING_FUZZ_INPUT=<its hexadecimal>`.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::time::{Duration, Instant};

#[cfg(feature = "gpu")]
use gpu_test::gpu_test;
use support::splitmix::{STEP, splitmix64};

/// How long an input may take before it counts as hung. No input takes a hundredth of this.
const PATIENCE: Duration = Duration::from_secs(60);

fn number(name: &str, otherwise: impl FnOnce() -> u64) -> u64 {
    let text = std::env::var(name).ok();
    text.map_or_else(otherwise, |text| text.parse().unwrap_or_else(|error| panic!("{name}={text}: {error}")))
}

fn hexadecimal(data: &[u8]) -> String {
    data.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Pseudo-random numbers.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        let number = splitmix64(self.0);
        self.0 = self.0.wrapping_add(STEP);
        number
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.next() as u8).collect()
    }
}

/// Tries inputs for as long as the environment says, and prints how many there were.
fn fuzz(target: &'static str, mut attempt: impl FnMut(&[u8]) + Send + 'static) {
    if let Ok(text) = std::env::var("WGPU_POOLING_FUZZ_INPUT") {
        let digit = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).expect("hexadecimal");
        return attempt(&(0..text.len() / 2).map(|i| digit(2 * i)).collect::<Vec<_>>());
    }
    let seed = number("WGPU_POOLING_SEED", || RandomState::new().build_hasher().finish());
    let seconds = number("WGPU_POOLING_FUZZ_SECONDS", || 5);
    println!("{target}: WGPU_POOLING_SEED={seed}");
    let (sender, receiver) = mpsc::channel::<Option<Vec<u8>>>();
    let worker = std::thread::spawn(move || {
        let (start, mut random, mut tried) = (Instant::now(), Random(seed), 0u64);
        let mut slowest = (Duration::ZERO, Vec::new());
        while start.elapsed() < Duration::from_secs(seconds) {
            let length = 8 + random.below(500);
            let input = random.bytes(length);
            let begun = Instant::now();
            // The receiver is gone if an earlier input has taken too long.
            let _ = sender.send(Some(input.clone()));
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| attempt(&input))) {
                println!("{target}: WGPU_POOLING_FUZZ_INPUT={}", hexadecimal(&input));
                std::panic::resume_unwind(panic);
            }
            tried += 1;
            if begun.elapsed() > slowest.0 {
                slowest = (begun.elapsed(), input);
            }
        }
        if slowest.0 > Duration::from_secs(1) {
            println!("{target}: {:?} for {}", slowest.0, hexadecimal(&slowest.1));
        }
        let _ = sender.send(None);
        tried
    });
    let mut last = Vec::new();
    loop {
        match receiver.recv_timeout(PATIENCE) {
            Ok(Some(input)) => last = input,
            Ok(None) | Err(mpsc::RecvTimeoutError::Disconnected) => break,
            Err(mpsc::RecvTimeoutError::Timeout) => panic!("{target} hangs on {}", hexadecimal(&last)),
        }
    }
    match worker.join() {
        Ok(tried) => println!("{target}: {tried} inputs in {seconds} seconds"),
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

#[test]
fn any_bytes_as_plans() {
    fuzz("plan", |data| _ = super::cases::plan(data));
}

#[cfg(feature = "cpu")]
#[test]
fn any_bytes_on_the_cpu_backend() {
    fuzz("cpu_reference", |data| super::agree(data, |net| net.only("CPU")));
}

#[cfg(feature = "gpu")]
#[gpu_test]
fn any_bytes_on_the_gpu() {
    fuzz("gpu_cpu", |data| super::agree(data, |net| net));
}
