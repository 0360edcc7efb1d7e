//! Policy: which kernel computes a pool. Each kernel says about how long it would take, from the plan alone, and the
//! fastest is chosen. No choice changes a bit of the result.

use wgpu_pooling_plan::internal::Reduction;
use wgpu_pooling_plan::{PlanError, PoolPlan};

use super::cpu_kernel::CpuKernel;
use super::kernel::{Kernel, Pool, PoolKernel};
use super::view::View;
use super::{columns, direct, flat, general, global, interleaved, separable};

/// The kernels for pools.
const KERNELS: &[Kernel] = &[
    Kernel { kernel: CpuKernel::Direct, offer: direct::offer },
    Kernel { kernel: CpuKernel::Flat, offer: flat::offer },
    Kernel { kernel: CpuKernel::Interleaved, offer: interleaved::offer },
    Kernel { kernel: CpuKernel::Columns, offer: columns::offer },
    Kernel { kernel: CpuKernel::Global, offer: global::offer },
    Kernel { kernel: CpuKernel::Separable, offer: separable::run::offer },
    GENERAL,
];

const GENERAL: Kernel = Kernel { kernel: CpuKernel::General, offer: general::offer };

/// The kernel that the caller asked for, or the fastest one, with the layout of its work.
pub(crate) fn choose(
    plan: &PoolPlan,
    view: &View,
    asked: Option<CpuKernel>,
) -> Result<(CpuKernel, Box<dyn PoolKernel>), PlanError> {
    // The lanes of the other kernels compute maxima alone.
    let is_max = plan.reduction == Reduction::Max;
    let pool = Pool::new(plan, view, if is_max { KERNELS } else { &[GENERAL] });
    let chosen = match asked {
        Some(kernel) => pool.offer_of(kernel).map(|offer| (kernel, offer)),
        None => pool.fastest().ok_or("no kernel computes it"),
    };
    let refused = |reason| {
        let kernel = asked.unwrap_or(CpuKernel::General).name();
        PlanError::KernelDoesNotApply { kernel, reason }
    };
    chosen.map(|(kernel, offer)| (kernel, (offer.layout)())).map_err(refused)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::kernel::Offer;
    use wgpu_pooling_plan::{AdaptiveMaxPool, DType, GlobalMaxPool, IndexType, Layout, MaxPool, Pooling};

    #[test]
    fn plans_get_the_kernels_that_were_measured_to_be_best() {
        use CpuKernel::{Columns, Direct, Flat, Global, Interleaved, Separable};
        let square = |kernel: i64, stride: i64, pad: i64| {
            MaxPool::new([kernel; 2]).strides([stride; 2]).pads([pad; 4]).layout(Layout::Nchw)
        };
        let last = |kernel: i64, stride: i64| square(kernel, stride, 0).layout(Layout::Nhwc);
        let line = |kernel: i64, stride: i64| MaxPool::new([kernel]).strides([stride]);
        // The kernels without and with indices, for elements of 32 bits. None is a close call.
        let table: [(&dyn Pooling, &[usize], [CpuKernel; 2]); 15] = [
            (&square(2, 2, 0), &[2, 3, 57, 243], [Direct, Direct]),
            (&square(3, 2, 1), &[32, 64, 112, 112], [Direct, Direct]),
            (&square(3, 1, 1), &[2, 3, 57, 43], [Flat, Direct]),
            (&square(3, 2, 1), &[2, 64, 14, 14], [Flat, Interleaved]),
            (&square(2, 2, 0), &[20, 64, 4, 4], [Interleaved, Interleaved]),
            (&square(8, 8, 0), &[2, 64, 8, 8], [Global, Global]),
            (&square(13, 1, 6), &[2, 3, 57, 43], [Separable, Separable]),
            (&last(13, 1), &[2, 64, 64, 64], [Separable, Separable]),
            (&line(5, 1), &[2, 3, 57], [Direct, Direct]),
            (&line(64, 64), &[1, 8, 6400], [Global, Global]),
            (&line(64, 1), &[1, 8, 6400], [Separable, Separable]),
            (&AdaptiveMaxPool::new([6, 5]), &[2, 3, 57, 43], [Columns, Columns]),
            (&AdaptiveMaxPool::new([7, 7]), &[2, 64, 15, 15], [Interleaved, Interleaved]),
            (&GlobalMaxPool::new(), &[64, 2048, 7, 7], [Global, Global]),
            (&GlobalMaxPool::new().layout(Layout::Nhwc), &[2, 57, 43, 16], [Columns, Columns]),
        ];
        for (pool, shape, expected) in table {
            let chosen = [None, Some(IndexType::I64)].map(|indices| {
                let plan = pool.plan(shape, DType::F32, indices).unwrap();
                let plan = plan.pool().unwrap();
                choose(plan, &View::new(plan).unwrap(), None).unwrap().0
            });
            assert_eq!(chosen, expected, "{shape:?}");
        }
    }

    #[test]
    fn every_cost_is_a_time() {
        for dtype in DType::ALL {
            for indices in [None, Some(IndexType::I32)] {
                for shape in [[1, 1, 1, 1], [2, 64, 9, 14], [1, 1, 5, 4000]] {
                    for (kernel, stride) in [(1, 1), (3, 2), (2, 5)] {
                        let pool = MaxPool::new([kernel; 2]).strides([stride; 2]).pads([kernel / 2; 4]);
                        let plan = pool.plan(&shape, dtype, indices).unwrap();
                        let plan = plan.pool().unwrap();
                        let view = View::new(plan).unwrap();
                        let pool = Pool::new(plan, &view, KERNELS);
                        for Kernel { kernel, offer } in KERNELS {
                            if let Ok(Offer { cost, .. }) = offer(&pool) {
                                assert!(cost > 0.0 && cost.is_finite(), "{kernel:?}: {cost} for {shape:?} {dtype:?}");
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn a_kernel_that_does_not_apply_says_why() {
        let plan = MaxPool::new([2, 2]).plan(&[1, 1, 4, 4], DType::F32, None).unwrap();
        let plan = plan.pool().unwrap();
        let view = View::new(plan).unwrap();
        for (asked, name) in [(CpuKernel::Global, "global"), (CpuKernel::Scatter, "scatter")] {
            let refused = choose(plan, &view, Some(asked)).map(|(kernel, _)| kernel);
            assert!(matches!(refused, Err(PlanError::KernelDoesNotApply { kernel, .. }) if kernel == name));
        }
    }
}
