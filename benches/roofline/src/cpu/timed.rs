//! What is timed for a row on the CPU: the copies, then the kernels, each on sets of buffers of its own kind.

use std::ops::Range;

use wgpu_pooling::PreparedCpu;

use super::copy::Copy;
use super::host::Host;
use crate::failure::Failure;
use crate::figures::Times;
use crate::measure::{Bench, Spent, measure};
use crate::settings::Settings;
use crate::tensors::Tensors;

pub struct Timed<'a> {
    host: &'a Host,
    sets: Vec<Tensors>,
    /// The copy of as many bytes, and the f32 copy if it is another one.
    copies: Vec<Copy>,
    kernels: Vec<&'a PreparedCpu>,
}

impl<'a> Timed<'a> {
    /// Makes the sets and the copies. `f32_bytes` is what an f32 copy moves, if one is to be timed.
    pub fn new(
        host: &'a Host,
        kernels: Vec<&'a PreparedCpu>,
        first: Tensors,
        bytes: u64,
        f32_bytes: Option<u64>,
        settings: &Settings,
    ) -> Timed<'a> {
        let f32_bytes = f32_bytes.filter(|&f32_bytes| f32_bytes != bytes);
        let sets = settings.sets(bytes, f32_bytes.unwrap_or(0)) as usize;
        let copies = std::iter::once(bytes).chain(f32_bytes).map(|bytes| Copy::new(bytes, sets)).collect();
        let mut sets = vec![first; sets];
        sets.iter_mut().for_each(Tensors::poison);
        Timed { host, sets, copies, kernels }
    }

    pub fn measure(&mut self, settings: &Settings) -> Result<Times, Failure> {
        let method = settings.method(self.sets.len());
        let times = measure(self, method)?;
        Times::new(times, &self.copies[0], self.copies.get(1), Copy::bytes, settings.f32_copy, self.sets.len())
    }
}

impl Bench for Timed<'_> {
    fn count(&self) -> usize {
        self.copies.len() + self.kernels.len()
    }

    fn pass(&mut self, number: usize, mut turns: Range<usize>) -> Result<Spent, Failure> {
        let Timed { host, sets, copies, kernels } = self;
        let count = sets.len();
        let of_kernels = number.checked_sub(copies.len());
        host.time(|| match of_kernels {
            None => {
                turns.for_each(|turn| copies[number].run(turn % count));
                Ok(())
            }
            Some(kernel) => turns.try_for_each(|turn| Ok(sets[turn % count].run(kernels[kernel])?)),
        })
    }
}
