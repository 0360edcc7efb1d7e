//! Processes that get no threads for rayon's global pool, as containers limit them, or no memory for the threads'
//! stacks: the calling thread computes. Each runs in a process of its own.

use std::panic::catch_unwind;
use std::process::Command;

use support::call::{Call, same};
use wgpu_pooling::{
    Backend, Cpu, DType, GlobalMaxPool, Gradient, IndexType, MaxPool, MaxUnpool, Minimum, PreparedPlan,
};

use super::{case, undone};

/// The variable that tells this program that it is limited.
const LIMITED: &str = "WGPU_POOLING_LIMITED";

/// Large calls of every sort by two backends, of which the first one asks for threads, unless somebody else has tried
/// before.
fn calls() {
    let pool = MaxPool::new([3, 3]).strides([2, 2]);
    let shape = [1, 2, 357, 401];
    let pooled = case(pool.plan(&shape, DType::F32, Some(IndexType::I64)).unwrap(), 1);
    let outputs = pooled.expected().unwrap();
    let cases: [Call; 5] = [
        case(Gradient::new([3, 3]).plan(&shape, DType::F32, None).unwrap(), 4),
        case(Minimum::of(pool.clone()).plan(&shape, DType::F32, None).unwrap(), 2),
        case(GlobalMaxPool::new().plan(&[1, 1, 701, 1025], DType::F32, None).unwrap(), 3),
        undone(MaxUnpool::inverse_of(&pool, &shape), &pooled, &outputs),
        pooled,
    ];
    let expected = cases.each_ref().map(Call::expected);
    let limit = std::env::var(LIMITED).expect("a limited process is told so");
    if limit == "tried" {
        assert!(catch_unwind(rayon::current_num_threads).is_err(), "there is no limit");
    }
    if limit == "memory" {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let own = status.lines().find_map(|line| line.strip_prefix("VmSize:")?.trim().strip_suffix(" kB"));
        let most = (own.unwrap().parse::<usize>().unwrap() + (32 << 10)) << 10;
        let (pid, most) = (format!("--pid={}", std::process::id()), format!("--as={most}"));
        assert!(Command::new("prlimit").args([pid, most]).status().unwrap().success());
    }
    for _ in 0..2 {
        let cpu = Cpu::new();
        for (case, expected) in cases.iter().zip(&expected) {
            let prepared = cpu.prepare(case.plan.clone()).unwrap();
            same(expected, &case.outcome(|x, y| prepared.run_blocking(x, y))).unwrap();
            same(expected, &case.outcome(|x, y| cpu.run_blocking(&case.plan, x, y))).unwrap();
        }
        assert!(cpu.name().contains("1 thread,"), "{}", cpu.name());
    }
    assert!(catch_unwind(rayon::current_num_threads).is_err(), "there is no limit");
}

/// Runs a test of this module in a process that wants 64 threads and gets this many, if they are limited.
fn limited(test: &str, limit: &str, threads: Option<u32>) {
    let program = std::env::current_exe().expect("a test has a file");
    let mut command = Command::new("prlimit");
    command.args(threads.map(|threads| format!("--nproc={threads}")));
    // The limit counts the threads of a user, and root has none: another user, who has no other threads.
    let own = std::fs::metadata("/proc/self").expect("this is Linux");
    if threads.is_some() && std::os::linux::fs::MetadataExt::st_uid(&own) == 0 {
        let user = 100_000 + std::process::id();
        command.args(["setpriv", &format!("--reuid={user}"), &format!("--regid={user}"), "--clear-groups"]);
    }
    command.arg(program).args([&format!("backend::starved::{test}"), "--exact", "--test-threads=1"]);
    command.env(LIMITED, limit).env("RAYON_NUM_THREADS", "64").env("RUST_BACKTRACE", "0");
    let output = command.output().expect("prlimit is there");
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success() && said.contains("1 passed"), "{limit} {threads:?}: {said}");
}

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "prlimit is a program of Linux")]
fn without_threads_the_caller_computes() {
    if std::env::var_os(LIMITED).is_some() {
        return calls();
    }
    // The first thread and that of the test; then one more, and a few.
    for (limit, threads) in [("threads", 2), ("threads", 3), ("threads", 6), ("tried", 3)] {
        limited("without_threads_the_caller_computes", limit, Some(threads));
    }
}

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "prlimit is a program of Linux")]
fn without_memory_for_threads_the_caller_computes() {
    match std::env::var_os(LIMITED) {
        Some(_) => calls(),
        None => limited("without_memory_for_threads_the_caller_computes", "memory", None),
    }
}
