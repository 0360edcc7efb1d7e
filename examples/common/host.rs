//! What computes without a GPU.

use wgpu_pooling::Backend;

/// The CPU backend with the feature `cpu`, otherwise the reference, which is slow.
pub fn host() -> Box<dyn Backend> {
    #[cfg(feature = "cpu")]
    return Box::new(wgpu_pooling::Cpu::new());
    #[cfg(not(feature = "cpu"))]
    Box::new(wgpu_pooling::Reference)
}
