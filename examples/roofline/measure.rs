//! Measures times in rounds. In each round everything that is compared takes its turn, so that a slow phase of the
//! machine affects all of it.

use std::ops::Range;

use wgpu_pooling::wgpu;

use crate::device::Device;
use crate::failure::Failure;

/// The most runs of one kernel in a pass, since command buffers cost memory.
const MOST_REPEATS: usize = 2000;

/// Encodes one run on the buffers of a set.
pub type Encode<'a> = Box<dyn Fn(&mut wgpu::ComputePass<'_>, usize) -> Result<(), Failure> + 'a>;

/// The seconds of one run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Time {
    pub best: f64,
    pub median: f64,
}

/// How to measure.
#[derive(Debug, Clone, Copy)]
pub struct Method {
    pub rounds: usize,
    /// How long a pass should take at least.
    pub pass_seconds: f64,
    /// Sets of buffers, taken in turn.
    pub sets: usize,
    /// After its first round, a kernel that has run for longer than this gets no further rounds.
    pub patience_seconds: f64,
}

/// Times all runs; each round takes them in the given order.
pub fn measure(device: &Device, runs: &[Encode<'_>], method: Method) -> Result<Vec<Time>, Failure> {
    let mut repeats = Vec::with_capacity(runs.len());
    for run in runs {
        // Drivers finish compiling, and clear fresh memory, at first use: the first pass is no measurement.
        let first = turns(device, run, method.sets, 0..method.sets)?;
        repeats.push(if first > method.patience_seconds { 1 } else { calibrated(device, run, method)? });
    }
    let mut seconds = vec![Vec::with_capacity(method.rounds); runs.len()];
    for round in 0..method.rounds {
        for ((run, &repeats), seconds) in runs.iter().zip(&repeats).zip(&mut seconds) {
            let spent = seconds.iter().sum::<f64>() * repeats as f64;
            if round > 0 && spent > method.patience_seconds {
                continue;
            }
            // Each round continues with the set after the last one used, so that a few long runs use all sets too.
            let first = round * repeats;
            seconds.push(turns(device, run, method.sets, first..first + repeats)? / repeats as f64);
        }
    }
    Ok(seconds.into_iter().map(Time::of).collect())
}

/// The seconds of a pass of several runs, which take the sets in turn.
fn turns(device: &Device, run: &Encode<'_>, sets: usize, turns: Range<usize>) -> Result<f64, Failure> {
    device.time(|pass| turns.into_iter().try_for_each(|turn| run(pass, turn % sets)))
}

/// How many runs make a pass long enough.
fn calibrated(device: &Device, run: &Encode<'_>, method: Method) -> Result<usize, Failure> {
    let mut repeats = 1;
    loop {
        let seconds = turns(device, run, method.sets, 0..repeats)?;
        // A short pass is mostly overhead, and says little about one run.
        if seconds * 8.0 >= method.pass_seconds || repeats == MOST_REPEATS {
            return Ok(enough(seconds / repeats as f64, method.pass_seconds));
        }
        repeats = (repeats * 8).min(MOST_REPEATS);
    }
}

fn enough(seconds: f64, pass_seconds: f64) -> usize {
    // A conversion to an integer saturates, also from infinity.
    ((pass_seconds / seconds).ceil() as usize).clamp(1, MOST_REPEATS)
}

impl Time {
    fn of(mut seconds: Vec<f64>) -> Time {
        seconds.sort_by(f64::total_cmp);
        Time {
            best: seconds.first().copied().unwrap_or(f64::NAN),
            median: seconds.get(seconds.len() / 2).copied().unwrap_or(f64::NAN),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_one() {
        assert_eq!(Time::of(vec![3.0, 1.0, 2.0]), Time { best: 1.0, median: 2.0 });
    }

    #[test]
    fn passes_are_long_enough() {
        assert_eq!([0.001, 1.0, 0.0].map(|seconds| enough(seconds, 0.010)), [10, 1, MOST_REPEATS]);
        assert_eq!(enough(0.0, 0.0), 1, "no time at all asked for");
    }
}
