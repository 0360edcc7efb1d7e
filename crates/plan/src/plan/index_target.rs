//! Which elements the indices of an unpool name, and what becomes of bad ones.

use super::{IndexTarget, UnpoolPlan};
use crate::error::ExecuteError;
use crate::geometry::Taps;
use crate::options::{OutOfBounds, OutsideWindow};

impl UnpoolPlan {
    /// Whether bad indices are an error: those outside the index space or, where indices have to lie in their windows,
    /// outside those.
    pub fn refuses_bad_indices(&self) -> bool {
        use OutsideWindow::{Error, Scatter};
        matches!((self.outside_window, self.out_of_bounds), (Error, _) | (Scatter, OutOfBounds::Error))
    }

    /// The error of an unpool, from its first bad index.
    pub fn bad_index_error(&self, position: u64, value: i64, count: u64) -> ExecuteError {
        match self.outside_window {
            OutsideWindow::Error => ExecuteError::IndexOutsideWindow { position, count },
            _ => ExecuteError::IndexOutOfRange { position, value, index_count: self.space.index_count(), count },
        }
    }

    /// What the index of the source at `n`, `c` and `at` names. The spatial coordinates of an element are written to
    /// `target`, which has one for each axis.
    pub fn index_target(&self, index: i64, n: usize, c: usize, at: &[usize], target: &mut [usize]) -> IndexTarget {
        if self.skip_minus_one && index == -1 {
            return IndexTarget::Nothing;
        }
        if self.skips_first(index, n, c, at) {
            return IndexTarget::Nothing;
        }
        let scatters = self.outside_window == OutsideWindow::Scatter;
        let Some((target_n, target_c)) = self.space.decode_into(index, n, c, target) else {
            return if scatters { IndexTarget::OutOfRange } else { IndexTarget::Outside };
        };
        if scatters {
            return IndexTarget::Element(target_n, target_c);
        }
        let windows = self.windows.iter().flatten().zip(&self.space.extents).zip(at);
        let mut inside = windows
            .zip(&*target)
            .map(|(((window, &extent), &source), &place)| window.taps(source, extent).contains(place as i64));
        let own = (target_n, target_c) == (n, c) && inside.all(|inside| inside);
        if own { IndexTarget::Element(n, c) } else { IndexTarget::Outside }
    }

    /// Whether an index says that nothing won: it names the first element of the plane, and the window lacks it.
    fn skips_first(&self, index: i64, n: usize, c: usize, at: &[usize]) -> bool {
        let has = |sources: &Vec<Taps>| sources.iter().zip(at).all(|(sources, &at)| sources.contains(at as i64));
        let names = || index == self.space.strides().flat(n, c, &[]);
        self.first_elements.as_ref().is_some_and(|sources| names() && !has(sources))
    }
}
