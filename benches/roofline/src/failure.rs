//! Why a row has no figures.

use std::fmt;

use wgpu_pooling::{ExecuteError, PlanError};

#[derive(Debug, Clone, PartialEq)]
pub enum Failure {
    /// The device, or the memory of this machine, cannot hold the tensors.
    TooLarge(String),
    /// A kernel's results differ from those of the reference or of another kernel.
    Mismatch(String),
    Other(String),
}

impl Failure {
    /// The word that reports use.
    pub fn kind(&self) -> &'static str {
        match self {
            Failure::TooLarge(_) => "too large",
            Failure::Mismatch(_) => "mismatch",
            Failure::Other(_) => "error",
        }
    }

    /// The failure of a kernel that was not selected: a mismatch says whose it is.
    pub fn of(self, kernel: &str) -> Failure {
        match self {
            Failure::Mismatch(text) => Failure::Mismatch(format!("{kernel}: {text}")),
            other => other,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Failure::TooLarge(text) | Failure::Mismatch(text) | Failure::Other(text)) = self;
        write!(formatter, "{}: {text}", self.kind())
    }
}

impl std::error::Error for Failure {}

impl From<PlanError> for Failure {
    fn from(error: PlanError) -> Self {
        match error {
            PlanError::ExceedsLimit { .. } => Failure::TooLarge(error.to_string()),
            other => Failure::Other(other.to_string()),
        }
    }
}

impl From<ExecuteError> for Failure {
    fn from(error: ExecuteError) -> Self {
        match error {
            ExecuteError::Plan(error @ PlanError::ShapeOverflow { .. }) => Failure::TooLarge(error.to_string()),
            ExecuteError::Plan(error) => error.into(),
            ExecuteError::OutOfMemory(text) => Failure::TooLarge(text),
            other => Failure::Other(other.to_string()),
        }
    }
}
