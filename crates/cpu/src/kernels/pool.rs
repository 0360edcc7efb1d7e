//! Pools on slices: which kernel runs, and how outputs are shared among threads.

use bytemuck::{cast_slice, cast_slice_mut};
use wgpu_pooling_plan::with_element;
use wgpu_pooling_plan::{ExecuteError, Index, Layout, PlanError, PoolPlan};

use super::choose::{CpuKernel, PoolKernel};
use super::columns;
use super::general;
use super::global;
use super::parts::{Context, Part, PartOf, cut, pieces, runs, threads, wanted};
use super::scratch::Scratch;
use super::separable::run::run;
use super::subnormals::takes_subnormals_for_zeros;
use super::transpose::{Matrix, transpose};
use super::view::View;

/// Bytes of indices that are computed before they are moved to their layout.
const PERMUTED_BYTES: usize = 256 << 10;

/// A pool and how it is computed.
#[derive(Debug)]
pub(crate) struct PoolWork {
    view: View,
    kernel: PoolKernel,
}

/// Outputs of one thread: parts of Y as bytes, and the slices of Indices that belong to them, if there are indices.
struct Task<'a, I> {
    parts: Vec<(Part, &'a mut [u8])>,
    indices: Vec<&'a mut [I]>,
}

impl PoolWork {
    pub fn of(plan: &PoolPlan, asked: Option<CpuKernel>) -> Result<PoolWork, PlanError> {
        let view = View::of(plan)?;
        let kernel = PoolKernel::choose(plan, &view, asked)?;
        Ok(PoolWork { view, kernel })
    }

    pub fn kernel(&self) -> CpuKernel {
        self.kernel.name()
    }

    /// Writes Y, and Indices where the plan has them. X and Y are the bytes of slices of the plan's element type.
    pub fn run<I: Index>(
        &self,
        plan: &PoolPlan,
        context: &Context<'_>,
        x: &[u8],
        y: &mut [u8],
        mut indices: Option<&mut [I]>,
    ) -> Result<(), ExecuteError> {
        if y.is_empty() {
            return Ok(());
        }
        // A single channel, and a single position, lie in memory alike in both layouts.
        let other_layout = plan.indices.as_ref().is_some_and(|indices| indices.space.layout != plan.layout());
        let permuted = other_layout && plan.channels > 1 && self.view.axes.iter().any(|axis| axis.output > 1);
        if let PoolKernel::Global(runs) = &self.kernel
            && !permuted
            && global::pool_in_blocks(runs, (plan, &self.view, context), x, y, indices.as_deref_mut())?
        {
            return Ok(());
        }
        let wanted = wanted(self.kernel.cost(plan, &self.view), threads);
        let tasks = match indices {
            Some(indices) if permuted => self.permuting_tasks(plan, wanted, y, indices),
            indices => self.tasks(plan, wanted, y, indices),
        };
        context.run(tasks, |task, scratch| {
            if permuted {
                return self.permuting_task(plan, context, x, task, scratch);
            }
            let Task { parts, indices } = task;
            let mut indices = indices.into_iter();
            let mut each =
                |(part, y)| compute(&self.kernel, &self.view, (plan, context, &part), x, y, indices.next(), scratch);
            parts.into_iter().try_for_each(&mut each)
        })
    }

    /// Indices lie in memory as Y does.
    fn tasks<'a, I>(
        &self,
        plan: &PoolPlan,
        wanted: usize,
        y: &'a mut [u8],
        indices: Option<&'a mut [I]>,
    ) -> Vec<Task<'a, I>> {
        let outer = self.view.outer;
        let (wanted, together) = match &self.kernel {
            PoolKernel::Interleaved(interleaved) => interleaved.0.parts(outer, wanted),
            _ => (wanted, 1),
        };
        let parts = cut(outer, self.view.axes[0].output, wanted, together);
        let row = self.view.row();
        let lengths = || parts.iter().map(|part| part.outer.len() * part.rows.len() * row);
        let mut indices = indices.map(|indices| pieces(indices, lengths()).into_iter());
        let y = pieces(y, lengths().map(|length| length * plan.dtype().bytes()));
        let tasks = parts.iter().cloned().zip(y).map(|part| Task {
            parts: vec![part],
            indices: indices.as_mut().and_then(Iterator::next).into_iter().collect(),
        });
        tasks.collect()
    }

    /// Indices lie in memory in the layout that Y does not have. A task has all channels of some rows of a batch item,
    /// so that its outputs are whole runs of memory in both tensors: one run in NHWC, one of each channel in NCHW.
    fn permuting_tasks<'a, I>(
        &self,
        plan: &PoolPlan,
        wanted: usize,
        y: &'a mut [u8],
        indices: &'a mut [I],
    ) -> Vec<Task<'a, I>> {
        let (batch, channels) = (plan.batch, plan.channels);
        let rows = runs(self.view.axes[0].output, wanted.div_ceil(batch.max(1)));
        let of_channel = self.view.row() / self.view.inner.max(1);
        // Each tensor in the order of its memory, with the number of the task to which a piece belongs.
        let together = || (0..batch).flat_map(|n| (0..rows.len()).map(move |run| (n, run)));
        let apart = || (0..batch * channels).flat_map(|plane| (0..rows.len()).map(move |run| (plane, run)));
        let (length, bytes) = (|run: usize| rows[run].len() * of_channel, plan.dtype().bytes());
        let whole = |outer: usize, run: usize| Part { outer: outer..outer + 1, rows: rows[run].clone() };
        let mut tasks: Vec<Task<'a, I>> = together().map(|_| Task { parts: Vec::new(), indices: Vec::new() }).collect();
        let task = |n: usize, run: usize| n * rows.len() + run;
        match plan.layout() {
            Layout::Nchw => {
                for ((plane, run), y) in apart().zip(pieces(y, apart().map(|(_, run)| length(run) * bytes))) {
                    tasks[task(plane / channels, run)].parts.push((whole(plane, run), y));
                }
                for ((n, run), indices) in
                    together().zip(pieces(indices, together().map(|(_, run)| length(run) * channels)))
                {
                    tasks[task(n, run)].indices.push(indices);
                }
            }
            Layout::Nhwc => {
                for ((n, run), y) in
                    together().zip(pieces(y, together().map(|(_, run)| length(run) * channels * bytes)))
                {
                    tasks[task(n, run)].parts.push((whole(n, run), y));
                }
                for ((plane, run), indices) in apart().zip(pieces(indices, apart().map(|(_, run)| length(run)))) {
                    tasks[task(plane / channels, run)].indices.push(indices);
                }
            }
        }
        tasks
    }

    /// Computes the indices in the layout of Y, some rows at a time, and moves them to theirs while they are in cache.
    fn permuting_task<I: Index>(
        &self,
        plan: &PoolPlan,
        context: &Context<'_>,
        x: &[u8],
        task: Task<'_, I>,
        scratch: &mut Scratch,
    ) -> Result<(), ExecuteError> {
        let Task { mut parts, mut indices } = task;
        let Some(rows) = parts.first().map(|(part, _)| part.rows.clone()) else { return Ok(()) };
        // The elements of a row of one part and of all, and its positions.
        let (row, bytes) = (self.view.row(), plan.dtype().bytes());
        let (all, positions) = (row * parts.len(), row / self.view.inner.max(1));
        let at_once = (PERMUTED_BYTES / size_of::<I>() / all.max(1)).clamp(1, rows.len().max(1));
        context.scratch.with(|own| {
            let computed: &mut [I] = own.elements(at_once * all)?;
            for start in rows.clone().step_by(at_once) {
                let (before, count) = (start - rows.start, at_once.min(rows.end - start));
                let computed = &mut computed[..count * all];
                for ((part, y), computed) in parts.iter_mut().zip(computed.chunks_exact_mut(count * row)) {
                    let part = Part { outer: part.outer.clone(), rows: start..start + count };
                    let y = &mut y[before * row * bytes..][..count * row * bytes];
                    compute(&self.kernel, &self.view, (plan, context, &part), x, y, Some(computed), scratch)?;
                }
                let channels = plan.channels;
                match plan.layout() {
                    Layout::Nchw => {
                        let from = Matrix { elements: computed, rows: channels, apart: count * row };
                        for indices in &mut indices {
                            let of_rows = &mut indices[before * all..][..count * all];
                            let mut to: Vec<&mut [I]> = of_rows.chunks_exact_mut(channels).collect();
                            transpose(context.simd, from, &mut to, 0);
                        }
                    }
                    Layout::Nhwc => {
                        let from = Matrix { elements: computed, rows: count * positions, apart: channels };
                        transpose(context.simd, from, &mut indices, before * positions);
                    }
                }
            }
            Ok(())
        })
    }
}

/// Computes a part of Y, and of Indices in the order of Y.
pub(crate) fn compute<I: Index>(
    kernel: &PoolKernel,
    view: &View,
    (plan, context, part): (&PoolPlan, &Context<'_>, &Part),
    x: &[u8],
    y: &mut [u8],
    indices: Option<&mut [I]>,
    scratch: &mut Scratch,
) -> Result<(), ExecuteError> {
    // What these compare as floats, such a thread would compare as zeros.
    let general = plan.dtype().is_float() && takes_subnormals_for_zeros();
    let part_of = PartOf { plan, view, part, simd: context.simd };
    match kernel {
        PoolKernel::Columns if !general => columns::pool(&part_of, x, y, indices, scratch)?,
        PoolKernel::Direct(direct) if !general => direct.run(&part_of, x, y, indices),
        PoolKernel::Flat(flat) if !general => flat.run(&part_of, x, y, scratch)?,
        PoolKernel::Global(runs) if !general => global::pool(runs, &part_of, x, y, indices)?,
        PoolKernel::Separable(separable) if !general => run(separable, &part_of, x, y, indices, scratch)?,
        PoolKernel::Interleaved(interleaved) if !general => {
            let (interleaved, kernel) = &**interleaved;
            let mut compute = |part: &Part, x: &[u8], y: &mut [u8], indices: Option<&mut [i32]>| {
                compute(kernel, &interleaved.view, (plan, context, part), x, y, indices, scratch)
            };
            interleaved.run((plan, view, context, part), x, y, indices, &mut compute)?;
        }
        _ => with_element!(plan.dtype(), T => {
            general::pool::<T, I>(plan, view, part, cast_slice(x), cast_slice_mut(y), indices);
        }),
    }
    Ok(())
}
