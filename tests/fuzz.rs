//! The fuzz targets as a test: random bytes for `WGPU_POOLING_FUZZ_SECONDS` seconds a target (5 if it is not set), from the seed
//! `WGPU_POOLING_SEED`. A failing input is printed and tried alone with `WGPU_POOLING_FUZZ_INPUT=<its hexadecimal>`.
//! `fuzz/README.md` has the same targets for cargo-fuzz.

#[path = "fuzz/cases.rs"]
mod cases;
#[cfg(feature = "gpu")]
mod common;
#[cfg(feature = "gpu")]
#[path = "fuzz/devices.rs"]
mod devices;
#[path = "common/place.rs"]
mod place;
#[path = "fuzz/seeds.rs"]
mod seeds;

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// No input takes a hundredth of it.
const PATIENCE: Duration = Duration::from_secs(60);

fn number(name: &str, otherwise: impl FnOnce() -> u64) -> u64 {
    let text = std::env::var(name).ok();
    text.map_or_else(otherwise, |text| text.parse().unwrap_or_else(|error| panic!("{name}={text}: {error}")))
}

fn hexadecimal(data: &[u8]) -> String {
    data.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Vigna's splitmix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.next() as u8).collect()
    }

    /// A seed with a few of its bytes changed, or nothing but noise.
    fn input(&mut self, seeds: &[Vec<u8>]) -> Vec<u8> {
        let length = 8 + self.below(150);
        if seeds.is_empty() || self.below(2) == 0 {
            return self.bytes(length);
        }
        let mut input = seeds[self.below(seeds.len())].clone();
        for _ in 0..self.below(6) {
            let at = self.below(input.len());
            input[at] = self.next() as u8;
        }
        let length = self.below(64);
        input.extend(self.bytes(length));
        input
    }
}

/// Tries inputs for as long as the environment says, and says how many there were.
fn fuzz(target: &'static str, seeds: Vec<Vec<u8>>, mut attempt: impl FnMut(&[u8]) + Send + 'static) {
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
            let input = random.input(&seeds);
            let begun = Instant::now();
            // Nobody listens any more if an input before has taken too long.
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
    fuzz("plan", seeds::plans(), |data| _ = cases::plan(data));
}

#[test]
#[cfg(feature = "gpu")]
fn any_bytes_on_the_gpu() {
    if common::skip() {
        return;
    }
    fuzz("gpu_cpu", Vec::new(), |data| devices::gpu_cpu(data, common::gpu()));
}

/// The seeds say what they are meant to say: most of them are planned.
#[test]
fn seeds_are_read_as_they_were_written() {
    let planned = seeds::plans().iter().filter(|seed| cases::plan(seed)).count();
    assert!(planned * 2 > seeds::plans().len(), "{planned} of {} are planned", seeds::plans().len());
}

/// Writes the seeds as files, for cargo-fuzz: `cargo test --test fuzz -- --ignored write_the_corpus`.
#[test]
#[ignore = "it writes files, under fuzz/corpus"]
fn write_the_corpus() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/plan");
    std::fs::create_dir_all(&folder).unwrap();
    for (number, seed) in seeds::plans().iter().enumerate() {
        std::fs::write(folder.join(format!("vector-{number:04}")), seed).unwrap();
    }
}
