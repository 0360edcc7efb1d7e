//! A case: an operator, its inputs and what has to come out.

use std::borrow::Cow;

use wgpu_pooling::{DType, IndexType};

use super::compare::{NanRule, compare, compare_digest};
use super::generated::{Digest, Generator};
use super::recipe::Recipe;
use super::tensors::RawTensor;

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
