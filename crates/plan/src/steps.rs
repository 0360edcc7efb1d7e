//! Plans that follow each other, whose tensors are all like X.

use crate::backend::Backend;
use crate::error::ExecuteError;
use crate::plan::Plan;
use crate::untyped::{TensorMut, TensorRef, check_operands, words_for};

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
    first: Plan,
    rest: Vec<Step>,
}

/// A plan and the numbers of the tensors that it reads: 0 is X, 1 what the first plan wrote, and so on.
type Step = (Plan, &'static [usize]);

impl Steps {
    /// The first plan reads X. Every tensor has the shape, the type and the layout of X.
    pub(crate) fn new(first: Plan, rest: Vec<Step>) -> Steps {
        Steps { first, rest }
    }

    /// The plans in their order, each with the numbers of the tensors that it reads.
    #[doc(hidden)]
    pub fn each(&self) -> impl Iterator<Item = (&Plan, &'static [usize])> {
        [(&self.first, &[0][..])].into_iter().chain(self.rest.iter().map(|(plan, inputs)| (plan, *inputs)))
    }

    /// The first plan, whose X and Y are like those of all together.
    #[doc(hidden)]
    pub fn first(&self) -> &Plan {
        &self.first
    }

    /// Runs the plans one by one, with what lies between in memory of the host.
    #[doc(hidden)]
    pub async fn one_by_one(
        &self,
        backend: &(impl Backend + ?Sized),
        inputs: &[TensorRef<'_>],
        outputs: &mut [TensorMut<'_>],
    ) -> Result<(), ExecuteError> {
        check_operands(&self.first, inputs, outputs)?;
        let spec = &self.first.outputs()[0];
        let bytes = usize::try_from(spec.bytes()).unwrap_or(usize::MAX);
        let mut made: Vec<Vec<u64>> = Vec::with_capacity(self.rest.len());
        for (plan, numbers) in self.each() {
            let of = |words| TensorRef::new(spec.dtype, &spec.shape, &bytemuck::cast_slice(words)[..bytes]);
            let made_before = made.iter().map(|words| of(words));
            let tensors = inputs.iter().copied().map(Ok).chain(made_before).collect::<Result<Vec<_>, _>>()?;
            let read: Vec<_> = numbers.iter().filter_map(|&number| tensors.get(number).copied()).collect();
            if made.len() == self.rest.len() {
                return backend.run(plan, &read, outputs).await;
            }
            let mut words = words_for(bytes)?;
            let y = TensorMut::new(spec.dtype, &spec.shape, &mut bytemuck::cast_slice_mut(&mut words)[..bytes])?;
            backend.run(plan, &read, &mut [y.fresh()]).await?;
            made.push(words);
        }
        Ok(())
    }
}
