//! Turns any bytes into a small case of any operator, with any elements and any indices.

use wgpu_pooling::{
    Activation, AdaptiveMaxPool, Backend, DType, Element, EmptyIndex, EmptyValue, ExecuteError, IndexFlattening,
    IndexType, Layout, MaxPool, MaxUnpool, Minimum, NanPolicy, OutOfBounds, OutsideWindow, PlanError, Pooling,
    Reference, Steps, StorageOrder,
};

use super::bytes::Bytes;
use crate::case::{Case, same};
use crate::compositions::Composition;
use wgpu_pooling::with_element;

/// The largest numbers of a case. Work grows with their product, and long rows take other paths of a kernel.
pub struct Most {
    /// The innermost spatial extent; others are at most 7.
    pub innermost: u8,
    /// The numbers of a window.
    pub window: u8,
}

/// A small case, unless its plan is refused.
pub fn read(bytes: &mut Bytes<'_>, most: &Most) -> Option<Case> {
    let axes = 1 + usize::from(bytes.byte() % 3);
    let mut shape = vec![bytes.small(3), bytes.small(4)];
    shape.extend((1..axes).map(|_| bytes.small(7)));
    shape.push(bytes.small(most.innermost));
    let dtype = bytes.of(&DType::ALL);
    let index_type = bytes.index_type();
    match bytes.byte() % 6 {
        0 | 1 => {
            let pool: Box<dyn Pooling> = match bytes.byte() % 4 {
                0 => {
                    let pool = AdaptiveMaxPool::new(bytes.smalls(axes, most.window));
                    Box::new(pool.nan_policy(bytes.of(NanPolicy::ALL)))
                }
                1 => Box::new(far_pool(bytes, &shape[2..])),
                _ => Box::new(pool(bytes, axes, most.window)),
            };
            let pool = if bytes.byte().is_multiple_of(2) { pool } else { Box::new(Minimum::of(pool)) };
            let indices = bytes.sometimes(|_| index_type);
            let plan = pool.plan(&shape, dtype, indices).ok()?;
            let x = with_element!(dtype, T => elements::<T>(plan.input_shape(), bytes));
            Some(Case::new(plan, vec![x]))
        }
        _ => {
            let plan = unpool(bytes, axes, &shape).plan(&shape, dtype, index_type).ok()?;
            let x = with_element!(dtype, T => elements::<T>(plan.input_shape(), bytes));
            let indices =
                indices(index_type, &plan.inputs()[1].shape, plan.index_space().unwrap().index_count(), bytes);
            Some(Case::new(plan, vec![x, indices]))
        }
    }
}

/// A small composition, and its case: the first of its plans has the tensors of all of them.
pub fn composition(bytes: &mut Bytes<'_>, most: &Most) -> Option<(Steps, Case)> {
    let axes = 1 + usize::from(bytes.byte() % 3);
    let shape: Vec<usize> = (0..axes + 2).map(|_| bytes.small(most.innermost.min(40 >> axes))).collect();
    let (kernel_shape, dtype) = (bytes.smalls(axes, most.window), bytes.of(&DType::ALL));
    let by = Composition {
        kind: usize::from(bytes.byte()) % Composition::KINDS.len(),
        anchor: bytes.sometimes(|bytes| bytes.smalls(axes, most.window)),
        kernel_shape,
        iterations: bytes.small(3) as i64,
        layout: bytes.of(Layout::ALL),
        nan_policy: bytes.of(NanPolicy::ALL),
        empty_value: bytes.of(EmptyValue::ALL),
    };
    let steps = by.steps(&shape, dtype).ok()?;
    let first = steps.first().clone();
    let x = with_element!(dtype, T => elements::<T>(&shape, bytes));
    Some((steps, Case::new(first, vec![x])))
}

/// Runs it, and expects the reference's bits, or that a GPU refuses a difference.
pub fn composed(steps: &Steps, case: &Case, backend: &dyn Backend) {
    let expected = case.outcome(|x, y| Reference.run_steps_blocking(steps, x, y));
    let actual = case.outcome(|x, y| backend.run_steps_blocking(steps, x, y));
    if let Err(ExecuteError::Plan(PlanError::NotOnGpu { what })) = actual {
        assert!(what.ends_with(case.plan.inputs()[0].dtype.name()), "{what}: {steps:?}");
        return;
    }
    same(&expected, &actual).unwrap_or_else(|error| panic!("{steps:?} on {}: {error}", backend.name()));
}

impl Bytes<'_> {
    fn small(&mut self, most: u8) -> usize {
        usize::from(self.byte() % most) + 1
    }

    fn smalls(&mut self, axes: usize, most: u8) -> Vec<i64> {
        (0..axes).map(|_| self.small(most) as i64).collect()
    }
}

fn pool(bytes: &mut Bytes<'_>, axes: usize, most: u8) -> MaxPool {
    let pool = MaxPool::new(bytes.smalls(axes, most)).strides(bytes.smalls(axes, 4)).dilations(bytes.smalls(axes, 4));
    let pads: Vec<i64> = (0..2 * axes).map(|_| i64::from(bytes.byte() % most.max(4))).collect();
    let pool = pool.pads(pads).ceil_mode(i64::from(bytes.byte() % 2)).storage_order(i64::from(bytes.byte() % 2));
    let pool = pool.nan_policy(bytes.of(NanPolicy::ALL)).empty_value(bytes.of(EmptyValue::ALL));
    let pool = pool.empty_index(bytes.of(EmptyIndex::ALL)).flatten(bytes.of(IndexFlattening::ALL));
    pool.layout(bytes.of(Layout::ALL)).activation(exact_activation(bytes))
}

/// Kernels and dilations near powers of two, with pads that keep one tap of every window at its output's own element.
fn far_pool(bytes: &mut Bytes<'_>, extents: &[usize]) -> MaxPool {
    let axes = extents.len();
    let (mut kernel, mut dilations, mut pads) = (vec![1; axes], vec![1; axes], vec![0; 2 * axes]);
    for axis in 0..axes {
        let mut near = |exponents: &[u32]| (1i64 << bytes.of(exponents)) + i64::from(bytes.byte() % 5) - 2;
        let (taps, apart) = match near(&[1, 2]) % 3 {
            0 => (near(&[2, 3]).max(2), near(&[16, 28, 29, 30, 31, 32])),
            1 => (near(&[15, 16, 20, 21, 22, 28, 29, 31]), 1),
            _ => (near(&[6, 12, 16]), near(&[4, 12, 16])),
        };
        let before = (bytes.word() % taps as u64) as i64 * apart;
        (kernel[axis], dilations[axis]) = (taps, apart);
        (pads[axis], pads[axes + axis]) = (before, (taps - 1) * apart - before);
    }
    let pool = MaxPool::new(kernel).dilations(dilations).pads(pads).nan_policy(bytes.of(NanPolicy::ALL));
    pool.layout(bytes.of(Layout::ALL)).flatten(bytes.of(IndexFlattening::ALL))
}

fn unpool(bytes: &mut Bytes<'_>, axes: usize, shape: &[usize]) -> MaxUnpool {
    let unpool = match bytes.byte() % 3 {
        0 => {
            // The pool's output has to have X's shape, so the pool's input is one larger on each spatial axis.
            let of: Vec<usize> =
                shape.iter().enumerate().map(|(axis, &extent)| if axis < 2 { extent } else { extent + 1 }).collect();
            MaxUnpool::inverse_of(&MaxPool::new(vec![2; axes]), &of)
        }
        1 if bytes.flag() => MaxUnpool::inverse_of(&far_pool(bytes, &shape[2..]), shape),
        _ => {
            let unpool = MaxUnpool::new(bytes.smalls(axes, 4)).strides(bytes.smalls(axes, 4));
            let unpool = unpool.layout(bytes.of(Layout::ALL)).flatten(bytes.of(IndexFlattening::ALL));
            unpool.index_order(bytes.of(StorageOrder::ALL))
        }
    };
    let unpool = unpool.outside_window(bytes.of(OutsideWindow::ALL));
    unpool.out_of_bounds(bytes.of(OutOfBounds::ALL)).activation(exact_activation(bytes))
}

/// An activation that is exact: those that round are compared within a bound, not by their bits.
fn exact_activation(bytes: &mut Bytes<'_>) -> Activation {
    match bytes.byte() % 6 {
        0 => Activation::Relu,
        1 => Activation::Clip { min: -1.0, max: f32::from_bits(bytes.word() as u32 & 0x7FFF_FFFF) },
        _ => Activation::Identity,
    }
}

fn count(shape: &[usize]) -> usize {
    shape.iter().product()
}

/// The bytes of elements: any bits, or a few special values that tie.
fn elements<T: Element>(shape: &[usize], bytes: &mut Bytes<'_>) -> Vec<u8> {
    let few = bytes.flag();
    let mut noise = bytes.word() | 1;
    let mut any = || {
        noise ^= noise << 13;
        noise ^= noise >> 7;
        noise ^= noise << 17;
        noise
    };
    let edges = [0, 1 << 31, 0x7FC0_0000, 0xFF80_0000, 0x8000, 0x7FF8_0000_0000_0000, 1 << 63, 0x80, u64::MAX, 1];
    let data = (0..count(shape)).map(|_| T::from_bits64(if few { edges[(any() % 10) as usize] } else { any() }));
    bytemuck::cast_slice(&data.collect::<Vec<T>>()).to_vec()
}

/// The bytes of indices: good ones, bad ones of every kind, and any bits.
fn indices(index_type: IndexType, shape: &[usize], unit: u64, bytes: &mut Bytes<'_>) -> Vec<u8> {
    let bad = bytes.byte();
    let mut noise = bytes.word() | 1;
    let mut any = || {
        noise ^= noise << 13;
        noise ^= noise >> 7;
        noise ^= noise << 17;
        noise
    };
    let mut index = || {
        let good = (any() % unit.max(1)) as i64;
        // Bad indices are none, one in sixteen or all of them.
        let good_one = match bad % 3 {
            0 => true,
            1 => any() % 16 != 0,
            _ => false,
        };
        if good_one {
            return good;
        }
        match any() % 8 {
            0 => -1,
            1 => unit as i64,
            // The low word is a valid index.
            2 => good.wrapping_add(1 << 32),
            3 => good.wrapping_add(i64::MIN),
            4 => i64::MAX,
            5 => -(unit as i64),
            6 => good | 1 << 31,
            _ => any() as i64,
        }
    };
    let values = (0..count(shape)).map(|_| index());
    match index_type {
        IndexType::I32 => values.flat_map(|index| (index as i32).to_ne_bytes()).collect(),
        IndexType::I64 => values.flat_map(|index| index.to_ne_bytes()).collect(),
    }
}
