//! The CPU backend that callers create.

use std::fmt;
use std::sync::Arc;

use wgpu_pooling_plan::ExecuteError;

use super::last_plans::LastPlans;
use crate::kernels::cpu_kernel::CpuKernel;
use crate::kernels::parts::StopRef;
use crate::kernels::simd::SimdLevel;
use crate::kernels::threads::Threads;

/// The CPU as a backend: every operator on the processors of the host, with the bits of the
/// [reference](wgpu_pooling_plan::Reference).
///
/// With the feature `rayon`, work is shared among the threads of the rayon pool from which a call is made
/// (`rayon::ThreadPool::install`), or of rayon's global one. Small calls stay on the caller's thread, and so do all
/// calls where the system gives the global pool no threads. No setting changes a bit of any result.
///
/// A backend and its clones keep the last eight plans of their calls, and at most 8 MiB of scratch memory for each
/// thread, so that calls that repeat a geometry do not choose and lay out a kernel again. Dropping them frees both.
///
/// Debug builds are slow unless this crate is optimised in them: see the page `on_the_cpu` of the crate wgpu-pooling.
///
/// ```
/// use wgpu_pooling::{Cpu, MaxPool, MaxUnpool, Tensor};
///
/// let cpu = Cpu::new();
/// let x = Tensor::new([1, 1, 2, 4], vec![1.0f32, 5.0, 2.0, 0.0, 4.0, 3.0, 7.0, 6.0])?;
/// let pool = MaxPool::new([2, 2]).strides([2, 2]);
/// let (y, indices) = pool.on(&x).with_indices::<i64>().run_blocking(&cpu)?;
/// assert_eq!((y.data(), indices.data()), (&[5.0, 7.0][..], &[1, 6][..]));
/// let back = MaxUnpool::inverse_of(&pool, x.shape()).on(&y, &indices).run_blocking(&cpu)?;
/// assert_eq!(back.data(), &[0.0, 5.0, 0.0, 0.0, 0.0, 0.0, 7.0, 0.0]);
/// # Ok::<(), wgpu_pooling::ExecuteError>(())
/// ```
#[derive(Clone)]
#[must_use]
pub struct Cpu {
    pub(super) simd: SimdLevel,
    pub(super) kernel: Option<CpuKernel>,
    pub(super) stop: Option<Stop>,
    pub(super) threads: Threads,
    /// The plans of the last calls. Clones share them, and a backend with another kernel begins without.
    pub(super) last: Arc<LastPlans>,
}

/// The caller's function that is called between parts of the work and says whether to stop.
#[derive(Clone)]
pub(super) struct Stop(Arc<dyn Fn() -> bool + Send + Sync>);

impl Stop {
    pub fn function(&self) -> StopRef<'_> {
        &*self.0
    }
}

impl fmt::Debug for Stop {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Stop")
    }
}

impl Default for Cpu {
    fn default() -> Self {
        Cpu::new()
    }
}

impl fmt::Debug for Cpu {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Cpu { simd, kernel, stop, .. } = self;
        formatter
            .debug_struct("Cpu")
            .field("simd", simd)
            .field("kernel", kernel)
            .field("stops", &stop.is_some())
            .finish()
    }
}

impl Cpu {
    /// The backend with the best vector instructions of this processor, and with the best kernel for each plan.
    ///
    /// ```
    /// use wgpu_pooling::{Cpu, SimdLevel};
    /// assert_eq!(Cpu::new().simd(), SimdLevel::best());
    /// ```
    pub fn new() -> Cpu {
        Cpu { simd: SimdLevel::best(), kernel: None, stop: None, threads: Threads::default(), last: Arc::default() }
    }

    /// This backend with other vector instructions.
    ///
    /// # Errors
    /// [`ExecuteError::SimdMissing`] if this processor does not have them, or the program was built without them
    /// (feature `avx512`).
    ///
    /// ```
    /// use wgpu_pooling::{Cpu, SimdLevel};
    /// let plain = Cpu::new().with_simd(SimdLevel::Baseline)?;
    /// assert_eq!(plain.simd(), SimdLevel::Baseline);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn with_simd(self, level: SimdLevel) -> Result<Cpu, ExecuteError> {
        if !SimdLevel::available().contains(&level) {
            return Err(ExecuteError::SimdMissing { level: level.name() });
        }
        Ok(Cpu { simd: level, ..self })
    }

    /// This backend with one kernel for all plans. Plans that it does not compute are refused with
    /// [`PlanError::KernelDoesNotApply`](wgpu_pooling_plan::PlanError::KernelDoesNotApply). Streams ignore this choice
    /// and take the best kernel for each tile.
    ///
    /// ```
    /// use wgpu_pooling::{Cpu, CpuKernel, MaxPool, Tensor};
    /// let x = Tensor::new([1, 1, 3], vec![3u8, 1, 2])?;
    /// let y = MaxPool::new([2]).on(&x).run_blocking(&Cpu::new().with_kernel(CpuKernel::General))?;
    /// assert_eq!(y.data(), &[3, 2]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn with_kernel(self, kernel: CpuKernel) -> Cpu {
        Cpu { kernel: Some(kernel), last: Arc::default(), ..self }
    }

    /// This backend with a function that is called between parts of the work, on any thread, and returns whether to
    /// stop. A part moves a few megabytes, or more if a single row of outputs, a plane of an unpool or of a global
    /// pool, or what a long window spans, is larger. A call that is stopped returns [`ExecuteError::Interrupted`], and
    /// may have written a part of the caller's outputs.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicBool, Ordering};
    /// use std::sync::Arc;
    /// use wgpu_pooling::{Cpu, ExecuteError, MaxPool, Tensor};
    ///
    /// let flag = Arc::new(AtomicBool::new(false));
    /// let asked = flag.clone();
    /// let cpu = Cpu::new().stop_when(move || asked.load(Ordering::Relaxed));
    /// let x = Tensor::new([1, 1, 3], vec![3u8, 1, 2])?;
    /// assert!(MaxPool::new([2]).on(&x).run_blocking(&cpu).is_ok());
    /// flag.store(true, Ordering::Relaxed);
    /// assert_eq!(MaxPool::new([2]).on(&x).run_blocking(&cpu), Err(ExecuteError::Interrupted));
    /// # Ok::<(), ExecuteError>(())
    /// ```
    pub fn stop_when(self, stop: impl Fn() -> bool + Send + Sync + 'static) -> Cpu {
        Cpu { stop: Some(Stop(Arc::new(stop))), ..self }
    }

    /// This backend with what others know of rayon's global pool, for programs that make a backend for each call.
    #[doc(hidden)]
    pub fn with_threads(self, threads: &Threads) -> Cpu {
        Cpu { threads: threads.clone(), ..self }
    }

    /// The vector instructions that kernels use.
    pub fn simd(&self) -> SimdLevel {
        self.simd
    }
}
