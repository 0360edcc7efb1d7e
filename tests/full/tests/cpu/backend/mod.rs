//! The CPU backend beside the reference: the same bits at any number of threads and at every level of vector
//! instructions, on tensors of megabytes, and what its calls promise.

mod calls;
mod columns;
mod flat;
mod interleaved;
mod modes;
mod sharing;
mod starved;
mod stopping;
mod threads;
mod unpools;
mod windows;

use std::sync::OnceLock;

use cases::case::{Case, same};
use cases::compositions::Composition;
use cases::nasty::{self, STYLES, Style};
use libtest_mimic::Trial;
use rayon::{ThreadPool, ThreadPoolBuilder};
use support::cpu::{Host, Net};
use support::splitmix::{STEP, splitmix64};
use wgpu_pooling::{
    Backend, Cpu, CpuKernel, DType, ExecuteError, IndexType, MaxUnpool, Minimum, NanPolicy, Plan, PlanError, Pooling,
    Reference, TensorMut, TensorRef, with_element,
};

pub fn tests() -> Vec<Trial> {
    [
        calls::tests(),
        columns::tests(),
        flat::tests(),
        interleaved::tests(),
        modes::tests(),
        sharing::tests(),
        starved::tests(),
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
    /// A sequence of this number, in each run the same unless `WGPU_POOLING_SEED` says another seed.
    fn seeded(number: u64) -> Random {
        let seed = std::env::var("WGPU_POOLING_SEED").map_or(0, |seed| seed.parse().expect("WGPU_POOLING_SEED"));
        Random(splitmix64(seed).wrapping_mul(u64::from(seed != 0)).wrapping_add(number))
    }

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

/// The operators of drawn pools.
const EITHER: [&str; 2] = ["maximum", "minimum"];

/// The plan of a pool or of the minimum over its windows, with the operator's name.
fn either(
    pool: impl Pooling + Clone,
    random: &mut Random,
    shape: &[usize],
    dtype: DType,
    indices: Option<IndexType>,
) -> Result<(&'static str, Plan), PlanError> {
    match random.of(&EITHER) {
        "maximum" => pool.plan(shape, dtype, indices).map(|plan| ("maximum", plan)),
        minimum => Minimum::of(pool).plan(shape, dtype, indices).map(|plan| (minimum, plan)),
    }
}

/// Whether every kernel that applies to a plan gives the bits of the reference, on data of some styles.
fn agrees(net: &Net, (operator, plan): (&'static str, Plan), random: &mut Random) -> Result<(), String> {
    let case = styled(plan, random);
    all_agree(net, operator, (&case, random), |backend, x, y| backend.run_blocking(&case.plan, x, y))
}

/// Whether every kernel that applies to both pools of a composition gives the bits of the reference.
fn composed(net: &Net, by: &Composition, (shape, dtype): (&[usize], DType), random: &mut Random) -> Result<(), String> {
    let steps = by.steps(shape, dtype).map_err(|error| error.to_string())?;
    let case = styled(steps.first().clone(), random);
    all_agree(net, by.name(), (&case, random), |backend, x, y| backend.run_steps_blocking(&steps, x, y))
}

/// A plan on data of some styles: without NaN, with few, with many, and of subnormals alone.
fn styled(plan: Plan, random: &mut Random) -> Case {
    let styles = [&[Style::Few, Style::Zeros, Style::Subnormal][..], &RARELY_NAN, STYLES, &[Style::Tiny]];
    let styles = random.of(&styles);
    let spec = &plan.inputs()[0];
    let (count, seed) = (spec.element_count() as usize, random.below(usize::MAX) as u64);
    let x = with_element!(spec.dtype, T => bytemuck::cast_slice(&nasty::elements::<T>(count, seed, styles)).to_vec());
    Case::new(plan, vec![x])
}

/// One run of a hundred has NaN.
const RARELY_NAN: [Style; 100] = {
    let mut styles = [Style::Few; 100];
    styles[0] = Style::Special;
    styles
};

/// Whether a case gives the bits of the reference in every kernel that applies, each in the way that is next in the
/// net; and the reference itself where its thread takes subnormals for zeros.
fn all_agree(
    net: &Net,
    operator: &'static str,
    (case, random): (&Case, &mut Random),
    run: impl Fn(&dyn Backend, &[TensorRef<'_>], &mut [TensorMut<'_>]) -> Result<(), ExecuteError> + Sync,
) -> Result<(), String> {
    let expected = case.outcome(|x, y| run(&Reference, x, y));
    for &kernel in CpuKernel::ALL {
        let way = net.way(operator, kernel);
        let cpu = Cpu::new().with_kernel(kernel).with_simd(way.level).map_err(|error| error.to_string())?;
        let actual = way.host.call(|| case.outcome(|x, y| run(&cpu, x, y)));
        if matches!(&actual, Err(ExecuteError::Plan(PlanError::KernelDoesNotApply { .. }))) {
            continue;
        }
        same(&expected, &actual).map_err(|error| format!("{operator} in {kernel:?}, {way}: {error}"))?;
        net.count(operator, kernel);
    }
    if let Some(host) = Host::flushing().filter(|_| random.below(3) == 0) {
        let actual = host.call(|| case.outcome(|x, y| run(&Reference, x, y)));
        same(&expected, &actual).map_err(|error| format!("{operator} by the reference, {host}: {error}"))?;
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
