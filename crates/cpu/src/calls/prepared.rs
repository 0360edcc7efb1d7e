//! A plan with its kernel: calls on slices, into new tensors or into the caller's.

use bytemuck::{cast_slice, cast_slice_mut};
use wgpu_pooling_plan::internal::zeros;
use wgpu_pooling_plan::{
    ConvertPlan, Element, ExecuteError, Index, Plan, PlanError, PoolPlan, Tensor, TensorSpec, TensorView, UnpoolPlan,
};

use super::cpu::Cpu;
use super::dispatch;
use crate::kernels::choose::CpuKernel;
use crate::kernels::parts::Context;
use crate::kernels::pool::PoolWork;
use crate::kernels::scratch::ScratchPool;
use crate::kernels::unpool::UnpoolWork;

/// A plan, the kernel that computes it on the CPU, and the scratch memory of earlier calls. It can be used by several
/// threads at once.
///
/// The calls that end in `_into` write the caller's memory. Fresh memory costs more time than most kernels take,
/// because the system has to hand out and clear its pages.
///
/// ```
/// use wgpu_pooling::{Cpu, DType, IndexType, MaxPool, TensorView};
///
/// let plan = MaxPool::new([2]).strides([2]).plan(&[1, 1, 4], DType::U8, Some(IndexType::I64))?;
/// let prepared = Cpu::new().prepare(plan)?;
/// let (mut y, mut indices) = ([0u8; 2], [0i64; 2]);
/// prepared.max_pool_with_indices_into(TensorView::new([1, 1, 4], &[3, 1, 2, 9])?, &mut y, &mut indices)?;
/// assert_eq!((y, indices), ([3, 9], [0, 3]));
/// # Ok::<(), wgpu_pooling::ExecuteError>(())
/// ```
#[derive(Debug)]
pub struct PreparedCpu {
    cpu: Cpu,
    plan: Plan,
    work: Work,
    scratch: ScratchPool,
}

/// How the plan is computed.
#[derive(Debug)]
enum Work {
    Pool(PoolWork),
    Unpool(UnpoolWork),
    Convert,
}

impl PreparedCpu {
    pub(super) fn new(cpu: Cpu, plan: Plan) -> Result<PreparedCpu, ExecuteError> {
        let work = match &plan {
            Plan::Pool(plan) => Work::Pool(PoolWork::of(plan, cpu.kernel)?),
            Plan::Unpool(plan) => Work::Unpool(UnpoolWork::of(plan, cpu.kernel)?),
            Plan::Convert(_) => match cpu.kernel {
                None | Some(CpuKernel::General) => Work::Convert,
                Some(kernel) => {
                    let reason = "it is not for conversions of indices";
                    return Err(PlanError::KernelDoesNotApply { kernel: kernel.name(), reason }.into());
                }
            },
        };
        Ok(PreparedCpu { cpu, plan, work, scratch: ScratchPool::default() })
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The kernel that computes the plan.
    pub fn kernel(&self) -> CpuKernel {
        match &self.work {
            Work::Pool(work) => work.kernel(),
            Work::Unpool(work) => work.kernel(),
            Work::Convert => CpuKernel::General,
        }
    }

    /// The maxima.
    ///
    /// # Errors
    /// [`ExecuteError::OperatorMismatch`], [`ExecuteError::IndicesMismatch`], [`ExecuteError::TypeMismatch`] and
    /// [`ExecuteError::ShapeMismatch`] if the call does not fit the plan; [`ExecuteError::OutOfMemory`];
    /// [`ExecuteError::Interrupted`] if the caller stopped it.
    ///
    /// ```
    /// use wgpu_pooling::{Cpu, DType, MaxPool, TensorView};
    /// let prepared = Cpu::new().prepare(MaxPool::new([2]).plan(&[1, 1, 3], DType::I8, None)?)?;
    /// assert_eq!(prepared.max_pool(TensorView::new([1, 1, 3], &[3i8, 1, 2])?)?.data(), &[3, 2]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn max_pool<'a, T: Element>(&self, x: impl Into<TensorView<'a, T>>) -> Result<Tensor<T>, ExecuteError> {
        let (x, (plan, _)) = (x.into(), self.pool(false)?);
        plan.inputs[0].check_host("x", &x)?;
        let mut y = output(&plan.outputs[0])?;
        self.max_pool_into(x, y.data_mut())?;
        Ok(y)
    }

    /// The maxima, written to `y`, which has the elements of [`PoolPlan::output_shape`].
    ///
    /// # Errors
    /// As [`PreparedCpu::max_pool`], and [`PlanError::DataLength`] if the slice is shorter or longer. If there is an
    /// error other than [`ExecuteError::Interrupted`] and [`ExecuteError::OutOfMemory`], nothing is written.
    ///
    /// ```
    /// use wgpu_pooling::{Cpu, DType, MaxPool, TensorView};
    /// let prepared = Cpu::new().prepare(MaxPool::new([2]).plan(&[1, 1, 3], DType::I8, None)?)?;
    /// let mut y = [0; 2];
    /// prepared.max_pool_into(TensorView::new([1, 1, 3], &[3i8, 1, 2])?, &mut y)?;
    /// assert_eq!(y, [3, 2]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn max_pool_into<'a, T: Element>(
        &self,
        x: impl Into<TensorView<'a, T>>,
        y: &mut [T],
    ) -> Result<(), ExecuteError> {
        let (x, (plan, work)) = (x.into(), self.pool(false)?);
        plan.inputs[0].check_host("x", &x)?;
        plan.outputs[0].check_slice(y)?;
        dispatch::pool((work, plan), &self.context(), cast_slice(x.data()), cast_slice_mut(y), None)
    }

    /// The maxima and where they were found.
    ///
    /// # Errors
    /// As [`PreparedCpu::max_pool`].
    ///
    /// ```
    /// use wgpu_pooling::{Cpu, DType, IndexType, MaxPool, TensorView};
    /// let prepared = Cpu::new().prepare(MaxPool::new([2]).plan(&[1, 1, 3], DType::F32, Some(IndexType::I64))?)?;
    /// let x = TensorView::new([1, 1, 3], &[3.0f32, 1.0, 2.0])?;
    /// let (y, indices) = prepared.max_pool_with_indices::<f32, i64>(x)?;
    /// assert_eq!((y.data(), indices.data()), (&[3.0, 2.0][..], &[0, 2][..]));
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn max_pool_with_indices<'a, T: Element, I: Index>(
        &self,
        x: impl Into<TensorView<'a, T>>,
    ) -> Result<(Tensor<T>, Tensor<I>), ExecuteError> {
        let (x, (plan, _)) = (x.into(), self.pool(true)?);
        plan.inputs[0].check_host("x", &x)?;
        plan.outputs[1].check_dtype("indices", I::DTYPE)?;
        let (mut y, mut indices) = (output(&plan.outputs[0])?, output(&plan.outputs[1])?);
        self.max_pool_with_indices_into(x, y.data_mut(), indices.data_mut())?;
        Ok((y, indices))
    }

    /// The maxima and where they were found, written to `y` and `indices`.
    ///
    /// # Errors
    /// As [`PreparedCpu::max_pool_into`].
    ///
    /// ```
    /// use wgpu_pooling::{Cpu, DType, IndexType, MaxPool, TensorView};
    /// let prepared = Cpu::new().prepare(MaxPool::new([2]).plan(&[1, 1, 3], DType::F32, Some(IndexType::I32))?)?;
    /// let (mut y, mut indices) = ([0.0f32; 2], [0i32; 2]);
    /// prepared.max_pool_with_indices_into(TensorView::new([1, 1, 3], &[3.0, 1.0, 2.0])?, &mut y, &mut indices)?;
    /// assert_eq!((y, indices), ([3.0, 2.0], [0, 2]));
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn max_pool_with_indices_into<'a, T: Element, I: Index>(
        &self,
        x: impl Into<TensorView<'a, T>>,
        y: &mut [T],
        indices: &mut [I],
    ) -> Result<(), ExecuteError> {
        let (x, (plan, work)) = (x.into(), self.pool(true)?);
        plan.inputs[0].check_host("x", &x)?;
        plan.outputs[1].check_dtype("indices", I::DTYPE)?;
        plan.outputs[0].check_slice(y)?;
        plan.outputs[1].check_slice(indices)?;
        let (y, indices) = (cast_slice_mut(y), cast_slice_mut(indices));
        dispatch::pool((work, plan), &self.context(), cast_slice(x.data()), y, Some(indices))
    }

    /// The values of X at the positions that the indices name, zeros elsewhere.
    ///
    /// # Errors
    /// As [`PreparedCpu::max_pool`], and [`ExecuteError::IndexOutOfRange`] for indices outside the index space, unless
    /// the plan skips them, or [`ExecuteError::IndexOutsideWindow`] if the plan asks for it.
    ///
    /// ```
    /// use wgpu_pooling::{Cpu, DType, IndexType, MaxUnpool, TensorView};
    /// let prepared = Cpu::new().prepare(MaxUnpool::new([2]).plan(&[1, 1, 2], DType::F32, IndexType::I64)?)?;
    /// let (x, indices) = (TensorView::new([1, 1, 2], &[3.0f32, 2.0])?, TensorView::new([1, 1, 2], &[0i64, 2])?);
    /// assert_eq!(prepared.max_unpool(x, indices)?.data(), &[3.0, 0.0, 2.0]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn max_unpool<'a, T: Element, I: Index>(
        &self,
        x: impl Into<TensorView<'a, T>>,
        indices: impl Into<TensorView<'a, I>>,
    ) -> Result<Tensor<T>, ExecuteError> {
        let (x, indices, (plan, _)) = (x.into(), indices.into(), self.unpool()?);
        plan.inputs[0].check_host("x", &x)?;
        plan.inputs[1].check_host("indices", &indices)?;
        let mut y = output(&plan.outputs[0])?;
        self.unpool_to(Context { fresh: true, ..self.context() }, x, indices, y.data_mut())?;
        Ok(y)
    }

    /// The same, written to `y`.
    ///
    /// # Errors
    /// As [`PreparedCpu::max_unpool`] and [`PreparedCpu::max_pool_into`]: bad indices are found before anything is
    /// written, unless [`Cpu::with_fresh_outputs`] says that this does not matter.
    ///
    /// ```
    /// use wgpu_pooling::{Cpu, DType, IndexType, MaxUnpool, TensorView};
    /// let prepared = Cpu::new().prepare(MaxUnpool::new([2]).plan(&[1, 1, 2], DType::F32, IndexType::I64)?)?;
    /// let (x, indices) = (TensorView::new([1, 1, 2], &[3.0f32, 2.0])?, TensorView::new([1, 1, 2], &[0i64, 7])?);
    /// let mut y = [9.0; 3];
    /// assert!(prepared.max_unpool_into(x, indices, &mut y).is_err());
    /// assert_eq!(y, [9.0; 3]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn max_unpool_into<'a, T: Element, I: Index>(
        &self,
        x: impl Into<TensorView<'a, T>>,
        indices: impl Into<TensorView<'a, I>>,
        y: &mut [T],
    ) -> Result<(), ExecuteError> {
        self.unpool_to(self.context(), x.into(), indices.into(), y)
    }

    fn unpool_to<T: Element, I: Index>(
        &self,
        context: Context<'_>,
        x: TensorView<'_, T>,
        indices: TensorView<'_, I>,
        y: &mut [T],
    ) -> Result<(), ExecuteError> {
        let (plan, work) = self.unpool()?;
        plan.inputs[0].check_host("x", &x)?;
        plan.inputs[1].check_host("indices", &indices)?;
        plan.outputs[0].check_slice(y)?;
        let (x, indices) = (cast_slice(x.data()), cast_slice(indices.data()));
        dispatch::unpool((work, plan), &context, x, indices, cast_slice_mut(y))
    }

    /// The indices in the second convention.
    ///
    /// # Errors
    /// As [`PreparedCpu::max_pool`], and [`ExecuteError::IndexOutOfRange`] or [`ExecuteError::IndexNotInPlane`] for
    /// indices that cannot be converted.
    ///
    /// ```
    /// use wgpu_pooling::{ConvertIndices, Cpu, IndexFlattening, IndexSpace, IndexType, TensorView};
    /// let onnx = IndexSpace::new(1, 2, [4]);
    /// let convert = ConvertIndices::new(onnx.clone(), onnx.with_flatten(IndexFlattening::Plane));
    /// let prepared = Cpu::new().prepare(convert.plan(&[1, 2, 1], IndexType::I64, IndexType::I32)?)?;
    /// let indices = prepared.convert_indices::<i64, i32>(TensorView::new([1, 2, 1], &[1, 7])?)?;
    /// assert_eq!(indices.data(), &[1, 3]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn convert_indices<'a, F: Index, T: Index>(
        &self,
        indices: impl Into<TensorView<'a, F>>,
    ) -> Result<Tensor<T>, ExecuteError> {
        let (indices, plan) = (indices.into(), self.conversion()?);
        plan.inputs[0].check_host("indices", &indices)?;
        plan.outputs[0].check_dtype("converted", T::DTYPE)?;
        let mut converted = output(&plan.outputs[0])?;
        self.convert_indices_into::<F, T>(indices, converted.data_mut())?;
        Ok(converted)
    }

    /// The same, written to `converted`.
    ///
    /// # Errors
    /// As [`PreparedCpu::convert_indices`] and [`PreparedCpu::max_pool_into`]: bad indices are found before anything is
    /// written.
    ///
    /// ```
    /// use wgpu_pooling::{ConvertIndices, Cpu, IndexSpace, IndexType, StorageOrder, TensorView};
    /// let rows = IndexSpace::new(1, 1, [2, 3]);
    /// let columns = rows.clone().with_order(StorageOrder::ColumnMajor);
    /// let plan = ConvertIndices::new(rows, columns).plan(&[1, 1, 1, 1], IndexType::I64, IndexType::I64)?;
    /// let mut converted = [0i64];
    /// Cpu::new().prepare(plan)?.convert_indices_into(TensorView::new([1, 1, 1, 1], &[3i64])?, &mut converted)?;
    /// assert_eq!(converted, [1]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn convert_indices_into<'a, F: Index, T: Index>(
        &self,
        indices: impl Into<TensorView<'a, F>>,
        converted: &mut [T],
    ) -> Result<(), ExecuteError> {
        let (indices, plan) = (indices.into(), self.conversion()?);
        plan.inputs[0].check_host("indices", &indices)?;
        plan.outputs[0].check_dtype("converted", T::DTYPE)?;
        plan.outputs[0].check_slice(converted)?;
        dispatch::convert(plan, &self.context(), cast_slice(indices.data()), cast_slice_mut(converted))
    }

    fn context(&self) -> Context<'_> {
        let stop = self.cpu.stop.as_deref().map(|stop| stop as &(dyn Fn() -> bool + Sync));
        Context { simd: self.cpu.simd, scratch: &self.scratch, fresh: self.cpu.fresh, stop }
    }

    /// The plan of a pool with or without indices.
    fn pool(&self, with_indices: bool) -> Result<(&PoolPlan, &PoolWork), ExecuteError> {
        let (Plan::Pool(plan), Work::Pool(work)) = (&self.plan, &self.work) else {
            return Err(self.mismatch("pool"));
        };
        plan.check_indices(with_indices).map(|()| (plan, work))
    }

    fn unpool(&self) -> Result<(&UnpoolPlan, &UnpoolWork), ExecuteError> {
        match (&self.plan, &self.work) {
            (Plan::Unpool(plan), Work::Unpool(work)) => Ok((plan, work)),
            _ => Err(self.mismatch("unpool")),
        }
    }

    fn conversion(&self) -> Result<&ConvertPlan, ExecuteError> {
        match &self.plan {
            Plan::Convert(plan) => Ok(plan),
            _ => Err(self.mismatch("conversion")),
        }
    }

    fn mismatch(&self, called: &'static str) -> ExecuteError {
        ExecuteError::OperatorMismatch { planned: self.plan.kind(), called }
    }
}

/// A tensor of zeros.
fn output<T: Element>(spec: &TensorSpec) -> Result<Tensor<T>, ExecuteError> {
    Ok(Tensor::from_parts(spec.shape.clone(), zeros(&spec.shape)?))
}
