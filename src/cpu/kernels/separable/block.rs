//! A block of outputs, and where its windows lie in X.

use std::ops::Range;

use super::layout::{BlockLayout, RowOfX, strides, sums};
use crate::cpu::kernels::axes::Axis;

/// A box of outputs.
#[derive(Debug)]
pub(crate) struct Block<'a> {
    pub layout: &'a BlockLayout,
    /// The first output along each axis.
    pub first: &'a [usize],
    /// The position in X of the first tap of that output's window, padding included.
    pub start: Vec<i64>,
    /// The positions of each axis, from `start` on, that lie inside X.
    pub inside: Vec<Range<usize>>,
    /// The place in X of the first tap of the first output's window, padding included.
    pub place: i64,
}

impl<'a> Block<'a> {
    pub fn new(axes: &[Axis], layout: &'a BlockLayout, first: &'a [usize]) -> Block<'a> {
        let start: Vec<i64> = axes.iter().zip(first).map(|(axis, &first)| axis.start(first)).collect();
        let inside = axes.iter().zip(&start).zip(&layout.positions).map(|((axis, &start), &positions)| {
            let clamped = |position: i64| position.clamp(0, positions as i64) as usize;
            clamped(-start)..clamped(axis.input as i64 - start)
        });
        let place = axes.iter().zip(&start).map(|(axis, &start)| start * axis.x_stride as i64).sum();
        Block { layout, first, inside: inside.collect(), start, place }
    }

    /// Whether a row lies in the padding of an outer axis.
    pub fn is_padding(&self, row: &RowOfX) -> bool {
        row.at.iter().zip(&self.inside).any(|(at, inside)| !inside.contains(at))
    }

    /// Whether some window begins before X.
    pub fn begins_before_x(&self) -> bool {
        self.start.iter().any(|&start| start < 0)
    }

    /// Where windows begin before X, moves their first elements to the slots of their first taps, which are padding: along the
    /// innermost axis first, then whole rows, planes and so on.
    pub fn move_first_elements<L: Copy>(&self, axes: &[Axis], lanes: &mut [L]) {
        let phase_counts: Vec<usize> = axes.iter().map(Axis::phase_count).collect();
        let arrays = strides(&phase_counts);
        let BlockLayout { pitch, lanes: of_array, outputs, slot, .. } = self.layout;
        for (number, axis) in axes.iter().enumerate().rev() {
            // From one tuple of outer phases to the next: an outer axis may read any of them later.
            let tuple = arrays[number] * phase_counts[number] * pitch;
            let slab = if number == 0 { *of_array } else { slot[number - 1] };
            for output in 0..outputs[number] {
                let position = output * axis.stride;
                if self.start[number] + position as i64 >= 0 {
                    break;
                }
                let Some(ahead) = axis.ahead(self.first[number] + output) else { continue };
                let position = position + ahead;
                let Some(phase) = axis.phases[position % axis.stride] else { continue };
                let from = phase * arrays[number] * pitch + position / axis.stride * slot[number];
                let to = output * slot[number];
                for tuple in (0..self.layout.arrays * pitch).step_by(tuple) {
                    for begin in (tuple..tuple + of_array).step_by(slab) {
                        // A call to move a single lane takes longer than the move.
                        match slot[number] {
                            1 => lanes[begin + to] = lanes[begin + from],
                            slot => lanes.copy_within(begin + from..begin + from + slot, begin + to),
                        }
                    }
                }
            }
        }
    }

    /// What each slot's output adds to the index of the block's first window's first tap.
    pub fn indices(&self, axes: &[Axis]) -> Vec<i64> {
        let along = |(axis, &slots): (&Axis, &usize)| {
            (0..slots).map(|slot| ((slot * axis.stride) as i64).wrapping_mul(axis.index_stride)).collect()
        };
        sums(&axes.iter().zip(&self.layout.slots).map(along).collect::<Vec<_>>())
    }

    /// What the first element of each slot's window adds to the index of its first tap.
    pub fn indices_ahead(&self, axes: &[Axis]) -> Vec<i64> {
        let along = |(number, axis): (usize, &Axis)| {
            let of =
                |slot| if slot < self.layout.outputs[number] { axis.ahead(self.first[number] + slot) } else { None };
            let ahead = (0..self.layout.slots[number]).map(|slot| of(slot).unwrap_or(0) as i64);
            ahead.map(|ahead| ahead.wrapping_mul(axis.index_stride)).collect()
        };
        sums(&axes.iter().enumerate().map(along).collect::<Vec<_>>())
    }
}
