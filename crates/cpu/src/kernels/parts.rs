//! Shares the outputs of a pool among threads: in parts, each of which writes its own slices of Y and Indices.

use std::ops::Range;

#[cfg(feature = "rayon")]
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use wgpu_pooling_plan::{ExecuteError, PoolPlan};

use super::axes::Axis;
use super::scratch::{ScratchPool, ThreadMemory};
use super::simd::SimdLevel;
use super::threads::Threads;
use super::tuning::threads::{ALONE_BYTES, MOST_BYTES};
use super::view::View;

/// A box of outputs: whole planes, or some positions of one plane along the first axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OutputPart {
    pub outer: Range<usize>,
    pub rows: Range<usize>,
}

/// A part of a pool's outputs, with the pool.
pub(crate) struct PartOf<'a> {
    pub plan: &'a PoolPlan,
    pub view: &'a View,
    pub part: &'a OutputPart,
    pub context: &'a Context<'a>,
}

impl PartOf<'_> {
    /// The part's outputs along each axis.
    pub fn ranges(&self, axes: &[Axis]) -> Vec<Range<usize>> {
        let rest = axes[2..].iter().map(|axis| 0..axis.output);
        [self.part.outer.clone(), self.part.rows.clone()].into_iter().chain(rest).collect()
    }
}

/// The number of parts for work that takes as long as moving this many bytes.
fn wanted(bytes: u64, threads: impl FnOnce() -> usize) -> usize {
    if bytes <= ALONE_BYTES {
        return 1;
    }
    let threads = threads().max(1) as u64;
    let shared = if threads == 1 { 1 } else { (bytes / (ALONE_BYTES / 2)).min(threads.saturating_mul(8)) };
    usize::try_from(shared.max(bytes / MOST_BYTES)).unwrap_or(usize::MAX).max(1)
}

/// How many parts of so many planes have little more work than the whole. Parts of one plane compute again what their
/// windows share, along the axis of its rows: at most a quarter of the plane.
pub(crate) fn few_parts(rows: &Axis, planes: usize, wanted: usize) -> usize {
    let spanned = rows.output.saturating_mul(rows.stride);
    let of_plane = rows.input.min(spanned.saturating_add(rows.reach()));
    let again = (of_plane + of_plane / 4).saturating_sub(spanned);
    let most = again.checked_div(rows.reach()).unwrap_or(usize::MAX).max(1);
    wanted.min(planes.max(1).saturating_mul(most))
}

/// Cuts `outer` planes of `rows` positions into about `wanted` parts, in the order of Y. The number of planes in a part
/// of several planes is a multiple of `together`, except in the last part.
pub(crate) fn cut(outer: usize, rows: usize, wanted: usize, together: usize) -> Vec<OutputPart> {
    if outer == 0 || rows == 0 {
        return Vec::new();
    }
    if outer >= wanted {
        let planes = outer.div_ceil(wanted.max(1)).next_multiple_of(together.max(1));
        return (0..outer)
            .step_by(planes)
            .map(|first| OutputPart { outer: first..outer.min(first + planes), rows: 0..rows })
            .collect();
    }
    let of_plane = runs(rows, wanted.div_ceil(outer));
    let parts = (0..outer)
        .flat_map(|plane| of_plane.iter().map(move |rows| OutputPart { outer: plane..plane + 1, rows: rows.clone() }));
    parts.collect()
}

/// Cuts a range into about `wanted` runs.
pub(crate) fn runs(length: usize, wanted: usize) -> Vec<Range<usize>> {
    let run = length.div_ceil(wanted.max(1)).max(1);
    (0..length).step_by(run).map(|first| first..length.min(first + run)).collect()
}

/// Cuts a slice into consecutive pieces.
pub(crate) fn pieces<E>(mut slice: &mut [E], lengths: impl IntoIterator<Item = usize>) -> Vec<&mut [E]> {
    let mut pieces = Vec::new();
    for length in lengths {
        let (piece, rest) = slice.split_at_mut(length);
        pieces.push(piece);
        slice = rest;
    }
    pieces
}

/// The caller's function that says whether to stop.
pub(crate) type StopRef<'a> = &'a (dyn Fn() -> bool + Sync);

/// The state that all parts of a call share.
pub(crate) struct Context<'a> {
    pub simd: SimdLevel,
    pub scratch: &'a ScratchPool,
    pub threads: &'a Threads,
    /// Whether outputs may be written before the call is known to succeed.
    pub fresh: bool,
    /// The cancel flag. It is checked between parts, on any thread.
    pub stop: Option<StopRef<'a>>,
}

impl Context<'_> {
    /// The number of parts for work that takes as long as moving this many bytes.
    pub fn wanted(&self, bytes: u64) -> usize {
        wanted(bytes, || self.threads.count())
    }

    /// Runs tasks on all threads, or a single task on this thread.
    pub fn run<W: Send>(
        &self,
        tasks: Vec<W>,
        work: impl Fn(W, &mut ThreadMemory) -> Result<(), ExecuteError> + Sync,
    ) -> Result<(), ExecuteError> {
        #[cfg(feature = "rayon")]
        if tasks.len() > 1 && self.threads.count() > 1 {
            let work = &work;
            let boxed = |task| -> BoxedTask<'_> { Box::new(move |scratch| work(task, scratch)) };
            return self.run_shared(tasks.into_iter().map(boxed).collect());
        }
        tasks.into_iter().try_for_each(|task| self.unless_stopped(|scratch| work(task, scratch)))
    }

    /// Runs tasks of one type, so that the code that shares them among threads is compiled once.
    #[cfg(feature = "rayon")]
    fn run_shared(&self, tasks: Vec<BoxedTask<'_>>) -> Result<(), ExecuteError> {
        tasks.into_par_iter().try_for_each(|task| self.unless_stopped(task))
    }

    fn unless_stopped(
        &self,
        task: impl FnOnce(&mut ThreadMemory) -> Result<(), ExecuteError>,
    ) -> Result<(), ExecuteError> {
        if self.stop.is_some_and(|stop| stop()) {
            return Err(ExecuteError::Interrupted);
        }
        self.scratch.with(task)
    }
}

/// A task that any thread can run.
#[cfg(feature = "rayon")]
type BoxedTask<'a> = Box<dyn FnOnce(&mut ThreadMemory) -> Result<(), ExecuteError> + Send + 'a>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_the_outputs_in_the_order_of_y() {
        for (outer, rows) in [(1, 1), (1, 7), (3, 5), (64, 1), (5, 112)] {
            for (wanted, together) in [(1, 1), (2, 1), (3, 5), (8, 3), (1000, 1)] {
                let mut expected = (0..outer).flat_map(|plane| (0..rows).map(move |row| (plane, row)));
                for OutputPart { outer, rows } in cut(outer, rows, wanted, together) {
                    for plane in outer {
                        for row in rows.clone() {
                            assert_eq!(expected.next(), Some((plane, row)));
                        }
                    }
                }
                assert_eq!(expected.next(), None);
            }
        }
        assert_eq!(cut(0, 3, 4, 1), []);
        let planes: Vec<_> = cut(100, 7, 6, 16).into_iter().map(|part| part.outer.len()).collect();
        assert_eq!(planes, [32, 32, 32, 4]);
    }

    #[test]
    fn small_work_is_not_shared_and_asks_no_pool() {
        assert_eq!(wanted(64 * 64 * 5, || unreachable!("no pool is asked")), 1);
        assert_eq!(wanted(64 << 20, || 1), 16);
        assert!(wanted(2 << 20, || 2) > 1);
    }
}
