//! The two forms of lanes: with their positions in them or without, and with positions beside them.

use bytemuck::Pod;

use super::layout::BlockLayout;
use super::steps::{Step, Tap};
use crate::cpu::kernels::axes::Axis;
use crate::cpu::kernels::lane::{Lane, Positioned};
use crate::cpu::kernels::reduce;
use crate::cpu::kernels::scratch::Scratch;
use crate::cpu::kernels::simd::SimdLevel;
use crate::error::ExecuteError;

/// The lanes of a block: as loaded, and the ones that steps read and write in turn.
pub(crate) struct Lanes<'a, L> {
    pub loaded: &'a mut [L],
    pub reduced: &'a mut [L],
    pub spare: &'a mut [L],
}

/// The first words of some memory, as lanes.
fn take<'a, L: Pod>(words: &mut &'a mut [u64], count: usize) -> &'a mut [L] {
    let (own, rest) = std::mem::take(words).split_at_mut((count * size_of::<L>()).div_ceil(size_of::<u64>()));
    *words = rest;
    &mut bytemuck::cast_slice_mut(own)[..count]
}

/// Words that `count` lanes take.
fn words<L>(count: usize) -> usize {
    (count * size_of::<L>()).div_ceil(size_of::<u64>())
}

/// Memory for outputs before they are moved to Y, and to Indices.
pub(crate) type Rest<'a> = &'a mut [u64];

/// Lanes alone.
pub(crate) fn plain<'a, L: Lane>(
    scratch: &'a mut Scratch,
    layout: &BlockLayout,
) -> Result<(Lanes<'a, L>, Rest<'a>), ExecuteError> {
    let (loaded, reduced) = (layout.loaded(), layout.reduced());
    let size = words::<L>(loaded) + 2 * words::<L>(reduced) + 2 * layout.lanes + 2;
    let mut rest = scratch.elements::<u64>(size)?;
    let lanes =
        Lanes { loaded: take(&mut rest, loaded), reduced: take(&mut rest, reduced), spare: take(&mut rest, reduced) };
    Ok((lanes, rest))
}

/// Lanes, and the positions of those that steps write.
pub(crate) struct Placed<'a, L: Positioned> {
    pub lanes: Lanes<'a, L>,
    pub positions: &'a mut [L::Position],
    pub spare_positions: &'a mut [L::Position],
}

pub(crate) fn placed<'a, L: Positioned>(
    scratch: &'a mut Scratch,
    layout: &BlockLayout,
) -> Result<(Placed<'a, L>, Rest<'a>), ExecuteError> {
    let (loaded, reduced) = (layout.loaded(), layout.reduced());
    let size = words::<L>(loaded) + 2 * (words::<L>(reduced) + words::<L::Position>(reduced)) + 2 * layout.lanes + 2;
    let mut rest = scratch.elements::<u64>(size)?;
    let lanes =
        Lanes { loaded: take(&mut rest, loaded), reduced: take(&mut rest, reduced), spare: take(&mut rest, reduced) };
    let (positions, spare_positions) = (take(&mut rest, reduced), take(&mut rest, reduced));
    Ok((Placed { lanes, positions, spare_positions }, rest))
}

/// Has the outputs of a block written, slot by slot, and moves them to Y, which begins at the block's first output. Where the
/// slots lie in memory as Y does, they are written to Y itself.
pub(crate) fn written<T: Pod>(layout: &BlockLayout, rest: &mut Rest<'_>, y: &mut [T], write: impl FnOnce(&mut [T])) {
    if let [_] = layout.runs[..] {
        return write(&mut y[..layout.run]);
    }
    let slots = take::<T>(rest, layout.finished());
    write(slots);
    move_runs(layout, slots, y);
}

/// The same of Y and Indices.
pub(crate) fn written_both<T: Pod, I: Pod>(
    layout: &BlockLayout,
    rest: &mut Rest<'_>,
    (y, indices): (&mut [T], &mut [I]),
    write: impl FnOnce((&mut [T], &mut [I])),
) {
    if let [_] = layout.runs[..] {
        return write((&mut y[..layout.run], &mut indices[..layout.run]));
    }
    let (slots, of_indices) = (take::<T>(rest, layout.finished()), take::<I>(rest, layout.finished()));
    write((slots, of_indices));
    move_runs(layout, slots, y);
    move_runs(layout, of_indices, indices);
}

fn move_runs<T: Copy>(layout: &BlockLayout, slots: &[T], to: &mut [T]) {
    for run in &layout.runs {
        to[run.place..][..layout.run].copy_from_slice(&slots[run.slot..][..layout.run]);
    }
}

/// The arrays that a step writes, and for each of them the array of its tap's phase.
struct Arrays {
    targets: usize,
    phases: usize,
    pitch: usize,
    length: usize,
    slot: usize,
}

impl Arrays {
    fn source(&self, target: usize, phase: usize, shift: usize) -> std::ops::Range<usize> {
        let begin = (target * self.phases + phase) * self.pitch + shift * self.slot;
        begin..begin + self.length
    }

    fn target(&self, target: usize) -> std::ops::Range<usize> {
        target * self.pitch..target * self.pitch + self.length
    }
}

/// Runs each step on all arrays that are left. `length` is that of an array before the first step.
fn each_step(axes: &[Axis], steps: &[Step], layout: &BlockLayout, mut run: impl FnMut(usize, &Step, &Arrays)) {
    let mut length = layout.lanes;
    let mut phases: Vec<usize> = axes.iter().map(Axis::phase_count).collect();
    for (number, step) in steps.iter().enumerate() {
        let slot = layout.slot[step.axis];
        length -= step.shift() * slot;
        let of_axis = std::mem::replace(&mut phases[step.axis], 1);
        let targets = phases.iter().product();
        run(number, step, &Arrays { targets, phases: of_axis, pitch: layout.pitch, length, slot });
    }
}

/// Taps of a step that are reduced at once, and those beyond the first ones.
const AT_ONCE: usize = 5;
const MORE_AT_ONCE: usize = 4;

/// Reduces the loaded lanes into `reduced`.
pub(crate) fn reduce_plain<L: Lane>(
    simd: SimdLevel,
    (axes, steps): (&[Axis], &[Step]),
    layout: &BlockLayout,
    lanes: &mut Lanes<'_, L>,
) {
    each_step(axes, steps, layout, |number, step, arrays| {
        std::mem::swap(&mut lanes.reduced, &mut lanes.spare);
        let source: &[L] = if number == 0 { lanes.loaded } else { lanes.spare };
        for target in 0..arrays.targets {
            let best = &mut lanes.reduced[arrays.target(target)];
            let mut run = |taps: &[Tap], more| {
                let mut sources = [(&source[..0], 0); AT_ONCE];
                for (own, tap) in sources.iter_mut().zip(taps) {
                    *own = (&source[arrays.source(target, tap.phase, tap.shift)], tap.taps);
                }
                reduce::values(simd, best, &sources[..taps.len()], more);
            };
            let (first, more) = step.taps.split_at(step.taps.len().min(AT_ONCE));
            run(first, false);
            more.chunks(MORE_AT_ONCE).for_each(|taps| run(taps, true));
        }
    });
}

/// Reduces the loaded lanes into `reduced`, and notes where the winners lie.
pub(crate) fn reduce_placed<L: Positioned>(
    simd: SimdLevel,
    (axes, steps): (&[Axis], &[Step]),
    layout: &BlockLayout,
    placed: &mut Placed<'_, L>,
) {
    each_step(axes, steps, layout, |number, step, arrays| {
        let Placed { lanes, positions, spare_positions } = placed;
        std::mem::swap(&mut lanes.reduced, &mut lanes.spare);
        std::mem::swap(positions, spare_positions);
        let source: &[L] = if number == 0 { lanes.loaded } else { lanes.spare };
        for target in 0..arrays.targets {
            let best = &mut lanes.reduced[arrays.target(target)];
            let positions = &mut positions[arrays.target(target)];
            let mut run = |taps: &[Tap], more| {
                let mut sources = [(&source[..0], &spare_positions[..0], L::position(0)); AT_ONCE];
                for (own, tap) in sources.iter_mut().zip(taps) {
                    let range = arrays.source(target, tap.phase, tap.shift);
                    // Loaded lanes lie where they are.
                    let of_positions = if number == 0 { 0..0 } else { range.clone() };
                    *own = (&source[range], &spare_positions[of_positions], L::position(tap.index));
                }
                let sources = &sources[..taps.len()];
                match number {
                    0 => reduce::first(simd, best, positions, sources, more),
                    _ => reduce::positioned(simd, best, positions, sources, more),
                }
            };
            let (first, more) = step.taps.split_at(step.taps.len().min(AT_ONCE));
            run(first, false);
            more.chunks(MORE_AT_ONCE).for_each(|taps| run(taps, true));
        }
    });
}
