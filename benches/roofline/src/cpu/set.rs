//! The tensors of one run, made once and used again.

use bytemuck::{try_zeroed_vec, zeroed_vec};
use wgpu_pooling::{Cpu, Element, ExecuteError, IndexType, Plan, PoolPlan, PreparedCpu, TensorView};

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
            (Plan::Unpool(plan), None) => (data::values(data, count(plans.x_shape())), Indices::random(plan)),
            _ => (data::values(data, count(plans.x_shape())), Indices::None),
        };
        let y = zeroed_vec(count(plans.y_shape()));
        let written = match &plans.plan {
            Plan::Pool(plan) => plan.indices().map(|indices| indices.index_type),
            _ => None,
        };
        let indices_out = Indices::zeros(written, y.len());
        Ok(Set { x, indices, y, indices_out })
    }

    /// Fills the outputs with bytes that no kernel is expected to write.
    pub fn poison(&mut self) {
        bytemuck::cast_slice_mut::<T, u8>(&mut self.y).fill(POISON);
        self.indices_out.bytes_mut().fill(POISON);
    }

    /// Computes the outputs.
    pub fn run(&mut self, prepared: &PreparedCpu) -> Result<(), ExecuteError> {
        let Set { x, indices, y, indices_out } = self;
        let inputs = prepared.plan().inputs();
        let x = TensorView::new(&inputs[0].shape, x)?;
        match (indices, indices_out) {
            (Indices::I32(read), _) => prepared.max_unpool_into(x, TensorView::new(&inputs[1].shape, read)?, y),
            (Indices::I64(read), _) => prepared.max_unpool_into(x, TensorView::new(&inputs[1].shape, read)?, y),
            (Indices::None, Indices::I32(written)) => prepared.max_pool_with_indices_into(x, y, written),
            (Indices::None, Indices::I64(written)) => prepared.max_pool_with_indices_into(x, y, written),
            (Indices::None, Indices::None) => prepared.max_pool_into(x, y),
        }
    }
}

/// An unpool's inputs: what the pool computes.
fn pooled<T: Element>(pool: &PoolPlan, data: Data) -> Result<(Vec<T>, Indices), Failure> {
    let values: Vec<T> = data::values(data, pool.input_shape().iter().product());
    let x = TensorView::new(pool.input_shape(), &values).map_err(ExecuteError::from)?;
    let prepared = Cpu::new().prepare(pool.clone())?;
    Ok(match pool.indices().map(|indices| indices.index_type) {
        Some(IndexType::I32) => {
            let (y, indices) = prepared.max_pool_with_indices(x)?;
            (y.into_data(), Indices::I32(indices.into_data()))
        }
        _ => {
            let (y, indices) = prepared.max_pool_with_indices(x)?;
            (y.into_data(), Indices::I64(indices.into_data()))
        }
    })
}
