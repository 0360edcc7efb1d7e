//! What times are measured by.

use clap::ValueEnum;

use crate::failure::Failure;

/// A clock by its name on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Clock {
    /// The device's own, by timestamps around a pass; the wall clock where it has none
    Device,
    /// The wall clock, from submit to done
    Wall,
    /// What all threads of this process compute from submit to done: of use where a software adapter computes in them. It
    /// leaves out what other programs take of the machine's cores, and how well a kernel spreads over them
    Cpu,
}

impl Clock {
    /// Whether this platform counts what a process computes.
    pub const COUNTS_CPU: bool = cfg!(any(target_os = "linux", target_os = "macos"));

    pub fn describe(self) -> &'static str {
        match self {
            Clock::Device => "timestamps of the device",
            Clock::Wall => "wall clock around submits",
            Clock::Cpu => "CPU time of the process around submits",
        }
    }
}

/// The seconds that the threads of this process have computed.
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub fn cpu_seconds() -> Result<f64, Failure> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Ok(time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9)
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub fn cpu_seconds() -> Result<f64, Failure> {
    Err(Failure::Other("--clock cpu is there on Linux and macOS alone".to_owned()))
}
