//! Where tests find files: in the crate's folder, or in that of a bundle (benches/bundle), which has been built on
//! another machine and has the same files in the same places.

use std::path::PathBuf;

/// The folder of the bundle that the tests run from, if they do.
pub fn bundle() -> Option<PathBuf> {
    std::env::var_os("WGPU_POOLING_BUNDLE").map(PathBuf::from)
}

/// The folder with the programs that tests start, if they are built already.
pub fn programs() -> Option<PathBuf> {
    std::env::var_os("WGPU_POOLING_PROGRAMS").map(PathBuf::from)
}

/// The folder in which paths of the repository are found.
pub fn root() -> PathBuf {
    bundle().unwrap_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")))
}
