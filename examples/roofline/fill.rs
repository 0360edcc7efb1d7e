//! The inputs of a row, on the host and on the device.

use wgpu_pooling::{Buffers, Element, IndexType, Plan, PoolPlan};

use crate::data::{self, Data, OF_INDICES, noise};
use crate::device::Device;
use crate::failure::Failure;
use crate::run::Set;
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
        (Plan::Unpool(plan), Some(indices), None) => {
            let host: Vec<T> = data::values(data, plans.x_shape().iter().product());
            device.upload(x, bytemuck::cast_slice(&host))?;
            let plane = plan.space().strides().c;
            // Index tensors lie in planes, whatever the layout of X.
            let per_plane = plan.inputs()[1].shape[2..].iter().product::<usize>() as u64;
            let index = |at: u64| (at / per_plane) as i64 * plane + (noise(OF_INDICES + at) % plane as u64) as i64;
            let count = host.len();
            let bytes: Vec<u8> = match plan.index_type() {
                IndexType::I32 => bytemuck::cast_slice(&data::filled(count, |at| index(at) as i32)).to_vec(),
                IndexType::I64 => bytemuck::cast_slice(&data::filled(count, index)).to_vec(),
            };
            device.upload(indices, &bytes)?;
            Ok(Inputs { x: host, indices: bytes })
        }
        _ => {
            let host: Vec<T> = data::values(data, plans.x_shape().iter().product());
            device.upload(x, bytemuck::cast_slice(&host))?;
            Ok(Inputs { x: host, indices: Vec::new() })
        }
    }
}

/// Computes an unpool's inputs by the pool.
fn pooled<T: Element>(device: &Device, pool: &PoolPlan, data: Data, set: &Set) -> Result<(), Failure> {
    let prepared = device.gpu.prepare_blocking(pool.clone())?;
    let host: Vec<T> = data::values(data, pool.input_shape().iter().product());
    let input = device.buffer("the pool's X", prepared.schedule().x_bytes().unwrap_or(0))?;
    device.upload(&input, bytemuck::cast_slice(&host))?;
    let Buffers { x, indices, .. } = set.buffers();
    let buffers = Buffers { x: Some(input.slice(..)), y: x, indices_out: indices, ..Buffers::default() };
    device.submit(|encoder| Ok(prepared.encode(encoder, buffers)?))
}
