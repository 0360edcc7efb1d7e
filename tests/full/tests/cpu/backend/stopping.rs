//! Calls that the caller stops.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use support::call::{Call, same};
use wgpu_pooling::{Cpu, DType, ExecuteError, IndexType, MaxPool, MaxUnpool, Plan, PreparedPlan};

use super::{case, pools, undone};

/// A pool, and the unpool that undoes it, whose tensors have several times the bytes between two questions.
fn long_cases() -> [Call; 2] {
    let (pool, shape) = (MaxPool::new([2, 2]).strides([2, 2]), [1, 4, 1500, 1000]);
    let pooled = case(pool.plan(&shape, DType::F32, Some(IndexType::I64)).unwrap(), 1);
    let outputs = pooled.expected().unwrap();
    let unpool = undone(MaxUnpool::inverse_of(&pool, &shape), &pooled, &outputs);
    [pooled, unpool]
}

/// A backend that is stopped at the question with this number, counted down; and the questions that are left.
fn stopped_at(question: usize) -> (Cpu, Arc<AtomicUsize>) {
    let left = Arc::new(AtomicUsize::new(question));
    let asked = left.clone();
    let stop = move || asked.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_err();
    (Cpu::new().stop_when(stop), left)
}

#[test]
fn a_call_is_stopped_at_any_time_and_the_next_one_is_whole() {
    for case in long_cases() {
        let expected = case.expected();
        for pool in pools() {
            for question in [0, 1, 2] {
                let (cpu, left) = stopped_at(question);
                let prepared = cpu.prepare(case.plan.clone()).unwrap();
                let run = || pool.install(|| case.outcome(|inputs, outputs| prepared.run_blocking(inputs, outputs)));
                assert_eq!(run().err(), Some(ExecuteError::Interrupted), "question {question}: {:?}", &case.plan);
                assert_eq!(run().err(), Some(ExecuteError::Interrupted), "the caller still wants it to stop");
                left.store(usize::MAX, Ordering::Relaxed);
                same(&expected, &run()).unwrap_or_else(|error| panic!("after question {question}: {error}"));
            }
        }
    }
}

#[test]
fn another_thread_stops_a_call() {
    let [case, _] = long_cases();
    let plan: Plan = case.plan.clone();
    for pool in pools() {
        let (begun, wanted) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let stopper = {
            let (begun, wanted) = (begun.clone(), wanted.clone());
            std::thread::spawn(move || {
                while !begun.load(Ordering::Acquire) {
                    std::thread::yield_now();
                }
                wanted.store(true, Ordering::Release);
            })
        };
        let (asked, flag) = (begun.clone(), wanted.clone());
        let cpu = Cpu::new().stop_when(move || {
            // The first question is answered at once, the others when the other thread wants the call to stop.
            let first = !asked.swap(true, Ordering::AcqRel);
            while !first && !flag.load(Ordering::Acquire) {
                std::thread::yield_now();
            }
            !first
        });
        let prepared = cpu.prepare(plan.clone()).unwrap();
        let outcome = pool.install(|| case.outcome(|inputs, outputs| prepared.run_blocking(inputs, outputs)));
        assert_eq!(outcome.err(), Some(ExecuteError::Interrupted));
        stopper.join().unwrap();
    }
}

#[test]
fn a_long_call_is_asked_more_than_once_on_every_number_of_threads() {
    for case in long_cases() {
        let expected = case.expected();
        for pool in pools() {
            let (cpu, left) = stopped_at(usize::MAX);
            let prepared = cpu.prepare(case.plan.clone()).unwrap();
            let outcome = pool.install(|| case.outcome(|inputs, outputs| prepared.run_blocking(inputs, outputs)));
            same(&expected, &outcome).unwrap_or_else(|error| panic!("{error}"));
            // At least one question for every eight megabytes that are read and written.
            let tensors = case.plan.inputs().iter().chain(case.plan.outputs());
            let least = (tensors.map(|spec| spec.bytes()).sum::<u64>() >> 23) as usize;
            let asked = usize::MAX - left.load(Ordering::Relaxed);
            assert!(asked >= least.max(2), "{asked} questions, at least {least}: {:?}", &case.plan);
        }
    }
}
