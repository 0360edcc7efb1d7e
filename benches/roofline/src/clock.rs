//! The clocks that can measure times.

use std::time::Instant;

use clap::ValueEnum;

use crate::failure::Failure;
use crate::measure::Spent;

/// A clock by its name on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Clock {
    /// Timestamps of the device around a pass; the wall clock if it has none
    Device,
    /// The wall clock, from the submit until the device is done
    Wall,
    /// CPU time of all threads of this process, for software adapters; it ignores the load of other programs, and how
    /// well a kernel uses several cores
    Cpu,
}

impl Clock {
    /// Whether this platform measures the CPU time of a process.
    pub const COUNTS_CPU: bool = cfg!(any(target_os = "linux", target_os = "macos"));

    pub fn describe(self) -> &'static str {
        match self {
            Clock::Device => "timestamps of the device",
            Clock::Wall => "wall clock around submits",
            Clock::Cpu => "CPU time of the process around submits",
        }
    }
}

/// What `work` takes by a clock, which is none of a device's.
pub fn time(clock: Clock, work: impl FnOnce() -> Result<(), Failure>) -> Result<Spent, Failure> {
    let start = Instant::now();
    let ((), cpu) = cpu_time(work)?;
    let wall = start.elapsed().as_secs_f64();
    let seconds = if clock == Clock::Cpu { cpu.unwrap_or(wall) } else { wall };
    Ok(Spent { seconds, cpu_over_wall: cpu.map(|cpu| cpu / wall) })
}

/// The result of `work`, and the CPU seconds that all threads of this process took for it, if the platform measures
/// them.
pub fn cpu_time<R>(work: impl FnOnce() -> Result<R, Failure>) -> Result<(R, Option<f64>), Failure> {
    let begin = cpu_seconds();
    let result = work()?;
    Ok((result, begin.zip(cpu_seconds()).map(|(begin, end)| end - begin)))
}

/// The CPU seconds of all threads of this process so far.
#[cfg(any(target_os = "linux", target_os = "macos"))]
fn cpu_seconds() -> Option<f64> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Some(time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9)
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn cpu_seconds() -> Option<f64> {
    None
}
