//! One prepared plan that several threads use at once, from inside and outside of rayon's pools.

use rayon::iter::{IntoParallelIterator, ParallelIterator};
use support::call::{Call, Outcome, same};
use wgpu_pooling::{
    AdaptiveMaxPool, Cpu, DType, IndexType, Layout, MaxPool, MaxUnpool, Plan, PreparedCpu, PreparedPlan,
};

use super::{case, pools, undone};

/// A plan with several data, each with what the reference gives.
struct Shared {
    prepared: PreparedCpu,
    cases: Vec<(Call, Outcome)>,
}

impl Shared {
    fn new(cases: Vec<Call>) -> Shared {
        let prepared = Cpu::new().prepare(cases[0].plan.clone()).unwrap();
        let cases = cases.into_iter().map(|case| {
            let expected = case.expected();
            (case, expected)
        });
        Shared { prepared, cases: cases.collect() }
    }

    fn check(&self, number: usize) {
        let (case, expected) = &self.cases[number % self.cases.len()];
        let outcome = case.outcome(|inputs, outputs| self.prepared.run_blocking(inputs, outputs));
        same(expected, &outcome).unwrap_or_else(|error| panic!("data {number}: {error}: {:?}", &case.plan));
    }
}

/// Plans whose kernels have scratch memory, and some that have none, with four data each.
fn shared() -> Vec<Shared> {
    let shape = [2, 6, 61, 75];
    let pool = MaxPool::new([2, 2]).strides([2, 2]);
    let plans: [Plan; 6] = [
        MaxPool::new([5, 5]).pads([2; 4]).plan(&shape, DType::F32, Some(IndexType::I64)).unwrap(),
        MaxPool::new([9, 7]).strides([3, 1]).plan(&shape, DType::F16, None).unwrap(),
        MaxPool::new([3, 3]).strides([2, 2]).plan(&shape, DType::U8, Some(IndexType::I32)).unwrap(),
        AdaptiveMaxPool::new([7, 6]).plan(&shape, DType::F32, Some(IndexType::I64)).unwrap(),
        MaxPool::new([3, 3])
            .layout(Layout::Nhwc)
            .index_layout(Layout::Nchw)
            .plan(&shape, DType::F32, Some(IndexType::I64))
            .unwrap(),
        pool.plan(&shape, DType::F32, Some(IndexType::I64)).unwrap(),
    ];
    let mut shared: Vec<Shared> =
        plans.iter().map(|plan| Shared::new((0..4).map(|seed| case(plan.clone(), seed)).collect())).collect();
    let pooled = &shared[5];
    let back = |(case, expected): &(Call, Outcome)| {
        undone(MaxUnpool::inverse_of(&pool, &shape), case, expected.as_ref().unwrap())
    };
    let unpool = Shared::new(pooled.cases.iter().map(back).collect());
    shared.push(unpool);
    shared
}

#[test]
fn threads_call_one_prepared_plan() {
    for shared in &shared() {
        std::thread::scope(|scope| {
            for thread in 0..4 {
                scope.spawn(move || (0..6).for_each(|call| shared.check(thread + call)));
            }
        });
    }
}

#[test]
fn calls_are_made_from_inside_rayons_pools() {
    let all = shared();
    for pool in pools() {
        // Tasks of a pool, each of which shares its work among the threads of the same pool.
        pool.install(|| (0..24).into_par_iter().for_each(|call| all.iter().for_each(|shared| shared.check(call))));
        // A task that waits for two others, in whose place it may be run.
        pool.install(|| rayon::join(|| all[0].check(1), || rayon::join(|| all[0].check(2), || all[3].check(3))));
    }
}

#[test]
fn memory_of_one_call_does_not_show_in_the_next() {
    // On one thread the scratch memory of a call is that of the next.
    for shared in &shared() {
        pools()[0].install(|| [0, 1, 0, 2, 3, 0].into_iter().for_each(|data| shared.check(data)));
    }
}
