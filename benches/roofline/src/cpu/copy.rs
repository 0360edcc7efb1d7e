//! The plain copy that kernels are compared with: the processor's memcpy, shared among as many threads as the kernels
//! have. It moves as many bytes as a row's kernel has to, half of them read and half of them written.

use bytemuck::zeroed_vec;
use rayon::prelude::*;

/// A part for each task. Smaller ones would cost more than they share.
const LEAST_PART_BYTES: usize = 256 << 10;
const WORD: usize = size_of::<u64>();

pub struct Copy {
    /// What is copied, and where to, for each set of buffers.
    sets: Vec<[Vec<u64>; 2]>,
}

impl Copy {
    /// A copy that moves `bytes`, read and written together, rounded up to vectors of 16 bytes as on a GPU.
    pub fn new(bytes: u64, sets: usize) -> Copy {
        let words = (bytes.div_ceil(2).next_multiple_of(16) / WORD as u64) as usize;
        let touched = |value: u64| {
            // Memory that was never written to has no pages of its own yet.
            let mut buffer: Vec<u64> = zeroed_vec(words);
            buffer.fill(value);
            buffer
        };
        Copy { sets: (0..sets).map(|_| [touched(1), touched(2)]).collect() }
    }

    /// The bytes that a run moves.
    pub fn bytes(&self) -> u64 {
        self.sets.first().map_or(0, |[source, _]| 2 * (source.len() * WORD) as u64)
    }

    pub fn run(&mut self, set: usize) {
        let [source, target] = &mut self.sets[set];
        let part = source.len().div_ceil(rayon::current_num_threads()).max(LEAST_PART_BYTES / WORD);
        if part >= source.len() {
            target.copy_from_slice(source);
            return;
        }
        let parts = target.par_chunks_mut(part).zip(source.par_chunks(part));
        parts.for_each(|(target, source)| target.copy_from_slice(source));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_copies_all_of_a_set() {
        for bytes in [1, 100, 4 << 20, (8 << 20) + 40] {
            let mut copy = Copy::new(bytes, 2);
            assert_eq!(copy.bytes(), 2 * bytes.div_ceil(2).next_multiple_of(16));
            copy.run(1);
            assert!(copy.sets[1][1].iter().all(|&word| word == 1), "{bytes}");
            assert!(copy.sets[0][1].iter().all(|&word| word == 2), "{bytes}");
        }
    }
}
