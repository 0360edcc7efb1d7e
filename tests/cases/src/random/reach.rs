//! Windows that reach far beyond tiny tensors: kernels and dilations near powers of two on several axes at once, with
//! pads that keep elements inside every window, so that kernels that do not support empty windows are tested too.

use proptest::prelude::*;
use proptest::sample::select;

/// The random numbers that the far-reaching attributes of one axis are made from.
#[derive(Debug, Clone)]
pub struct Reach {
    kind: u8,
    exponents: [u32; 2],
    /// The distance of the numbers from a power of two.
    offset: i64,
    /// Which tap of a window, or which split of the pads, meets the elements.
    at: u32,
    outputs: i64,
}

/// One reach for each axis that a case may have.
pub fn reaches() -> impl Strategy<Value = Vec<Reach>> {
    let exponent = || select(vec![3u32, 8, 15, 16, 20, 21, 22, 24, 27, 28, 29, 30, 31, 32, 33]);
    let reach = (0..6u8, [exponent(), exponent()], -2..=2i64, any::<u32>(), 1..=8i64)
        .prop_map(|(kind, exponents, offset, at, outputs)| Reach { kind, exponents, offset, at, outputs });
    prop::collection::vec(reach, 5)
}

/// The numbers of an axis.
#[derive(Debug, Clone, Copy)]
pub struct Numbers {
    pub kernel: i64,
    pub stride: i64,
    pub dilation: i64,
    pub pads: [i64; 2],
}

impl Reach {
    fn number(&self, which: usize) -> i64 {
        ((1i64 << self.exponents[which]) + self.offset).max(1)
    }

    /// Attributes of a pool on an axis of `extent` elements: a window is empty only where the stride jumps over the
    /// elements.
    pub fn pool(&self, extent: i64) -> Option<Numbers> {
        let at = i64::from(self.at);
        let numbers = match self.kind {
            // This axis stays an ordinary one beside the others.
            0 => return None,
            // One long kernel: every window holds the elements up to one of them, or from one on.
            1 | 2 => {
                let kernel = self.number(0).max(2);
                let before = kernel - 1 - at % extent;
                let behind = (self.outputs - extent + at % extent).max(0);
                let pads = if self.kind == 1 { [before, behind] } else { [behind, before] };
                Numbers { kernel, stride: 1, dilation: 1, pads }
            }
            // A few taps far apart, of which one meets each output's own element.
            3 => {
                let (kernel, dilation) = (2 + at % 8, self.number(0));
                let tap = (at >> 8) % kernel;
                Numbers { kernel, stride: 1, dilation, pads: [tap * dilation, (kernel - 1 - tap) * dilation] }
            }
            // Many taps far apart: the product of kernel and dilation must not wrap.
            4 => {
                let kernel = self.number(0).max(2);
                let dilation = self.number(1).min((1 << 40) / kernel).max(1);
                let tap = at % kernel;
                Numbers { kernel, stride: 1, dilation, pads: [tap * dilation, (kernel - 1 - tap) * dilation] }
            }
            // Windows far apart, the first or the second of which meets the elements.
            _ => {
                let stride = self.number(0);
                let before = (at % 2) * stride;
                Numbers { kernel: extent, stride, dilation: 1, pads: [before, (at >> 8) % 2 * stride] }
            }
        };
        Some(numbers)
    }

    /// Attributes of an unpool of this many sources along an axis, for an output of a few elements.
    pub fn unpool(&self, sources: i64, stride: i64) -> Option<Numbers> {
        if self.kind == 0 {
            return None;
        }
        let kernel = self.number(0).max(1);
        let total = ((sources - 1) * stride + kernel - self.outputs).max(0);
        let before = match self.at % 4 {
            0 => 0,
            1 => total,
            2 => total / 2,
            _ => (total - i64::from(self.at >> 8) % 8).max(0),
        };
        Some(Numbers { kernel, stride, dilation: 1, pads: [before, total - before] })
    }
}
