//! Boxes in tensors.

use std::ops::Range;

use crate::index::take_digit;
use crate::options::Layout;
use crate::plan::assemble;
use crate::tensor::count;

/// A box in a tensor: a range of batch items, of channels and of every spatial axis, whatever the layout.
///
/// ```
/// use wgpu_pooling_plan::{Layout, Region};
///
/// // Rows 1 and 2 of both channels of a tensor of three rows of four.
/// let rows = Region { batch: 0..1, channels: 0..2, spatial: vec![1..3, 0..4] };
/// assert_eq!((rows.elements(), rows.shape(Layout::Nhwc)), (16, vec![1, 2, 4, 2]));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Region {
    /// Batch items.
    pub batch: Range<usize>,
    /// Channels.
    pub channels: Range<usize>,
    /// A range of each spatial axis, outermost first.
    pub spatial: Vec<Range<usize>>,
}

impl Region {
    /// The number of elements of the box.
    pub fn elements(&self) -> u64 {
        count(&self.shape(Layout::Nchw))
    }

    /// The least box that has both boxes in it.
    pub(crate) fn union(&self, other: &Region) -> Region {
        let both = |one: &Range<usize>, other: &Range<usize>| one.start.min(other.start)..one.end.max(other.end);
        let spatial = self.spatial.iter().zip(&other.spatial).map(|(one, other)| both(one, other)).collect();
        let (batch, channels) = (both(&self.batch, &other.batch), both(&self.channels, &other.channels));
        Region { batch, channels, spatial }
    }

    /// The box's own shape in a layout.
    ///
    /// ```
    /// use wgpu_pooling_plan::{Layout, Region};
    /// assert_eq!(Region { batch: 0..2, channels: 1..4, spatial: vec![3..8] }.shape(Layout::Nchw), [2, 3, 5]);
    /// ```
    pub fn shape(&self, layout: Layout) -> Vec<usize> {
        let spatial: Vec<usize> = self.spatial.iter().map(Range::len).collect();
        assemble(layout, self.batch.len(), self.channels.len(), &spatial)
    }

    /// The contiguous runs that the box covers in a dense tensor of this shape and layout, each as its first position
    /// and its length, in the order of the box's own tensor.
    ///
    /// ```
    /// use wgpu_pooling_plan::{Layout, Region};
    ///
    /// let corner = Region { batch: 0..1, channels: 0..2, spatial: vec![1..3, 1..3] };
    /// let runs = corner.runs(&[1, 2, 3, 4], Layout::Nchw).collect::<Vec<_>>();
    /// assert_eq!(runs, [(5, 2), (9, 2), (17, 2), (21, 2)]);
    /// // Whole rows are neighbours.
    /// let rows = Region { batch: 0..1, channels: 0..1, spatial: vec![1..3, 0..4] };
    /// assert_eq!(rows.runs(&[1, 2, 3, 4], Layout::Nchw).collect::<Vec<_>>(), [(4, 8)]);
    /// ```
    pub fn runs(&self, shape: &[usize], layout: Layout) -> impl Iterator<Item = (u64, usize)> + use<> {
        let mut ranges = vec![self.batch.clone()];
        ranges.extend(self.spatial.iter().cloned());
        ranges.insert(if layout == Layout::Nchw { 1 } else { ranges.len() }, self.channels.clone());
        // The innermost axis that the box cuts, with all axes inside it, makes one run.
        let inside = (0..ranges.len()).rev().find(|&axis| ranges[axis] != (0..shape[axis])).unwrap_or(0);
        let inner = ranges[inside..].iter().fold(1, |inner: usize, range| inner.saturating_mul(range.len()));
        // The position of the first element, and the extent and stride of each axis outside a run.
        let (mut corner, mut outside, mut stride) = (0u64, Vec::new(), 1u64);
        for (axis, range) in ranges.iter().enumerate().rev() {
            corner = corner.saturating_add(stride.saturating_mul(range.start as u64));
            if axis < inside {
                outside.push((range.len() as u64, stride));
            }
            stride = stride.saturating_mul(shape[axis] as u64);
        }
        let runs =
            if inner == 0 { 0 } else { outside.iter().fold(1, |runs: u64, (extent, _)| runs.saturating_mul(*extent)) };
        (0..runs).map(move |number| {
            let (mut rest, mut first) = (number, corner);
            for &(extent, stride) in &outside {
                first = first.saturating_add(take_digit(&mut rest, extent).saturating_mul(stride));
            }
            (first, inner)
        })
    }
}
