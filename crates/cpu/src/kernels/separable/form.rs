//! The two forms of lanes and their memory: lanes with positions in another slice, and lanes without (lanes alone, or
//! lanes that contain their position).

use std::marker::PhantomData;
use std::ops::Range;

use bytemuck::Pod;
use wgpu_pooling_plan::ExecuteError;

use super::layout::BlockLayout;
use super::steps::{Join, Tap};
use crate::kernels::lane::{Lane, Positioned};
use crate::kernels::reduce;
use crate::kernels::reduce::{AT_ONCE, MORE_AT_ONCE, Rows};
use crate::kernels::scratch::{ThreadMemory, allocate, words_of};
use crate::kernels::simd::SimdLevel;
use crate::kernels::tuning::separable::OUTPUTS_AT_ONCE;

/// The form of the lanes that steps reduce.
pub(crate) trait LaneForm {
    type Lane: Lane;
    /// The position of a maximum. Lanes alone have none.
    type Position: Pod;
    const PLACED: bool;

    /// Reduces some taps and, if `more`, the lanes in `best`. Lanes as they were loaded have no positions.
    fn reduce(
        simd: SimdLevel,
        rows: Rows,
        best: Maxima<'_, Self>,
        taps: &[(LaneSlices<'_, Self>, &Tap)],
        loaded: bool,
        more: bool,
    );
}

/// Lanes that are written, and their positions.
pub(crate) struct Maxima<'a, F: LaneForm + ?Sized> {
    pub lanes: &'a mut [F::Lane],
    pub positions: &'a mut [F::Position],
}

/// Lanes that are read, and their positions.
pub(crate) struct LaneSlices<'a, F: LaneForm + ?Sized> {
    pub lanes: &'a [F::Lane],
    pub positions: &'a [F::Position],
}

impl<F: LaneForm + ?Sized> Clone for LaneSlices<'_, F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F: LaneForm + ?Sized> Copy for LaneSlices<'_, F> {}

impl<F: LaneForm> Maxima<'_, F> {
    pub fn part(&mut self, range: Range<usize>) -> Maxima<'_, F> {
        let positions = if F::PLACED { range.clone() } else { 0..0 };
        Maxima { lanes: &mut self.lanes[range], positions: &mut self.positions[positions] }
    }

    pub fn source(&self) -> LaneSlices<'_, F> {
        LaneSlices { lanes: self.lanes, positions: self.positions }
    }
}

impl<'a, F: LaneForm> LaneSlices<'a, F> {
    pub fn part(&self, range: Range<usize>) -> LaneSlices<'a, F> {
        // Lanes alone and lanes as they were loaded have no positions.
        LaneSlices { positions: self.positions.get(range.clone()).unwrap_or_default(), lanes: &self.lanes[range] }
    }
}

/// Lanes alone.
pub(crate) struct LanesAlone<L>(PhantomData<L>);

impl<L: Lane> LaneForm for LanesAlone<L> {
    type Lane = L;
    type Position = u8;
    const PLACED: bool = false;

    fn reduce(
        simd: SimdLevel,
        rows: Rows,
        best: Maxima<'_, Self>,
        taps: &[(LaneSlices<'_, Self>, &Tap)],
        _: bool,
        more: bool,
    ) {
        let mut sources = [(&[][..], 0); AT_ONCE];
        sources.iter_mut().zip(taps).for_each(|(own, (source, tap))| *own = (source.lanes, tap.taps));
        reduce::values(simd, rows, best.lanes, &sources[..taps.len()], more);
    }
}

/// Lanes with positions in another slice.
pub(crate) struct WithPositions<L>(PhantomData<L>);

impl<L: Positioned> LaneForm for WithPositions<L> {
    type Lane = L;
    type Position = L::Position;
    const PLACED: bool = true;

    fn reduce(
        simd: SimdLevel,
        rows: Rows,
        best: Maxima<'_, Self>,
        taps: &[(LaneSlices<'_, Self>, &Tap)],
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

/// Performs a step. `at` returns where the lanes of a tap begin.
pub(crate) fn step<F: LaneForm>(
    simd: SimdLevel,
    step: &Join,
    rows: Rows,
    mut best: Maxima<'_, F>,
    source: LaneSlices<'_, F>,
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
    let at_once = if step.adds { 0 } else { AT_ONCE };
    let (first, more) = step.taps.split_at(step.taps.len().min(at_once));
    if !step.adds {
        run(first, false);
    }
    more.chunks(MORE_AT_ONCE).for_each(|taps| run(taps, true));
}

/// The scratch memory of a block.
pub(crate) struct BlockBuffers<'a, F: LaneForm> {
    /// A batch of rows as they were loaded, and two buffers that steps along the rows write alternately.
    pub loaded: &'a mut [F::Lane],
    pub wide: [Maxima<'a, F>; 2],
    /// The first elements of windows, if maxima are compared with them.
    pub firsts: &'a mut [F::Lane],
    /// The maxima of rows, and the buffer that alternates with them in steps along the other axes.
    pub rows: [Maxima<'a, F>; 2],
    /// The output of the last step, unless it writes to Y.
    pub best: Maxima<'a, F>,
}

impl<'a, F: LaneForm> BlockBuffers<'a, F> {
    pub fn new(scratch: &'a mut ThreadMemory, layout: &BlockLayout, with_firsts: bool) -> Result<Self, ExecuteError> {
        let row = &layout.row;
        let rows = layout.arrays * layout.pitch;
        let spare = layout.reduced_arrays * layout.pitch;
        let (loaded, firsts) = (row.phases * row.pitch, if with_firsts { rows } else { 0 });
        let maxima = [row.pitch, row.pitch, rows, spare, OUTPUTS_AT_ONCE];
        let positions = |count: usize| if F::PLACED { count } else { 0 };
        let of_maxima = |&count: &usize| words_of::<F::Lane>(count) + words_of::<F::Position>(positions(count));
        let words = words_of::<F::Lane>(loaded) + words_of::<F::Lane>(firsts);
        let mut rest = scratch.elements::<u64>(words + maxima.iter().map(of_maxima).sum::<usize>())?;
        let (loaded, firsts) = (allocate(&mut rest, loaded), allocate(&mut rest, firsts));
        let [wide, more_wide, rows, spare, best] = maxima.map(|count| Maxima {
            lanes: allocate(&mut rest, count),
            positions: allocate(&mut rest, positions(count)),
        });
        Ok(BlockBuffers { loaded, wide: [wide, more_wide], rows: [rows, spare], firsts, best })
    }
}
