//! Which kernel computes a plan: a pure function, and it never changes a bit.

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

/// A kernel of the CPU backend. Which one computes a plan changes how long it takes and no bit of the result.
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
    /// Every plan: outputs, or indices, one after the other.
    General,
    /// Pools with small windows: a row of outputs takes the taps of one row of X after the other.
    Direct,
    /// Pools with small windows and small strides along the rows, without indices and of two axes or more: rows of X
    /// that follow each other in memory are reduced as one.
    Flat,
    /// Pools of small planes or short rows: the elements of several planes are interleaved, and pooled as those of
    /// channels are.
    Interleaved,
    /// Pools: the maxima of columns over the rows of a window, then along the columns.
    Columns,
    /// Pools whose windows are runs of neighbouring elements, as those of whole planes and along rows are: the maximum
    /// of each run, then a search for it.
    Global,
    /// Pools: a block of X in cache is reduced along one axis after the other.
    Separable,
    /// Unpools: a plane of Y is filled with zeros, then the elements of X are written to it.
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
    /// How planes are interleaved, and the kernel that pools them then.
    Interleaved(Box<(Interleaved, PoolKernel)>),
    Separable(Box<Separable>),
}

impl PoolKernel {
    /// The kernel that was asked for, or the best one.
    pub fn choose(plan: &PoolPlan, view: &View, asked: Option<CpuKernel>) -> Result<PoolKernel, PlanError> {
        let refused = |kernel: CpuKernel, reason| PlanError::KernelDoesNotApply { kernel: kernel.name(), reason };
        // Lanes are compared for the greatest one.
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

    /// The bytes whose moving takes about as long as the work.
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

/// Whether interleaving planes was measured to take less time than another kernel that computes the plan.
///
/// The other kernel reads X where it lies: the fewer outputs there are in a row, the less of its vectors it uses, and
/// the more of its time goes to windows at the borders of rows. The time that interleaving takes does not depend on the
/// windows.
fn interleaved_is_best(plan: &PoolPlan, view: &View, other: CpuKernel) -> bool {
    let (folded, axes) = interleaved::folded(plan, view);
    let Some(last) = axes.last() else { return false };
    let planes = folded.iter().fold(view.outer, |planes, axis| planes.saturating_mul(axis.output));
    if !interleaved::fill_lanes(plan, planes) {
        return false;
    }
    let apart = last.output > 1 && matches!(last.window, AxisWindow::Strided { stride: 2.., .. });
    let (single, indices) = (axes.len() == 1, plan.indices.is_some());
    let (taps, shared) = (view.most_taps(), view.windows_of_element());
    // Outputs at the borders of rows, where windows have fewer taps, are computed apart from the others.
    let width = last.window.most_taps(last.input, last.output);
    let borders =
        last.output > 0 && [0, last.output - 1].iter().any(|&output| (last.taps(output).count as u64) < width);
    const ANY: usize = usize::MAX;
    // The most outputs of a row, for elements of 1, 2, 4 and 8 bytes.
    let most_outputs = match (other, apart, taps) {
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

/// Whether the kernel for columns takes longer than interleaving planes. Columns take time for each output by itself,
/// interleaved planes for each element, and for those of a large plane more than for those of a small one.
fn columns_are_slow(plan: &PoolPlan, axes: &[ViewAxis]) -> bool {
    // The most elements of a plane over the square root of its outputs, for elements of 1, 2, 4 and 8 bytes.
    let most: [u64; 4] = if plan.indices.is_some() { [200, 85, 45, 20] } else { [180, 30, 25, 10] };
    let most = most[plan.dtype().bytes().ilog2() as usize];
    let short = axes.last().is_some_and(|last| last.input <= SHORT_ROW);
    let most = if short { most * 5 / 2 } else { most };
    let elements = axes.iter().fold(1, |elements: u64, axis| elements.saturating_mul(axis.input as u64));
    let outputs = axes.iter().fold(1, |outputs: u64, axis| outputs.saturating_mul(axis.output as u64));
    elements.saturating_mul(elements) <= outputs.saturating_mul(most * most)
}

/// Whether windows are large and it does not pay to share their maxima.
///
/// Columns reduce a row of X again for each row of outputs whose windows have it, and then look through the columns of
/// each output, so their time is about that of elements of X times the rows of outputs that share one, and that of so
/// many elements for each output. That of reducing along one axis after the other hardly depends on how large windows
/// are and how many of them share elements.
fn columns_are_best(plan: &PoolPlan, view: &View) -> bool {
    if view.most_taps() < MANY {
        return false;
    }
    let indices = plan.indices.is_some();
    let positions = |axis: &ViewAxis| axis.output as f64 / axis.input.max(1) as f64;
    let shared = |axes: &[ViewAxis]| -> f64 {
        axes.iter().map(|axis| axis.window.most_taps(axis.input, axis.output) as f64 * positions(axis)).product()
    };
    match view.axes.split_last() {
        Some((_, outer)) if view.inner < CHANNELS => {
            let (of_output, most) = if indices { (128.0, 16.0) } else { (32.0, 6.0) };
            shared(outer) + of_output * view.axes.iter().map(positions).product::<f64>() <= most
        }
        // Columns take channels as they lie, and sharing costs more, the wider elements are and if there are indices.
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

/// Taps of a window for which columns are worth their while.
const MANY: u64 = 16;
/// Rows of at most this many elements are short: columns then spend much of their time on what each row takes whatever
/// its length.
const SHORT_ROW: usize = 20;
/// Windows to which an element belongs that are many.
const SHARED: u64 = 4;
/// Channels that columns take together.
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
            PoolKernel::choose(&plan, &View::of(&plan).unwrap(), None).unwrap().name()
        };
        let both = |pool: &dyn Pooling, shape: &[usize], dtype, expected: [CpuKernel; 2]| {
            let actual = [None, Some(IndexType::I64)].map(|indices| chosen(pool, shape, dtype, indices));
            assert_eq!(actual, expected, "{shape:?} {dtype:?}");
        };
        for (pool, shape, dtype, expected) in table {
            both(pool, shape, dtype, [expected; 2]);
        }
        // Without indices, rows of X are reduced as one, if not too many windows are computed in vain.
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
        // Short rows of planes that are too few to be interleaved.
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
            // Planes of fewer elements than are reduced side by side.
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
        // Uneven windows: the smaller the plane and the more outputs it has, the more is gained by interleaving.
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
        // A window that is cut, a gap and a few common elements change little, and neither do rows that are long.
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
        // Few channels side by side.
        both(&strided(&[16, 16], &[16, 16]).layout(Layout::Nhwc), &[1, 250, 300, 3], DType::U8, [Columns, Columns]);
        both(&strided(&[16, 16], &[1, 1]).layout(Layout::Nhwc), &[1, 250, 300, 3], DType::U8, [Separable, Separable]);
        // Channels side by side: whether maxima are shared depends on elements and indices.
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
        let view = View::of(&plan).unwrap();
        for (asked, name) in [(CpuKernel::Global, "global"), (CpuKernel::Scatter, "scatter")] {
            let refused = PoolKernel::choose(&plan, &view, Some(asked)).map(|kernel| kernel.name());
            assert!(matches!(refused, Err(PlanError::KernelDoesNotApply { kernel, .. }) if kernel == name));
        }
    }
}
