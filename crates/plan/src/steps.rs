//! Plans that follow each other, whose tensors are all like X.

use crate::plan::Plan;

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
/// let mut y = x.clone();
/// Reference.run_steps_blocking(&steps, &[(&x).into()], &mut [(&mut y).into()])?;
/// assert_eq!(y.data(), &[0, 3, 3, 0]);
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
}
