//! The tensors of one run, made once and used again.

use bytemuck::{try_zeroed_vec, zeroed_vec};
use wgpu_pooling::{
    Cpu, Element, ExecuteError, IndexType, Plan, PlanError, PreparedCpu, Run, Tensor, TensorMut, TensorRef, TensorView,
};

use crate::data::{self, Data};
use crate::failure::Failure;
use crate::indices::Indices;
use crate::work::Plans;

/// The byte that outputs are filled with before a run, so that an element that no kernel writes is noticed.
const POISON: u8 = 0xA5;

#[derive(Debug, Clone)]
pub struct Set<T> {
    pub x: Vec<T>,
    /// The indices that an unpool reads.
    pub indices: Indices,
    pub y: Vec<T>,
    /// The indices that a pool writes.
    pub indices_out: Indices,
}

impl<T: Element> Set<T> {
    /// The inputs of a row, and outputs that nothing was written to.
    pub fn new(plans: &Plans, data: Data) -> Result<Set<T>, Failure> {
        let count = |shape: &[usize]| shape.iter().product::<usize>();
        if try_zeroed_vec::<u8>(plans.bytes() as usize).is_err() {
            return Err(Failure::TooLarge(format!("this machine has no memory for {} bytes", plans.bytes())));
        }
        let (x, indices) = match (&plans.plan, &plans.filled_by) {
            (Plan::Unpool(_), Some(pool)) => pooled(pool, data)?,
            (plan @ Plan::Unpool(_), None) => (data::values(data, count(plans.x_shape())), Indices::random(plan)),
            _ => (data::values(data, count(plans.x_shape())), Indices::None),
        };
        let y = zeroed_vec(count(plans.y_shape()));
        let written = match &plans.plan {
            Plan::Pool(_) => plans.plan.index_type(),
            Plan::Unpool(_) | Plan::Difference(_) => None,
        };
        let indices_out = Indices::zeros(written, y.len());
        Ok(Set { x, indices, y, indices_out })
    }

    /// Fills the outputs with bytes that no kernel is expected to write.
    pub fn poison(&mut self) {
        bytemuck::cast_slice_mut::<T, u8>(&mut self.y).fill(POISON);
        self.indices_out.bytes_mut().fill(POISON);
    }

    /// Computes the outputs, which nobody looks at after an error.
    pub fn run(&mut self, prepared: &PreparedCpu) -> Result<(), ExecuteError> {
        let Set { x, indices, y, indices_out } = self;
        let (read, written) = (prepared.plan().inputs().iter(), prepared.plan().outputs().iter());
        let read = read.zip([bytemuck::cast_slice(x), indices.bytes()]);
        let read: Result<Vec<_>, PlanError> =
            read.map(|(spec, bytes)| TensorRef::new(spec.dtype, &spec.shape, bytes)).collect();
        let written = written.zip([bytemuck::cast_slice_mut(y), indices_out.bytes_mut()]);
        let written: Result<Vec<_>, PlanError> =
            written.map(|(spec, bytes)| Ok(TensorMut::new(spec.dtype, &spec.shape, bytes)?.fresh())).collect();
        prepared.run_blocking(&read?, &mut written?)
    }
}

/// An unpool's inputs: what the pool computes.
fn pooled<T: Element>(pool: &Plan, data: Data) -> Result<(Vec<T>, Indices), Failure> {
    let values: Vec<T> = data::values(data, pool.input_shape().iter().product());
    let x = TensorView::new(pool.input_shape(), &values).map_err(ExecuteError::from)?;
    let prepared = Cpu::new().prepare(pool.clone())?;
    Ok(match pool.index_type() {
        Some(IndexType::I32) => {
            let (y, indices): (Tensor<T>, _) = prepared.call_blocking(&[x.into()])?;
            (y.into_data(), Indices::I32(Tensor::into_data(indices)))
        }
        _ => {
            let (y, indices): (Tensor<T>, _) = prepared.call_blocking(&[x.into()])?;
            (y.into_data(), Indices::I64(Tensor::into_data(indices)))
        }
    })
}
