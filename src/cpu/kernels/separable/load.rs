//! Loads the elements that a block's windows reach, as lanes sorted by phases.

use super::block::Block;
use crate::cpu::kernels::axes::Axis;
use crate::cpu::kernels::lane::{Code, Lane};
use crate::cpu::kernels::simd::SimdLevel;
use crate::element::Element;

/// What the loaded elements were, if somebody wants to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    /// Nobody does.
    No,
    /// Whether there is a NaN.
    ForNan,
    /// Whether there is an element that its lane does not give back.
    ForSpecial,
}

/// Loads a block and says whether there was an element that was looked for.
pub(crate) fn load<C: Code>(
    simd: SimdLevel,
    axes: &[Axis],
    block: &Block<'_>,
    x: &[C::Element],
    lanes: &mut [C::Lane],
    look: Look,
) -> bool {
    let last = axes.len() - 1;
    let (innermost, inside) = (&axes[last], block.inside[last].clone());
    let pitch = block.layout.pitch;
    let arrays = innermost.phase_count() * pitch;
    let slots = block.layout.row_slots();
    simd.run(
        #[inline(always)]
        || {
            let mut found = false;
            for row in &block.layout.rows {
                let own = &mut lanes[row.array * arrays..][..arrays];
                if inside.is_empty() || block.is_padding(row) {
                    own.chunks_exact_mut(pitch).for_each(|array| array[row.slot..][..slots].fill(C::Lane::LOWEST));
                    continue;
                }
                // Inside X the place is not negative.
                let place = (block.place + (row.place + inside.start * innermost.x_stride) as i64) as usize;
                let of_x = &x[place..place + inside.len()];
                found |= match look {
                    Look::No => false,
                    Look::ForNan => of_x.iter().fold(false, |any, element| any | element.is_nan()),
                    Look::ForSpecial => of_x.iter().fold(false, |any, &element| any | C::is_special(element)),
                };
                load_row::<C>(innermost, of_x, inside.start, own, (pitch, row.slot, slots));
            }
            found
        },
    )
}

/// Sorts a row into the arrays of its phases. `low` is its position in the block's row.
#[inline(always)]
fn load_row<C: Code>(
    axis: &Axis,
    row: &[C::Element],
    low: usize,
    arrays: &mut [C::Lane],
    (pitch, slot, slots): (usize, usize, usize),
) {
    let phases = axis.phases.iter().enumerate().filter_map(|(phase, number)| number.map(|_| phase));
    for (array, phase) in arrays.chunks_exact_mut(pitch).zip(phases) {
        let own = &mut array[slot..][..slots];
        // The slots of the first element of the phase, and behind its last one.
        let behind = |position: usize| position.saturating_sub(phase).div_ceil(axis.stride).min(slots);
        let (begin, end) = (behind(low), behind(low + row.len()));
        own[..begin].fill(C::Lane::LOWEST);
        own[end..].fill(C::Lane::LOWEST);
        if begin < end {
            let source = &row[begin * axis.stride + phase - low..];
            let own = &mut own[begin..end];
            encode::<C>(axis.stride, source, own);
        }
    }
}

/// Every `stride`-th element as a lane. The usual strides are constants, for which there are vector instructions.
#[inline(always)]
fn encode<C: Code>(stride: usize, source: &[C::Element], lanes: &mut [C::Lane]) {
    match stride {
        1 => strided::<C, 1>(source, lanes),
        2 => strided::<C, 2>(source, lanes),
        3 => strided::<C, 3>(source, lanes),
        4 => strided::<C, 4>(source, lanes),
        _ => {
            lanes.iter_mut().zip(source.iter().step_by(stride)).for_each(|(lane, &element)| *lane = C::encode(element))
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
