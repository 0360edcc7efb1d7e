//! The CPU backend as callers hold it.

use std::fmt;
use std::sync::Arc;

use wgpu_pooling_plan::ExecuteError;

use crate::kernels::choose::CpuKernel;
use crate::kernels::simd::SimdLevel;

/// The CPU backend: every operator on the processors of the host, with the same calls as `Gpu` has and with the bits of
/// the [reference](mod@wgpu_pooling_plan::reference).
///
/// With the feature `rayon`, work is shared among the threads of the rayon pool from which a call is made
/// (`rayon::ThreadPool::install`), or of rayon's global one. Small calls stay on the caller's thread. No setting
/// changes a bit of any result.
///
/// Debug builds are slow unless they have this crate optimised: page
/// [`choosing`](https://docs.rs/wgpu-pooling/latest/wgpu_pooling/docs/choosing/#on-the-cpu).
///
/// ```
/// use wgpu_pooling::{Cpu, MaxPool, MaxUnpool, Tensor};
///
/// let cpu = Cpu::new();
/// let x = Tensor::new([1, 1, 2, 4], vec![1.0f32, 5.0, 2.0, 0.0, 4.0, 3.0, 7.0, 6.0])?;
/// let pool = MaxPool::new([2, 2]).strides([2, 2]);
/// let (y, indices) = cpu.max_pool_with_indices::<f32, i64>(&pool, &x)?;
/// assert_eq!((y.data(), indices.data()), (&[5.0, 7.0][..], &[1, 6][..]));
/// let back = cpu.max_unpool(&MaxUnpool::inverse_of(&pool, x.shape()), &y, &indices)?;
/// assert_eq!(back.data(), &[0.0, 5.0, 0.0, 0.0, 0.0, 0.0, 7.0, 0.0]);
/// # Ok::<(), wgpu_pooling::ExecuteError>(())
/// ```
#[derive(Clone)]
#[must_use]
pub struct Cpu {
    pub(super) simd: SimdLevel,
    pub(super) kernel: Option<CpuKernel>,
    pub(super) fresh: bool,
    pub(super) stop: Option<Stop>,
}

/// What a caller is asked between parts of the work.
pub(super) type Stop = Arc<dyn Fn() -> bool + Send + Sync>;

impl Default for Cpu {
    fn default() -> Self {
        Cpu::new()
    }
}

impl fmt::Debug for Cpu {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Cpu { simd, kernel, fresh, stop } = self;
        formatter
            .debug_struct("Cpu")
            .field("simd", simd)
            .field("kernel", kernel)
            .field("fresh", fresh)
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
        Cpu { simd: SimdLevel::best(), kernel: None, fresh: false, stop: None }
    }

    /// The same with other vector instructions.
    ///
    /// # Errors
    /// [`ExecuteError::SimdMissing`] if this processor does not have them, or the program was built without (feature
    /// `avx512`).
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

    /// The same with one kernel for all plans. Plans that it does not compute are refused with
    /// [`PlanError::KernelDoesNotApply`](wgpu_pooling_plan::PlanError::KernelDoesNotApply). Streams choose the kernels
    /// of their tiles by themselves.
    ///
    /// ```
    /// use wgpu_pooling::{Cpu, CpuKernel, MaxPool, Tensor};
    /// let x = Tensor::new([1, 1, 3], vec![3u8, 1, 2])?;
    /// let y = Cpu::new().with_kernel(CpuKernel::General).max_pool(&MaxPool::new([2]), &x)?;
    /// assert_eq!(y.data(), &[3, 2]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn with_kernel(self, kernel: CpuKernel) -> Cpu {
        Cpu { kernel: Some(kernel), ..self }
    }

    /// The same for outputs that hold nothing of use before a call: one that returns an error may have written them in
    /// part. Unpools then look at each index just before they use it. Otherwise they look at all indices first, so that
    /// an error leaves the caller's slice as it was, which takes a tenth to a sixth of the time. Calls that return a
    /// new tensor have no need of this: they never look at all indices first.
    ///
    /// ```
    /// use wgpu_pooling::{Cpu, DType, ExecuteError, IndexType, MaxUnpool, TensorView};
    /// let plan = MaxUnpool::new([2]).plan(&[1, 1, 2], DType::F32, IndexType::I64)?;
    /// let prepared = Cpu::new().with_fresh_outputs().prepare(plan)?;
    /// let x = TensorView::new(&[1, 1, 2], &[3.0f32, 2.0])?;
    /// let mut y = vec![0.0; 3];
    /// prepared.max_unpool_into(&x, TensorView::new(&[1, 1, 2], &[0i64, 2])?, &mut y)?;
    /// assert_eq!(y, [3.0, 0.0, 2.0]);
    /// // The error is the same; what `y` holds after it is not said.
    /// let refused = prepared.max_unpool_into(&x, TensorView::new(&[1, 1, 2], &[0i64, 7])?, &mut y);
    /// assert!(matches!(refused, Err(ExecuteError::IndexOutOfRange { .. })));
    /// # Ok::<(), ExecuteError>(())
    /// ```
    pub fn with_fresh_outputs(self) -> Cpu {
        Cpu { fresh: true, ..self }
    }

    /// The same, asking `stop` between parts of the work, on any of its threads, whether to stop. A part moves some
    /// megabytes, unless a single row of outputs, or the plane of an unpool or of a global pool, is more. A call that
    /// is stopped returns [`ExecuteError::Interrupted`], and slices that it was to write have been written in part.
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
    /// assert!(cpu.max_pool(&MaxPool::new([2]), &x).is_ok());
    /// flag.store(true, Ordering::Relaxed);
    /// assert_eq!(cpu.max_pool(&MaxPool::new([2]), &x), Err(ExecuteError::Interrupted));
    /// # Ok::<(), ExecuteError>(())
    /// ```
    pub fn stop_when(self, stop: impl Fn() -> bool + Send + Sync + 'static) -> Cpu {
        Cpu { stop: Some(Arc::new(stop)), ..self }
    }

    /// The vector instructions that kernels use.
    pub fn simd(&self) -> SimdLevel {
        self.simd
    }
}
