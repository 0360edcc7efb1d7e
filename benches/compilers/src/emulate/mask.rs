//! Sets of invocations.

use std::ops::{BitAnd, BitOr, Not};

/// The most invocations of a workgroup.
pub const MOST: usize = 256;
/// The invocations of a wave, which runs a loop until its last invocation has left it.
pub const WAVE: usize = 64;

/// Some invocations of a workgroup.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Mask([u64; MOST / WAVE]);

impl Mask {
    pub const NONE: Mask = Mask([0; MOST / WAVE]);

    /// Those for which `is_in` holds, of so many.
    pub fn of(lanes: usize, is_in: impl Fn(usize) -> bool) -> Mask {
        let mut mask = Mask::NONE;
        for lane in (0..lanes).filter(|&lane| is_in(lane)) {
            mask.0[lane / WAVE] |= 1 << (lane % WAVE);
        }
        mask
    }

    pub fn has(self, lane: usize) -> bool {
        self.0[lane / WAVE] >> (lane % WAVE) & 1 != 0
    }

    pub fn any(self) -> bool {
        self != Mask::NONE
    }

    /// The waves that have any of these invocations.
    pub fn waves(self) -> u64 {
        self.0.into_iter().filter(|&wave| wave != 0).count() as u64
    }

    pub fn lanes(self) -> impl Iterator<Item = usize> {
        self.0.into_iter().zip((0..MOST).step_by(WAVE)).flat_map(|(wave, first)| {
            let next = |&rest: &u64| Some(rest & rest.wrapping_sub(1));
            std::iter::successors(Some(wave), next)
                .take_while(|&rest| rest != 0)
                .map(move |rest| first + rest.trailing_zeros() as usize)
        })
    }
}

impl BitAnd for Mask {
    type Output = Mask;

    fn bitand(self, other: Mask) -> Mask {
        Mask(std::array::from_fn(|wave| self.0[wave] & other.0[wave]))
    }
}

impl BitOr for Mask {
    type Output = Mask;

    fn bitor(self, other: Mask) -> Mask {
        Mask(std::array::from_fn(|wave| self.0[wave] | other.0[wave]))
    }
}

impl Not for Mask {
    type Output = Mask;

    fn not(self) -> Mask {
        Mask(self.0.map(|wave| !wave))
    }
}
