//! The outputs among the maxima of all windows.

use bytemuck::{cast_slice, cast_slice_mut};
use wgpu_pooling_plan::Element;

use crate::kernels::reduce::Rows;
use crate::kernels::simd::SimdLevel;

/// Copies every `apart`th position of rows, from the first one on. A position has `inner` neighbouring elements.
pub(super) fn pick<T: Element>(simd: SimdLevel, rows: Rows, [apart, inner]: [usize; 2], to: &mut [T], from: &[T]) {
    // Elements of the same width are moved by the same loop.
    match size_of::<T>() {
        1 => pick_words::<u8>(simd, rows, [apart, inner], cast_slice_mut(to), cast_slice(from)),
        2 => pick_words::<u16>(simd, rows, [apart, inner], cast_slice_mut(to), cast_slice(from)),
        4 => pick_words::<u32>(simd, rows, [apart, inner], cast_slice_mut(to), cast_slice(from)),
        _ => pick_words::<u64>(simd, rows, [apart, inner], cast_slice_mut(to), cast_slice(from)),
    }
}

fn pick_words<T: Copy>(simd: SimdLevel, rows: Rows, [apart, inner]: [usize; 2], to: &mut [T], from: &[T]) {
    // Rows that are picked from rows without a rest are one row.
    let whole = rows.width == rows.to && rows.from == rows.width * apart;
    let rows = if whole { Rows { count: 1, width: rows.count * rows.width, ..rows } } else { rows };
    simd.run(
        #[inline(always)]
        || {
            for row in 0..rows.count {
                let (to, from) = (&mut to[row * rows.to..][..rows.width], &from[row * rows.from..]);
                match (inner, apart) {
                    (1, 2) => pick_row::<T, 2>(to, from),
                    (1, 3) => pick_row::<T, 3>(to, from),
                    (1, 4) => pick_row::<T, 4>(to, from),
                    _ => {
                        let positions = from.chunks(inner).step_by(apart);
                        to.chunks_exact_mut(inner).zip(positions).for_each(|(to, from)| to.copy_from_slice(from));
                    }
                }
            }
        },
    );
}

#[inline(always)]
fn pick_row<T: Copy, const APART: usize>(to: &mut [T], from: &[T]) {
    let Some((last, to)) = to.split_last_mut() else { return };
    *last = from[to.len() * APART];
    to.iter_mut().zip(from.as_chunks::<APART>().0).for_each(|(to, from)| *to = from[0]);
}
