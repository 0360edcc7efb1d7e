//! Any bytes, read as values. A case is made of bytes alone, so that seeds, fuzzers and shrinking are one thing: fewer
//! and smaller bytes make a simpler case, and zeros the simplest.

use std::ops::RangeInclusive;

use crate::splitmix::splitmix64;

/// Bytes that are read as values; zeros when they are used up.
pub struct Bytes<'a>(pub &'a [u8]);

/// Bytes of a case, from a seed, the name of a test and the number of the case.
pub fn random(seed: u64, name: &str, number: u64) -> Vec<u8> {
    // A test has its own sequence: it does not depend on which other tests run.
    let own = name.bytes().fold(seed, |hash, byte| splitmix64(hash ^ u64::from(byte)));
    let first = splitmix64(own ^ splitmix64(number));
    (0..64).flat_map(|word| splitmix64(first.wrapping_add(word)).to_le_bytes()).collect()
}

impl Bytes<'_> {
    pub fn byte(&mut self) -> u8 {
        let (first, rest) = self.0.split_first().map_or((0, &[][..]), |(&first, rest)| (first, rest));
        self.0 = rest;
        first
    }

    pub fn word(&mut self) -> u64 {
        u64::from_le_bytes(std::array::from_fn(|_| self.byte()))
    }

    pub fn flag(&mut self) -> bool {
        self.byte() & 1 == 1
    }

    /// Whether something happens that does so in these of a hundred cases; never if the byte is zero.
    pub fn percent(&mut self, of_hundred: u32) -> bool {
        u32::from(self.byte()) * 100 >= 256 * (100 - of_hundred)
    }

    /// A small number most of the time, else one near a power of two, an extreme one, or any number.
    pub fn number(&mut self) -> i64 {
        match self.byte() {
            tag @ 0..=159 => i64::from(tag % 10),
            160..=179 => i64::from(self.byte()),
            180..=199 => i64::from(self.word() as i32),
            200..=239 => {
                let exponents = [0, 16, 20, 21, 22, 24, 27, 28, 29, 30, 31, 32, 33, 40, 50, 57, 58, 59, 60, 61, 62];
                let edge = (1i64 << self.of(&exponents)).wrapping_add(self.between(-2..=2));
                if self.flag() { edge } else { edge.wrapping_neg() }
            }
            240..=247 => self.of(&[i64::MAX, i64::MIN, i64::MAX - 1, -1, 1_000_000_000, i64::MAX / 2]),
            _ => self.word() as i64,
        }
    }

    /// As many numbers as there are axes, or sometimes another count.
    pub fn list(&mut self, axes: usize) -> Vec<i64> {
        let count = match self.byte() {
            0..=239 => axes,
            240..=251 => usize::from(self.byte() % 16),
            _ => 300,
        };
        (0..count).map(|_| self.number()).collect()
    }

    /// A number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        let number = match end {
            0..=256 => u64::from(self.byte()),
            257..=0xFF_FFFF => (0..4).fold(0, |number, _| number << 8 | u64::from(self.byte())),
            _ => self.word(),
        };
        (number % end.max(1) as u64) as usize
    }

    pub fn between(&mut self, range: RangeInclusive<i64>) -> i64 {
        range.start() + self.below((range.end() - range.start() + 1) as usize) as i64
    }

    /// One of these, mostly the first one where the bytes are zeros.
    pub fn of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len())]
    }

    /// A value in these of a hundred cases.
    pub fn sometimes<T>(&mut self, of_hundred: u32, value: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.percent(of_hundred) { Some(value(self)) } else { None }
    }

    /// One of these, or in half of the cases none.
    pub fn option<T: Copy>(&mut self, values: &[T]) -> Option<T> {
        self.sometimes(50, |bytes| bytes.of(values))
    }
}

/// Makes the bytes of a failing case simpler, as long as it fails and there is time: runs of bytes become zeros,
/// numbers become smaller.
pub fn shrunk(mut bytes: Vec<u8>, mut fails: impl FnMut(&[u8]) -> bool, mut has_time: impl FnMut() -> bool) -> Vec<u8> {
    loop {
        let before = bytes.clone();
        let mut length = bytes.len();
        while length > 0 {
            for first in (0..bytes.len()).step_by(length) {
                let run = first..(first + length).min(bytes.len());
                let tries: &[fn(u8) -> u8] =
                    if length == 1 { &[|_| 0, |byte| byte / 2, |byte| byte - 1] } else { &[|_| 0] };
                for simpler in tries {
                    if bytes[run.clone()].iter().all(|&byte| byte == 0) || !has_time() {
                        break;
                    }
                    let mut tried = bytes.clone();
                    tried[run.clone()].iter_mut().for_each(|byte| *byte = simpler(*byte));
                    if fails(&tried) {
                        bytes = tried;
                    }
                }
            }
            length /= 2;
        }
        if bytes == before || !has_time() {
            return bytes;
        }
    }
}
