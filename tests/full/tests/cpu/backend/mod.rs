//! The CPU backend beside the reference: the same bits at any number of threads and at every level of vector
//! instructions, on tensors of megabytes, and what its calls promise.

mod calls;
mod sharing;
mod starved;
mod stopping;
mod threads;

use std::sync::OnceLock;

use rayon::{ThreadPool, ThreadPoolBuilder};
use support::call::Call;
use support::draw::elements::mixed;
use wgpu_pooling::{IndexType, MaxUnpool, Plan};

/// Pools of these numbers of threads.
fn pools() -> &'static [ThreadPool; 4] {
    static POOLS: OnceLock<[ThreadPool; 4]> = OnceLock::new();
    POOLS.get_or_init(|| [1, 2, 3, 8].map(|threads| ThreadPoolBuilder::new().num_threads(threads).build().unwrap()))
}

/// A plan on data that is made for it.
fn case(plan: Plan, seed: u64) -> Call {
    let spec = &plan.inputs()[0];
    let x = mixed(spec.dtype, spec.element_count() as usize, seed);
    Call::new(plan, vec![x])
}

/// The unpool that undoes a pool, on what the pool gives.
fn undone(unpool: MaxUnpool, pool: &Call, outputs: &[Vec<u8>]) -> Call {
    let specs = pool.plan.outputs();
    let index_type = if specs[1].dtype.bytes() == 4 { IndexType::I32 } else { IndexType::I64 };
    let plan = unpool.plan(&specs[0].shape, specs[0].dtype, index_type).unwrap();
    Call::new(plan, outputs.to_vec())
}
