//! The inputs of a row, on the host and on the device.

use wgpu_pooling::{Buffers, Element, Operand, Plan};

use crate::data::{self, Data};
use crate::device::Device;
use crate::failure::Failure;
use crate::indices::Indices;
use crate::set::Set;
use crate::work::Plans;

/// The inputs on the device, as the host has them.
pub struct Inputs<T> {
    pub x: Vec<T>,
    /// The bytes of the indices that an unpool reads; empty for a pool.
    pub indices: Vec<u8>,
}

/// Fills X, and an unpool's indices.
pub fn fill<T: Element>(device: &Device, plans: &Plans, data: Data, set: &Set) -> Result<Inputs<T>, Failure> {
    let Some(x) = &set.x else { return Err(Failure::Other("no row is without X".to_owned())) };
    match (&plans.plan, &set.indices, &plans.filled_by) {
        (Plan::Unpool(_), Some(indices), Some(pool)) => {
            pooled::<T>(device, pool, data, set)?;
            let bytes = device.read_back(x)?;
            let count: usize = plans.x_shape().iter().product();
            let x = bytemuck::pod_collect_to_vec(&bytes[..(count * size_of::<T>()).min(bytes.len())]);
            Ok(Inputs { x, indices: device.read_back(indices)? })
        }
        (plan @ Plan::Unpool(_), Some(indices), None) => {
            let host: Vec<T> = data::values(data, plans.x_shape().iter().product());
            device.upload(x, bytemuck::cast_slice(&host))?;
            let random = Indices::random(plan);
            device.upload(indices, random.bytes())?;
            Ok(Inputs { x: host, indices: random.bytes().to_vec() })
        }
        _ => {
            let host: Vec<T> = data::values(data, plans.x_shape().iter().product());
            device.upload(x, bytemuck::cast_slice(&host))?;
            Ok(Inputs { x: host, indices: Vec::new() })
        }
    }
}

/// Computes an unpool's inputs by the pool.
fn pooled<T: Element>(device: &Device, pool: &Plan, data: Data, set: &Set) -> Result<(), Failure> {
    let prepared = device.gpu.prepare_blocking(pool.clone())?;
    let host: Vec<T> = data::values(data, pool.input_shape().iter().product());
    let input = device.buffer("the pool's X", prepared.schedule().operand_bytes(Operand::X).unwrap_or(0))?;
    device.upload(&input, bytemuck::cast_slice(&host))?;
    let Buffers { x, indices, .. } = set.buffers();
    let buffers = Buffers { x: Some(input.slice(..)), y: x, indices_out: indices, ..Buffers::default() };
    device.submit(|encoder| Ok(prepared.encode(encoder, buffers)?))
}
