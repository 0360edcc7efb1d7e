//! A case: an operator, its inputs and what has to come out.

use std::borrow::Cow;

use wgpu_pooling::{DType, IndexType, Plan};

use super::compare::{NanRule, compare, compare_digest};
use super::generated::{Digest, Generator};
use super::recipe::Recipe;
use super::tensors::RawTensor;
use crate::call::{Call, Outcome};

/// One case, whatever file it comes from.
#[derive(Debug)]
pub struct Case {
    /// Group and id: `vectors::ort_maxpool-0003`.
    pub name: String,
    pub recipe: Recipe,
    pub x: Input,
    /// The indices that MaxUnpool reads.
    pub indices: Option<RawTensor>,
    pub expectation: Expectation,
    /// Whether the case runs in every build of every family that applies, not only in the generic build.
    pub specialised: bool,
    /// How NaN are compared with the expected tensors. Two paths of the crate are always compared exactly.
    pub nan: NanRule,
}

impl Case {
    /// A plan of the case on its inputs.
    pub fn call(&self, plan: Plan) -> Call {
        let x = self.x.tensor();
        let indices = self.indices.as_ref().filter(|_| plan.inputs().len() == 2);
        let inputs = [&*x].into_iter().chain(indices);
        let shapes = inputs.clone().map(|tensor| tensor.shape.clone()).collect();
        let are_others = inputs.clone().zip(plan.inputs()).any(|(tensor, spec)| tensor.shape != spec.shape);
        let bytes = inputs.map(|tensor| tensor.bytes().to_vec()).collect();
        Call { shapes: Some(shapes).filter(|_| are_others), ..Call::new(plan, bytes) }
    }

    /// Whether an outcome is what has to come out.
    pub fn check(&self, call: &Call, outcome: &Outcome) -> Result<(), String> {
        let outputs = match outcome {
            Ok(outputs) => outputs,
            Err(error) => return self.check_error(error),
        };
        match &self.expectation {
            Expectation::MustReject => Err("a result where an error is required".to_owned()),
            Expectation::MayReject => Ok(()),
            Expectation::Output { y, indices } => {
                let expected = [("y", Some(y)), ("indices", indices.as_ref())];
                for (((what, expected), spec), bytes) in expected.into_iter().zip(call.plan.outputs()).zip(outputs) {
                    let Some(expected) = expected else { continue };
                    let actual = RawTensor::new(spec.dtype, spec.shape.clone(), bytes.clone())?;
                    expected.check(what, &actual, self.nan)?;
                }
                Ok(())
            }
        }
    }

    /// Whether an error is what has to come out.
    pub fn check_error(&self, error: &dyn std::error::Error) -> Result<(), String> {
        match &self.expectation {
            Expectation::MustReject | Expectation::MayReject => Ok(()),
            Expectation::Output { .. } => Err(format!("an error: {error}")),
        }
    }
}

/// An input that is stored, or made when it is needed.
#[derive(Debug)]
pub enum Input {
    Stored(RawTensor),
    Generated(Generator),
}

impl Input {
    pub fn tensor(&self) -> Cow<'_, RawTensor> {
        match self {
            Input::Stored(tensor) => Cow::Borrowed(tensor),
            Input::Generated(generator) => Cow::Owned(generator.tensor()),
        }
    }

    pub fn dtype(&self) -> DType {
        match self {
            Input::Stored(tensor) => tensor.dtype,
            Input::Generated(generator) => generator.dtype,
        }
    }

    pub fn shape(&self) -> &[usize] {
        match self {
            Input::Stored(tensor) => &tensor.shape,
            Input::Generated(generator) => &generator.shape,
        }
    }
}

/// What has to come out.
#[derive(Debug)]
pub enum Expectation {
    /// These tensors.
    Output { y: Expected, indices: Option<Expected> },
    /// An error.
    MustReject,
    /// A result or an error: the peer refuses the case, but the specification does not require that. Paths must agree
    /// all the same.
    MayReject,
}

/// An expected tensor: stored, or too large for that.
#[derive(Debug)]
pub enum Expected {
    Stored(RawTensor),
    Digest(Digest),
}

impl Expected {
    pub fn check(&self, what: &str, actual: &RawTensor, nan: NanRule) -> Result<(), String> {
        match self {
            Expected::Stored(expected) => compare(what, expected, actual, nan),
            Expected::Digest(expected) => compare_digest(what, expected, actual),
        }
    }

    /// The index type that the peer was asked for.
    pub fn index_type(&self) -> Result<IndexType, String> {
        match self {
            Expected::Stored(tensor) => tensor.index_type(),
            Expected::Digest(_) => Ok(IndexType::I64),
        }
    }
}
