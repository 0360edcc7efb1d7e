//! Peaks, read off the indices of the pool.

use std::cmp::Reverse;
use std::fmt::Write;

use wgpu_pooling::Tensor;

use crate::brightness;

/// A pixel that is the maximum of the window around it.
pub struct Peak {
    pub x: u32,
    pub y: u32,
    /// As 8-bit grey, from 0 to 255.
    pub brightness: f64,
}

/// The number of maxima, and the peaks: the maxima that are bright enough, the brightest first. Peaks of equal
/// brightness are in the order of their positions.
///
/// An index names the pixel that has its window's maximum, so a pixel is the maximum of its own window if the index in
/// its place is its own position: non-maximum suppression is a comparison of integers. Of equal pixels in a window the
/// pool takes the first one, row by row, so the others in that window are no maxima.
pub fn find(brightness: &Tensor<u32>, indices: &Tensor<i32>, threshold: f64) -> (usize, Vec<Peak>) {
    let width = brightness.shape()[3] as u32;
    let own = |&(position, &index): &(u32, &i32)| u32::try_from(index) == Ok(position);
    let maxima: Vec<u32> = (0u32..).zip(indices.data()).filter(own).map(|(position, _)| position).collect();
    let mut peaks: Vec<(u32, u32)> =
        maxima.iter().map(|&position| (brightness.data()[position as usize], position)).collect();
    peaks.sort_by_key(|&(units, position)| (Reverse(units), position));
    let peaks = peaks
        .into_iter()
        .map(|(units, position)| Peak {
            x: position % width,
            y: position / width,
            brightness: brightness::in_grey(units),
        })
        .filter(|peak| peak.brightness >= threshold)
        .collect();
    (maxima.len(), peaks)
}

/// A table of peaks, one in a line.
pub fn table(peaks: &[Peak]) -> String {
    let mut table = String::new();
    for (rank, Peak { x, y, brightness }) in (1..).zip(peaks) {
        if rank == 1 {
            table.push_str("\n  rank      x      y  brightness\n");
        }
        // Writing to a String cannot fail.
        let _ = writeln!(table, "{rank:6} {x:6} {y:6} {brightness:11.2}");
    }
    table
}
