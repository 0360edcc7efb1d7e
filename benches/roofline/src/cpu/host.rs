//! The processor: threads, vector instructions, kernel, and the clock.

use rayon::{ThreadPool, ThreadPoolBuilder};
use wgpu_pooling::{Cpu, CpuKernel, ExecuteError, Plan, PreparedCpu, SimdLevel};

use crate::clock::{Clock, time};
use crate::failure::Failure;
use crate::measure::Spent;
use crate::options::OnCpu;

pub struct Host {
    cpu: Cpu,
    /// The only kernel that is run, if one was asked for.
    pub kernel: Option<CpuKernel>,
    /// All copies and kernels run in this pool.
    pool: ThreadPool,
    pub clock: Clock,
}

impl Host {
    /// By default times are those of the wall clock.
    pub fn new(options: &OnCpu, clock: Option<Clock>) -> Result<Host, String> {
        let clock = clock.unwrap_or(Clock::Wall);
        if clock == Clock::Device {
            return Err("--clock device: the CPU is no device; wall or cpu".to_owned());
        }
        let level = options.simd.unwrap_or(SimdLevel::best());
        let cpu = Cpu::new().with_simd(level).map_err(|error| format!("--simd {}: {error}", level.name()))?;
        // 0 stands for one for each core.
        let threads = options.threads.unwrap_or(0);
        let pool = ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|error| format!("--threads {threads}: {error}"))?;
        Ok(Host { cpu, kernel: options.kernel, pool, clock })
    }

    /// The processor, the vector instructions and the number of threads in a line.
    pub fn describe(&self) -> String {
        let threads = self.threads();
        let plural = if threads == 1 { "" } else { "s" };
        format!("{}, CPU, {}, {threads} thread{plural}", processor(), self.simd().name())
    }

    pub fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }

    pub fn simd(&self) -> SimdLevel {
        self.cpu.simd()
    }

    /// A plan with a kernel of its own, with the one that was asked for, or with the best one. Nothing reads outputs
    /// after an error, as nothing does in the runtimes that this is compared with.
    pub fn prepare(&self, plan: &Plan, kernel: Option<CpuKernel>) -> Result<PreparedCpu, ExecuteError> {
        let cpu = self.cpu.clone();
        match kernel.or(self.kernel) {
            None => cpu.prepare(plan.clone()),
            Some(kernel) => cpu.with_kernel(kernel).prepare(plan.clone()),
        }
    }

    /// Runs `work` on the threads that were asked for.
    pub fn install<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        self.pool.install(work)
    }

    /// Runs `work` on the threads that were asked for, and gives what it took.
    pub fn time(&self, work: impl FnOnce() -> Result<(), Failure> + Send) -> Result<Spent, Failure> {
        self.install(|| time(self.clock, work))
    }
}

/// The processor's name.
fn processor() -> String {
    let information = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    name_in(&information).unwrap_or("unknown CPU").to_owned()
}

/// The name in what Linux tells of its processors.
fn name_in(information: &str) -> Option<&str> {
    let line = information.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim()).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_is_that_of_the_first_processor() {
        let two =
            "processor\t: 0\nmodel\t\t: 1\nmodel name\t: Some CPU @ 2 GHz\n\nprocessor\t: 1\nmodel name\t: Other\n";
        assert_eq!(name_in(two), Some("Some CPU @ 2 GHz"));
        assert_eq!(name_in("processor\t: 0\nmodel name\t: \n"), None);
        assert_eq!(name_in(""), None);
    }

    #[test]
    fn a_host_has_the_threads_and_the_level_that_were_asked_for() {
        let options = OnCpu { threads: Some(3), simd: Some(SimdLevel::Baseline), kernel: None };
        let host = Host::new(&options, None).unwrap();
        assert!(host.describe().ends_with(", CPU, baseline, 3 threads"), "{}", host.describe());
        assert_eq!(host.install(rayon::current_num_threads), 3);
        let spent = host.time(|| Ok(())).unwrap();
        assert!(spent.seconds >= 0.0 && spent.cpu_over_wall.is_some() == Clock::COUNTS_CPU);
        assert!(host.time(|| Err(Failure::Other("no".to_owned()))).is_err());
        assert!(Host::new(&options, Some(Clock::Device)).is_err());
    }
}
