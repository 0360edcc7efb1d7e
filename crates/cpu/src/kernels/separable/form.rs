//! The two forms of lanes: with their positions in them or without, and with positions beside them; and their memory.

use std::marker::PhantomData;
use std::ops::Range;

use bytemuck::Pod;
use wgpu_pooling_plan::ExecuteError;

use super::layout::BlockLayout;
use super::steps::{Step, Tap};
use crate::kernels::lane::Lane;
use crate::kernels::lane::Positioned;
use crate::kernels::reduce;
use crate::kernels::reduce::AT_ONCE;
use crate::kernels::reduce::MORE_AT_ONCE;
use crate::kernels::reduce::Rows;
use crate::kernels::scratch::Scratch;
use crate::kernels::scratch::take;
use crate::kernels::scratch::words_of;
use crate::kernels::simd::SimdLevel;

/// What steps compute.
pub(crate) trait Form {
    type Lane: Lane;
    /// Where a maximum lies. There are no positions if lanes are alone.
    type Position: Pod;
    const PLACED: bool;

    /// The greatest of some taps, and of `best` if there is `more` in it. Lanes as they were loaded have no positions.
    fn reduce(
        simd: SimdLevel,
        rows: Rows,
        best: Maxima<'_, Self>,
        taps: &[(Source<'_, Self>, &Tap)],
        loaded: bool,
        more: bool,
    );
}

/// Lanes that are written, and their positions.
pub(crate) struct Maxima<'a, F: Form + ?Sized> {
    pub lanes: &'a mut [F::Lane],
    pub positions: &'a mut [F::Position],
}

/// Lanes that are read, and their positions.
pub(crate) struct Source<'a, F: Form + ?Sized> {
    pub lanes: &'a [F::Lane],
    pub positions: &'a [F::Position],
}

impl<F: Form + ?Sized> Clone for Source<'_, F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F: Form + ?Sized> Copy for Source<'_, F> {}

impl<F: Form> Maxima<'_, F> {
    pub fn part(&mut self, range: Range<usize>) -> Maxima<'_, F> {
        let positions = if F::PLACED { range.clone() } else { 0..0 };
        Maxima { lanes: &mut self.lanes[range], positions: &mut self.positions[positions] }
    }

    pub fn source(&self) -> Source<'_, F> {
        Source { lanes: self.lanes, positions: self.positions }
    }
}

impl<'a, F: Form> Source<'a, F> {
    pub fn part(&self, range: Range<usize>) -> Source<'a, F> {
        // Lanes alone, and those as they were loaded, have no positions.
        Source { positions: self.positions.get(range.clone()).unwrap_or_default(), lanes: &self.lanes[range] }
    }
}

/// Lanes alone.
pub(crate) struct Plain<L>(PhantomData<L>);

impl<L: Lane> Form for Plain<L> {
    type Lane = L;
    type Position = u8;
    const PLACED: bool = false;

    fn reduce(
        simd: SimdLevel,
        rows: Rows,
        best: Maxima<'_, Self>,
        taps: &[(Source<'_, Self>, &Tap)],
        _: bool,
        more: bool,
    ) {
        let mut sources = [(&[][..], 0); AT_ONCE];
        sources.iter_mut().zip(taps).for_each(|(own, (source, tap))| *own = (source.lanes, tap.taps));
        reduce::values(simd, rows, best.lanes, &sources[..taps.len()], more);
    }
}

/// Lanes with positions beside them.
pub(crate) struct Placed<L>(PhantomData<L>);

impl<L: Positioned> Form for Placed<L> {
    type Lane = L;
    type Position = L::Position;
    const PLACED: bool = true;

    fn reduce(
        simd: SimdLevel,
        rows: Rows,
        best: Maxima<'_, Self>,
        taps: &[(Source<'_, Self>, &Tap)],
        loaded: bool,
        more: bool,
    ) {
        let mut sources = [(&[][..], &[][..], L::position(0)); AT_ONCE];
        let own = taps.iter().map(|(source, tap)| (source.lanes, source.positions, L::position(tap.index)));
        sources.iter_mut().zip(own).for_each(|(source, own)| *source = own);
        let sources = &sources[..taps.len()];
        if loaded {
            reduce::first(simd, rows, best.lanes, best.positions, sources, more);
        } else {
            reduce::positioned(simd, rows, best.lanes, best.positions, sources, more);
        }
    }
}

/// Takes a step. `at` says where the lanes of a tap begin.
pub(crate) fn step<F: Form>(
    simd: SimdLevel,
    step: &Step,
    rows: Rows,
    mut best: Maxima<'_, F>,
    source: Source<'_, F>,
    loaded: bool,
    at: impl Fn(&Tap) -> usize,
) {
    let mut run = |taps: &[Tap], more| {
        let of = |number: usize| {
            let tap = &taps[number.min(taps.len() - 1)];
            (source.part(at(tap)..at(tap) + rows.read()), tap)
        };
        let sources: [_; AT_ONCE] = std::array::from_fn(of);
        F::reduce(simd, rows, best.part(0..rows.written()), &sources[..taps.len()], loaded, more);
    };
    let (first, more) = step.taps.split_at(step.taps.len().min(AT_ONCE));
    run(first, false);
    more.chunks(MORE_AT_ONCE).for_each(|taps| run(taps, true));
}

/// The memory of a block's lanes.
pub(crate) struct Memory<'a, F: Form> {
    /// A batch of rows as they are loaded, and what steps along them write in turn.
    pub loaded: &'a mut [F::Lane],
    pub wide: [Maxima<'a, F>; 2],
    /// What takes the place of windows' first elements, where that is asked for.
    pub firsts: &'a mut [F::Lane],
    /// The maxima of rows, and what steps along other axes write in turn.
    pub rows: [Maxima<'a, F>; 2],
    /// What the last step writes, where that is not Y itself.
    pub best: Maxima<'a, F>,
}

/// The most outputs that the last step computes at once.
pub(crate) const OUTPUTS_AT_ONCE: usize = 2048;

impl<'a, F: Form> Memory<'a, F> {
    pub fn new(scratch: &'a mut Scratch, layout: &BlockLayout, with_firsts: bool) -> Result<Self, ExecuteError> {
        let row = &layout.row;
        let rows = layout.arrays * layout.pitch;
        let spare = layout.reduced_arrays * layout.pitch;
        let (loaded, firsts) = (row.phases * row.pitch, if with_firsts { rows } else { 0 });
        let maxima = [row.pitch, row.pitch, rows, spare, OUTPUTS_AT_ONCE];
        let positions = |count: usize| if F::PLACED { count } else { 0 };
        let of_maxima = |&count: &usize| words_of::<F::Lane>(count) + words_of::<F::Position>(positions(count));
        let words = words_of::<F::Lane>(loaded) + words_of::<F::Lane>(firsts);
        let mut rest = scratch.elements::<u64>(words + maxima.iter().map(of_maxima).sum::<usize>())?;
        let (loaded, firsts) = (take(&mut rest, loaded), take(&mut rest, firsts));
        let [wide, more_wide, rows, spare, best] =
            maxima.map(|count| Maxima { lanes: take(&mut rest, count), positions: take(&mut rest, positions(count)) });
        Ok(Memory { loaded, wide: [wide, more_wide], rows: [rows, spare], firsts, best })
    }
}
