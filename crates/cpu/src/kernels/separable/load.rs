//! Loads rows of X as lanes, sorted by phases.

use std::ops::Range;

use super::block::OutputBlock;
use crate::kernels::axes::Axis;
use crate::kernels::lane::Code;
use crate::kernels::reduce::{encode_row, is_nan_or_lossy};
use crate::kernels::simd::SimdLevel;

/// Loads a batch of rows. Returns whether there is an element that [`is_nan_or_lossy`]. Lanes of the padding are not
/// written.
pub(crate) fn load<C: Code>(
    simd: SimdLevel,
    (axis, number): (&Axis, usize),
    (block, batch): (&OutputBlock<'_>, &Range<usize>),
    x: &[C::Element],
    lanes: &mut [C::Lane],
) -> bool {
    let inside = block.inside[number].clone();
    let layout = &block.layout.row;
    simd.run(
        #[inline(always)]
        || {
            let mut found = false;
            for (number, row) in block.layout.rows[batch.clone()].iter().enumerate() {
                // The place of an element inside X is not negative.
                let place = (block.place + (row.place + inside.start * axis.x_stride) as i64) as usize;
                let of_x = &x[place..][..(inside.len() - 1) * axis.x_stride + layout.channels];
                if axis.x_stride == 1 && axis.stride > 1 {
                    found |= of_x
                        .iter()
                        .fold(false, |found, &element| found | is_nan_or_lossy::<C>(C::encode(element), element));
                }
                for phase in &block.phases {
                    let own = &mut lanes[phase.lanes.clone()][number * layout.loaded..][..phase.length];
                    found |= load_row::<C>(axis, layout.channels, &of_x[phase.source..], own);
                }
            }
            found
        },
    )
}

/// Loads the elements of a phase of a row. Returns whether there is an element that [`is_nan_or_lossy`]; with a stride
/// between neighbours in memory false, since the caller has looked at the whole row.
#[inline(always)]
fn load_row<C: Code>(axis: &Axis, channels: usize, source: &[C::Element], lanes: &mut [C::Lane]) -> bool {
    if axis.x_stride == 1 && axis.stride > 1 {
        encode_every::<C>(axis.stride, source, lanes);
        return false;
    }
    // Pieces whose elements are neighbours, and elements from one piece to the next.
    let (piece, step) = match axis.x_stride == channels && axis.stride == 1 {
        true => (lanes.len(), source.len()),
        false => (channels, axis.stride.saturating_mul(axis.x_stride)),
    };
    // No closure, which might be compiled by itself and without the level's instructions.
    let mut found = false;
    for (lanes, source) in lanes.chunks_exact_mut(piece.max(1)).zip(source.chunks(step.max(1))) {
        found |= encode_row::<C>(&source[..piece], lanes, 0);
    }
    found
}

/// Encodes every `stride`-th element. The usual strides are constants, which the compiler vectorises.
#[inline(always)]
fn encode_every<C: Code>(stride: usize, source: &[C::Element], lanes: &mut [C::Lane]) {
    match stride {
        2 => strided::<C, 2>(source, lanes),
        3 => strided::<C, 3>(source, lanes),
        4 => strided::<C, 4>(source, lanes),
        _ => {
            lanes.iter_mut().zip(source.iter().step_by(stride)).for_each(|(lane, &element)| *lane = C::encode(element));
        }
    }
}

#[inline(always)]
fn strided<C: Code, const STRIDE: usize>(source: &[C::Element], lanes: &mut [C::Lane]) {
    let (chunks, rest) = source.as_chunks::<STRIDE>();
    let whole = lanes.len().min(chunks.len());
    let (lanes, last) = lanes.split_at_mut(whole);
    for (lane, chunk) in lanes.iter_mut().zip(chunks) {
        *lane = C::encode(chunk[0]);
    }
    if let (Some(lane), Some(&element)) = (last.first_mut(), rest.first()) {
        *lane = C::encode(element);
    }
}
