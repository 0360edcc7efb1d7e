//! Index tensors on the host.

use bytemuck::zeroed_vec;
use wgpu_pooling::{IndexType, Plan};

use crate::data::{self, OF_INDICES, noise};

/// An index tensor, or none.
#[derive(Debug, Clone, PartialEq)]
pub enum Indices {
    None,
    I32(Vec<i32>),
    I64(Vec<i64>),
}

impl Indices {
    pub fn zeros(index_type: Option<IndexType>, count: usize) -> Indices {
        match index_type {
            None => Indices::None,
            Some(IndexType::I32) => Indices::I32(zeroed_vec(count)),
            Some(IndexType::I64) => Indices::I64(zeroed_vec(count)),
        }
    }

    /// Random positions for an unpool: each element of X has one in its own plane, and some have the same one.
    pub fn random(plan: &Plan) -> Indices {
        let (plane, shape) = (plan.index_space().unwrap().strides().c, &plan.inputs()[1].shape);
        // Index tensors lie in planes, whatever the layout of X.
        let per_plane = shape[2..].iter().product::<usize>() as u64;
        let index = |at: u64| (at / per_plane) as i64 * plane + (noise(OF_INDICES + at) % plane as u64) as i64;
        let count = shape.iter().product();
        match plan.index_type() {
            Some(IndexType::I32) => Indices::I32(data::filled(count, |at| index(at) as i32)),
            _ => Indices::I64(data::filled(count, index)),
        }
    }

    pub fn bytes(&self) -> &[u8] {
        match self {
            Indices::None => &[],
            Indices::I32(indices) => bytemuck::cast_slice(indices),
            Indices::I64(indices) => bytemuck::cast_slice(indices),
        }
    }

    pub fn bytes_mut(&mut self) -> &mut [u8] {
        match self {
            Indices::None => &mut [],
            Indices::I32(indices) => bytemuck::cast_slice_mut(indices),
            Indices::I64(indices) => bytemuck::cast_slice_mut(indices),
        }
    }

    /// The checksum of the indices, widened to 64 bits.
    pub fn checksum(&self) -> Option<u64> {
        match self {
            Indices::None => None,
            Indices::I32(indices) => Some(data::checksum(indices, |index| i64::from(index) as u64)),
            Indices::I64(indices) => Some(data::checksum(indices, |index| index as u64)),
        }
    }
}
