//! Indices whose type is known at run time, so that only loops that read them are compiled for each type.

use std::ops::Range;

use bytemuck::cast_slice;

use crate::element::IndexType;

/// Indices to be read.
#[derive(Debug, Clone, Copy)]
pub enum Indices<'a> {
    /// Of 32 bits.
    I32(&'a [i32]),
    /// Of 64 bits.
    I64(&'a [i64]),
}

impl<'a> Indices<'a> {
    /// The indices of this type in aligned bytes.
    #[inline]
    pub fn new(bytes: &'a [u8], index_type: IndexType) -> Indices<'a> {
        match index_type {
            IndexType::I32 => Indices::I32(cast_slice(bytes)),
            IndexType::I64 => Indices::I64(cast_slice(bytes)),
        }
    }

    /// How many there are.
    #[inline]
    pub fn count(self) -> usize {
        match self {
            Indices::I32(slice) => slice.len(),
            Indices::I64(slice) => slice.len(),
        }
    }

    /// The indices at these places.
    #[inline]
    pub fn part(self, places: Range<usize>) -> Indices<'a> {
        match self {
            Indices::I32(slice) => Indices::I32(&slice[places]),
            Indices::I64(slice) => Indices::I64(&slice[places]),
        }
    }

    /// The index at a place.
    #[inline]
    pub fn get(self, place: usize) -> i64 {
        match self {
            Indices::I32(slice) => i64::from(slice[place]),
            Indices::I64(slice) => slice[place],
        }
    }
}
