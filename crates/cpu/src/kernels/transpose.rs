//! Transposes matrices: indices whose layout changes between NCHW and NHWC, and planes whose elements are interleaved
//! so that neighbours in a vector belong to different planes at one position.
//!
//! ```text
//! rows of a block                 a0 a1 a2 a3   b0 b1 b2 b3   c0 c1 c2 c3   d0 d1 d2 d3
//! interleaved a with c, b with d  a0 c0 a1 c1   a2 c2 a3 c3   b0 d0 b1 d1   b2 d2 b3 d3
//! once more                       a0 b0 c0 d0   a1 b1 c1 d1   a2 b2 c2 d2   a3 b3 c3 d3
//! ```

use bytemuck::{Pod, Zeroable, cast_slice, cast_slice_mut};
use fearless_simd::{Simd, SimdBase};
use wgpu_pooling_plan::{Index, IndexType};

use super::simd::{SimdLevel, VectorLoop};

/// The most indices of a vector, and the most elements of 8 bits.
const MOST_INDICES: usize = 16;
const MOST_LANES: usize = 64;

/// Some rows of a matrix.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Matrix<'a, I> {
    pub elements: &'a [I],
    pub rows: usize,
    /// Elements from one row to the next.
    pub pitch: usize,
}

/// Writes each of the first columns of a matrix to a slice of its own, beginning at place `at`.
pub(crate) fn transpose<I: Index>(simd: SimdLevel, from: Matrix<'_, I>, to: &mut [&mut [I]], at: usize) {
    if simd.vectors(Blocks { from, to, at }) == Some(true) {
        return;
    }
    for (column, to) in to.iter_mut().enumerate() {
        for (row, to) in to[at..][..from.rows].iter_mut().enumerate() {
            *to = from.elements[row * from.pitch + column];
        }
    }
}

/// The loop over square blocks. It returns false if there are fewer rows or columns than a block has.
struct Blocks<'a, 'b, I> {
    from: Matrix<'a, I>,
    to: &'a mut [&'b mut [I]],
    at: usize,
}

impl<I: Index> VectorLoop for Blocks<'_, '_, I> {
    type Output = bool;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> bool {
        match I::INDEX_TYPE {
            IndexType::I32 => self.blocks::<S, S::i32s>(simd),
            IndexType::I64 => self.blocks::<S, S::i64s>(simd),
        }
    }
}

impl<I: Index> Blocks<'_, '_, I> {
    #[inline(always)]
    fn blocks<S: Simd, V: SimdBase<S, Element: Pod>>(self, simd: S) -> bool {
        let Blocks { from, to, at } = self;
        let lanes = V::LEN;
        if from.rows < lanes || to.len() < lanes {
            return false;
        }
        for column in (0..to.len()).step_by(lanes) {
            // The last rows and columns again, with some before them.
            let column = column.min(to.len() - lanes);
            for row in (0..from.rows).step_by(lanes) {
                let row = row.min(from.rows - lanes);
                let mut block = [V::splat(simd, V::Element::zeroed()); MOST_INDICES];
                let mut other = block;
                for (i, vector) in block[..lanes].iter_mut().enumerate() {
                    let elements = &from.elements[(row + i) * from.pitch + column..][..lanes];
                    *vector = V::from_slice(simd, cast_slice(elements));
                }
                let block = transposed(&mut block, &mut other);
                for (i, to) in to[column..][..lanes].iter_mut().enumerate() {
                    block[i].store_slice(cast_slice_mut(&mut to[at + row..][..lanes]));
                }
            }
        }
        true
    }
}

/// The columns of the square block whose rows are the first vectors. They are in one of the two arrays.
#[inline(always)]
fn transposed<'a, S: Simd, V: SimdBase<S>, const N: usize>(block: &'a mut [V; N], other: &'a mut [V; N]) -> &'a [V; N] {
    let (mut from, mut to) = (block, other);
    let mut round = 1;
    // Each round interleaves the first half of the vectors with the second half.
    while round < V::LEN {
        for i in 0..V::LEN / 2 {
            to[2 * i] = from[i].zip_low(from[i + V::LEN / 2]);
            to[2 * i + 1] = from[i].zip_high(from[i + V::LEN / 2]);
        }
        (from, to) = (to, from);
        round *= 2;
    }
    from
}

/// Unsigned integers as wide as elements: a transposition moves bits and compares nothing.
trait Bits: Pod {
    type Vector<S: Simd>: SimdBase<S, Element = Self>;
}

impl Bits for u8 {
    type Vector<S: Simd> = S::u8s;
}

impl Bits for u16 {
    type Vector<S: Simd> = S::u16s;
}

impl Bits for u32 {
    type Vector<S: Simd> = S::u32s;
}

impl Bits for u64 {
    type Vector<S: Simd> = S::u64s;
}

/// Planes that follow each other in memory, at most one per lane, and their interleaved elements.
///
/// ```text
/// planes        a0 a1 a2 a3 ..   b0 b1 b2 b3 ..   c0 c1 c2 c3 ..
/// interleaved   a0 b0 c0   a1 b1 c1   a2 b2 c2   ..
/// ```
#[derive(Debug, Clone, Copy)]
pub(crate) struct InterleavedPlanes {
    pub count: usize,
    /// The elements of a plane.
    pub plane: usize,
    /// Lanes from one position to the next among interleaved elements; a multiple of the length of every vector.
    pub lanes: usize,
}

/// The number of elements after the planes that are loaded with them.
pub(crate) const BEHIND: usize = MOST_LANES;

/// Interleaves planes of elements of 1, 2, 4 or 8 bytes, followed by `BEHIND` more elements. Lanes without a plane
/// repeat the last plane.
pub(crate) fn interleave(simd: SimdLevel, bytes: usize, planes: InterleavedPlanes, from: &[u8], to: &mut [u8]) {
    match bytes {
        1 => interleave_bits::<u8>(simd, planes, from, to),
        2 => interleave_bits::<u16>(simd, planes, cast_slice(from), cast_slice_mut(to)),
        4 => interleave_bits::<u32>(simd, planes, cast_slice(from), cast_slice_mut(to)),
        _ => interleave_bits::<u64>(simd, planes, cast_slice(from), cast_slice_mut(to)),
    }
}

fn interleave_bits<T: Bits>(simd: SimdLevel, planes: InterleavedPlanes, from: &[T], to: &mut [T]) {
    if simd.vectors(Interleave { planes, from, to }).is_some() {
        return;
    }
    for (position, to) in to.chunks_exact_mut(planes.lanes).take(planes.plane).enumerate() {
        for (lane, to) in to.iter_mut().enumerate() {
            *to = from[lane.min(planes.count - 1) * planes.plane + position];
        }
    }
}

struct Interleave<'a, T> {
    planes: InterleavedPlanes,
    from: &'a [T],
    to: &'a mut [T],
}

impl<T: Bits> VectorLoop for Interleave<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Interleave { planes: InterleavedPlanes { count, plane, lanes }, from, to } = self;
        let width = T::Vector::<S>::LEN;
        let mut block = [T::Vector::splat(simd, T::zeroed()); MOST_LANES];
        let mut other = block;
        for position in (0..plane).step_by(width) {
            // The last positions again, with some before them. A plane with fewer positions is loaded with elements
            // after it.
            let position = position.min(plane.saturating_sub(width));
            for lane in (0..lanes).step_by(width) {
                for (i, vector) in block[..width].iter_mut().enumerate() {
                    let elements = &from[(lane + i).min(count - 1) * plane + position..][..width];
                    *vector = T::Vector::from_slice(simd, elements);
                }
                let columns = transposed(&mut block, &mut other);
                for (i, column) in columns[..width.min(plane)].iter().enumerate() {
                    column.store_slice(&mut to[(position + i) * lanes + lane..][..width]);
                }
            }
        }
    }
}

/// Writes interleaved elements plane by plane. Elements of `to` after the planes may be overwritten.
pub(crate) fn separate(simd: SimdLevel, bytes: usize, planes: InterleavedPlanes, from: &[u8], to: &mut [u8]) {
    match bytes {
        1 => separate_bits::<u8>(simd, planes, from, to),
        2 => separate_bits::<u16>(simd, planes, cast_slice(from), cast_slice_mut(to)),
        4 => separate_bits::<u32>(simd, planes, cast_slice(from), cast_slice_mut(to)),
        _ => separate_bits::<u64>(simd, planes, cast_slice(from), cast_slice_mut(to)),
    }
}

fn separate_bits<T: Bits>(simd: SimdLevel, planes: InterleavedPlanes, from: &[T], to: &mut [T]) {
    if planes.plane == 1 {
        return to[..planes.count].copy_from_slice(&from[..planes.count]);
    }
    if simd.vectors(Separate { planes, from, to: &mut *to }).is_some() {
        return;
    }
    for (lane, to) in to.chunks_exact_mut(planes.plane).take(planes.count).enumerate() {
        to.iter_mut().enumerate().for_each(|(position, to)| *to = from[position * planes.lanes + lane]);
    }
}

struct Separate<'a, T> {
    planes: InterleavedPlanes,
    from: &'a [T],
    to: &'a mut [T],
}

impl<T: Bits> VectorLoop for Separate<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Separate { planes: InterleavedPlanes { count, plane, lanes }, from: all, to } = self;
        let width = T::Vector::<S>::LEN;
        let mut block = [T::Vector::splat(simd, T::zeroed()); MOST_LANES];
        let mut other = block;
        for lane in (0..count).step_by(width) {
            for position in (0..plane).step_by(width) {
                let position = position.min(plane.saturating_sub(width));
                for (i, vector) in block[..width].iter_mut().enumerate() {
                    let from = (position + i).min(plane - 1) * lanes + lane;
                    *vector = T::Vector::from_slice(simd, &all[from..][..width]);
                }
                let rows = transposed(&mut block, &mut other);
                for (i, row) in rows[..width.min(count - lane)].iter().enumerate() {
                    let place = (lane + i) * plane + position;
                    match to.get_mut(place..place + width) {
                        Some(to) => row.store_slice(to),
                        None => to[place..][..width.min(plane)].copy_from_slice(&row.as_slice()[..width.min(plane)]),
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns_become_rows<I: Index>() {
        for (rows, columns, pitch) in [(1, 1, 1), (3, 70, 70), (16, 16, 19), (37, 21, 30), (64, 2, 2)] {
            let elements: Vec<I> = (0..rows * pitch).map(|number| I::from_i64(number as i64)).collect();
            for &level in SimdLevel::available() {
                let mut written = vec![vec![I::from_i64(-1); rows + 2]; columns];
                let mut to: Vec<&mut [I]> = written.iter_mut().map(Vec::as_mut_slice).collect();
                transpose(level, Matrix { elements: &elements, rows, pitch }, &mut to, 1);
                for (column, written) in written.iter().enumerate() {
                    let inside = (0..rows).map(|row| (row * pitch + column) as i64);
                    let expected: Vec<i64> = [-1].into_iter().chain(inside).chain([-1]).collect();
                    assert_eq!(written.iter().map(|index| index.to_i64()).collect::<Vec<_>>(), expected, "{level:?}");
                }
            }
        }
    }

    #[test]
    fn the_columns_of_a_matrix_become_rows() {
        columns_become_rows::<i32>();
        columns_become_rows::<i64>();
    }
}
