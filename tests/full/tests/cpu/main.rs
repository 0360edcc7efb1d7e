//! The CPU backend beside the reference, and what its calls promise.

mod backend;
mod stops;
