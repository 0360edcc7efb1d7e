//! What examples share: plumbing, none of which is what they show.
#![allow(missing_docs, reason = "what examples share is documented where a name does not say it")]

#[cfg(feature = "gpu")]
pub mod adapter;
pub mod agreement;
#[cfg(feature = "gpu")]
pub mod application;
pub mod by_box;
#[path = "mod.rs"]
pub mod common;
#[cfg(feature = "gpu")]
pub mod engine;
pub mod font;
#[cfg(feature = "gpu")]
pub mod gpu;
pub mod host;
pub mod named;
pub mod numbers;
pub mod picture;
pub mod plan;
