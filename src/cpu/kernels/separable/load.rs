//! Loads the elements that a block's windows reach, as lanes sorted by phases.

use super::axes::Axis;
use super::block::Block;
use super::lane::{Code, Lane};
use crate::cpu::kernels::simd::SimdLevel;

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
    let mut found = false;
    let (last, pitch) = (axes.len() - 1, block.layout.pitch);
    let innermost = &axes[last];
    let arrays = innermost.phase_count();
    let row_slots = block.layout.row_slots();
    // The positions of a row that lie inside X.
    let start = block.start[last];
    let positions = block.layout.positions[last] as i64;
    let (low, high) =
        ((-start).clamp(0, positions) as usize, (innermost.input as i64 - start).clamp(0, positions) as usize);
    block.each_row(axes, |row| {
        let rows = &mut lanes[row.array * arrays * pitch..][..arrays * pitch];
        let Some(place) = row.place.filter(|_| low < high) else {
            for array in rows.chunks_exact_mut(pitch) {
                array[row.slot..][..row_slots].fill(C::Lane::LOWEST);
            }
            return;
        };
        // Positions before X are padding, so the place is that of the first position inside.
        let row_of_x = &x[(place as i64 + start + low as i64) as usize..][..high - low];
        match look {
            Look::No => {}
            Look::ForNan => {
                found |= any(
                    simd,
                    row_of_x,
                    #[inline(always)]
                    |element| crate::element::Element::is_nan(element),
                )
            }
            Look::ForSpecial => found |= any(simd, row_of_x, C::is_special),
        }
        load_row::<C>(simd, innermost, row_of_x, low, rows, (pitch, row.slot, row_slots));
    });
    found
}

#[inline(always)]
fn any<T: Copy>(simd: SimdLevel, row: &[T], is: impl Fn(T) -> bool) -> bool {
    simd.run(
        #[inline(always)]
        || row.iter().fold(false, |any, &element| any | is(element)),
    )
}

/// Sorts a row into the arrays of its phases. `low` is its position in the block's row.
fn load_row<C: Code>(
    simd: SimdLevel,
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
            simd.run(
                #[inline(always)]
                || encode::<C>(axis.stride, source, own),
            );
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
