//! Chooses at run time the vector instructions that a kernel's loops were compiled for. Only this file,
//! [`vector`](super::vector), [`taps`](super::taps) and [`transpose`](super::transpose) use the crate that makes this
//! possible without `unsafe` here.
//!
//! A kernel's loops are either plain code that the compiler vectorises ([`SimdLevel::run`]), or they are written with
//! vectors ([`SimdLevel::vectors`]). Both compile a loop once for each level, so every function that the loop calls
//! must be inlined into it (`#[inline(always)]`, closures too): a function that is not inlined is compiled only for the
//! target's baseline instructions.

use fearless_simd::{Level, Simd};

/// A loop that is written with vectors.
pub(crate) trait VectorLoop {
    type Output;

    /// Must be `#[inline(always)]`.
    fn run<S: Simd>(self, simd: S) -> Self::Output;
}

/// The vector instructions that the kernels of the CPU backend use. All levels give the same bits.
///
/// ```
/// use wgpu_pooling::SimdLevel;
///
/// // The instructions that every processor of the target has come first, the best ones of this processor last.
/// let levels = SimdLevel::available();
/// assert_eq!((levels.first(), levels.last()), (Some(&SimdLevel::Baseline), Some(&SimdLevel::best())));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum SimdLevel {
    /// The instructions that the program was compiled for: SSE2 on x86-64, NEON on 64-bit ARM, and simd128 on wasm32 if
    /// it was enabled.
    Baseline,
    /// AVX2 and the other instructions of x86-64-v3.
    Avx2,
    /// AVX-512 as in Ice Lake and Zen 4, with the feature `avx512`.
    Avx512,
}

impl SimdLevel {
    /// The levels that this processor has, the best one last.
    ///
    /// ```
    /// use wgpu_pooling::SimdLevel;
    /// assert!(SimdLevel::available().contains(&SimdLevel::Baseline));
    /// ```
    pub fn available() -> &'static [SimdLevel] {
        use SimdLevel::{Avx2, Avx512, Baseline};
        #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
        {
            let level = Level::new();
            if cfg!(feature = "avx512") && level.as_avx512().is_some() {
                return &[Baseline, Avx2, Avx512];
            }
            if level.as_avx2().is_some() {
                return &[Baseline, Avx2];
            }
        }
        #[cfg(not(any(target_arch = "x86", target_arch = "x86_64")))]
        let _ = (Avx2, Avx512);
        &[Baseline]
    }

    /// The best level of this processor.
    ///
    /// ```
    /// use wgpu_pooling::SimdLevel;
    /// assert!(SimdLevel::available().iter().all(|&level| level <= SimdLevel::best()));
    /// ```
    pub fn best() -> SimdLevel {
        SimdLevel::available().last().copied().unwrap_or(SimdLevel::Baseline)
    }

    /// The level's name: `baseline`, `avx2` or `avx512`.
    pub const fn name(self) -> &'static str {
        match self {
            SimdLevel::Baseline => "baseline",
            SimdLevel::Avx2 => "avx2",
            SimdLevel::Avx512 => "avx512",
        }
    }

    /// Runs a loop that is compiled for each level. If the processor lacks the level, the baseline runs.
    #[inline]
    pub(crate) fn run<R>(self, work: impl FnOnce() -> R) -> R {
        #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
        match self {
            SimdLevel::Baseline => {}
            SimdLevel::Avx2 => {
                if let Some(avx2) = Level::new().as_avx2() {
                    return avx2.vectorize(work);
                }
            }
            #[cfg(feature = "avx512")]
            SimdLevel::Avx512 => {
                if let Some(avx512) = Level::new().as_avx512() {
                    return avx512.vectorize(work);
                }
            }
            #[cfg(not(feature = "avx512"))]
            SimdLevel::Avx512 => {}
        }
        work()
    }

    /// Runs a loop that is written with vectors. If the processor lacks the level, the baseline runs. `None` if the
    /// processor has no vectors: it is older than SSE2.
    #[inline]
    pub(crate) fn vectors<W: VectorLoop>(self, work: W) -> Option<W::Output> {
        #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
        {
            macro_rules! with {
                ($token:expr) => {
                    if let Some(simd) = $token {
                        return Some(simd.vectorize(
                            #[inline(always)]
                            || work.run(simd),
                        ));
                    }
                };
            }
            match self {
                SimdLevel::Baseline => {}
                SimdLevel::Avx2 => with!(Level::new().as_avx2()),
                #[cfg(feature = "avx512")]
                SimdLevel::Avx512 => with!(Level::new().as_avx512()),
                #[cfg(not(feature = "avx512"))]
                SimdLevel::Avx512 => {}
            }
            with!(Level::new().as_sse2());
            None
        }
        #[cfg(not(any(target_arch = "x86", target_arch = "x86_64")))]
        Some(fearless_simd::dispatch!(Level::new(), simd => work.run(simd)))
    }
}
