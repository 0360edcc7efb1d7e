//! Positions as mixed-radix numbers: a kernel splits a position into digits and sums the digits times strides.

use wgpu_pooling_plan::internal::count;
use wgpu_pooling_plan::{IndexSpace, IndexStrides, Layout, StorageOrder};

/// One digit: its radix, and its stride in each of `K` sums.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Digit<const K: usize> {
    pub radix: u64,
    pub strides: [i64; K],
}

/// The fewest digits, fastest first, that give the same sums.
///
/// Digits of radix 1 are left out, neighbouring digits with matching strides become one digit, and the slowest digits
/// are dropped if their strides are zero. Kernels reduce the last remaining digit by its radix, so dropped digits add
/// nothing.
pub(super) fn merge<const K: usize>(digits: impl IntoIterator<Item = Digit<K>>) -> Vec<Digit<K>> {
    let mut merged: Vec<Digit<K>> = Vec::new();
    for digit in digits.into_iter().filter(|digit| digit.radix != 1) {
        match merged.last_mut() {
            Some(last) if continues(last, &digit) => last.radix = last.radix.saturating_mul(digit.radix),
            _ => merged.push(digit),
        }
    }
    while merged.last().is_some_and(|digit| digit.strides.iter().all(|&stride| stride == 0)) {
        merged.pop();
    }
    merged
}

/// Whether a step of `next` adds as much to every sum as `last.radix` steps of `last`.
fn continues<const K: usize>(last: &Digit<K>, next: &Digit<K>) -> bool {
    last.strides.iter().zip(&next.strides).all(|(&low, &high)| low.checked_mul(last.radix as i64) == Some(high))
}

/// The strides of a dense tensor in a layout. The plan has checked the shape, so none saturates.
pub(super) fn dense_strides(layout: Layout, channels: usize, extents: &[usize]) -> IndexStrides {
    let (plane, channels) = (count(extents) as i64, channels as i64);
    let mut stride = if layout == Layout::Nhwc { channels } else { 1 };
    let mut spatial = vec![0; extents.len()];
    for axis in (0..extents.len()).rev() {
        spatial[axis] = stride;
        stride = stride.saturating_mul(extents[axis] as i64);
    }
    let c = if layout == Layout::Nhwc { 1 } else { plane };
    IndexStrides { n: plane.saturating_mul(channels), c, spatial }
}

/// The coordinate that a digit of an index counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Coordinate {
    /// A spatial axis, counted from the outermost.
    Axis(usize),
    Channel,
    Batch,
}

/// The digits of an index in the order of its convention, fastest first, each with its radix. A convention that does
/// not count the batch or the channel has no such digit.
pub(super) fn index_coordinates(space: &IndexSpace) -> Vec<(Coordinate, usize)> {
    let axes = space.extents.iter().enumerate().map(|(axis, &extent)| (Coordinate::Axis(axis), extent));
    let mut coordinates: Vec<(Coordinate, usize)> = axes.collect();
    if space.order == StorageOrder::RowMajor {
        coordinates.reverse();
    }
    let channel = (Coordinate::Channel, space.channels);
    match space.layout {
        Layout::Nhwc => coordinates.insert(0, channel),
        Layout::Nchw if space.flatten.counts_channels() => coordinates.push(channel),
        Layout::Nchw => {}
    }
    if space.flatten.counts_batch() {
        coordinates.push((Coordinate::Batch, space.batch));
    }
    coordinates
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digit(radix: u64, stride: i64) -> Digit<1> {
        Digit { radix, strides: [stride] }
    }

    fn sum(digits: &[Digit<1>], number: u64) -> i64 {
        let mut rest = number;
        digits.iter().fold(0, |sum, digit| {
            let value = rest % digit.radix;
            rest /= digit.radix;
            sum + value as i64 * digit.strides[0]
        })
    }

    #[test]
    fn a_dense_convention_is_one_digit() {
        assert_eq!(merge([digit(6, 1), digit(1, 99), digit(5, 6), digit(4, 30)]), [digit(120, 1)]);
        // Per plane: the planes above add nothing, but the position still has to be reduced.
        assert_eq!(merge([digit(6, 1), digit(5, 6), digit(4, 0)]), [digit(30, 1)]);
    }

    #[test]
    fn merging_keeps_every_sum() {
        let digits = [digit(3, 20), digit(1, 7), digit(5, 4), digit(2, 20), digit(4, 0)];
        let merged = merge(digits);
        for number in 0..3 * 5 * 2 * 4 {
            assert_eq!(sum(&digits, number), sum(&merged, number));
        }
    }
}
