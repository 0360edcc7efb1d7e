//! Loads rows of X as lanes sorted by phases.

use std::any::TypeId;
use std::ops::Range;

use super::block::Block;
use crate::cpu::kernels::axes::Axis;
use crate::cpu::kernels::lane::{Code, Lane};
use crate::cpu::kernels::reduce::in_blocks;
use crate::cpu::kernels::simd::SimdLevel;

/// Loads a batch of rows and says whether there was NaN, or an element that its lane does not give back. What is padding is
/// not written.
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
                // Inside X the place is not negative.
                let place = (block.place + (row.place + inside.start * axis.x_stride) as i64) as usize;
                let of_x = &x[place..][..(inside.len() - 1) * axis.x_stride + layout.channels];
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
        let pieces = lanes.chunks_exact_mut(channels).zip(source.chunks(axis.stride * axis.x_stride));
        pieces.fold(false, |found, (lanes, source)| found | encode::<C>(1, &source[..channels], lanes))
    }
}

/// Every `stride`-th element as a lane. The usual strides are constants, for which there are vector instructions.
#[inline(always)]
fn encode<C: Code>(stride: usize, source: &[C::Element], lanes: &mut [C::Lane]) -> bool {
    match stride {
        1 => strided::<C, 1>(source, lanes),
        2 => strided::<C, 2>(source, lanes),
        3 => strided::<C, 3>(source, lanes),
        4 => strided::<C, 4>(source, lanes),
        _ => {
            let mut found = 0;
            for (lane, &element) in lanes.iter_mut().zip(source.iter().step_by(stride)) {
                *lane = C::encode(element);
                found |= look::<C>(*lane, element);
            }
            found != 0
        }
    }
}

/// Not zero if a lane is NaN or does not give its element back.
#[inline(always)]
fn look<C: Code>(lane: C::Lane, element: C::Element) -> u32 {
    u32::from(C::IS_FLOAT && !is_number(lane)) | u32::from(C::is_special(element))
}

/// Numbers are not below the lowest lane.
#[inline(always)]
fn is_number<L: Lane>(lane: L) -> bool {
    lane >= L::LOWEST
}

#[inline(always)]
fn strided<C: Code, const STRIDE: usize>(source: &[C::Element], lanes: &mut [C::Lane]) -> bool {
    #[inline(always)]
    fn block<C: Code, const STRIDE: usize>(
        length: usize,
        chunks: &[[C::Element; STRIDE]],
        lanes: &mut [C::Lane],
    ) -> u32 {
        let (chunks, lanes) = (&chunks[..length], &mut lanes[..length]);
        let mut found = 0;
        match same_type::<C>(chunks.as_flattened()) {
            Some(own) if STRIDE == 1 => {
                lanes.copy_from_slice(own);
                for lane in own {
                    found |= u32::from(C::IS_FLOAT && !is_number(*lane));
                }
            }
            _ => {
                for i in 0..length {
                    lanes[i] = C::encode(chunks[i][0]);
                    found |= look::<C>(lanes[i], chunks[i][0]);
                }
            }
        }
        found
    }
    let (chunks, rest) = source.as_chunks::<STRIDE>();
    let whole = lanes.len().min(chunks.len());
    let (lanes, last) = lanes.split_at_mut(whole);
    let mut found = 0;
    in_blocks(
        whole,
        #[inline(always)]
        |at, length| found |= block::<C, STRIDE>(length, &chunks[at..], &mut lanes[at..]),
    );
    if let (Some(lane), Some(&element)) = (last.first_mut(), rest.first()) {
        *lane = C::encode(element);
        found |= look::<C>(*lane, element);
    }
    found != 0
}

/// Elements as lanes, if those have the same type: then they are the same numbers.
#[inline(always)]
fn same_type<C: Code>(elements: &[C::Element]) -> Option<&[C::Lane]> {
    let same = TypeId::of::<C::Element>() == TypeId::of::<C::Lane>();
    same.then(|| bytemuck::cast_slice(elements))
}
