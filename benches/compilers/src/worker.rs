//! Runs the driver in a process of its own, because the driver reads the family from the environment only once, and
//! because an unknown family or a fault of the compiler ends the process.
//!
//! The worker reads kernels from its standard input and answers on its standard output, one JSON value a line.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;

use serde::{Deserialize, Serialize};

use crate::family::Family;
use crate::spirv::Kernel;
use crate::vulkan::{Compiled, Compiler};

/// The argument that starts the program as a worker.
pub const ARGUMENT: &str = "--worker";

/// The first line that a worker writes.
#[derive(Debug, Serialize, Deserialize)]
enum Greeting {
    Ready { driver: String },
    Missing { what: String },
}

impl std::fmt::Display for Unavailable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Unavailable::Driver(what) => write!(
                f,
                "{what}. What compiles here is Mesa's RADV behind the Vulkan loader: on Debian and Ubuntu the packages \
                 mesa-vulkan-drivers and libvulkan1. VK_DRIVER_FILES names the radeon_icd.json of a driver elsewhere."
            ),
            Unavailable::Family(family) => write!(
                f,
                "{0} is left out: this driver does not know it. {0} needs {1}; VK_DRIVER_FILES names the \
                 radeon_icd.json of a newer driver.",
                family.name(),
                family.needs()
            ),
            Unavailable::Fault(said) => write!(f, "the driver's process ended: {}", said.trim()),
        }
    }
}

/// Why there is no compiler for a family.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unavailable {
    /// There is no Vulkan loader, or no RADV driver.
    Driver(String),
    /// The driver is too old for the family.
    Family(Family),
    /// The process ended, with what it left on its standard error.
    Fault(String),
}

/// Runs a worker: compiles the kernels on its standard input until the input ends.
pub fn serve() -> Result<(), String> {
    let broken = |error: std::io::Error| format!("the worker's pipe: {error}");
    let mut answers = std::io::stdout().lock();
    let compiler = match Compiler::open() {
        Ok(compiler) => compiler,
        Err(what) => return writeln!(answers, "{}", json(&Greeting::Missing { what })?).map_err(broken),
    };
    let driver = compiler.driver().to_owned();
    writeln!(answers, "{}", json(&Greeting::Ready { driver })?).map_err(broken)?;
    for line in std::io::stdin().lock().lines() {
        let kernel: Kernel = serde_json::from_str(&line.map_err(broken)?).map_err(|error| error.to_string())?;
        writeln!(answers, "{}", json(&compiler.compile(&kernel))?).map_err(broken)?;
    }
    Ok(())
}

fn json(value: &impl Serialize) -> Result<String, String> {
    serde_json::to_string(value).map_err(|error| error.to_string())
}

/// A running worker.
struct Worker {
    family: Family,
    child: Child,
    questions: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    /// What the driver writes to standard error. A thread reads it all the time, so that the driver never waits.
    said: Option<JoinHandle<String>>,
    driver: String,
}

impl Worker {
    fn start(program: &PathBuf, family: Family) -> Result<Worker, Unavailable> {
        let fault = |error: std::io::Error| Unavailable::Fault(error.to_string());
        let mut child = Command::new(program)
            .arg(ARGUMENT)
            .env("RADV_FORCE_FAMILY", family.name())
            // Without the cache, every kernel is compiled by this driver now.
            .env("MESA_SHADER_CACHE_DISABLE", "true")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(fault)?;
        let pipe = || Unavailable::Fault("the worker has no pipes".to_owned());
        let questions = child.stdin.take();
        let answers = BufReader::new(child.stdout.take().ok_or_else(pipe)?);
        let errors = child.stderr.take().ok_or_else(pipe)?;
        let said = Some(std::thread::spawn(|| std::io::read_to_string(errors).unwrap_or_default()));
        let mut worker = Worker { family, child, questions, answers, said, driver: String::new() };
        match worker.answer()? {
            Greeting::Ready { driver } => worker.driver = driver,
            Greeting::Missing { what } => return Err(Unavailable::Driver(what)),
        }
        Ok(worker)
    }

    fn compile(&mut self, kernel: &Kernel) -> Result<Result<Compiled, String>, Unavailable> {
        let line = json(kernel).map_err(Unavailable::Fault)?;
        let sent = self.questions.as_mut().map(|pipe| writeln!(pipe, "{line}").and_then(|()| pipe.flush()));
        match sent {
            Some(Ok(())) => self.answer(),
            _ => Err(self.end()),
        }
    }

    fn answer<T: for<'a> Deserialize<'a>>(&mut self) -> Result<T, Unavailable> {
        let mut line = String::new();
        match self.answers.read_line(&mut line) {
            Ok(1..) => serde_json::from_str(&line).map_err(|error| Unavailable::Fault(error.to_string())),
            _ => Err(self.end()),
        }
    }

    /// Why the process ended.
    fn end(&mut self) -> Unavailable {
        self.questions = None;
        let said = self.said.take().and_then(|thread| thread.join().ok()).unwrap_or_default();
        if said.contains("Unknown family") { Unavailable::Family(self.family) } else { Unavailable::Fault(said) }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // At the end of its input the worker ends.
        self.questions = None;
        let _ = self.child.wait();
    }
}

/// Compiles the kernels by as many processes as there are processors. Gives the driver's version, and the results in
/// the order of the kernels.
pub fn compile_all(family: Family, kernels: &[Kernel]) -> Result<(String, Vec<Result<Compiled, String>>), Unavailable> {
    let program = std::env::current_exe().map_err(|error| Unavailable::Fault(error.to_string()))?;
    let first = Worker::start(&program, family)?;
    let driver = first.driver.clone();
    let count = std::thread::available_parallelism().map_or(1, usize::from).min(kernels.len().max(1));
    let next = AtomicUsize::new(0);
    let results = Mutex::new(vec![None; kernels.len()]);
    let first = Mutex::new(Some(first));
    let outcome: Result<Vec<()>, Unavailable> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..count)
            .map(|_| {
                scope.spawn(|| {
                    let taken = first.lock().ok().and_then(|mut first| first.take());
                    let mut worker = taken.map_or_else(|| Worker::start(&program, family), Ok)?;
                    while let Some((number, kernel)) = nth(kernels, next.fetch_add(1, Ordering::Relaxed)) {
                        let compiled = worker.compile(kernel)?;
                        if let Ok(mut results) = results.lock() {
                            results[number] = Some(compiled);
                        }
                    }
                    Ok(())
                })
            })
            .collect();
        let join = |thread: std::thread::ScopedJoinHandle<'_, Result<(), Unavailable>>| {
            thread.join().unwrap_or_else(|_| Err(Unavailable::Fault("a thread of this program ended".to_owned())))
        };
        threads.into_iter().map(join).collect()
    });
    outcome?;
    let results = results.into_inner().unwrap_or_default();
    let missing = || Err("not compiled".to_owned());
    Ok((driver, results.into_iter().map(|result| result.unwrap_or_else(missing)).collect()))
}

fn nth(kernels: &[Kernel], number: usize) -> Option<(usize, &Kernel)> {
    kernels.get(number).map(|kernel| (number, kernel))
}
