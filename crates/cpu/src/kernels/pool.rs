//! Pools on slices: runs the kernel and shares the outputs among threads.

use wgpu_pooling_plan::{ExecuteError, Index, Layout, PlanError, PoolPlan};

use super::cpu_kernel::CpuKernel;
use super::general::GeneralPool;
use super::indices::{IndicesMut, with_slice};
use super::kernel::{Operands, PoolKernel, permutes};
use super::mirror::{finish, maxima, mirror};
use super::parts::{Context, OutputPart, PartOf, cut, pieces, runs};
use super::policy::{Chosen, choose};
use super::scratch::ThreadMemory;
use super::simd::SimdLevel;
use super::subnormals::takes_subnormals_for_zeros;
use super::transpose::{Matrix, transpose};
use super::tuning::threads::{BYTES_OF_NANOSECOND, MOST_BYTES, PERMUTED_BYTES};
use super::view::View;

/// A pool and the kernel that computes it.
#[derive(Debug)]
pub(crate) struct PoolWork {
    view: View,
    name: CpuKernel,
    kernel: Box<dyn PoolKernel>,
    /// The pool of mirrored elements that is computed for a minimum, unless the kernel computes the minimum itself.
    maxima: Option<Box<PoolPlan>>,
    /// About the nanoseconds that it takes in one thread.
    cost: f64,
}

/// The outputs of one task: parts of Y as bytes, and the slices of Indices that belong to them, if there are indices.
struct PoolTask<'a> {
    parts: Vec<(OutputPart, &'a mut [u8])>,
    indices: Vec<IndicesMut<'a>>,
}

impl PoolWork {
    pub fn new(plan: &PoolPlan, asked: Option<CpuKernel>) -> Result<PoolWork, PlanError> {
        let view = View::new(plan)?;
        let Chosen { name, kernel, mirrors, cost } = choose(plan, &view, asked)?;
        let maxima = maxima(plan).filter(|_| !mirrors).map(Box::new);
        Ok(PoolWork { view, name, kernel, maxima, cost })
    }

    pub fn kernel(&self) -> CpuKernel {
        self.name
    }

    /// Writes Y, and Indices where the plan has them. X and Y are the bytes of elements of the plan's type.
    pub fn run(
        &self,
        plan: &PoolPlan,
        context: &Context<'_>,
        x: &[u8],
        y: &mut [u8],
        indices: Option<IndicesMut<'_>>,
    ) -> Result<(), ExecuteError> {
        let Some(maxima) = self.maxima.as_ref().filter(|_| !y.is_empty()) else {
            return self.run_of(plan, context, x, y, indices);
        };
        context.scratch.with(|own| {
            let mirrored = own.elements(x.len())?;
            mirror(plan, context, x, mirrored)?;
            self.run_of(maxima, context, mirrored, y, indices)
        })?;
        finish(plan, context, y)
    }

    /// Writes the outputs of a plan for its own X: those of a minimum, or of the maxima of its mirrored elements. So
    /// another kernel can take over at any part.
    fn run_of(
        &self,
        plan: &PoolPlan,
        context: &Context<'_>,
        x: &[u8],
        y: &mut [u8],
        mut indices: Option<IndicesMut<'_>>,
    ) -> Result<(), ExecuteError> {
        if y.is_empty() {
            return Ok(());
        }
        let permuted = permutes(plan, &self.view);
        if !permuted && self.kernel.run_in_blocks((plan, &self.view, context), x, y, indices.as_mut())? {
            return Ok(());
        }
        // Fast work has as many parts as its bytes ask for, so that it can be stopped between them.
        let wanted = context.wanted((self.cost * BYTES_OF_NANOSECOND) as u64);
        let wanted = wanted.max(usize::try_from(plan.bytes() / MOST_BYTES).unwrap_or(usize::MAX));
        let tasks = match indices {
            Some(indices) if permuted => self.permuting_tasks(plan, wanted, y, indices),
            indices => self.tasks(plan, wanted, y, indices),
        };
        context.run(tasks, |task, scratch| {
            if permuted {
                return self.permuting_task(plan, context, x, task, scratch);
            }
            let PoolTask { parts, indices } = task;
            let mut indices = indices.into_iter();
            parts.into_iter().try_for_each(|(part, y)| {
                let part = PartOf { plan, view: &self.view, part: &part, context };
                self.compute(&part, (x, y, indices.next()), scratch)
            })
        })
    }

    /// The tasks if Indices have the layout of Y.
    fn tasks<'a>(
        &self,
        plan: &PoolPlan,
        wanted: usize,
        y: &'a mut [u8],
        indices: Option<IndicesMut<'a>>,
    ) -> Vec<PoolTask<'a>> {
        let outer = self.view.outer;
        let (wanted, together) = self.kernel.parts(outer, wanted);
        let parts = cut(outer, self.view.axes[0].output, wanted, together);
        let row = self.view.row();
        let lengths = || parts.iter().map(|part| part.outer.len() * part.rows.len() * row);
        let mut indices = indices.map(|indices| indices.pieces(lengths()).into_iter());
        let y = pieces(y, lengths().map(|length| length * plan.dtype().bytes()));
        let tasks = parts.iter().cloned().zip(y).map(|part| PoolTask {
            parts: vec![part],
            indices: indices.as_mut().and_then(Iterator::next).into_iter().collect(),
        });
        tasks.collect()
    }

    /// The tasks if Indices have the other layout than Y. A task has all channels of some rows of a batch item, so that
    /// its outputs are whole runs of memory in both tensors: one run in NHWC, one run per channel in NCHW.
    fn permuting_tasks<'a>(
        &self,
        plan: &PoolPlan,
        wanted: usize,
        y: &'a mut [u8],
        indices: IndicesMut<'a>,
    ) -> Vec<PoolTask<'a>> {
        let (batch, channels) = (plan.batch, plan.channels);
        let (wanted, _) = self.kernel.parts(batch, wanted);
        let rows = runs(self.view.axes[0].output, wanted.div_ceil(batch.max(1)));
        let of_channel = self.view.row() / self.view.inner.max(1);
        // Each tensor in memory order, with the number of the task that owns a piece.
        let by_item = || (0..batch).flat_map(|n| (0..rows.len()).map(move |run| (n, run)));
        let by_plane = || (0..batch * channels).flat_map(|plane| (0..rows.len()).map(move |run| (plane, run)));
        let (length, bytes) = (|run: usize| rows[run].len() * of_channel, plan.dtype().bytes());
        let whole = |outer: usize, run: usize| OutputPart { outer: outer..outer + 1, rows: rows[run].clone() };
        let mut tasks: Vec<PoolTask<'a>> =
            by_item().map(|_| PoolTask { parts: Vec::new(), indices: Vec::new() }).collect();
        let task = |n: usize, run: usize| n * rows.len() + run;
        match plan.layout() {
            Layout::Nchw => {
                for ((plane, run), y) in by_plane().zip(pieces(y, by_plane().map(|(_, run)| length(run) * bytes))) {
                    tasks[task(plane / channels, run)].parts.push((whole(plane, run), y));
                }
                let lengths = by_item().map(|(_, run)| length(run) * channels);
                for ((n, run), indices) in by_item().zip(indices.pieces(lengths)) {
                    tasks[task(n, run)].indices.push(indices);
                }
            }
            Layout::Nhwc => {
                for ((n, run), y) in by_item().zip(pieces(y, by_item().map(|(_, run)| length(run) * channels * bytes)))
                {
                    tasks[task(n, run)].parts.push((whole(n, run), y));
                }
                for ((plane, run), indices) in by_plane().zip(indices.pieces(by_plane().map(|(_, run)| length(run)))) {
                    tasks[task(plane / channels, run)].indices.push(indices);
                }
            }
        }
        tasks
    }

    /// Computes the indices in the layout of Y, some rows at a time, and moves them to their own layout while they are
    /// in cache.
    fn permuting_task(
        &self,
        plan: &PoolPlan,
        context: &Context<'_>,
        x: &[u8],
        task: PoolTask<'_>,
        scratch: &mut ThreadMemory,
    ) -> Result<(), ExecuteError> {
        let PoolTask { mut parts, mut indices } = task;
        let Some(rows) = parts.first().map(|(part, _)| part.rows.clone()) else { return Ok(()) };
        let Some(index_type) = plan.indices.as_ref().map(|indices| indices.index_type) else { return Ok(()) };
        // The elements of a row of one part and of all parts, and the positions of a row.
        let (row, bytes) = (self.view.row(), plan.dtype().bytes());
        let (all, positions) = (row * parts.len(), row / self.view.inner.max(1));
        let at_once = (PERMUTED_BYTES / index_type.bytes() / all.max(1)).clamp(1, rows.len().max(1));
        // Where windows are long, few rows at a time would compute most of them again.
        let (times, _) = self.kernel.parts(1, rows.len().div_ceil(at_once));
        let at_once = rows.len().div_ceil(times.max(1)).max(1);
        context.scratch.with(|own| {
            let mut computed = IndicesMut::new(own.elements(at_once * all * index_type.bytes())?, index_type);
            for start in rows.clone().step_by(at_once) {
                let (before, count) = (start - rows.start, at_once.min(rows.end - start));
                for (number, (part, y)) in parts.iter_mut().enumerate() {
                    let part = OutputPart { outer: part.outer.clone(), rows: start..start + count };
                    let part = PartOf { plan, view: &self.view, part: &part, context };
                    let y = &mut y[before * row * bytes..][..count * row * bytes];
                    let computed = computed.part(number * count * row..(number + 1) * count * row);
                    self.compute(&part, (x, y, Some(computed)), scratch)?;
                }
                with_slice!(IndicesMut, computed.part(0..count * all), computed => {
                    permute((plan, context.simd), computed, &mut indices, before * positions);
                });
            }
            Ok(())
        })
    }

    /// Computes a part of Y, and of Indices in the order of Y.
    fn compute(
        &self,
        part: &PartOf<'_>,
        operands: Operands<'_>,
        scratch: &mut ThreadMemory,
    ) -> Result<(), ExecuteError> {
        // The other kernels compare floats as floats, and the general one as integers.
        if part.plan.dtype().is_float() && takes_subnormals_for_zeros() {
            return GeneralPool.run(part, operands, scratch);
        }
        self.kernel.run(part, operands, scratch)
    }
}

/// Moves the indices of neighbouring positions from the layout of Y to the other layout. `first` is the first position.
fn permute<I: Index>((plan, simd): (&PoolPlan, SimdLevel), from: &[I], to: &mut [IndicesMut<'_>], first: usize) {
    let channels = plan.channels;
    let positions = from.len() / channels;
    let mut to: Vec<&mut [I]> = to.iter_mut().map(IndicesMut::slice).collect();
    match plan.layout() {
        Layout::Nchw => {
            let from = Matrix { elements: from, rows: channels, pitch: positions };
            for to in to {
                let to = &mut to[first * channels..][..from.elements.len()];
                transpose(simd, from, &mut to.chunks_exact_mut(channels).collect::<Vec<_>>(), 0);
            }
        }
        Layout::Nhwc => transpose(simd, Matrix { elements: from, rows: positions, pitch: channels }, &mut to, first),
    }
}
