//! Recorded cases, as the files of tests/vectors have them.

pub mod case;
pub mod compare;
pub mod generated;
pub mod manifest;
pub mod recipe;
pub mod tensors;
