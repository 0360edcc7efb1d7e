//! What is timed for a row: the kernels, on buffer sets that together exceed the caches, and the copies, on as many
//! buffer sets of their own.

use wgpu_pooling::{Prepared, Schedule};

use crate::copy::{Bound, Copy};
use crate::device::Device;
use crate::failure::Failure;
use crate::measure::{Encode, Method, Time, measure};
use crate::run::{F32Copy, Set, Settings};

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

/// What was measured.
pub struct Times {
    pub copy: Time,
    pub f32_copy: Option<F32Copy>,
    /// In the order in which the kernels were given.
    pub kernels: Vec<Time>,
}

/// The most buffer sets. Each set costs a bind group and a few buffers, and more sets are of no use.
const MOST_SETS: u64 = 64;

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
        // Each copy needs buffer sets of its own, as large as the bytes that it moves.
        let affordable = settings.memory_bytes / (2 * bytes + f32_copy.as_ref().map_or(0, Copy::bytes));
        let wanted = settings.cache_bytes.div_ceil(bytes).max(2);
        let mut sets = vec![first];
        for _ in 1..wanted.min(affordable).min(MOST_SETS) {
            let next = sets[0].like(device, schedule)?;
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
        let Settings { rounds, pass_seconds, patience_seconds, .. } = *settings;
        let mut times =
            measure(device, &runs, Method { rounds, pass_seconds, sets: self.sets.len(), patience_seconds })?
                .into_iter();
        let missing = || Failure::Other("a copy was not measured".to_owned());
        let copy = times.next().ok_or_else(missing)?;
        let f32_copy = match &self.f32_copy {
            Some(copy) => Some(F32Copy { time: times.next().ok_or_else(missing)?, bytes: copy.bytes() }),
            None => settings.f32_copy.then(|| F32Copy { time: copy, bytes: self.copy.bytes() }),
        };
        Ok(Times { copy, f32_copy, kernels: times.collect() })
    }
}

impl Sets {
    fn new(device: &Device, copy: Copy, count: usize) -> Result<Sets, Failure> {
        let bound = (0..count).map(|_| copy.bind(device, &copy.buffers(device)?)).collect::<Result<_, Failure>>()?;
        Ok(Sets { copy, bound })
    }

    /// The bytes that a run moves.
    pub fn bytes(&self) -> u64 {
        self.copy.bytes()
    }

    fn encode(&self) -> Encode<'_> {
        Box::new(|pass, set| {
            self.copy.encode(pass, &self.bound[set]);
            Ok(())
        })
    }
}
