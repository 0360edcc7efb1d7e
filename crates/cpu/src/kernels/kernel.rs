//! What a kernel for pools is: the time it would take for a pool, and, once it is chosen, how it computes outputs.

use std::fmt;

use wgpu_pooling_plan::internal::Reduction;
use wgpu_pooling_plan::{DType, ExecuteError, PoolPlan};

use super::axes::{Axis, axes};
use super::cpu_kernel::CpuKernel;
use super::indices::IndicesMut;
use super::parts::{Context, PartOf};
use super::scratch::ThreadMemory;
use super::tuning::{Cost, MIRRORED, VECTOR_BYTES};
use super::view::{View, ViewAxis};

/// A pool, as kernels read it before one of them is chosen.
#[derive(Debug)]
pub(crate) struct OfferedPool<'a> {
    pub plan: &'a PoolPlan,
    pub view: &'a View,
    /// The axes of strided windows, or why the windows are none.
    axes: Result<Vec<Axis>, &'static str>,
    /// The kernels to choose from.
    kernels: &'static [ListedKernel],
}

/// A kernel in the list of kernels for pools.
#[derive(Debug)]
pub(crate) struct ListedKernel {
    pub kernel: CpuKernel,
    /// What it offers for a pool, or why it does not apply.
    pub offer: for<'a> fn(&'a OfferedPool<'a>) -> Result<Offer<'a>, &'static str>,
}

impl<'a> OfferedPool<'a> {
    pub fn new(plan: &'a PoolPlan, view: &'a View, kernels: &'static [ListedKernel]) -> OfferedPool<'a> {
        OfferedPool { plan, view, axes: axes(view), kernels }
    }

    /// The same pool on another view of its tensors.
    pub fn of_view<'b>(&self, view: &'b View) -> OfferedPool<'b>
    where
        'a: 'b,
    {
        OfferedPool::new(self.plan, view, self.kernels)
    }

    /// The kernel that takes the least time, with its offer.
    pub fn fastest(&'a self) -> Option<(CpuKernel, Offer<'a>)> {
        let offers = self.kernels.iter().filter_map(|own| Some((own.kernel, (own.offer)(self).ok()?)));
        let cost = |offer: &Offer<'_>| offer.cost + if offer.mirrors { 0.0 } else { self.mirrored() };
        offers.min_by(|(_, a), (_, b)| cost(a).total_cmp(&cost(b)))
    }

    /// What a kernel of the list offers, or why it does not apply.
    pub fn offer_of(&'a self, kernel: CpuKernel) -> Result<Offer<'a>, &'static str> {
        let own = self.kernels.iter().find(|own| own.kernel == kernel).ok_or("it is for unpools")?;
        (own.offer)(self)
    }

    /// The axes of strided windows. `Err` says why the windows are none.
    pub fn axes(&self) -> Result<&[Axis], &'static str> {
        self.axes.as_deref().map_err(|reason| *reason)
    }

    /// Whether Indices have another layout than Y.
    pub fn permutes(&self) -> bool {
        permutes(self.plan, self.view)
    }

    /// The planes whose indices have another layout than their outputs. Each is computed by itself.
    pub fn permuted_planes(&self) -> f64 {
        if self.permutes() { self.view.outer as f64 } else { 0.0 }
    }

    pub fn is_half(&self) -> bool {
        matches!(self.plan.dtype(), DType::F16 | DType::Bf16)
    }

    /// The time to mirror X and Y, for a minimum.
    fn mirrored(&self) -> f64 {
        if self.plan.reduction == Reduction::Max { 0.0 } else { self.cost(&[(MIRRORED, self.bytes())]) }
    }

    /// This amount of work for floats of 16 bits, and none for other elements.
    pub fn if_half(&self, amount: f64) -> f64 {
        if self.is_half() { amount } else { 0.0 }
    }

    /// The number of elements of X.
    pub fn inputs(&self) -> f64 {
        self.elements(|axis| axis.input)
    }

    /// The number of outputs. Tensors that no memory could hold have costs too.
    pub fn outputs(&self) -> f64 {
        self.elements(|axis| axis.output)
    }

    /// The bytes of X, Y and Indices.
    pub fn bytes(&self) -> f64 {
        let of_index = self.plan.indices.as_ref().map_or(0, |indices| indices.index_type.bytes());
        let element = self.plan.dtype().bytes();
        self.inputs() * element as f64 + self.outputs() * (element + of_index) as f64
    }

    fn elements(&self, extent: fn(&ViewAxis) -> usize) -> f64 {
        let of_plane: f64 = self.view.axes.iter().map(|axis| extent(axis) as f64).product();
        self.view.outer as f64 * of_plane * self.view.inner as f64
    }

    /// The vectors of so many lanes that follow each other in memory. Costs are those of vectors of 32 bytes.
    pub fn vectors(&self, lanes: f64, lane_bytes: usize) -> f64 {
        lanes * lane_bytes as f64 / VECTOR_BYTES
    }

    /// The vectors of the elements of a row: at least one.
    pub fn vectors_of_row(&self, elements: f64) -> f64 {
        self.vectors(elements, self.plan.dtype().bytes()).ceil().max(1.0)
    }

    /// The sum of amounts of work, each times what it costs.
    pub fn cost(&self, work: &[(Cost, f64)]) -> f64 {
        let with_indices = usize::from(self.plan.indices.is_some());
        work.iter().map(|(cost, amount)| cost[with_indices] * amount).sum()
    }
}

/// Whether Indices have another layout than Y. With a single channel or a single position, both layouts are the same in
/// memory.
pub(crate) fn permutes(plan: &PoolPlan, view: &View) -> bool {
    let other_layout = plan.indices.as_ref().is_some_and(|indices| indices.space.layout != plan.layout());
    other_layout && plan.channels > 1 && view.axes.iter().any(|axis| axis.output > 1)
}

/// What a kernel offers for a pool.
pub(crate) struct Offer<'a> {
    /// What it costs, to be compared with other costs: about the nanoseconds that it takes in one thread.
    pub cost: f64,
    /// Whether the kernel is given the plan of a minimum with its X. All others are given the maxima of a mirrored X,
    /// and Y is mirrored back, which the cost leaves out.
    pub mirrors: bool,
    /// Lays out its work.
    pub layout: Box<dyn FnOnce() -> Box<dyn PoolKernel> + 'a>,
}

impl<'a> Offer<'a> {
    pub fn new<K: PoolKernel + 'static>(cost: f64, layout: impl FnOnce() -> K + 'a) -> Offer<'a> {
        Offer { cost, mirrors: false, layout: Box::new(|| Box::new(layout())) }
    }
}

/// What a kernel reads, X, and what it writes: Y and Indices, if they are asked for.
pub(crate) type Operands<'a> = (&'a [u8], &'a mut [u8], Option<IndicesMut<'a>>);

/// A kernel with the layout of its work for a pool.
pub(crate) trait PoolKernel: fmt::Debug + Send + Sync {
    /// Computes a part of Y, and of Indices in the order of Y. X and Y are the bytes of elements of the plan's type.
    /// The thread compares floats exactly, or the kernel does not compare floats.
    fn run(&self, part: &PartOf<'_>, operands: Operands<'_>, scratch: &mut ThreadMemory) -> Result<(), ExecuteError>;

    /// The number of parts of the work, about `wanted`, and the number of planes that a part of several planes has a
    /// multiple of.
    fn parts(&self, _planes: usize, wanted: usize) -> (usize, usize) {
        (wanted, 1)
    }

    /// Computes Y, and Indices in the order of Y, with all threads, if there are fewer outputs than threads could
    /// share. Returns false and writes nothing if there is no need or the kernel cannot.
    fn run_in_blocks(
        &self,
        _: (&PoolPlan, &View, &Context<'_>),
        _x: &[u8],
        _y: &mut [u8],
        _indices: Option<&mut IndicesMut<'_>>,
    ) -> Result<bool, ExecuteError> {
        Ok(false)
    }
}
