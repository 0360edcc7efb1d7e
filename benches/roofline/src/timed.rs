//! What is timed for a row: the kernels, on buffer sets that together exceed the caches, and the copies, on as many
//! buffer sets of their own.

use std::ops::Range;

use wgpu_pooling::{Prepared, Schedule, wgpu};

use crate::copy::{Bound, Copy};
use crate::device::Device;
use crate::failure::Failure;
use crate::figures::Times;
use crate::measure::{Bench, Spent, measure};
use crate::set::Set;
use crate::settings::Settings;

pub struct Timed {
    pub sets: Vec<Set>,
    pub copy: Sets,
    f32_copy: Option<Sets>,
}

/// A copy and the sets of buffers that it takes in turn.
pub struct Sets {
    copy: Copy,
    bound: Vec<Bound>,
}

impl Timed {
    /// Makes the buffer sets and the copies. `f32_bytes` is what an f32 copy moves, if one is to be timed.
    pub fn new(
        device: &Device,
        schedule: &Schedule,
        first: Set,
        f32_bytes: Option<u64>,
        settings: &Settings,
    ) -> Result<Timed, Failure> {
        let copy = Copy::new(device, schedule.bytes_moved())?;
        let bytes = copy.bytes();
        // If both copies move as many bytes, they are the same copy, and one is enough.
        let f32_copy = f32_bytes.filter(|&bytes| bytes != schedule.bytes_moved());
        let f32_copy = f32_copy.map(|bytes| Copy::new(device, bytes)).transpose()?;
        let mut sets = vec![first];
        for _ in 1..settings.sets(bytes, f32_copy.as_ref().map_or(0, Copy::bytes)) {
            let next = like(&sets[0], device, schedule)?;
            sets.push(next);
        }
        let f32_copy = f32_copy.map(|copy| Sets::new(device, copy, sets.len())).transpose()?;
        Ok(Timed { copy: Sets::new(device, copy, sets.len())?, f32_copy, sets })
    }

    pub fn measure(&self, device: &Device, kernels: &[&Prepared], settings: &Settings) -> Result<Times, Failure> {
        let copies = std::iter::once(&self.copy).chain(&self.f32_copy);
        let mut runs: Vec<Encode<'_>> = copies.map(Sets::encode).collect();
        for &kernel in kernels {
            runs.push(Box::new(move |pass, set| Ok(kernel.encode_pass(pass, self.sets[set].buffers())?)));
        }
        let sets = self.sets.len();
        let times = measure(&mut Runs { device, runs, sets }, settings.method(sets))?;
        Times::new(times, &self.copy, self.f32_copy.as_ref(), Sets::bytes, settings.f32_copy, sets)
    }
}

/// Another set of buffers with the same inputs.
fn like(first: &Set, device: &Device, schedule: &Schedule) -> Result<Set, Failure> {
    let set = Set::new(schedule, |label, bytes| device.buffer(label, bytes))?;
    device.submit(|encoder| {
        for (from, to) in first.inputs().zip(set.inputs()) {
            encoder.copy_buffer_to_buffer(from, 0, to, 0, from.size());
        }
        Ok(())
    })?;
    Ok(set)
}

/// Encodes one run on the buffers of a set.
pub type Encode<'a> = Box<dyn Fn(&mut wgpu::ComputePass<'_>, usize) -> Result<(), Failure> + 'a>;

/// What is compared on a device.
pub struct Runs<'a> {
    pub device: &'a Device,
    pub runs: Vec<Encode<'a>>,
    pub sets: usize,
}

impl Bench for Runs<'_> {
    fn count(&self) -> usize {
        self.runs.len()
    }

    fn pass(&mut self, number: usize, mut turns: Range<usize>) -> Result<Spent, Failure> {
        let run = &self.runs[number];
        let seconds = self.device.time(|pass| turns.try_for_each(|turn| run(pass, turn % self.sets)))?;
        Ok(Spent { seconds, cpu_over_wall: None })
    }
}

impl Sets {
    pub fn new(device: &Device, copy: Copy, count: usize) -> Result<Sets, Failure> {
        let bound = (0..count).map(|_| copy.bind(device, &copy.buffers(device)?)).collect::<Result<_, Failure>>()?;
        Ok(Sets { copy, bound })
    }

    /// The bytes that a run moves.
    pub fn bytes(&self) -> u64 {
        self.copy.bytes()
    }

    pub fn encode(&self) -> Encode<'_> {
        Box::new(|pass, set| {
            self.copy.encode(pass, &self.bound[set]);
            Ok(())
        })
    }
}
