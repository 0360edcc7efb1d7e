//! How the processor treats subnormal floats.

/// Whether this thread compares subnormal floats as zeros. A program can ask its processor for that (DAZ on x86, FZ on
/// ARM), often for audio or by a compiler's fast-math option, and each thread has its own setting. Kernels that compare
/// floats as floats do not run on such a thread; the general kernel compares integers.
pub(crate) fn takes_subnormals_for_zeros() -> bool {
    let single = std::hint::black_box(f32::from_bits(1));
    let double = std::hint::black_box(f64::from_bits(1));
    !(single > 0.0 && double > 0.0)
}
