//! Drawn cases: all numbers and options of a pool, an unpool or a composition, and its elements, as one value that is
//! made of bytes.

pub mod bias;
pub mod bytes;
mod code;
pub mod compositions;
pub mod elements;
pub mod odd;
pub mod pools;
pub mod unpools;

use wgpu_pooling::PlanError;

use crate::call::Call;
use compositions::CompositionCase;
use pools::PoolCase;
use unpools::UnpoolCase;

/// The most elements of an output that a test computes.
const MOST_OUTPUTS: u64 = 1 << 22;

/// A drawn case.
#[derive(Debug, Clone)]
pub enum Case {
    Pool(PoolCase),
    Unpool(UnpoolCase),
    Composition(CompositionCase),
}

impl Case {
    /// Its plan on its elements. Tensors too large for a test have none, and give `None`.
    pub fn call(&self) -> Result<Option<Call>, PlanError> {
        let call = match self {
            Case::Pool(case) => Call::pool(case.plan()?, &case.x),
            Case::Unpool(case) => Call::unpool(case.plan()?, &case.x, &case.indices),
            Case::Composition(case) => Call::pool(case.plan()?, &case.x),
        };
        let is_small = |call: &Call| call.plan.outputs().iter().all(|spec| spec.element_count() <= MOST_OUTPUTS);
        Ok(Some(call).filter(|call| call.is_whole() && is_small(call)))
    }

    /// A test of the case, to be pasted.
    pub fn reproducer(&self) -> String {
        use code::{elements, test};
        match self {
            Case::Pool(case) => test(&case.code(), &[elements(case.dtype, &case.x)]),
            Case::Unpool(case) => {
                let indices: Vec<u64> = case.indices.iter().map(|&index| index as u64).collect();
                test(&case.code(), &[elements(case.dtype, &case.x), elements(case.index_type.dtype(), &indices)])
            }
            Case::Composition(case) => test(&case.code(), &[elements(case.dtype, &case.x)]),
        }
    }
}
