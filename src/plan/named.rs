//! What the indices of an unpool name, and what becomes of bad ones.

use super::{Named, UnpoolPlan};
#[cfg(any(feature = "cpu", feature = "gpu"))]
use crate::element::Index;
use crate::error::ExecuteError;
use crate::options::{OutOfBounds, OutsideWindow};

impl UnpoolPlan {
    /// Whether bad indices are an error: those outside the index space or, where indices are kept to their windows, those
    /// outside them.
    pub(crate) fn refuses_bad_indices(&self) -> bool {
        use OutsideWindow::{Error, Scatter};
        matches!((self.outside_window, self.out_of_bounds), (Error, _) | (Scatter, OutOfBounds::Error))
    }

    /// The error of an unpool, from its first bad index.
    pub(crate) fn offence(&self, position: u64, value: i64, count: u64) -> ExecuteError {
        match self.outside_window {
            OutsideWindow::Error => ExecuteError::IndexOutsideWindow { position, count },
            _ => ExecuteError::IndexOutOfRange { position, value, unit: self.space.unit(), count },
        }
    }

    /// What the index of the source at `n`, `c` and `at` names. The spatial coordinates of an element are written to
    /// `target`, which has one for each axis.
    pub(crate) fn named(&self, index: i64, n: usize, c: usize, at: &[usize], target: &mut [usize]) -> Named {
        if self.skip_minus_one && index == -1 {
            return Named::Nothing;
        }
        let scatters = self.outside_window == OutsideWindow::Scatter;
        let Some((target_n, target_c)) = self.space.decode_into(index, n, c, target) else {
            return if scatters { Named::OutOfRange } else { Named::Outside };
        };
        if scatters {
            return Named::Element(target_n, target_c);
        }
        let windows = self.windows.iter().flatten().zip(&self.space.extents).zip(at.iter().zip(&self.x_extents));
        let mut inside = windows.zip(&*target).map(|(((window, &extent), (&source, &sources)), &place)| {
            let taps = window.taps(source, extent, sources);
            let ahead = (place as i64).saturating_sub(taps.first);
            (0..taps.count).contains(&ahead.div_euclid(taps.step.max(1))) && ahead.rem_euclid(taps.step.max(1)) == 0
        });
        let own = (target_n, target_c) == (n, c) && inside.all(|inside| inside);
        if own { Named::Element(n, c) } else { Named::Outside }
    }
}

/// Whether all indices that a plane stores name elements of that plane, or none where -1 is skipped. `base` is the index of
/// the plane's first element. Compiled into the loops of its callers.
#[cfg(any(feature = "cpu", feature = "gpu"))]
#[inline(always)]
pub(crate) fn stay_in_plane<I: Index>(indices: &[I], base: i64, elements: u64, skips_minus_one: bool) -> bool {
    indices.iter().fold(true, |stay, index| {
        let index = index.to_i64();
        stay & (((index.wrapping_sub(base) as u64) < elements) | (skips_minus_one & (index == -1)))
    })
}

/// The first bad index, by its place in the tensor, and how many there are.
#[cfg(any(feature = "cpu", feature = "gpu"))]
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Offence {
    first: Option<(usize, i64)>,
    count: u64,
}

#[cfg(any(feature = "cpu", feature = "gpu"))]
impl Offence {
    pub fn add(&mut self, place: usize, value: i64) {
        self.merge(Offence { first: Some((place, value)), count: 1 });
    }

    pub fn merge(&mut self, other: Offence) {
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
