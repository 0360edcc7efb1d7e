//! Pools and compositions cut into tiles. A tile is a box of outputs with the box of inputs that its windows reach, and
//! has its own plan.

mod boxes;
mod part;
mod region;
mod split_window;

use std::ops::Range;

use crate::attributes::Activation;
use crate::element::IndexType;
use crate::error::PlanError;
use crate::geometry::AxisWindow;
use crate::index::{IndexSpace, take_digit};
use crate::options::{EmptyIndex, IndexFlattening, Layout, NanPolicy};
use crate::plan::{IndexPlan, Plan, PoolAxis, PoolPlan};
use crate::tensor::count;

pub(crate) use boxes::Boxes;
use part::{part_of, pool_on};
pub use region::Region;
pub(crate) use split_window::SplitWindow;

/// A pool or a composition, cut into tiles that fit a budget of bytes and, on a device, the device's limits. A tiling
/// is a plain value: no tensor is allocated, so tensors of any size can be cut.
///
/// Axes are cut in memory order, the outermost first. For NCHW, tiles are whole batch items where those fit, otherwise
/// whole channels, otherwise slabs along the outermost spatial axis, otherwise boxes. If a single window of a pool
/// exceeds the budget, windows are cut into parts.
///
/// ```
/// use wgpu_pooling_plan::{Backend, DType, IndexType, MaxPool, Reference, Tiling};
///
/// // 2^44 elements, 64 TiB.
/// let shape = [1 << 10, 1 << 10, 1 << 12, 1 << 12];
/// let plan = MaxPool::new([2, 2]).strides([2, 2]).plan(&shape, DType::F32, Some(IndexType::I64))?;
/// let tiling = Tiling::new(&plan, 1 << 30, |tile| Reference.stream_bytes(tile))?;
/// let tile = tiling.tile(tiling.len() - 1).unwrap();
/// assert_eq!(tile.output().spatial[1].end, 1 << 11);
/// assert!(tiling.peak_bytes() <= 1 << 30);
/// # Ok::<(), wgpu_pooling::PlanError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Tiling {
    plan: Plan,
    /// Outputs of a tile along N, C and the spatial axes.
    steps: Vec<usize>,
    /// Taps per part along each spatial axis, where windows are cut.
    part_taps: Option<Vec<i64>>,
    peak_bytes: u64,
}

/// A box of outputs, the box of inputs that their windows reach, and the plan that computes these outputs from these
/// inputs.
#[derive(Debug, Clone, PartialEq)]
pub struct Tile {
    input: Region,
    output: Region,
    plan: Plan,
    /// Of a part of a window: whether it is the last one.
    last_part: Option<bool>,
}

impl Tile {
    /// The box of X that is read.
    pub fn input(&self) -> &Region {
        &self.input
    }

    /// The box of Y, and of Indices, that is written. All parts of one window have the same box.
    pub fn output(&self) -> &Region {
        &self.output
    }

    /// The plan on this box. Its indices are those of the whole tensor.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Whether this is a part of a window. The plan of a part computes the part's maximum without the activation. Its
    /// index is the row-major position in the plane, which decides between parts with equal maxima.
    pub fn is_part(&self) -> bool {
        self.last_part.is_some()
    }

    /// Whether a part of a window is the last one; `None` for other tiles.
    pub(crate) fn last_part(&self) -> Option<bool> {
        self.last_part
    }
}

impl Tiling {
    /// Cuts a plan into the largest tiles that fit `budget_bytes`. `stream_bytes` is
    /// [`Backend::stream_bytes`](crate::Backend::stream_bytes) of the backend that is to compute them.
    ///
    /// # Errors
    /// [`PlanError::ExceedsLimit`] if the budget is too small for the smallest tile, with the bytes that it needs; the
    /// error of `stream_bytes` for it; [`PlanError::Combination`] for a plan that has no tiles.
    pub fn new(
        plan: &Plan,
        budget_bytes: u64,
        stream_bytes: impl Fn(&Plan) -> Result<u64, PlanError>,
    ) -> Result<Tiling, PlanError> {
        if !matches!(plan, Plan::Pool(_) | Plan::Composition(_)) {
            return Err(PlanError::Combination { first: plan.kind(), second: "tiles" });
        }
        let mut tiling = Tiling { plan: plan.clone(), steps: Vec::new(), part_taps: None, peak_bytes: 0 };
        let full = tiling.full();
        tiling.steps.clone_from(&full);
        if full.contains(&0) {
            return Ok(tiling);
        }
        let fits = |tiling: &Tiling| {
            let needed = stream_bytes(&tiling.largest_plan())?;
            PlanError::within("bytes of tiles (budget_bytes)", needed, budget_bytes).map(|()| needed)
        };
        if let Ok(peak) = fits(&tiling) {
            tiling.peak_bytes = peak;
            return Ok(tiling);
        }
        // One axis after another, the outermost in memory first, is reduced to one output per tile, until the tiles
        // fit. The step of the axis that was reduced last is then made as large as fits.
        let reduced = |tiling: &mut Tiling, most: usize, set: &dyn Fn(&mut Tiling, usize)| -> Result<bool, PlanError> {
            set(tiling, 1);
            if fits(tiling).is_err() {
                return Ok(false);
            }
            let step = largest(most as u64, |step| {
                set(tiling, step as usize);
                fits(tiling).is_ok()
            });
            set(tiling, step as usize);
            tiling.peak_bytes = fits(tiling)?;
            Ok(true)
        };
        for &dimension in tiling.boxes().order() {
            if reduced(&mut tiling, full[dimension], &|tiling, step| tiling.steps[dimension] = step)? {
                return Ok(tiling);
            }
        }
        // A single window does not fit.
        let axes = plan.pool().map_or(&[][..], |plan| &plan.axes);
        let taps: Vec<i64> = axes.iter().map(|axis| axis.most_taps().max(1) as i64).collect();
        for (axis, &most) in taps.iter().enumerate() {
            let set = |tiling: &mut Tiling, step| {
                tiling.part_taps.get_or_insert_with(|| taps.clone())[axis] = step as i64;
            };
            if reduced(&mut tiling, most as usize, &set)? {
                return Ok(tiling);
            }
        }
        fits(&tiling).map(|_| tiling)
    }

    /// The most bytes that a run of these tiles takes, on the host and on the device together.
    pub fn peak_bytes(&self) -> u64 {
        self.peak_bytes
    }

    /// Whether a single window exceeds the budget, so that tiles are parts of windows.
    pub(crate) fn cuts_windows(&self) -> bool {
        self.part_taps.is_some()
    }

    /// How often a run of these tiles reads X, at most: tiles share what windows on both sides of a cut reach.
    pub(crate) fn reads(&self) -> f64 {
        let [of_a_tile, whole] = [&self.largest_plan(), &self.plan].map(|plan| count(plan.input_shape()));
        self.len() as f64 * of_a_tile as f64 / whole.max(1) as f64
    }

    /// The number of tile numbers. Where windows are cut, some numbers have no tile, because a window can have fewer
    /// parts than the longest window.
    pub fn len(&self) -> u64 {
        let parts = self.parts().into_iter().map(|parts| parts as u64);
        parts.fold(self.boxes().len(), u64::saturating_mul)
    }

    /// Whether there is nothing to compute.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The tile with this number, in the order in which Y is written. `None` for a number beyond the last tile, and for
    /// a part that its window does not have.
    pub fn tile(&self, number: u64) -> Option<Tile> {
        if number >= self.len() {
            return None;
        }
        // The parts of one window follow each other.
        let mut rest = number;
        let parts = self.parts();
        let mut part = vec![0; parts.len()];
        for (digit, &radix) in part.iter_mut().zip(&parts).rev() {
            *digit = take_digit(&mut rest, radix as u64) as usize;
        }
        let output = self.boxes().region(rest);
        match (&self.plan, &self.part_taps) {
            (Plan::Pool(plan), Some(part_taps)) => part_tile(plan, output, &part, part_taps),
            _ => {
                let (input, plan) =
                    part_of(&self.plan, &output, &|axis, outputs| axis.window.part(outputs, axis.input));
                Some(Tile { input, output, plan, last_part: None })
            }
        }
    }

    /// N, C and the spatial extents of Y.
    fn full(&self) -> Vec<usize> {
        let y = &self.plan.outputs()[0];
        let mut extents = y.shape.clone();
        if y.layout == Layout::Nhwc
            && let Some(channels) = extents.pop()
        {
            extents.insert(1, channels);
        }
        extents
    }

    /// The boxes of outputs that tiles compute.
    fn boxes(&self) -> Boxes {
        Boxes::of(self.full(), self.steps.clone(), self.plan.outputs()[0].layout)
    }

    /// Parts of the longest window along each spatial axis; an empty list where windows are whole.
    fn parts(&self) -> Vec<i64> {
        let (Plan::Pool(plan), Some(part_taps)) = (&self.plan, &self.part_taps) else {
            return Vec::new();
        };
        let parts = |(axis, &taps): (&PoolAxis, &i64)| axis.most_taps().max(1).div_ceil(taps as u64) as i64;
        plan.axes.iter().zip(part_taps).map(parts).collect()
    }

    /// A plan that takes at least as much memory as any tile's plan.
    fn largest_plan(&self) -> Plan {
        let spatial = self.steps[2..].iter().map(|&step| 0..step).collect();
        let output = Region { batch: 0..self.steps[0], channels: 0..self.steps[1], spatial };
        if let (Plan::Pool(plan), Some(part_taps)) = (&self.plan, &self.part_taps) {
            return Plan::Pool(largest_part(plan, &output, part_taps));
        }
        let largest = |axis: &PoolAxis, outputs: Range<usize>| {
            let PoolAxis { input, output, window } = *axis;
            if outputs.len() == output {
                return (0..input, window);
            }
            let most = window.most_extent(outputs.len(), input);
            let window = match window {
                AxisWindow::Strided { .. } => window,
                _ => window.part(outputs, input).1,
            };
            (0..most, window)
        };
        part_of(&self.plan, &output, &largest).1
    }
}

/// A part of one window.
fn part_tile(whole: &PoolPlan, output: Region, part: &[usize], part_taps: &[i64]) -> Option<Tile> {
    let axes = || whole.axes.iter().zip(output.spatial.iter().map(|range| range.start));
    let taps: Vec<i64> = axes().map(|(axis, o)| axis.taps(o).count).collect();
    let begins: Vec<i64> =
        part.iter().zip(part_taps).map(|(&part, &taps)| (part as i64).saturating_mul(taps)).collect();
    let empty = taps.contains(&0);
    let first = begins.iter().all(|&begin| begin == 0);
    // An empty window has one part, which is empty too.
    let there = if empty { first } else { begins.iter().zip(&taps).all(|(begin, taps)| begin < taps) };
    if !there {
        return None;
    }
    let cut = |((axis, o), (&begin, &taps)): ((&PoolAxis, usize), (&i64, &i64))| {
        let taps = if empty { 0..1 } else { begin..begin.saturating_add(taps) };
        axis.window.taps_part(o, taps, axis.input)
    };
    let (inputs, windows) = axes().zip(begins.iter().zip(part_taps)).map(cut).unzip();
    let (input, mut plan) = pool_on(whole, &output, inputs, windows);
    if empty {
        if let Some(indices) = &mut plan.indices {
            indices.index_type = IndexType::I64;
        }
        plan.derive_tensors(whole.dtype(), whole.layout());
        return Some(Tile { input, output, plan: Plan::Pool(plan), last_part: None });
    }
    let reaches_end = |((begin, part), taps): ((&i64, &i64), &i64)| begin.saturating_add(*part) >= *taps;
    let last_part = Some(begins.iter().zip(part_taps).zip(&taps).all(reaches_end));
    let extents = whole.axes.iter().map(|axis| axis.input).collect::<Vec<_>>();
    if plan.dtype().is_float() {
        // No NaN is the first element of the window but in its first part, and a part without an element that may
        // win says so by a NaN, which does not win there.
        if !first && plan.nan_policy == NanPolicy::SeedFirst {
            plan.nan_policy = NanPolicy::Ignore;
        }
        plan.empty_bits = plan.dtype().nan_bits();
    }
    plan.activation = Activation::Identity;
    plan.indices = Some(IndexPlan {
        index_type: IndexType::I64,
        space: IndexSpace::new(1, 1, extents).with_flatten(IndexFlattening::Plane),
        empty: EmptyIndex::MinusOne,
    });
    plan.derive_tensors(whole.dtype(), whole.layout());
    Some(Tile { input, output, plan: Plan::Pool(plan), last_part })
}

/// A plan that takes at least as much memory as any part of a window.
fn largest_part(whole: &PoolPlan, output: &Region, part_taps: &[i64]) -> PoolPlan {
    let part = |(axis, &taps): (&PoolAxis, &i64)| {
        let dilation = if let AxisWindow::Strided { dilation, .. } = axis.window { dilation } else { 1 };
        let extent = taps.saturating_sub(1).saturating_mul(dilation).saturating_add(1).clamp(1, axis.input as i64);
        (0..extent as usize, AxisWindow::Strided { kernel: taps, stride: 1, dilation, pad_begin: 0 })
    };
    let (inputs, windows) = whole.axes.iter().zip(part_taps).map(part).unzip();
    let (_, mut plan) = pool_on(whole, output, inputs, windows);
    let space = IndexSpace::new(1, 1, vec![1; plan.axes.len()]);
    let none = IndexPlan { index_type: IndexType::I64, space, empty: EmptyIndex::MinusOne };
    let index = |indices: IndexPlan| IndexPlan { index_type: IndexType::I64, ..indices };
    plan.indices = Some(plan.indices.take().map_or(none, index));
    plan.derive_tensors(whole.dtype(), whole.layout());
    plan
}

/// The largest number below `beyond` that fits, given that 1 does.
pub(crate) fn largest(mut beyond: u64, mut fits: impl FnMut(u64) -> bool) -> u64 {
    let mut fitting = 1;
    while beyond.saturating_sub(fitting) > 1 {
        let middle = fitting.midpoint(beyond);
        if fits(middle) {
            fitting = middle;
        } else {
            beyond = middle;
        }
    }
    fitting
}

#[cfg(test)]
mod tests;
