//! The lanes of a block: for values, and for values with indices.

use std::marker::PhantomData;

use wgpu_pooling_plan::{Element, ExecuteError};

use super::work::PartWork;
use crate::kernels::lane::{Code, Narrow, Positioned};

/// The lanes in which the blocks of an element type are computed.
pub(crate) trait BlockLanes {
    type Element: Element;

    fn values(work: &mut PartWork<'_>, x: &[Self::Element], y: &mut [Self::Element]) -> Result<(), ExecuteError>;

    /// Values and indices.
    fn indexed(work: &mut PartWork<'_>, x: &[Self::Element], y: &mut [Self::Element]) -> Result<(), ExecuteError>;
}

/// Elements of 32 and 64 bits: positions lie beside the lanes.
pub(crate) struct InPositions<C>(PhantomData<C>);

impl<C: Code<Lane: Positioned>> BlockLanes for InPositions<C> {
    type Element = C::Element;

    fn values(work: &mut PartWork<'_>, x: &[C::Element], y: &mut [C::Element]) -> Result<(), ExecuteError> {
        work.values::<C>(x, y)
    }

    fn indexed(work: &mut PartWork<'_>, x: &[C::Element], y: &mut [C::Element]) -> Result<(), ExecuteError> {
        work.placed::<C>(x, y)
    }
}

/// Integers of 8 and 16 bits: lanes contain their taps.
pub(crate) struct InTaps<C>(PhantomData<C>);

impl<C: Code<Lane: Narrow>> BlockLanes for InTaps<C> {
    type Element = C::Element;

    fn values(work: &mut PartWork<'_>, x: &[C::Element], y: &mut [C::Element]) -> Result<(), ExecuteError> {
        work.values::<C>(x, y)
    }

    fn indexed(work: &mut PartWork<'_>, x: &[C::Element], y: &mut [C::Element]) -> Result<(), ExecuteError> {
        work.packed::<C>(x, y)
    }
}

/// Floats of 16 bits: integers, with their taps where there are indices, or wider floats in blocks where integers lose
/// information.
pub(crate) struct InTapsOrFloats<C, W>(PhantomData<(C, W)>);

impl<C: Code<Lane: Narrow>, W: Code<Element = C::Element, Lane = f32>> BlockLanes for InTapsOrFloats<C, W> {
    type Element = C::Element;

    fn values(work: &mut PartWork<'_>, x: &[C::Element], y: &mut [C::Element]) -> Result<(), ExecuteError> {
        work.halves::<C, W>(x, y)
    }

    fn indexed(work: &mut PartWork<'_>, x: &[C::Element], y: &mut [C::Element]) -> Result<(), ExecuteError> {
        work.packed_halves::<C, W>(x, y)
    }
}
