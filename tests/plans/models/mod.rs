//! Models: which pooling nodes are found, what is known of them, and what hostile files do.

mod build;
#[cfg(unix)]
mod files;
mod hostile;
mod ir;
mod nested;
mod node_tests;
mod tensors;
mod traps;
mod work;
