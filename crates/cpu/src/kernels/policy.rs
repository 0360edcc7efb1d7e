//! Policy: which kernel computes a pool. Each kernel says about how long it would take, from the plan alone, and the
//! fastest is chosen. Costs are those of one thread: how well small work spreads over threads is ignored. No choice
//! changes a bit of the result.

use wgpu_pooling_plan::{PlanError, PoolPlan};

use super::cpu_kernel::CpuKernel;
use super::ignoring::Ignoring;
use super::kernel::{ListedKernel, Offer, OfferedPool, PoolKernel};
use super::view::View;
use super::{columns, direct, flat, general, global, interleaved, separable};

/// The kernels for pools.
const KERNELS: &[ListedKernel] = &[
    ListedKernel { kernel: CpuKernel::Direct, offer: direct::offer },
    ListedKernel { kernel: CpuKernel::Flat, offer: flat::offer },
    ListedKernel { kernel: CpuKernel::Interleaved, offer: interleaved::offer },
    ListedKernel { kernel: CpuKernel::Columns, offer: columns::offer },
    ListedKernel { kernel: CpuKernel::Global, offer: global::offer },
    ListedKernel { kernel: CpuKernel::Separable, offer: separable::run::offer },
    ListedKernel { kernel: CpuKernel::General, offer: general::offer },
];

/// The kernel that computes a pool.
pub(crate) struct Chosen {
    pub name: CpuKernel,
    /// The layout of its work.
    pub kernel: Box<dyn PoolKernel>,
    /// Whether it is given the plan of a minimum with its X.
    pub mirrors: bool,
    /// About the nanoseconds that it takes in one thread.
    pub cost: f64,
}

/// The kernel that the caller asked for, or the fastest one.
pub(crate) fn choose(plan: &PoolPlan, view: &View, asked: Option<CpuKernel>) -> Result<Chosen, PlanError> {
    let pool = OfferedPool::new(plan, view, KERNELS);
    let chosen = match asked {
        Some(kernel) => pool.offer_of(kernel).map(|offer| (kernel, offer)),
        None => pool.fastest().ok_or("no kernel computes it"),
    };
    let refused = |reason| {
        let kernel = asked.unwrap_or(CpuKernel::General).name();
        PlanError::KernelDoesNotApply { kernel, reason }
    };
    let (name, Offer { cost, mirrors, layout }) = chosen.map_err(refused)?;
    let mut kernel = layout();
    if name != CpuKernel::General && Ignoring::applies(plan) {
        kernel = Box::new(Ignoring::new(plan, mirrors, kernel));
    }
    Ok(Chosen { name, kernel, mirrors, cost })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::kernel::Offer;
    use wgpu_pooling_plan::{AdaptiveMaxPool, DType, GlobalMaxPool, IndexType, Layout, MaxPool, Plan, Pooling};

    /// A pool, X, and the kernels without and with indices.
    type Row<'a> = (&'a dyn Pooling, &'a [usize], DType, [CpuKernel; 2]);

    fn chosen(plan: &Plan) -> CpuKernel {
        let plan = plan.pool().unwrap();
        choose(plan, &View::new(plan).unwrap(), None).unwrap().name
    }

    #[test]
    fn plans_get_the_kernels_that_were_measured_to_be_best() {
        use CpuKernel::{Columns, Direct, Flat, Global, Interleaved, Separable};
        use DType::{F16, F32, F64, U8};
        let square = |kernel: i64, stride: i64, pad: i64| {
            MaxPool::new([kernel; 2]).strides([stride; 2]).pads([pad; 4]).layout(Layout::Nchw)
        };
        let last = |kernel: i64, stride: i64| square(kernel, stride, 0).layout(Layout::Nhwc);
        let line = |kernel: i64, stride: i64| MaxPool::new([kernel]).strides([stride]);
        // None is a close call.
        let table: [Row<'_>; 24] = [
            (&square(2, 2, 0), &[2, 3, 57, 243], F32, [Direct, Direct]),
            (&square(3, 2, 1), &[32, 64, 112, 112], F32, [Direct, Direct]),
            (&square(3, 2, 1), &[32, 64, 112, 112], U8, [Flat, Direct]),
            (&square(3, 1, 1), &[2, 3, 57, 43], F32, [Flat, Direct]),
            (&square(3, 1, 1), &[2, 64, 14, 14], F16, [Flat, Interleaved]),
            (&square(3, 2, 1), &[2, 64, 14, 14], F32, [Flat, Interleaved]),
            (&square(3, 2, 1), &[2, 64, 14, 14], F64, [Flat, Direct]),
            (&square(2, 2, 0), &[20, 64, 4, 4], F32, [Interleaved, Interleaved]),
            (&square(8, 8, 0), &[2, 64, 8, 8], F32, [Global, Global]),
            (&square(13, 1, 6), &[2, 3, 57, 43], F32, [Flat, Separable]),
            (&last(13, 1), &[2, 64, 64, 64], F32, [Flat, Separable]),
            (&last(3, 1), &[2, 64, 64, 64], F32, [Direct, Direct]),
            (&line(5, 1), &[2, 3, 57], F32, [Direct, Direct]),
            (&line(64, 64), &[1, 8, 6400], U8, [Global, Global]),
            (&line(64, 1), &[1, 8, 6400], F32, [Separable, Separable]),
            (&MaxPool::new([3, 3, 3]).strides([2; 3]), &[4, 32, 16, 64, 64], F32, [Direct, Direct]),
            // Windows of whole rows that hardly overlap, and that overlap in most of their elements.
            (&MaxPool::new([30, 20]).strides([30, 1]), &[2, 16, 300, 20], F32, [Global, Global]),
            (&MaxPool::new([200, 300]), &[1, 8, 400, 300], F32, [Separable, Separable]),
            (&line(500, 10), &[1, 16, 20_000], U8, [Separable, Separable]),
            (&AdaptiveMaxPool::new([6, 5]), &[2, 3, 57, 43], F32, [Columns, Columns]),
            (&AdaptiveMaxPool::new([7, 7]), &[2, 64, 15, 15], F32, [Interleaved, Interleaved]),
            (&GlobalMaxPool::new(), &[64, 2048, 7, 7], U8, [Global, Global]),
            (&GlobalMaxPool::new(), &[2, 3, 512, 512], F64, [Global, Global]),
            (&GlobalMaxPool::new().layout(Layout::Nhwc), &[2, 57, 43, 16], F32, [Columns, Columns]),
        ];
        for (pool, shape, dtype, expected) in table {
            let actual = [None, Some(IndexType::I64)].map(|indices| chosen(&pool.plan(shape, dtype, indices).unwrap()));
            assert_eq!(actual, expected, "{shape:?} {dtype:?}");
        }
    }

    #[test]
    fn every_cost_is_a_time() {
        let far = 1 << 40;
        let pools: [(&dyn Fn(usize) -> MaxPool, usize); 4] = [
            (&|axes| MaxPool::new(vec![1; axes]), 0),
            (&|axes| MaxPool::new(vec![3; axes]).strides(vec![2; axes]).pads(vec![1; 2 * axes]), 1),
            (&|axes| MaxPool::new(vec![2; axes]).strides(vec![4096; axes]).dilations(vec![4096; axes]), 4096),
            (&|axes| MaxPool::new(vec![far; axes]).pads(vec![far - 1; 2 * axes]), 0),
        ];
        let mut count = 0;
        for (pool, least) in pools {
            for (axes, layout, indices) in (1..=3).flat_map(|axes| {
                [Layout::Nchw, Layout::Nhwc]
                    .map(|layout| [None, Some(IndexType::I32), Some(IndexType::I64)].map(|it| (axes, layout, it)))
                    .into_iter()
                    .flatten()
            }) {
                for (channels, extent) in [(1, 1), (3, 9), (64, 14), (1, 1 << 20), (1 << 40, 3), (1, 1 << 52)] {
                    let mut shape = vec![extent.max(least + 1); axes + 2];
                    shape[0] = 2;
                    shape[if layout == Layout::Nchw { 1 } else { axes + 1 }] = channels;
                    for dtype in [DType::U8, DType::F16, DType::F64] {
                        let Ok(plan) = pool(axes).layout(layout).plan(&shape, dtype, indices) else { continue };
                        let plan = plan.pool().unwrap();
                        let Ok(view) = View::new(plan) else { continue };
                        let pool = OfferedPool::new(plan, &view, KERNELS);
                        for ListedKernel { kernel, offer } in KERNELS {
                            if let Ok(Offer { cost, .. }) = offer(&pool) {
                                assert!(cost > 0.0 && cost.is_finite(), "{kernel:?}: {cost} for {shape:?} {dtype:?}");
                                count += 1;
                            }
                        }
                    }
                }
            }
        }
        assert!(count > 1000, "{count}");
    }

    #[test]
    fn a_kernel_that_does_not_apply_says_why() {
        let plan = MaxPool::new([2, 2]).plan(&[1, 1, 4, 4], DType::F32, None).unwrap();
        let plan = plan.pool().unwrap();
        let view = View::new(plan).unwrap();
        for (asked, name) in [(CpuKernel::Global, "global"), (CpuKernel::Scatter, "scatter")] {
            let refused = choose(plan, &view, Some(asked)).map(|chosen| chosen.name);
            assert!(matches!(refused, Err(PlanError::KernelDoesNotApply { kernel, .. }) if kernel == name));
        }
    }
}
