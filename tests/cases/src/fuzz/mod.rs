//! The fuzz targets: what each does with any bytes. `fuzz` has them for cargo-fuzz; the tests `reference` and `device`
//! try random bytes.

pub mod attempts;
pub mod bytes;
pub mod cases;
#[cfg(feature = "gpu")]
pub mod devices;
#[cfg(feature = "cpu")]
pub mod processors;
pub mod small;
