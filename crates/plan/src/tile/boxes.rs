//! Boxes that cover a tensor, in memory order.

use std::ops::Range;

use super::region::Region;
use crate::index::take_digit;
use crate::options::Layout;

/// A tensor cut into boxes, which are numbered in the order of the layout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Boxes {
    /// N, C and the spatial extents.
    full: Vec<usize>,
    /// N, C and the spatial extents of a box.
    steps: Vec<usize>,
    /// N, C and the spatial axes, the outermost first.
    order: Vec<usize>,
}

impl Boxes {
    /// Boxes with extents `steps` in a tensor with extents `full`, both along N, C and the spatial axes.
    pub fn of(full: Vec<usize>, steps: Vec<usize>, layout: Layout) -> Boxes {
        let order = match layout {
            Layout::Nchw => (0..full.len()).collect(),
            Layout::Nhwc => [0].into_iter().chain(2..full.len()).chain([1]).collect(),
        };
        Boxes { full, steps, order }
    }

    /// Boxes of at most `most_elements` elements, cut along the outermost axes first.
    pub fn new(batch: usize, channels: usize, spatial: &[usize], layout: Layout, most_elements: u64) -> Boxes {
        let full: Vec<usize> = [batch, channels].into_iter().chain(spatial.iter().copied()).collect();
        let Boxes { full, mut steps, order } = Boxes::of(full.clone(), full, layout);
        let elements = |steps: &[usize]| steps.iter().fold(1, |all: u128, &step| all.saturating_mul(step as u128));
        for &axis in &order {
            if elements(&steps) <= u128::from(most_elements) {
                break;
            }
            steps[axis] = 1;
            let most = u128::from(most_elements).checked_div(elements(&steps)).unwrap_or(u128::MAX);
            steps[axis] = most.clamp(1, full[axis].max(1) as u128) as usize;
        }
        Boxes { full, steps, order }
    }

    pub fn len(&self) -> u64 {
        self.counts().into_iter().fold(1, u64::saturating_mul)
    }

    /// N, C and the spatial axes, the outermost first.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// The box with this number.
    pub fn region(&self, number: u64) -> Region {
        let counts = self.counts();
        let mut rest = number;
        let mut ranges: Vec<Range<usize>> = vec![0..0; self.full.len()];
        for &axis in self.order.iter().rev() {
            let step = self.steps[axis];
            let begin = (take_digit(&mut rest, counts[axis]) as usize).saturating_mul(step);
            ranges[axis] = begin..self.full[axis].min(begin.saturating_add(step));
        }
        let spatial = ranges.split_off(2);
        Region { batch: ranges[0].clone(), channels: ranges[1].clone(), spatial }
    }

    /// All boxes, in order.
    pub fn iter(&self) -> impl Iterator<Item = Region> + '_ {
        (0..self.len()).map(|number| self.region(number))
    }

    fn counts(&self) -> Vec<u64> {
        self.full.iter().zip(&self.steps).map(|(&full, &step)| (full as u64).div_ceil(step.max(1) as u64)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_cover_every_element_once_and_in_order() {
        let shape = [2, 3, 4, 5];
        for layout in [Layout::Nchw, Layout::Nhwc] {
            for most in 1..=130 {
                let boxes = Boxes::new(shape[0], shape[1], &shape[2..], layout, most);
                let whole = Region { batch: 0..2, channels: 0..3, spatial: vec![0..4, 0..5] }.shape(layout);
                let mut next = 0;
                for region in boxes.iter() {
                    assert!(region.elements() <= most.max(1));
                    for (first, length) in region.runs(&whole, layout) {
                        assert_eq!(first, next, "{layout:?} {most}");
                        next += length as u64;
                    }
                }
                assert_eq!(next, 120);
            }
        }
        assert_eq!(Boxes::new(1 << 20, 1 << 20, &[1 << 20], Layout::Nchw, 1 << 30).len(), 1 << 30);
    }
}
