//! Indices whose layout in memory changes from channels apart to channels together, or back: the transposition of a matrix.
//!
//! ```text
//! rows of a block                 a0 a1 a2 a3   b0 b1 b2 b3   c0 c1 c2 c3   d0 d1 d2 d3
//! interleaved a with c, b with d  a0 c0 a1 c1   a2 c2 a3 c3   b0 d0 b1 d1   b2 d2 b3 d3
//! once more                       a0 b0 c0 d0   a1 b1 c1 d1   a2 b2 c2 d2   a3 b3 c3 d3
//! ```

use bytemuck::{Pod, Zeroable, cast_slice, cast_slice_mut};
use fearless_simd::{Simd, SimdBase};

use super::simd::{SimdLevel, VectorLoop};
use crate::element::{Index, IndexType};

/// The most indices of a vector.
const MOST_LANES: usize = 16;

/// Some rows of a matrix.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Matrix<'a, I> {
    pub elements: &'a [I],
    pub rows: usize,
    /// Elements from one row to the next.
    pub apart: usize,
}

/// Writes the first columns of a matrix, each to a slice of its own from place `at` on.
pub(crate) fn transpose<I: Index>(simd: SimdLevel, from: Matrix<'_, I>, to: &mut [&mut [I]], at: usize) {
    if simd.vectors(Blocks { from, to, at }) == Some(true) {
        return;
    }
    for (column, to) in to.iter_mut().enumerate() {
        for (row, to) in to[at..][..from.rows].iter_mut().enumerate() {
            *to = from.elements[row * from.apart + column];
        }
    }
}

/// The loop over square blocks. It says whether there are as many rows and columns as a block has.
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
            // The last rows and columns once more, with some before them.
            let column = column.min(to.len() - lanes);
            for row in (0..from.rows).step_by(lanes) {
                let row = row.min(from.rows - lanes);
                let mut block = [V::splat(simd, V::Element::zeroed()); MOST_LANES];
                for (i, vector) in block[..lanes].iter_mut().enumerate() {
                    let elements = &from.elements[(row + i) * from.apart + column..][..lanes];
                    *vector = V::from_slice(simd, cast_slice(elements));
                }
                // Each round interleaves the first half of the vectors with the second one.
                let mut round = 1;
                while round < lanes {
                    let before = block;
                    for i in 0..lanes / 2 {
                        block[2 * i] = before[i].zip_low(before[i + lanes / 2]);
                        block[2 * i + 1] = before[i].zip_high(before[i + lanes / 2]);
                    }
                    round *= 2;
                }
                for (i, to) in to[column..][..lanes].iter_mut().enumerate() {
                    block[i].store_slice(cast_slice_mut(&mut to[at + row..][..lanes]));
                }
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns_become_rows<I: Index>() {
        for (rows, columns, apart) in [(1, 1, 1), (3, 70, 70), (16, 16, 19), (37, 21, 30), (64, 2, 2)] {
            let elements: Vec<I> = (0..rows * apart).map(|number| I::from_i64(number as i64)).collect();
            for &level in SimdLevel::available() {
                let mut written = vec![vec![I::from_i64(-1); rows + 2]; columns];
                let mut to: Vec<&mut [I]> = written.iter_mut().map(Vec::as_mut_slice).collect();
                transpose(level, Matrix { elements: &elements, rows, apart }, &mut to, 1);
                for (column, written) in written.iter().enumerate() {
                    let inside = (0..rows).map(|row| (row * apart + column) as i64);
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
