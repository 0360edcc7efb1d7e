//! Copies the outputs out of the maxima of all windows.

use bytemuck::{cast_slice, cast_slice_mut};
use wgpu_pooling_plan::Element;

use crate::kernels::reduce::Rows;
use crate::kernels::simd::SimdLevel;

/// Copies every `stride`th position of rows, beginning with the first one. A position has `inner` neighbouring
/// elements.
pub(super) fn pick<T: Element>(simd: SimdLevel, rows: Rows, [stride, inner]: [usize; 2], to: &mut [T], from: &[T]) {
    // Elements of the same width are moved by the same loop.
    match size_of::<T>() {
        1 => pick_words::<u8>(simd, rows, [stride, inner], cast_slice_mut(to), cast_slice(from)),
        2 => pick_words::<u16>(simd, rows, [stride, inner], cast_slice_mut(to), cast_slice(from)),
        4 => pick_words::<u32>(simd, rows, [stride, inner], cast_slice_mut(to), cast_slice(from)),
        _ => pick_words::<u64>(simd, rows, [stride, inner], cast_slice_mut(to), cast_slice(from)),
    }
}

fn pick_words<T: Copy>(simd: SimdLevel, rows: Rows, [stride, inner]: [usize; 2], to: &mut [T], from: &[T]) {
    // Rows whose length is a multiple of the stride are copied as one row.
    let whole = rows.width == rows.write_pitch && rows.read_pitch == rows.width * stride;
    let rows = if whole { Rows { count: 1, width: rows.count * rows.width, ..rows } } else { rows };
    simd.run(
        #[inline(always)]
        || {
            for row in 0..rows.count {
                let (to, from) = (&mut to[row * rows.write_pitch..][..rows.width], &from[row * rows.read_pitch..]);
                match (inner, stride) {
                    (1, 2) => pick_row::<T, 2>(to, from),
                    (1, 3) => pick_row::<T, 3>(to, from),
                    (1, 4) => pick_row::<T, 4>(to, from),
                    _ => {
                        let positions = from.chunks(inner).step_by(stride);
                        to.chunks_exact_mut(inner).zip(positions).for_each(|(to, from)| to.copy_from_slice(from));
                    }
                }
            }
        },
    );
}

#[inline(always)]
fn pick_row<T: Copy, const STRIDE: usize>(to: &mut [T], from: &[T]) {
    let Some((last, to)) = to.split_last_mut() else { return };
    *last = from[to.len() * STRIDE];
    to.iter_mut().zip(from.as_chunks::<STRIDE>().0).for_each(|(to, from)| *to = from[0]);
}
