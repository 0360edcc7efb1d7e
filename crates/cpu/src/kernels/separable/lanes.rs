//! The lanes of a block: for values, and for values with indices.

use std::marker::PhantomData;

use wgpu_pooling_plan::{Element, ExecuteError};

use super::work::PartWork;
use crate::kernels::lane::{Code, NanCode, Narrow, Positioned};

/// The lanes in which the blocks of an element type are computed.
pub(crate) trait BlockLanes {
    type Element: Element;

    fn values(work: &mut PartWork<'_>, x: &[Self::Element], y: &mut [Self::Element]) -> Result<(), ExecuteError>;

    /// Values and indices.
    fn indexed(work: &mut PartWork<'_>, x: &[Self::Element], y: &mut [Self::Element]) -> Result<(), ExecuteError>;
}

/// Elements of 32 and 64 bits: positions lie beside the lanes. The second lanes are for blocks with NaN where NaN wins.
pub(crate) struct InPositions<C, N>(PhantomData<(C, N)>);

impl<C: Code<Lane: Positioned>, N: NanCode<C>> BlockLanes for InPositions<C, N> {
    type Element = C::Element;

    fn values(work: &mut PartWork<'_>, x: &[C::Element], y: &mut [C::Element]) -> Result<(), ExecuteError> {
        work.values::<C, N>(x, y)
    }

    fn indexed(work: &mut PartWork<'_>, x: &[C::Element], y: &mut [C::Element]) -> Result<(), ExecuteError> {
        work.placed::<C, N>(x, y)
    }
}

/// Integers of 8 and 16 bits: lanes contain their taps, or are wider and have positions beside them if windows have too
/// many taps.
pub(crate) struct InTaps<C, W>(PhantomData<(C, W)>);

impl<C: Code<Lane: Narrow>, W: Code<Element = C::Element, Lane: Positioned>> BlockLanes for InTaps<C, W> {
    type Element = C::Element;

    fn values(work: &mut PartWork<'_>, x: &[C::Element], y: &mut [C::Element]) -> Result<(), ExecuteError> {
        work.values::<C, C>(x, y)
    }

    fn indexed(work: &mut PartWork<'_>, x: &[C::Element], y: &mut [C::Element]) -> Result<(), ExecuteError> {
        if work.packs() { work.packed::<C>(x, y) } else { work.placed::<W, W>(x, y) }
    }
}

/// Floats of 16 bits: integers, with their taps where there are indices, or wider floats in blocks where integers lose
/// information, the last ones for blocks with NaN where NaN wins.
pub(crate) struct InTapsOrFloats<C, W, N>(PhantomData<(C, W, N)>);

impl<C: Code<Lane: Narrow>, W: Code<Element = C::Element, Lane = f32>, N: NanCode<W>> BlockLanes
    for InTapsOrFloats<C, W, N>
{
    type Element = C::Element;

    fn values(work: &mut PartWork<'_>, x: &[C::Element], y: &mut [C::Element]) -> Result<(), ExecuteError> {
        work.halves::<C, W, N>(x, y)
    }

    fn indexed(work: &mut PartWork<'_>, x: &[C::Element], y: &mut [C::Element]) -> Result<(), ExecuteError> {
        if work.packs() { work.packed_halves::<C, W, N>(x, y) } else { work.placed::<W, N>(x, y) }
    }
}
