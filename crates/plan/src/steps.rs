//! Plans that follow each other, whose tensors are all like X.

use crate::backend::Backend;
use crate::error::{ExecuteError, PlanError};
use crate::plan::Plan;
use crate::tensor::TensorSpec;
use crate::untyped::{TensorMut, TensorRef, words_for};

/// Plans that are computed one after the other: [`Open::steps`](crate::Open::steps) and its siblings make them.
///
/// A [`Request`](crate::Request) runs them on a backend, a chain of a GPU on a tensor of the device. They are no
/// [`Plan`]: there is neither a [`Stream`](crate::Stream) of them nor an `encode`.
///
/// ```
/// use wgpu_pooling::{Backend, DType, Gradient, Reference, Steps, Tensor};
///
/// let steps: Steps = Gradient::new([3]).steps(&[1, 1, 4], DType::I8)?;
/// let x = Tensor::new([1, 1, 4], vec![1i8, 1, 4, 4])?;
/// assert_eq!(Gradient::new([3]).on(&x).run_blocking(&Reference)?.data(), &[0, 3, 3, 0]);
/// # Ok::<(), wgpu_pooling::ExecuteError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Steps {
    before: Vec<Step>,
    last: Step,
}

/// A plan and the tensors that it reads: 0 is X, 1 what the first plan wrote, and so on.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    pub plan: Plan,
    pub inputs: &'static [usize],
}

impl Steps {
    /// Every tensor has the shape, the type and the layout of X.
    pub(crate) fn new(before: Vec<Step>, last: Step) -> Steps {
        Steps { before, last }
    }

    /// The steps in their order.
    #[doc(hidden)]
    pub fn each(&self) -> impl Iterator<Item = &Step> {
        self.before.iter().chain([&self.last])
    }

    /// The plan of the last step, whose Y is the result.
    pub(crate) fn last_plan(&self) -> &Plan {
        &self.last.plan
    }

    /// What X, Y and all tensors between them are like.
    #[doc(hidden)]
    pub fn tensor(&self) -> &TensorSpec {
        &self.last.plan.outputs()[0]
    }

    /// Refuses tensors other than X and Y.
    #[doc(hidden)]
    pub fn check_operands(&self, inputs: &[TensorRef<'_>], outputs: &[TensorMut<'_>]) -> Result<(), ExecuteError> {
        let (operator, expected) = (self.last.plan.operator(), "1");
        for (what, actual) in [("inputs", inputs.len()), ("outputs", outputs.len())] {
            if actual != 1 {
                return Err(PlanError::OperandCount { operator, what, expected, actual }.into());
            }
        }
        let read = inputs.iter().map(|x| ("x", x.dtype(), x.shape()));
        for (what, dtype, shape) in read.chain(outputs.iter().map(|y| ("y", y.dtype(), y.shape()))) {
            self.tensor().check_dtype(what, dtype)?;
            self.tensor().check_shape(what, shape)?;
        }
        Ok(())
    }

    /// Runs the plans one by one, with what lies between in memory of the host.
    #[doc(hidden)]
    pub async fn one_by_one(
        &self,
        backend: &(impl Backend + ?Sized),
        inputs: &[TensorRef<'_>],
        outputs: &mut [TensorMut<'_>],
    ) -> Result<(), ExecuteError> {
        self.check_operands(inputs, outputs)?;
        let TensorSpec { shape, dtype, .. } = self.tensor();
        let bytes = usize::try_from(self.tensor().bytes()).unwrap_or(usize::MAX);
        let mut made: Vec<Vec<u64>> = Vec::with_capacity(self.before.len());
        for step in &self.before {
            let mut words = words_for(bytes)?;
            let y = TensorMut::new(*dtype, shape, &mut bytemuck::cast_slice_mut(&mut words)[..bytes])?.fresh();
            backend.run(&step.plan, &self.read(step, inputs, &made)?, &mut [y]).await?;
            made.push(words);
        }
        backend.run(&self.last.plan, &self.read(&self.last, inputs, &made)?, outputs).await
    }

    /// The tensors that a step reads.
    fn read<'a>(
        &'a self,
        step: &Step,
        inputs: &[TensorRef<'a>],
        made: &'a [Vec<u64>],
    ) -> Result<Vec<TensorRef<'a>>, PlanError> {
        let TensorSpec { shape, dtype, .. } = self.tensor();
        let bytes = usize::try_from(self.tensor().bytes()).unwrap_or(usize::MAX);
        let of = |words: &'a Vec<u64>| TensorRef::new(*dtype, shape, &bytemuck::cast_slice(words)[..bytes]);
        let made = made.iter().map(of);
        let tensors = inputs.iter().copied().map(Ok).chain(made).collect::<Result<Vec<_>, _>>()?;
        Ok(step.inputs.iter().filter_map(|&number| tensors.get(number).copied()).collect())
    }
}
