//! Bad indices on the host: whether there are any in a plane, which is the first, and how many there are.

use crate::element::Index;

/// Whether each index that a plane stores names an element of that plane, or is a -1 that is skipped. `base` is the
/// index of the plane's first element. Compiled into the loops of its callers.
#[inline(always)]
pub fn stay_in_plane<I: Index>(indices: &[I], base: i64, elements: u64, skips_minus_one: bool) -> bool {
    let stays = |index: &I| {
        let index = index.to_i64();
        ((index.wrapping_sub(base) as u64) < elements) | (skips_minus_one & (index == -1))
    };
    // Two places are read at a time: one stream of reads does not use all of the memory's bandwidth.
    let (first, second) = indices.split_at(indices.len() / 2);
    let (second, rest) = second.split_at(first.len());
    let stay = first.iter().zip(second).fold(true, |stay, (first, second)| stay & stays(first) & stays(second));
    stay & rest.iter().all(stays)
}

/// The first bad index, by its place in the tensor, and how many there are.
#[derive(Debug, Clone, Copy, Default)]
pub struct BadIndices {
    first: Option<(usize, i64)>,
    count: u64,
}

impl BadIndices {
    /// Counts the bad index `value` of the element at `place`.
    pub fn add(&mut self, place: usize, value: i64) {
        self.merge(BadIndices { first: Some((place, value)), count: 1 });
    }

    /// Adds the bad indices that another thread has counted.
    pub fn merge(&mut self, other: BadIndices) {
        self.count = self.count.saturating_add(other.count);
        self.first = match (self.first, other.first) {
            (Some(own), Some(other)) => Some(if other.0 < own.0 { other } else { own }),
            (own, other) => own.or(other),
        };
    }

    /// The first bad index's place and value, and the number of bad ones, if there are any.
    pub fn found(self) -> Option<(u64, i64, u64)> {
        self.first.map(|(place, value)| (place as u64, value, self.count))
    }
}
