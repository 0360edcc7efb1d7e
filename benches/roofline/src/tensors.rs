//! The tensors of a row on the host: made once and used again.

use std::ops::{Deref, DerefMut};

use bytemuck::{cast_slice, cast_slice_mut, try_zeroed_vec, zeroed_vec};
use wgpu_pooling::{Cpu, ExecuteError, Plan, PlanError, PreparedCpu, PreparedPlan, TensorMut, TensorRef};

use crate::data::{Data, random_indices, values};
use crate::failure::Failure;
use crate::work::Plans;

/// The byte that outputs are filled with before a run, so that an element that no kernel writes is noticed.
pub const POISON: u8 = 0xA5;

/// Bytes at an address that is aligned for the elements of every type.
#[derive(Debug, Clone)]
pub struct Aligned {
    words: Vec<u64>,
    bytes: usize,
}

impl Aligned {
    pub fn zeros(bytes: u64) -> Aligned {
        Aligned { words: zeroed_vec(bytes.div_ceil(8) as usize), bytes: bytes as usize }
    }
}

impl Deref for Aligned {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &cast_slice(&self.words)[..self.bytes]
    }
}

impl DerefMut for Aligned {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut cast_slice_mut(&mut self.words)[..self.bytes]
    }
}

/// Tensors as slices of bytes.
pub fn parts<T: Deref<Target = [u8]>>(tensors: &[T]) -> Vec<&[u8]> {
    tensors.iter().map(Deref::deref).collect()
}

#[derive(Debug, Clone)]
pub struct Tensors {
    pub inputs: Vec<Aligned>,
    pub outputs: Vec<Aligned>,
}

impl Tensors {
    /// The inputs of a row, and outputs that nothing was written to.
    pub fn new(plans: &Plans, data: Data) -> Result<Tensors, Failure> {
        let plan = &plans.plan;
        if try_zeroed_vec::<u8>(plan.bytes() as usize).is_err() {
            return Err(Failure::TooLarge(format!("this machine has no memory for {} bytes", plan.bytes())));
        }
        let inputs = match &plans.filled_by {
            // What a pool computes is what its unpool reads.
            Some(pool) => {
                let mut tensors = Tensors::of(pool, vec![values(data, &pool.inputs()[0])]);
                tensors.run(&Cpu::new().prepare(pool.clone())?)?;
                tensors.outputs
            }
            None => {
                let indices = matches!(plan, Plan::Unpool(_)).then(|| random_indices(plan));
                std::iter::once(values(data, &plan.inputs()[0])).chain(indices).collect()
            }
        };
        Ok(Tensors::of(plan, inputs))
    }

    fn of(plan: &Plan, inputs: Vec<Aligned>) -> Tensors {
        Tensors { inputs, outputs: plan.outputs().iter().map(|spec| Aligned::zeros(spec.bytes())).collect() }
    }

    /// Fills the outputs with bytes that no kernel is expected to write.
    pub fn poison(&mut self) {
        self.outputs.iter_mut().for_each(|output| output.fill(POISON));
    }

    /// Computes the outputs, which nobody looks at after an error.
    pub fn run(&mut self, prepared: &PreparedCpu) -> Result<(), ExecuteError> {
        let (read, written) = (prepared.plan().inputs().iter(), prepared.plan().outputs().iter());
        let read = read.zip(&self.inputs).map(|(spec, bytes)| TensorRef::new(spec.dtype, &spec.shape, bytes));
        let written = written.zip(&mut self.outputs);
        let written = written.map(|(spec, bytes)| Ok(TensorMut::new(spec.dtype, &spec.shape, bytes)?.fresh()));
        let read = read.collect::<Result<Vec<_>, PlanError>>()?;
        prepared.run_blocking(&read, &mut written.collect::<Result<Vec<_>, PlanError>>()?)
    }
}
