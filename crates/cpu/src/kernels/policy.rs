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
    use wgpu_pooling_plan::{AdaptiveMaxPool, GlobalMaxPool, MaxPool, Pooling};
    use wgpu_pooling_plan::{DType, IndexType};
    use wgpu_pooling_plan::{Layout, NanPolicy};

    #[test]
    fn plans_get_the_kernels_that_were_measured_to_be_best() {
        use CpuKernel::{Columns, Direct, Flat, Global, Interleaved, Separable};
        let square = |kernel: i64, stride: i64, pad: i64| {
            MaxPool::new([kernel; 2]).strides([stride; 2]).pads([pad; 4]).layout(Layout::Nchw)
        };
        let (image, wide, channels_last) = ([2, 3, 57, 43], [2, 3, 57, 243], [2, 57, 43, 16]);
        let table: [(&dyn Pooling, &[usize], DType, CpuKernel); 8] = [
            (&square(2, 2, 0), &wide, DType::F32, Direct),
            (&square(3, 2, 1), &wide, DType::F16, Direct),
            (&square(3, 2, 1).layout(Layout::Nhwc), &channels_last, DType::F32, Direct),
            (&square(13, 1, 6), &image, DType::F32, Separable),
            (&MaxPool::new([5]), &[2, 3, 57], DType::F32, Direct),
            (&AdaptiveMaxPool::new([6, 5]), &image, DType::F32, Columns),
            (&GlobalMaxPool::new(), &image, DType::F32, Global),
            (&GlobalMaxPool::new().layout(Layout::Nhwc), &channels_last, DType::F32, Columns),
        ];
        let chosen = |pool: &dyn Pooling, shape: &[usize], dtype, indices| {
            let plan = pool.plan(shape, dtype, indices).unwrap();
            let plan = plan.pool().unwrap();
            choose(plan, &View::new(plan).unwrap(), None).unwrap().0
        };
        let both = |pool: &dyn Pooling, shape: &[usize], dtype, expected: [CpuKernel; 2]| {
            let actual = [None, Some(IndexType::I64)].map(|indices| chosen(pool, shape, dtype, indices));
            assert_eq!(actual, expected, "{shape:?} {dtype:?}");
        };
        for (pool, shape, dtype, expected) in table {
            both(pool, shape, dtype, [expected; 2]);
        }
        // Without indices, rows of X are reduced as one row unless too many of the windows are not outputs.
        let table = [
            (square(2, 2, 0), DType::F32, [Direct, Direct]),
            (square(2, 2, 1), DType::F32, [Direct, Direct]),
            (square(3, 2, 1), DType::F32, [Direct, Direct]),
            (square(2, 2, 0), DType::F16, [Direct, Direct]),
            (square(3, 2, 1), DType::F16, [Direct, Direct]),
            (square(3, 2, 1), DType::F64, [Direct, Direct]),
            (square(3, 3, 0), DType::F32, [Flat, Separable]),
            (square(5, 5, 0), DType::F32, [Columns, Columns]),
            (square(1, 2, 0), DType::F32, [Direct, Direct]),
            (square(3, 1, 1), DType::F32, [Flat, Direct]),
            (square(3, 1, 1), DType::F16, [Flat, Separable]),
            (square(3, 1, 1), DType::F64, [Direct, Direct]),
            (square(5, 1, 2), DType::F32, [Flat, Separable]),
            (square(5, 1, 2), DType::U8, [Flat, Separable]),
            (square(7, 1, 3), DType::U8, [Separable, Separable]),
            (square(3, 1, 2).dilations([2, 2]), DType::F32, [Flat, Direct]),
        ];
        for (pool, dtype, expected) in table {
            both(&pool, &image, dtype, expected);
        }
        // Short rows, with too few planes to interleave.
        let table = [
            (square(3, 1, 1), 14, DType::F32, [Flat, Separable]),
            (square(2, 1, 1), 14, DType::F32, [Flat, Direct]),
            (square(3, 2, 1), 14, DType::F32, [Flat, Direct]),
            (square(3, 2, 1), 14, DType::U8, [Flat, Separable]),
            (square(2, 2, 0), 14, DType::F32, [Direct, Direct]),
            (square(2, 2, 0), 14, DType::U8, [Flat, Separable]),
            (square(2, 2, 0), 8, DType::F32, [Flat, Direct]),
            (square(3, 2, 1), 40, DType::F32, [Direct, Direct]),
            (square(3, 2, 0), 5, DType::F32, [Direct, Direct]),
        ];
        for (pool, extent, dtype, expected) in table {
            both(&pool, &[2, 2, extent, extent], dtype, expected);
        }
        // Short rows of many planes.
        let table = [
            (square(3, 1, 1), 14, DType::F32, [Interleaved, Separable]),
            (square(3, 1, 1), 20, DType::F32, [Flat, Direct]),
            (square(2, 2, 0), 14, DType::F32, [Direct, Direct]),
            (square(2, 2, 0), 12, DType::F32, [Interleaved, Interleaved]),
            (square(3, 2, 1), 14, DType::F32, [Flat, Interleaved]),
            (square(2, 2, 0), 28, DType::U8, [Flat, Interleaved]),
            (square(4, 4, 0), 28, DType::F16, [Interleaved, Interleaved]),
            (square(8, 8, 0), 8, DType::F32, [Global, Global]),
            // Planes with fewer elements than are reduced at once.
            (square(3, 3, 0), 3, DType::F32, [Global, Global]),
            (square(3, 3, 0), 3, DType::U8, [Interleaved, Interleaved]),
            (square(2, 2, 0), 2, DType::F32, [Interleaved, Interleaved]),
            (square(2, 2, 0), 2, DType::F64, [Global, Global]),
            (square(3, 6, 1), 13, DType::F16, [Interleaved, Interleaved]),
            (square(3, 1, 1).layout(Layout::Nhwc), 14, DType::F32, [Flat, Direct]),
        ];
        for (pool, extent, dtype, expected) in table {
            both(&pool, &[2, 64, extent, extent], dtype, expected);
        }
        // Uneven windows: the smaller the plane and the more outputs it has, the more interleaving gains.
        for (outputs, [rows, columns], expected) in [
            (7, [14, 15], [Interleaved, Interleaved]),
            (10, [14, 15], [Interleaved, Interleaved]),
            (6, [35, 17], [Columns, Interleaved]),
            (7, [29, 31], [Columns, Columns]),
            (6, [57, 43], [Columns, Columns]),
        ] {
            both(&AdaptiveMaxPool::new([outputs; 2]), &[2, 64, rows, columns], DType::F32, expected);
        }
        // Each row is a plane of its own.
        both(&MaxPool::new([1, 20]).strides([1, 20]), &[1, 1, 1024, 20], DType::F32, [Global, Global]);
        // A clipped window, a gap, or a few shared elements change little, and so do long rows.
        let strided = |kernel: &[i64], strides: &[i64]| MaxPool::new(kernel).strides(strides).ceil_mode(1);
        let table: [(_, &[usize], [CpuKernel; 2]); 11] = [
            (strided(&[64], &[64]), &[1, 8, 6400], [Global, Global]),
            (strided(&[64], &[64]), &[1, 8, 6399], [Global, Global]),
            (strided(&[64], &[65]), &[1, 8, 6400], [Global, Global]),
            (strided(&[64], &[16]), &[1, 8, 6400], [Global, Global]),
            (strided(&[64], &[1]), &[1, 8, 6400], [Separable, Separable]),
            (strided(&[2, 40], &[2, 1]), &[1, 8, 41, 40], [Global, Global]),
            (strided(&[100, 1], &[100, 1]), &[1, 2, 250, 300], [Columns, Columns]),
            (strided(&[100, 2], &[100, 2]), &[1, 2, 250, 300], [Columns, Columns]),
            (strided(&[100, 20], &[10, 10]), &[1, 2, 250, 300], [Separable, Columns]),
            (strided(&[16, 16], &[16, 16]), &[1, 2, 40, 70_000], [Columns, Columns]),
            (strided(&[64, 1], &[1, 1]), &[1, 2, 250, 300], [Separable, Separable]),
        ];
        for (pool, shape, expected) in table {
            both(&pool, shape, DType::F32, expected);
        }
        // Few channels that lie innermost.
        both(&strided(&[16, 16], &[16, 16]).layout(Layout::Nhwc), &[1, 250, 300, 3], DType::U8, [Columns, Columns]);
        both(&strided(&[16, 16], &[1, 1]).layout(Layout::Nhwc), &[1, 250, 300, 3], DType::U8, [Separable, Separable]);
        // Channels that lie innermost: whether maxima are shared depends on the element type and on indices.
        let last = |kernel: i64, stride: i64| square(kernel, stride, 0).layout(Layout::Nhwc);
        let table: [(_, usize, DType, [CpuKernel; 2]); 11] = [
            (last(3, 1), 64, DType::F32, [Flat, Direct]),
            (last(3, 1), 64, DType::U8, [Flat, Direct]),
            (last(3, 1), 3, DType::U8, [Flat, Separable]),
            (last(3, 1), 64, DType::F16, [Flat, Direct]),
            (last(3, 1), 3, DType::F32, [Flat, Direct]),
            (last(2, 2), 3, DType::U8, [Direct, Separable]),
            (last(5, 2), 64, DType::F32, [Direct, Direct]),
            (last(7, 4), 64, DType::F32, [Columns, Columns]),
            (last(9, 3), 64, DType::F32, [Separable, Columns]),
            (last(7, 4), 64, DType::U8, [Separable, Columns]),
            (last(13, 1), 64, DType::F32, [Separable, Separable]),
        ];
        for (pool, channels, dtype, expected) in table {
            both(&pool, &[2, 64, 64, channels], dtype, expected);
        }
        // Windows that begin with a seed are computed by the same kernels.
        let seeded = square(3, 2, 1).nan_policy(NanPolicy::SeedLowest);
        both(&seeded, &wide, DType::F32, [Direct, Direct]);
        both(&seeded, &[2, 2, 14, 14], DType::F32, [Flat, Direct]);
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
