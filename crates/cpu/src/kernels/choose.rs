//! Chooses the kernel that computes a plan. The choice is a pure function of the plan and never changes a bit of the
//! result.

use wgpu_pooling_plan::internal::Reduction;
use wgpu_pooling_plan::{AxisWindow, PlanError, PoolPlan};

use super::columns;
use super::direct::Direct;
use super::flat::Flat;
use super::global;
use super::interleaved::{self, Interleaved};
use super::lane::DTYPES;
use super::runs::Runs;
use super::separable::pool::Separable;
use super::view::{View, ViewAxis};

/// A kernel of the CPU backend. The choice of a kernel changes the running time and no bit of the result.
///
/// ```
/// use wgpu_pooling::{Cpu, CpuKernel, DType, MaxPool};
///
/// // A plan has a best kernel, and the general one computes every plan.
/// let plan = MaxPool::new([13, 13]).pads([6, 6, 6, 6]).plan(&[1, 8, 40, 40], DType::F32, None)?;
/// assert_eq!(Cpu::new().prepare(plan.clone())?.kernel(), CpuKernel::Separable);
/// assert_eq!(Cpu::new().with_kernel(CpuKernel::General).prepare(plan)?.kernel(), CpuKernel::General);
/// # Ok::<(), wgpu_pooling::ExecuteError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CpuKernel {
    /// For every plan: computes one output, or one index, after the other.
    General,
    /// For pools with small windows: a row of outputs takes the taps of one row of X after the other.
    Direct,
    /// For pools without indices, with two axes or more and small windows and strides along the rows: rows of X that
    /// follow each other in memory are reduced as one row.
    Flat,
    /// For pools of small planes or short rows: interleaves the elements of several planes and pools them like channels
    /// that lie innermost.
    Interleaved,
    /// For pools: computes the maxima of columns over the rows of a window, then the maxima along the columns.
    Columns,
    /// For pools whose windows are runs of neighbouring elements, such as whole planes or windows along rows: computes
    /// the maximum of each run, then searches for it.
    Global,
    /// For pools: reduces a block of X in cache along one axis after the other.
    Separable,
    /// For unpools: fills a plane of Y with zeros, then writes the elements of X to it.
    Scatter,
}

impl CpuKernel {
    /// Every kernel.
    ///
    /// ```
    /// use wgpu_pooling::CpuKernel;
    /// assert!(CpuKernel::ALL.contains(&CpuKernel::General));
    /// ```
    pub const ALL: &'static [CpuKernel] = &[
        CpuKernel::General,
        CpuKernel::Direct,
        CpuKernel::Flat,
        CpuKernel::Interleaved,
        CpuKernel::Columns,
        CpuKernel::Global,
        CpuKernel::Separable,
        CpuKernel::Scatter,
    ];

    /// The kernel's name.
    pub const fn name(self) -> &'static str {
        match self {
            CpuKernel::General => "general",
            CpuKernel::Direct => "direct",
            CpuKernel::Flat => "flat",
            CpuKernel::Interleaved => "interleaved",
            CpuKernel::Columns => "columns",
            CpuKernel::Global => "global",
            CpuKernel::Separable => "separable",
            CpuKernel::Scatter => "scatter",
        }
    }
}

/// How a pool is computed.
#[derive(Debug)]
pub(crate) enum PoolKernel {
    General,
    Columns,
    Global(Box<Runs>),
    Direct(Box<Direct>),
    Flat(Box<Flat>),
    /// How planes are interleaved, and the kernel that pools the interleaved planes.
    Interleaved(Box<(Interleaved, PoolKernel)>),
    Separable(Box<Separable>),
}

impl PoolKernel {
    /// The kernel that the caller asked for, or the best one.
    pub fn choose(plan: &PoolPlan, view: &View, asked: Option<CpuKernel>) -> Result<PoolKernel, PlanError> {
        let refused = |kernel: CpuKernel, reason| PlanError::KernelDoesNotApply { kernel: kernel.name(), reason };
        // Lanes only support the reduction to the greatest element.
        let lanes = || match plan.reduction {
            Reduction::Max if DTYPES.contains(&plan.dtype()) => Ok(()),
            _ => Err("there are no lanes for its elements or its reduction"),
        };
        let separable = || {
            lanes()
                .and_then(|()| Separable::new(plan, view))
                .map(|separable| PoolKernel::Separable(Box::new(separable)))
        };
        let runs = || lanes().and_then(|()| Runs::new(plan, view)).map(Box::new);
        let columns = || lanes().and_then(|()| columns::applies(plan, view)).map(|()| PoolKernel::Columns);
        let flat = || lanes().and_then(|()| Flat::new(plan, view)).map(Box::new);
        let interleaved = || {
            lanes().and_then(|()| Interleaved::new(plan, view)).and_then(|interleaved| {
                let kernel = PoolKernel::choose(plan, &interleaved.view, None).map_err(|_| "no kernel computes it")?;
                Ok(PoolKernel::Interleaved(Box::new((interleaved, kernel))))
            })
        };
        let direct = || lanes().and_then(|()| Direct::new(plan, view)).map(Box::new);
        match asked {
            Some(CpuKernel::General) => Ok(PoolKernel::General),
            Some(kernel @ CpuKernel::Direct) => {
                direct().map(PoolKernel::Direct).map_err(|reason| refused(kernel, reason))
            }
            Some(kernel @ CpuKernel::Flat) => flat().map(PoolKernel::Flat).map_err(|reason| refused(kernel, reason)),
            Some(kernel @ CpuKernel::Interleaved) => interleaved().map_err(|reason| refused(kernel, reason)),
            Some(kernel @ CpuKernel::Global) => {
                runs().map(PoolKernel::Global).map_err(|reason| refused(kernel, reason))
            }
            Some(kernel @ CpuKernel::Columns) => columns().map_err(|reason| refused(kernel, reason)),
            Some(kernel @ CpuKernel::Separable) => separable().map_err(|reason| refused(kernel, reason)),
            Some(kernel @ CpuKernel::Scatter) => Err(refused(kernel, "it is for unpools")),
            None => {
                if let Ok(runs) = runs()
                    && global::is_best(plan, view, &runs)
                {
                    let few = runs.longest < global::fewest(plan.dtype()) && interleaved::fill_lanes(plan, view.outer);
                    let interleaved = few.then(interleaved).and_then(Result::ok);
                    return Ok(interleaved.unwrap_or(PoolKernel::Global(runs)));
                }
                let best = match (flat(), direct().ok().filter(|direct| direct.is_best(plan, view))) {
                    (Ok(flat), direct) if flat.is_best(plan, direct.is_some()) => PoolKernel::Flat(flat),
                    (_, Some(direct)) => PoolKernel::Direct(direct),
                    _ if columns_are_best(plan, view) => {
                        columns().or_else(|_| separable()).unwrap_or(PoolKernel::General)
                    }
                    _ => separable().or_else(|_| columns()).unwrap_or(PoolKernel::General),
                };
                let interleaved = interleaved_is_best(plan, view, best.name()).then(interleaved);
                Ok(interleaved.and_then(Result::ok).unwrap_or(best))
            }
        }
    }

    pub fn name(&self) -> CpuKernel {
        match self {
            PoolKernel::General => CpuKernel::General,
            PoolKernel::Columns => CpuKernel::Columns,
            PoolKernel::Global(_) => CpuKernel::Global,
            PoolKernel::Direct(_) => CpuKernel::Direct,
            PoolKernel::Flat(_) => CpuKernel::Flat,
            PoolKernel::Interleaved(_) => CpuKernel::Interleaved,
            PoolKernel::Separable(_) => CpuKernel::Separable,
        }
    }

    /// The number of bytes that take about as long to move as the plan takes to compute.
    pub fn cost(&self, plan: &PoolPlan, view: &View) -> u64 {
        match self {
            PoolKernel::General => {
                let taps = view.most_taps().saturating_add(8).saturating_mul(16);
                plan.outputs[0].element_count().saturating_mul(taps)
            }
            _ => plan.bytes(),
        }
    }
}

/// Whether interleaving planes was measured to take less time than another kernel that applies.
///
/// The other kernel reads X in place: the fewer outputs a row has, the less of each vector it uses, and the larger the
/// share of its time for windows at the borders of rows. The time to interleave does not depend on the windows.
fn interleaved_is_best(plan: &PoolPlan, view: &View, other: CpuKernel) -> bool {
    let (folded, axes) = interleaved::folded(plan, view);
    let Some(last) = axes.last() else { return false };
    let planes = folded.iter().fold(view.outer, |planes, axis| planes.saturating_mul(axis.output));
    if !interleaved::fill_lanes(plan, planes) {
        return false;
    }
    let strided = last.output > 1 && matches!(last.window, AxisWindow::Strided { stride: 2.., .. });
    let (single, indices) = (axes.len() == 1, plan.indices.is_some());
    let (taps, shared) = (view.most_taps(), view.windows_of_element());
    // Outputs at the borders of rows, whose windows have fewer taps, are computed separately from the others.
    let width = last.window.most_taps(last.input);
    let borders =
        last.output > 0 && [0, last.output - 1].iter().any(|&output| (last.taps(output).count as u64) < width);
    const ANY: usize = usize::MAX;
    // The largest number of outputs in a row for which interleaving is faster, for elements of 1, 2, 4 and 8 bytes.
    let most_outputs = match (other, strided, taps) {
        (CpuKernel::Separable | CpuKernel::Columns, _, 1) => [4, 4, 4, 4],
        (CpuKernel::Separable, ..) if single => [12, 20, 32, 24],
        (CpuKernel::Separable, ..) if shared >= SHARED && indices => [40, 12, 12, 8],
        (CpuKernel::Separable, ..) if shared >= SHARED => [40, 15, 15, 8],
        (CpuKernel::Columns, ..) if !columns_are_slow(plan, axes) => [0, 0, 0, 0],
        (CpuKernel::Separable | CpuKernel::Columns, ..) => [ANY, ANY, ANY, 16],
        (CpuKernel::Direct, _, 2..) if single && indices => [16, 15, 0, 0],
        (CpuKernel::Direct, ..) if single => [0, 0, 0, 0],
        (CpuKernel::Direct, false, 1) => [2, 2, 2, 2],
        (CpuKernel::Direct, false, 2..=3) if !indices => [1, 8, 12, 5],
        (CpuKernel::Direct, false, 2..=3) => [16, 8, 7, 5],
        (CpuKernel::Direct, false, _) => [16, 12, 12, 10],
        (CpuKernel::Direct, true, 1) => [12, 8, 6, 2],
        (CpuKernel::Direct, true, 2..=3) if !indices => [5, 7, 10, 2],
        (CpuKernel::Direct, true, 2..=3) => [20, 16, 4, 3],
        (CpuKernel::Direct, true, 4) if !borders => [20, 8, 6, 3],
        (CpuKernel::Direct, true, 5..=9) if !borders => [20, 16, 6, 3],
        (CpuKernel::Direct, true, 4..=9) => [20, 20, 8, 5],
        (CpuKernel::Direct, true, _) => [12, 8, 10, 4],
        (CpuKernel::Flat, false, 1..=3) => [0, 4, 14, 0],
        (CpuKernel::Flat, false, 4..=9) => [4, 14, 16, 0],
        (CpuKernel::Flat, false, _) => [20, 28, 20, 16],
        (CpuKernel::Flat, true, 1..=3) => [0, 12, 8, 6],
        (CpuKernel::Flat, true, 4..=9) => [3, 24, 6, 3],
        (CpuKernel::Flat, true, _) => [4, 16, 6, 0],
        _ => [0, 0, 0, 0],
    };
    let of_bytes = plan.dtype().bytes().ilog2() as usize;
    last.output <= most_outputs[of_bytes]
}

/// Whether the columns kernel takes longer than interleaving planes. The time of the columns kernel grows with the
/// number of outputs. The time of interleaving grows with the number of elements, and an element takes longer in a
/// large plane.
fn columns_are_slow(plan: &PoolPlan, axes: &[ViewAxis]) -> bool {
    // The largest ratio of a plane's elements to the square root of its outputs, for elements of 1, 2, 4 and 8 bytes.
    let most: [u64; 4] = if plan.indices.is_some() { [200, 85, 45, 20] } else { [180, 30, 25, 10] };
    let most = most[plan.dtype().bytes().ilog2() as usize];
    let short = axes.last().is_some_and(|last| last.input <= SHORT_ROW);
    let most = if short { most * 5 / 2 } else { most };
    let elements = axes.iter().fold(1, |elements: u64, axis| elements.saturating_mul(axis.input as u64));
    let outputs = axes.iter().fold(1, |outputs: u64, axis| outputs.saturating_mul(axis.output as u64));
    elements.saturating_mul(elements) <= outputs.saturating_mul(most * most)
}

/// Whether windows are large and share so few elements that the columns kernel is faster than the separable one.
///
/// The columns kernel reduces a row of X once for each row of outputs whose windows contain it, and then searches the
/// columns of each output. So its time is proportional to the elements of X times the rows of outputs that share them,
/// plus a constant for each output. The time of the separable kernel hardly depends on the size of windows or on how
/// many of them share elements.
fn columns_are_best(plan: &PoolPlan, view: &View) -> bool {
    if view.most_taps() < MANY {
        return false;
    }
    let indices = plan.indices.is_some();
    let positions = |axis: &ViewAxis| axis.output as f64 / axis.input.max(1) as f64;
    let shared = |axes: &[ViewAxis]| -> f64 {
        axes.iter().map(|axis| axis.window.most_taps(axis.input) as f64 * positions(axis)).product()
    };
    match view.axes.split_last() {
        Some((_, outer)) if view.inner < CHANNELS => {
            let (of_output, most) = if indices { (128.0, 16.0) } else { (32.0, 6.0) };
            shared(outer) + of_output * view.axes.iter().map(positions).product::<f64>() <= most
        }
        // The columns kernel reads channels in place. Sharing costs more for wider elements and with indices.
        _ => {
            let most = match (plan.dtype().bytes(), indices) {
                (1, false) => 1,
                (2, false) => 2,
                (1 | 2, true) => 8,
                (_, false) => 6,
                (_, true) => 32,
            };
            view.windows_of_element() <= most
        }
    }
}

/// The fewest taps of a window for which the columns kernel pays off.
const MANY: u64 = 16;
/// The most elements of a short row. In short rows the columns kernel spends much of its time on the fixed cost of a
/// row.
const SHORT_ROW: usize = 20;
/// Sharing maxima pays off if an element is in at least this many windows.
const SHARED: u64 = 4;
/// The fewest channels that the columns kernel processes together.
const CHANNELS: usize = 16;

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
            PoolKernel::choose(plan, &View::new(plan).unwrap(), None).unwrap().name()
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
            let refused = PoolKernel::choose(plan, &view, Some(asked)).map(|kernel| kernel.name());
            assert!(matches!(refused, Err(PlanError::KernelDoesNotApply { kernel, .. }) if kernel == name));
        }
    }
}
