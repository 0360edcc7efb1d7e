//! Loads rows of X as lanes, sorted by phases.

use std::ops::Range;

use super::block::Block;
use crate::kernels::axes::Axis;
use crate::kernels::lane::Code;
use crate::kernels::reduce::{encode_row, is_nan_or_lossy};
use crate::kernels::simd::SimdLevel;

/// Loads a batch of rows. Returns whether there is an element that [`is_nan_or_lossy`]. Lanes of the padding are not
/// written.
pub(crate) fn load<C: Code>(
    simd: SimdLevel,
    (axis, number): (&Axis, usize),
    (block, batch): (&Block<'_>, &Range<usize>),
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

/// Loads the elements of a phase of a row.
#[inline(always)]
fn load_row<C: Code>(axis: &Axis, channels: usize, source: &[C::Element], lanes: &mut [C::Lane]) -> bool {
    if axis.x_stride == 1 {
        encode::<C>(axis.stride, source, lanes)
    } else if axis.x_stride == channels && axis.stride == 1 {
        encode::<C>(1, source, lanes)
    } else {
        let pieces = lanes.chunks_exact_mut(channels).zip(source.chunks(axis.stride.saturating_mul(axis.x_stride)));
        pieces.fold(false, |found, (lanes, source)| found | encode::<C>(1, &source[..channels], lanes))
    }
}

/// Encodes every `stride`-th element. The usual strides are constants, which the compiler vectorises. With stride 1 it
/// returns whether there is an element that [`is_nan_or_lossy`].
#[inline(always)]
fn encode<C: Code>(stride: usize, source: &[C::Element], lanes: &mut [C::Lane]) -> bool {
    match stride {
        1 => return encode_row::<C>(source, lanes),
        2 => strided::<C, 2>(source, lanes),
        3 => strided::<C, 3>(source, lanes),
        4 => strided::<C, 4>(source, lanes),
        _ => {
            lanes.iter_mut().zip(source.iter().step_by(stride)).for_each(|(lane, &element)| *lane = C::encode(element));
        }
    }
    false
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
