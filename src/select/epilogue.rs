//! The epilogue of a pool, from a window's maximum to Y and Indices: its uniform fields and constants.

use wgpu_pooling_plan::internal::EmptyBase;
use wgpu_pooling_plan::{DType, IndexPlan, Layout, NanPolicy, PlanError, PoolPlan};

use super::digits::{Digit, dense_strides, merge};
use super::target::Target;
use super::view::{Pass, PassAxis, pass_axis};
use crate::kernel::{ActivationKind, IndexDigits};
use crate::schedule::Limits;
use crate::tables::Tables;
use crate::uniform::{self, Divisor, pair};

/// What a family makes dispatches for.
#[derive(Clone, Copy)]
pub(super) struct PoolContext<'a> {
    pub plan: &'a PoolPlan,
    pub limits: &'a Target,
    /// The activation as the parts of shaders tell it apart, and its parameters.
    pub activation_kind: ActivationKind,
    pub activation: uniform::Activation,
}

/// Whether a window of NaN alone has an index that follows from where its taps begin.
pub(super) fn ignores_from_starts(plan: &PoolPlan) -> bool {
    let clamped = |indices: &IndexPlan| indices.empty_base() == EmptyBase::ClampedStart;
    plan.ignores_nan() && plan.indices.as_ref().is_some_and(clamped)
}

/// Elements of Y that one invocation writes: a whole word.
pub(super) fn lanes(dtype: DType) -> u64 {
    4u64.div_ceil(dtype.bytes() as u64)
}

/// The work of the last pass after the maximum: values of windows without a winner, index convention, activation.
pub(super) struct Epilogue {
    uniform: uniform::Pool,
    axes: [uniform::Axis; uniform::AXES - 3],
    digits: IndexDigits,
}

impl Epilogue {
    /// The uniform without the axes of a pass.
    pub fn uniform(&self) -> uniform::Pool {
        let IndexDigits { index, store, empty, clamped_axes } = self.digits;
        uniform::Pool {
            index_digits: index,
            store_digits: store,
            empty_digits: empty,
            spatial_axes: clamped_axes,
            ..self.uniform
        }
    }

    /// Loop iterations that find an index, its place, and the index of a window without a winner.
    pub fn iterations(&self) -> u64 {
        let IndexDigits { index, store, empty, clamped_axes } = self.digits;
        [index, store, empty, clamped_axes].into_iter().map(u64::from).sum()
    }

    /// The numbers of index digits as constants of a specialised kernel.
    pub fn index_digits(&self, plan: &PoolPlan) -> IndexDigits {
        let may_be_without = plan.may_be_empty() || plan.nan_policy == NanPolicy::SeedLowest;
        if may_be_without { self.digits } else { IndexDigits { empty: 0, clamped_axes: 0, ..self.digits } }
    }

    /// The uniform of a pass, without the fields that depend on the dispatch. Its window tables are appended to
    /// `tables`.
    pub fn uniform_of(&self, pass: &Pass, tables: &mut Tables, limits: &Limits) -> Result<uniform::Pool, PlanError> {
        let mut uniform: uniform::Pool = self.uniform();
        for (entry, axis) in uniform.axes.iter_mut().zip(&pass.axes) {
            *entry = pass_axis(axis, tables, limits)?;
        }
        uniform.axes[3..].copy_from_slice(&self.axes);
        uniform.inner = pass.inner as u32;
        let [first, second, third] = pass.axes.each_ref().map(|axis| axis.output);
        uniform.split = [pass.inner, third, second, first].map(Divisor::new);
        Ok(uniform)
    }

    pub fn of(
        plan: &PoolPlan,
        activation: uniform::Activation,
        tables: &mut Tables,
        limits: &Limits,
    ) -> Result<Epilogue, PlanError> {
        // The value of a window with taps that has no winner. Where NaN is ignored that is an empty window.
        let lowest = if plan.ignores_nan() { plan.empty_bits } else { plan.reduction.seed_bits(plan.dtype()) };
        let mut epilogue = Epilogue {
            uniform: uniform::Pool {
                nan_policy: plan.nan_policy as u32,
                empty_value: pair(plan.empty_bits),
                lowest_value: pair(lowest),
                channels_inner: if plan.layout() == Layout::Nhwc { plan.channels as u32 } else { 1 },
                activation,
                ..bytemuck::Zeroable::zeroed()
            },
            axes: [bytemuck::Zeroable::zeroed(); uniform::AXES - 3],
            digits: IndexDigits { index: 0, store: 0, empty: 0, clamped_axes: 0 },
        };
        if let Some(indices) = &plan.indices {
            epilogue.set_indices(plan, indices);
            epilogue.set_clamped_starts(plan, indices, tables, limits)?;
        }
        Ok(epilogue)
    }

    /// Sets the digits and offsets that convert positions to indices and their places, and those of windows without a
    /// winner.
    fn set_indices(&mut self, plan: &PoolPlan, indices: &IndexPlan) {
        let strides = indices.space.strides();
        let inputs: Vec<usize> = plan.axes.iter().map(|axis| axis.input).collect();
        let outputs: Vec<usize> = plan.axes.iter().map(|axis| axis.output).collect();
        let store = dense_strides(indices.space.layout, plan.channels, &outputs);
        let zeros = vec![0; outputs.len()];
        let uniform = &mut self.uniform;
        let index = unless_identity(digits(plan, &inputs, strides.n, strides.c, &strides.spatial));
        let store = unless_identity(digits(plan, &outputs, store.n, store.c, &store.spatial));
        let empty = merge(digits(plan, &outputs, strides.n, strides.c, &zeros));
        self.digits = IndexDigits {
            index: fill(&mut uniform.index, index),
            store: fill(&mut uniform.store, store),
            empty: fill(&mut uniform.empty, empty),
            clamped_axes: 0,
        };
        // A tile's indices are those of the whole tensor. An element's index is offset by the tile's corner, the index
        // of an empty window by the tile's first plane only.
        let corner = plan.origin.flat(&strides, 0, 0, &zeros);
        let planes = plan.origin.flat_in_plane(&strides, 0, 0, &zeros);
        let (kind, base, offset) = match (indices.empty_base(), plan.ignores_nan()) {
            (EmptyBase::Constant(index), false) => (0, planes, index),
            (EmptyBase::Plane(offset), false) => (1, planes, offset),
            (EmptyBase::ClampedStart, false) => (2, planes, corner.wrapping_sub(planes)),
            // What any window without a winner has.
            (EmptyBase::Constant(index), true) => {
                self.digits.empty = 0;
                (1, index, 0)
            }
            (EmptyBase::Plane(offset), true) => (1, planes.wrapping_add(offset), 0),
            (EmptyBase::ClampedStart, true) => (3, corner, 0),
        };
        uniform.index_base = pair(corner as u64);
        uniform.index_outer = pair(strides.n as u64);
        uniform.index_channel = pair(strides.c as u64);
        uniform.channels = plan.channels as u32;
        uniform.outputs_of_channel = plan.output_elements().checked_div(plan.planes()).unwrap_or(0) as u32;
        uniform.empty_base = pair(base as u64);
        uniform.empty_kind = kind;
        uniform.empty_index = pair(offset as u64);
    }

    /// Under [`EmptyBase::ClampedStart`], sets the axes and strides that kernels compute the indices of empty windows
    /// from.
    fn set_clamped_starts(
        &mut self,
        plan: &PoolPlan,
        indices: &IndexPlan,
        tables: &mut Tables,
        limits: &Limits,
    ) -> Result<(), PlanError> {
        if indices.empty_base() != EmptyBase::ClampedStart || !plan.may_be_empty() {
            return Ok(());
        }
        let strides = indices.space.strides();
        let largest = plan.axes.iter().map(|axis| axis.window.largest_first(axis.input, axis.output)).max();
        if largest.is_some_and(|largest| largest > i64::from(u32::MAX)) {
            return Err(PlanError::NotOnGpu { what: "clamped starts beyond 32 bits" });
        }
        self.digits.clamped_axes = plan.axes.len() as u32;
        for (entry, (axis, &stride)) in plan.axes.iter().zip(&strides.spatial).rev().enumerate() {
            self.axes[entry] = pass_axis(&PassAxis::of(axis), tables, limits)?;
            self.uniform.spatial[entry] = uniform_digit(axis.output as u64, stride);
        }
        Ok(())
    }
}

/// The digits of a position in X or of an output's number, fastest first, with the strides of n, c and the spatial
/// axes.
fn digits(plan: &PoolPlan, extents: &[usize], n: i64, c: i64, spatial: &[i64]) -> Vec<Digit<1>> {
    let digit = |radix: usize, stride: i64| Digit { radix: radix as u64, strides: [stride] };
    let mut digits: Vec<Digit<1>> =
        extents.iter().zip(spatial).rev().map(|(&extent, &stride)| digit(extent, stride)).collect();
    let channel = digit(plan.channels, c);
    match plan.layout() {
        Layout::Nchw => digits.push(channel),
        Layout::Nhwc => digits.insert(0, channel),
    }
    digits.push(digit(plan.batch, n));
    digits
}

/// The merged digits. There are none where the sum equals the number itself, so that kernels need no division.
fn unless_identity(digits: Vec<Digit<1>>) -> Vec<Digit<1>> {
    let numbers = digits.iter().fold(1, |numbers: u64, digit| numbers.saturating_mul(digit.radix));
    let merged = merge(digits);
    let is_identity = |digit: &Digit<1>| digit.strides == [1] && digit.radix == numbers;
    match merged.as_slice() {
        [only] if is_identity(only) => Vec::new(),
        // Every sum is zero.
        [] => vec![Digit { radix: 1, strides: [0] }],
        _ => merged,
    }
}

fn uniform_digit(radix: u64, stride: i64) -> uniform::Digit {
    uniform::Digit { radix: Divisor::new(radix), stride: pair(stride as u64), reserved: [0; 2] }
}

fn fill(entries: &mut [uniform::Digit], digits: Vec<Digit<1>>) -> u32 {
    for (entry, digit) in entries.iter_mut().zip(&digits) {
        *entry = uniform_digit(digit.radix, digit.strides[0]);
    }
    digits.len() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_left_out_where_the_sum_is_the_number_itself() {
        let digit = |radix, stride| Digit { radix, strides: [stride] };
        assert_eq!(unless_identity(vec![digit(5, 1), digit(3, 5), digit(2, 15)]), []);
        // Within a plane: the planes add nothing, but the number has to be split.
        assert_eq!(unless_identity(vec![digit(5, 1), digit(3, 5), digit(2, 0)]), [digit(15, 1)]);
        // Planes of one element: every sum is zero, and the number is not.
        assert_eq!(unless_identity(vec![digit(1, 1), digit(7, 0)]), [digit(1, 0)]);
    }
}
