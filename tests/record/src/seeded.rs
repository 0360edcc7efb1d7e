//! Random plans in numbers alone, which `pooling.rs` turns into plans of the library. A seed gives the same plans
//! always.

use fastrand::Rng;

/// The operators, by which a plan is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Window,
    Whole,
    Adaptive,
    Unpool,
    Inverse,
}

/// How often each is drawn, of 20 times.
const KINDS: [(Kind, u32); 5] =
    [(Kind::Window, 9), (Kind::Whole, 1), (Kind::Adaptive, 3), (Kind::Unpool, 3), (Kind::Inverse, 4)];

/// The number of options that have a throw of the dice.
pub const OPTIONS: usize = 20;

/// What is asked of a plan.
#[derive(Debug, Clone)]
pub struct Ask {
    pub kind: Kind,
    pub batch: usize,
    pub channels: usize,
    /// The spatial extents of what is read.
    pub extents: Vec<usize>,
    pub kernel: Vec<i64>,
    pub strides: Vec<i64>,
    pub dilations: Vec<i64>,
    /// All begins, then all ends.
    pub pads: Vec<i64>,
    /// Windows of an adaptive pool along each axis; the spatial extents that an unpool is asked for.
    pub outputs: Option<Vec<i64>>,
    /// A number for each option; zero asks for the default, and most are zero.
    pub options: [u8; OPTIONS],
    /// Numbers for the element type, the NaN rule, the index types and the layout, all alike likely.
    pub types: [u8; 5],
}

/// How large tensors are.
#[derive(Debug, Clone, Copy)]
struct Size {
    outer: usize,
    extent: usize,
    kernel: i64,
}

/// The sizes: most tensors are small, and some are beyond every limit.
fn size(rng: &mut Rng) -> Size {
    match rng.u8(0..20) {
        0..8 => Size { outer: 4, extent: 20, kernel: 4 },
        8..14 => Size { outer: 40, extent: 120, kernel: 5 },
        14..17 => Size { outer: 200, extent: 300, kernel: 16 },
        17..19 => Size { outer: 300, extent: 3_000, kernel: 100 },
        _ => Size { outer: 3_000, extent: 200_000, kernel: 70_000 },
    }
}

impl Ask {
    /// The next plan that is drawn.
    pub fn draw(rng: &mut Rng) -> Ask {
        let mut at = rng.u32(0..KINDS.iter().map(|(_, weight)| weight).sum());
        let drawn = KINDS.iter().find(|(_, weight)| at.checked_sub(*weight).map(|left| at = left).is_none());
        let kind = drawn.map_or(Kind::Window, |(kind, _)| *kind);
        let size = size(rng);
        let rank = [1, 2, 2, 2, 3, 3, 4][rng.usize(0..7)];
        let mut ask = Ask {
            kind,
            batch: 1 + rng.usize(0..size.outer),
            channels: 1 + rng.usize(0..size.outer),
            extents: Vec::new(),
            kernel: Vec::new(),
            strides: Vec::new(),
            dilations: Vec::new(),
            pads: vec![0; 2 * rank],
            outputs: None,
            options: [(); OPTIONS].map(|()| if rng.u8(0..5) == 0 { rng.u8(..) } else { 0 }),
            types: [(); 5].map(|()| rng.u8(..)),
        };
        let (padded, dilated, apart) = (rng.bool(), rng.u8(0..4) == 0, rng.u8(0..3) == 0);
        // Extents of higher ranks are smaller, so that as many tensors are large.
        let most = if rank > 2 { size.extent.isqrt() + 4 } else { size.extent };
        for axis in 0..rank {
            let extent = if rng.u8(0..6) == 0 { 1 } else { 1 + rng.usize(0..most) };
            let dilation = if dilated { rng.i64(1..4) } else { 1 };
            let fitting = ((extent as i64 - 1) / dilation + 1).min(size.kernel);
            // Some windows are larger than what they lie on.
            let kernel = 1 + rng.i64(0..fitting) + if rng.u8(0..40) == 0 { 3 } else { 0 };
            ask.extents.push(extent);
            ask.dilations.push(dilation);
            ask.kernel.push(kernel);
            ask.strides.push(if apart { kernel } else { rng.i64(1..4) });
            if padded {
                let most = kernel / 2 + i64::from(rng.u8(0..8) == 0);
                ask.pads[axis] = rng.i64(0..=most);
                ask.pads[axis + rank] = rng.i64(0..=most);
            }
        }
        ask.outputs = ask.outputs(rng);
        ask
    }

    fn outputs(&self, rng: &mut Rng) -> Option<Vec<i64>> {
        let axes = || self.extents.iter().zip(&self.kernel).zip(&self.strides);
        match self.kind {
            Kind::Adaptive => Some(self.extents.iter().map(|&extent| 1 + rng.i64(0..=extent as i64)).collect()),
            // A little more than the windows cover.
            Kind::Unpool if rng.bool() => Some(
                axes()
                    .map(|((&extent, kernel), stride)| (extent as i64 - 1) * stride + kernel + rng.i64(0..3))
                    .collect(),
            ),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_plans_of_every_kind() {
        let drawn = || {
            let mut rng = Rng::with_seed(1);
            (0..200).map(|_| Ask::draw(&mut rng)).collect::<Vec<_>>()
        };
        assert_eq!(format!("{:?}", drawn()), format!("{:?}", drawn()));
        for (kind, _) in KINDS {
            assert!(drawn().iter().any(|ask| ask.kind == kind), "{kind:?}");
        }
    }
}
