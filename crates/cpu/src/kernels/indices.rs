//! Slices of indices whose type is known at run time: only the loops that read or write indices are compiled for each
//! type, and not the code that calls them.

use std::ops::Range;

use bytemuck::cast_slice_mut;
pub(crate) use wgpu_pooling_plan::internal::Indices;
use wgpu_pooling_plan::{Index, IndexType};

use super::parts::pieces;

/// Indices that a kernel writes.
#[derive(Debug)]
pub(crate) enum IndicesMut<'a> {
    I32(&'a mut [i32]),
    I64(&'a mut [i64]),
}

/// Evaluates an expression with the slice inside [`Indices`] or [`IndicesMut`]; it is compiled for each index type.
macro_rules! with_slice {
    ($enum:ident, $indices:expr, $slice:ident => $expression:expr) => {
        match $indices {
            $enum::I32($slice) => $expression,
            $enum::I64($slice) => $expression,
        }
    };
}
pub(crate) use with_slice;

impl<'a> IndicesMut<'a> {
    /// The indices of this type in aligned bytes.
    pub fn new(bytes: &'a mut [u8], index_type: IndexType) -> IndicesMut<'a> {
        match index_type {
            IndexType::I32 => IndicesMut::I32(cast_slice_mut(bytes)),
            IndexType::I64 => IndicesMut::I64(cast_slice_mut(bytes)),
        }
    }

    /// The indices at these places.
    pub fn part(&mut self, places: Range<usize>) -> IndicesMut<'_> {
        match self {
            IndicesMut::I32(slice) => IndicesMut::I32(&mut slice[places]),
            IndicesMut::I64(slice) => IndicesMut::I64(&mut slice[places]),
        }
    }

    /// The indices from this place on.
    pub fn tail(&mut self, first: usize) -> IndicesMut<'_> {
        match self {
            IndicesMut::I32(slice) => IndicesMut::I32(&mut slice[first..]),
            IndicesMut::I64(slice) => IndicesMut::I64(&mut slice[first..]),
        }
    }

    /// Consecutive pieces of these lengths.
    pub fn pieces(self, lengths: impl IntoIterator<Item = usize>) -> Vec<IndicesMut<'a>> {
        match self {
            IndicesMut::I32(slice) => pieces(slice, lengths).into_iter().map(IndicesMut::I32).collect(),
            IndicesMut::I64(slice) => pieces(slice, lengths).into_iter().map(IndicesMut::I64).collect(),
        }
    }

    /// The slice itself, for code that is compiled for its type.
    pub fn slice<I: Index>(&mut self) -> &mut [I] {
        with_slice!(IndicesMut, self, slice => cast_slice_mut(slice))
    }

    pub fn set(&mut self, place: usize, index: i64) {
        with_slice!(IndicesMut, self, slice => slice[place] = Index::from_i64(index));
    }

    /// Writes consecutive indices from a place on.
    pub fn write(&mut self, place: usize, indices: &[i64]) {
        with_slice!(IndicesMut, self, slice => {
            for (to, &index) in slice[place..][..indices.len()].iter_mut().zip(indices) {
                *to = Index::from_i64(index);
            }
        });
    }
}
