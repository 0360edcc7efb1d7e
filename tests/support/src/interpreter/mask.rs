//! Sets of invocations.

use std::ops::{BitAnd, BitOr, Not};

/// The most invocations of a workgroup.
pub const MOST: usize = 256;
/// The bits of a part.
const PART: usize = 64;

/// Some invocations of a workgroup.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Mask([u64; MOST / PART]);

impl Mask {
    pub const NONE: Mask = Mask([0; MOST / PART]);

    /// Those for which `is_in` holds, of so many.
    pub fn of(lanes: usize, is_in: impl Fn(usize) -> bool) -> Mask {
        let mut mask = Mask::NONE;
        for lane in (0..lanes).filter(|&lane| is_in(lane)) {
            mask.0[lane / PART] |= 1 << (lane % PART);
        }
        mask
    }

    pub fn any(self) -> bool {
        self != Mask::NONE
    }

    pub fn lanes(self) -> impl Iterator<Item = usize> {
        self.0.into_iter().zip((0..MOST).step_by(PART)).flat_map(|(part, first)| {
            let next = |&rest: &u64| Some(rest & rest.wrapping_sub(1));
            std::iter::successors(Some(part), next)
                .take_while(|&rest| rest != 0)
                .map(move |rest| first + rest.trailing_zeros() as usize)
        })
    }
}

impl BitAnd for Mask {
    type Output = Mask;

    fn bitand(self, other: Mask) -> Mask {
        Mask(std::array::from_fn(|part| self.0[part] & other.0[part]))
    }
}

impl BitOr for Mask {
    type Output = Mask;

    fn bitor(self, other: Mask) -> Mask {
        Mask(std::array::from_fn(|part| self.0[part] | other.0[part]))
    }
}

impl Not for Mask {
    type Output = Mask;

    fn not(self) -> Mask {
        Mask(self.0.map(|part| !part))
    }
}
