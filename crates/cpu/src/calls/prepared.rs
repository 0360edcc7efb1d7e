//! The CPU as a backend, and a plan with its kernel.

use std::sync::Arc;

use wgpu_pooling_plan::{Backend, BoxFuture, ExecuteError, Plan, PreparedPlan, TensorMut, TensorRef};

use super::cpu::{Cpu, Stop};
use super::work::PlannedWork;
use crate::kernels::cpu_kernel::CpuKernel;
use crate::kernels::scratch::ScratchPool;
use crate::kernels::simd::SimdLevel;
use crate::kernels::threads::Threads;

/// A plan, the kernel that computes it on the CPU, and the scratch memory of earlier calls. It can be used by several
/// threads at once.
///
/// [`PreparedPlan::run_blocking`] writes the caller's memory. New memory, as [`PreparedPlan::call_blocking`] returns
/// it, costs more time than most kernels take, because the system has to hand out and clear its pages.
///
/// ```
/// use wgpu_pooling::{Cpu, DType, IndexType, MaxPool, PreparedPlan, Tensor};
///
/// let plan = MaxPool::new([2]).strides([2]).plan(&[1, 1, 4], DType::U8, Some(IndexType::I64))?;
/// let prepared = Cpu::new().prepare(plan)?;
/// let x = Tensor::new([1, 1, 4], vec![3u8, 1, 2, 9])?;
/// let mut y = Tensor::new([1, 1, 2], vec![0u8; 2])?;
/// let mut indices = Tensor::new([1, 1, 2], vec![0i64; 2])?;
/// prepared.run_blocking(&[(&x).into()], &mut [(&mut y).into(), (&mut indices).into()])?;
/// assert_eq!((y.data(), indices.data()), (&[3, 9][..], &[0, 3][..]));
/// # Ok::<(), wgpu_pooling::ExecuteError>(())
/// ```
#[derive(Debug)]
pub struct PreparedCpu {
    simd: SimdLevel,
    threads: Threads,
    stop: Option<Stop>,
    work: PlannedWork,
    scratch: ScratchPool,
}

impl PreparedCpu {
    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.work.plan
    }

    /// The kernel that computes the plan; of a composition the one that computes its first step.
    pub fn kernel(&self) -> CpuKernel {
        self.work.kernel()
    }

    /// Reads X, and writes the outputs, as bytes: [`PreparedPlan::run`].
    fn compute(&self, inputs: &[TensorRef<'_>], outputs: &mut [TensorMut<'_>]) -> Result<(), ExecuteError> {
        let stop = self.stop.as_ref().map(Stop::function);
        self.work.compute((self.simd, &self.threads, &self.scratch, stop), inputs, outputs)
    }
}

impl Cpu {
    /// A plan with its kernel chosen, for calls that are made more than once or that write the caller's memory.
    ///
    /// # Errors
    /// [`PlanError::KernelDoesNotApply`](wgpu_pooling_plan::PlanError::KernelDoesNotApply) if the kernel of
    /// [`Cpu::with_kernel`] does not compute the plan;
    /// [`PlanError::ShapeOverflow`](wgpu_pooling_plan::PlanError::ShapeOverflow) for tensors that no memory of this
    /// machine could hold.
    ///
    /// ```
    /// use wgpu_pooling::{Cpu, DType, MaxPool, PreparedPlan, Tensor};
    /// let prepared = Cpu::new().prepare(MaxPool::new([2]).plan(&[1, 1, 3], DType::F32, None)?)?;
    /// let x = Tensor::new([1, 1, 3], vec![3.0f32, 1.0, 2.0])?;
    /// let y: Tensor<f32> = prepared.call_blocking(&[(&x).into()])?;
    /// assert_eq!(y.data(), &[3.0, 2.0]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn prepare(&self, plan: Plan) -> Result<PreparedCpu, ExecuteError> {
        let work = PlannedWork::new(plan, self.kernel)?;
        let (threads, stop) = (self.threads.clone(), self.stop.clone());
        Ok(PreparedCpu { simd: self.simd, threads, stop, work, scratch: ScratchPool::default() })
    }

    /// One call: [`Backend::run`].
    fn compute(
        &self,
        plan: &Plan,
        inputs: &[TensorRef<'_>],
        outputs: &mut [TensorMut<'_>],
    ) -> Result<(), ExecuteError> {
        let work = self.last.work(plan, self.kernel)?;
        let stop = self.stop.as_ref().map(Stop::function);
        work.compute((self.simd, &self.threads, &self.last.scratch, stop), inputs, outputs)
    }
}

impl Backend for Cpu {
    fn name(&self) -> String {
        match self.threads.count() {
            1 => format!("CPU, 1 thread, {}", self.simd().name()),
            threads => format!("CPU, {threads} threads, {}", self.simd().name()),
        }
    }

    fn prepare(&self, plan: Plan) -> BoxFuture<'_, Arc<dyn PreparedPlan>> {
        Box::pin(async move { Ok(Arc::new(Cpu::prepare(self, plan)?) as Arc<dyn PreparedPlan>) })
    }

    fn run<'a>(
        &'a self,
        plan: &'a Plan,
        inputs: &'a [TensorRef<'a>],
        outputs: &'a mut [TensorMut<'_>],
    ) -> BoxFuture<'a, ()> {
        Box::pin(async move { self.compute(plan, inputs, outputs) })
    }

    #[cfg(not(target_arch = "wasm32"))]
    fn run_blocking(
        &self,
        plan: &Plan,
        inputs: &[TensorRef<'_>],
        outputs: &mut [TensorMut<'_>],
    ) -> Result<(), ExecuteError> {
        self.compute(plan, inputs, outputs)
    }

    fn check_alive(&self) -> Result<(), ExecuteError> {
        match &self.stop {
            Some(stop) if stop.function()() => Err(ExecuteError::Interrupted),
            _ => Ok(()),
        }
    }

    fn prepare_tile(&self, plan: Plan) -> BoxFuture<'_, Arc<dyn PreparedPlan>> {
        Box::pin(async move {
            Ok(Arc::new(Cpu { kernel: None, last: Arc::default(), ..self.clone() }.prepare(plan)?)
                as Arc<dyn PreparedPlan>)
        })
    }
}

impl PreparedPlan for PreparedCpu {
    fn plan(&self) -> &Plan {
        &self.work.plan
    }

    fn kernel(&self) -> String {
        self.work.name()
    }

    fn run<'a>(&'a self, inputs: &'a [TensorRef<'a>], outputs: &'a mut [TensorMut<'_>]) -> BoxFuture<'a, ()> {
        Box::pin(async move { self.compute(inputs, outputs) })
    }

    #[cfg(not(target_arch = "wasm32"))]
    fn run_blocking(&self, inputs: &[TensorRef<'_>], outputs: &mut [TensorMut<'_>]) -> Result<(), ExecuteError> {
        self.compute(inputs, outputs)
    }
}
