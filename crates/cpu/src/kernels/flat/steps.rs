//! Windows of many taps, reduced in steps.

use crate::kernels::lane::Lane;
use crate::kernels::reduce::{AT_ONCE, Rows, reduce};
use crate::kernels::simd::SimdLevel;

/// The taps of windows, which lie at equal distances.
#[derive(Debug, Clone, Copy)]
pub(super) struct EvenTaps {
    pub count: usize,
    pub distance: usize,
}

impl EvenTaps {
    /// The most taps: two steps and the last one join up to five windows each.
    pub const MOST: usize = AT_ONCE * AT_ONCE * AT_ONCE;

    /// How many windows the first step joins and how many the second, 1 for a step that is left out.
    fn joins(self) -> [usize; 2] {
        let all = (1..=AT_ONCE).flat_map(|first| (1..=AT_ONCE).map(move |second| [first, second]));
        let fits = all.filter(|[first, second]| self.count.div_ceil(first * second) <= AT_ONCE && second <= first);
        fits.min_by_key(|joins| self.loads_of(*joins)).unwrap_or([1; 2])
    }

    fn loads_of(self, [first, second]: [usize; 2]) -> usize {
        let of_steps = [first, second].into_iter().filter(|joined| *joined > 1).map(|joined| joined + 1);
        of_steps.sum::<usize>() + self.count.div_ceil(first * second)
    }

    /// The lanes that are loaded for each window, and those that are stored by steps.
    pub fn loads(self) -> usize {
        self.loads_of(self.joins())
    }
}

/// Reduces windows whose first taps are `rows` in `x`; the other taps follow at a distance. Windows of many taps are
/// reduced in steps, if there is memory for them, each of which joins up to five shorter windows; the last of them may
/// overlap the one before it:
///
/// ```text
/// 13 taps        a b c d e f g h i j k l m
/// of 4           |-----| |-----| |-----|           in `steps`, at each position
///                                  |-----|
/// ```
///
/// With `checks_nan` it returns whether a window's first tap is NaN.
pub(super) fn reduce_taps<'a, L: Lane>(
    simd: SimdLevel,
    rows: Rows,
    best: &mut [L],
    (taps, checks_nan): (EvenTaps, bool),
    x: &'a [L],
    steps: [&'a mut [L]; 2],
) -> bool {
    let EvenTaps { count, distance } = taps;
    let [a, b] = steps;
    let [first, second] = if a.is_empty() { [1; 2] } else { taps.joins() };
    // Joins windows of `span` taps, and returns the lanes that are written.
    let step = |span: usize, joined: usize, from: &[L], to: &'a mut [L]| -> (&'a [L], bool) {
        let length = from.len() - span * (joined - 1) * distance;
        let (to, source) = (&mut to[..length], |number: usize| &from[number * span * distance..][..length]);
        let found = reduce(simd, Rows::one(length), to, (joined, checks_nan && span == 1), source);
        (to, found)
    };
    let (mut from, mut found) = (x, false);
    if first > 1 {
        (from, found) = step(1, first, from, a);
    }
    if second > 1 {
        from = step(first, second, from, b).0;
    }
    let span = first * second;
    let source = |number: usize| &from[(number * span).min(count - span) * distance..][..rows.read()];
    found | reduce(simd, rows, best, (count.div_ceil(span), checks_nan && span == 1), source)
}
