//! The CPU backend beside the reference: the same bits at any number of threads and at every level of vector
//! instructions, on tensors of megabytes, and what its calls promise.

mod calls;
mod columns;
mod flat;
mod interleaved;
mod sharing;
mod stopping;
mod threads;
mod unpools;
mod windows;

use std::sync::OnceLock;

use cases::case::{Case, same};
use cases::nasty::{self, Style};
use libtest_mimic::Trial;
use rayon::{ThreadPool, ThreadPoolBuilder};
use support::splitmix::{STEP, splitmix64};
use wgpu_pooling::{Backend, Cpu, CpuKernel, IndexType, MaxUnpool, NanPolicy, Plan, Pooling, SimdLevel, with_element};

pub fn tests() -> Vec<Trial> {
    [
        calls::tests(),
        columns::tests(),
        flat::tests(),
        interleaved::tests(),
        sharing::tests(),
        stopping::tests(),
        threads::tests(),
        unpools::tests(),
        windows::tests(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Random numbers, the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(STEP);
        splitmix64(self.0) as usize % end
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

/// Pools of these numbers of threads.
fn pools() -> &'static [ThreadPool; 4] {
    static POOLS: OnceLock<[ThreadPool; 4]> = OnceLock::new();
    POOLS.get_or_init(|| [1, 2, 3, 8].map(|threads| ThreadPoolBuilder::new().num_threads(threads).build().unwrap()))
}

/// The bytes of the plan's X.
fn x(plan: &Plan, seed: u64) -> Vec<u8> {
    let spec = &plan.inputs()[0];
    let count = spec.element_count() as usize;
    with_element!(spec.dtype, T => {
        bytemuck::cast_slice(&nasty::elements::<T>(count, seed, nasty::STYLES)).to_vec()
    })
}

/// Whether a kernel gives the bits of the reference for a pool at every level, on one thread or three, on data of these
/// styles.
fn agrees(kernel: CpuKernel, plan: Plan, styles: &[Style], random: &mut Random) -> Result<(), String> {
    let spec = &plan.inputs()[0];
    let (count, seed) = (spec.element_count() as usize, random.below(usize::MAX) as u64);
    let x = with_element!(spec.dtype, T => bytemuck::cast_slice(&nasty::elements::<T>(count, seed, styles)).to_vec());
    let case = Case::new(plan, vec![x]);
    let expected = case.expected();
    for &level in SimdLevel::available() {
        let cpu = Cpu::new().with_kernel(kernel).with_simd(level).unwrap();
        let threads = random.of(&[0, 2]);
        let actual =
            pools()[threads].install(|| case.outcome(|inputs, outputs| cpu.run_blocking(&case.plan, inputs, outputs)));
        same(&expected, &actual).map_err(|error| format!("{error}: {level:?}"))?;
    }
    Ok(())
}

/// A plan on data that is made for it.
fn case(plan: Plan, seed: u64) -> Case {
    let x = x(&plan, seed);
    Case::new(plan, vec![x])
}

/// The unpool that undoes a pool, on what the pool gives.
fn undone(unpool: MaxUnpool, pool: &Case, outputs: &[Vec<u8>]) -> Case {
    let specs = pool.plan.outputs();
    let index_type = if specs[1].dtype.bytes() == 4 { IndexType::I32 } else { IndexType::I64 };
    let plan = unpool.plan(&specs[0].shape, specs[0].dtype, index_type).unwrap();
    Case::new(plan, outputs.to_vec())
}

/// A pool under each policy for NaN.
fn policies<P: Pooling>(pool: impl Fn(NanPolicy) -> P) -> impl Iterator<Item = P> {
    NanPolicy::ALL.iter().map(move |&policy| pool(policy))
}
