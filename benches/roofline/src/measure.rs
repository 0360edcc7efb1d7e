//! Measures times in rounds. In each round everything that is compared takes its turn, so that a slow phase of the
//! machine affects all of it.

use std::ops::Range;
use std::time::{Duration, Instant};

use crate::failure::Failure;

/// The most runs of one kernel in a pass, since command buffers cost memory.
const MOST_REPEATS: usize = 2000;

/// What is compared: copies and kernels, each with a number.
pub trait Bench {
    fn count(&self) -> usize;

    /// Runs what has this number once for each turn. The number of a turn says which set of buffers it takes.
    fn pass(&mut self, number: usize, turns: Range<usize>) -> Result<Spent, Failure>;
}

/// What a pass took.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spent {
    pub seconds: f64,
    /// The CPU seconds of the process over those of the wall clock, where the CPU computes and they are measured.
    pub cpu_over_wall: Option<f64>,
}

/// The seconds of one run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Time {
    pub best: f64,
    pub median: f64,
    /// `Spent::cpu_over_wall` of the best round.
    pub cpu_over_wall: Option<f64>,
}

/// How to measure.
#[derive(Debug, Clone, Copy)]
pub struct Method {
    pub rounds: usize,
    /// How long a pass should take at least.
    pub pass_seconds: f64,
    /// How long the first of what is compared runs before anything is measured: the clock of a GPU that was idle, while
    /// the CPU verified, takes a while to rise.
    pub warm_up: Duration,
    /// Sets of buffers, taken in turn.
    pub sets: usize,
    /// After its first round, a kernel that has run for longer than this gets no further rounds.
    pub patience_seconds: f64,
}

/// Times everything that is compared; each round takes it in the order of the numbers.
pub fn measure(bench: &mut dyn Bench, method: Method) -> Result<Vec<Time>, Failure> {
    let begin = Instant::now();
    while begin.elapsed() < method.warm_up {
        bench.pass(0, 0..method.sets)?;
    }
    let mut repeats = Vec::with_capacity(bench.count());
    for number in 0..bench.count() {
        // Drivers finish compiling, and clear fresh memory, at first use: the first pass is no measurement.
        let first = bench.pass(number, 0..method.sets)?.seconds;
        repeats.push(if first > method.patience_seconds { 1 } else { calibrated(bench, number, method)? });
    }
    let mut passes = vec![Vec::with_capacity(method.rounds); bench.count()];
    for round in 0..method.rounds {
        for (number, (&repeats, passes)) in repeats.iter().zip(&mut passes).enumerate() {
            let spent = passes.iter().map(|pass: &Spent| pass.seconds).sum::<f64>() * repeats as f64;
            if round > 0 && spent > method.patience_seconds {
                continue;
            }
            // Each round continues with the set after the last one used, so that a few long runs use all sets too.
            let first = round * repeats;
            let pass = bench.pass(number, first..first + repeats)?;
            passes.push(Spent { seconds: pass.seconds / repeats as f64, ..pass });
        }
    }
    Ok(passes.into_iter().map(Time::of).collect())
}

/// How many runs make a pass long enough.
fn calibrated(bench: &mut dyn Bench, number: usize, method: Method) -> Result<usize, Failure> {
    let mut repeats = 1;
    loop {
        let seconds = bench.pass(number, 0..repeats)?.seconds;
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
    fn of(mut passes: Vec<Spent>) -> Time {
        passes.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
        Time {
            best: passes.first().map_or(f64::NAN, |pass| pass.seconds),
            median: passes.get(passes.len() / 2).map_or(f64::NAN, |pass| pass.seconds),
            cpu_over_wall: passes.first().and_then(|pass| pass.cpu_over_wall),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_one() {
        let passes = [3.0, 1.0, 2.0].map(|seconds| Spent { seconds, cpu_over_wall: Some(seconds / 2.0) });
        assert_eq!(Time::of(passes.to_vec()), Time { best: 1.0, median: 2.0, cpu_over_wall: Some(0.5) });
    }

    /// Takes as long as it is told for each turn, and writes down what it ran.
    struct Told(Vec<f64>, Vec<(usize, Range<usize>)>);

    impl Bench for Told {
        fn count(&self) -> usize {
            self.0.len()
        }

        fn pass(&mut self, number: usize, turns: Range<usize>) -> Result<Spent, Failure> {
            self.1.push((number, turns.clone()));
            Ok(Spent { seconds: self.0[number] * turns.len() as f64, cpu_over_wall: None })
        }
    }

    #[test]
    fn rounds_take_turns_and_slow_ones_lose_patience() {
        let mut told = Told(vec![0.5, 2.0], vec![]);
        let method = Method { rounds: 3, pass_seconds: 1.0, warm_up: Duration::ZERO, sets: 2, patience_seconds: 3.0 };
        let times = measure(&mut told, method).unwrap();
        assert_eq!(times.iter().map(|time| time.best).collect::<Vec<_>>(), [0.5, 2.0]);
        // A first pass over both sets, and another by which the first one gets two repeats. The second has no time for
        // a second pass beyond its first, nor for a third round.
        let firsts = [(0, 0..2), (0, 0..1), (1, 0..2)];
        assert_eq!(told.1, [&firsts[..], &[(0, 0..2), (1, 0..1), (0, 2..4), (1, 1..2), (0, 4..6)]].concat());
    }

    #[test]
    fn passes_are_long_enough() {
        assert_eq!([0.001, 1.0, 0.0].map(|seconds| enough(seconds, 0.010)), [10, 1, MOST_REPEATS]);
        assert_eq!(enough(0.0, 0.0), 1, "no time at all asked for");
    }
}
