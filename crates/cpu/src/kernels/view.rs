//! A pool's tensors in the form that kernels use: outer planes, axes with windows, inner elements.

use wgpu_pooling_plan::internal::EmptyBase;
use wgpu_pooling_plan::{AxisWindow, IndexPlan, Layout, NanPolicy, PlanError, PoolPlan, Taps, UnpoolPlan};

/// X of a pool as `outer` planes, each with the spatial axes and `inner` neighbouring elements per position: N * C
/// planes of single elements in NCHW, N planes of C elements in NHWC. Y has the same form. Spatial axes of extent 1 are
/// left out.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct View {
    pub outer: usize,
    pub channels: usize,
    pub layout: Layout,
    /// At least one axis.
    pub axes: Vec<ViewAxis>,
    pub inner: usize,
    /// The index of position 0 of plane (0, 0), and the amounts that N and C add.
    pub index_base: i64,
    pub index_n: i64,
    pub index_c: i64,
    /// The index of a window without a winner under `NanPolicy::SeedLowest`, in plane (0, 0).
    pub unit_base: i64,
    /// The index of an empty window, in plane (0, 0).
    pub empty_index: EmptyBase,
}

/// A spatial axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ViewAxis {
    pub input: usize,
    pub output: usize,
    pub window: AxisWindow,
    /// The distance from one position to the next, in elements of X and in indices.
    pub x_stride: usize,
    pub index_stride: i64,
}

impl ViewAxis {
    pub fn taps(&self, output: usize) -> Taps {
        self.window.taps(output, self.input)
    }

    /// Whether each position is a window of its own.
    pub fn is_identity(&self) -> bool {
        matches!(self.window, AxisWindow::Strided { kernel: 1, stride: 1, pad_begin: 0, .. })
            && self.input == self.output
    }
}

impl View {
    /// Fails if no address space can hold the tensors.
    pub fn new(plan: &PoolPlan) -> Result<View, PlanError> {
        let (outer, inner) = match plan.layout() {
            Layout::Nchw => (plan.batch.checked_mul(plan.channels), 1),
            Layout::Nhwc => (Some(plan.batch), plan.channels),
        };
        let overflow = || PlanError::ShapeOverflow { shape: plan.input_shape().to_vec() };
        let strides = plan.indices.as_ref().map(|indices| indices.space.strides());
        let mut axes = Vec::with_capacity(plan.axes.len());
        let mut x_stride = inner;
        for (number, axis) in plan.axes.iter().enumerate().rev() {
            let index_stride = strides.as_ref().map_or(0, |strides| strides.spatial[number]);
            let window = axis.window.strided();
            axes.push(ViewAxis { input: axis.input, output: axis.output, window, x_stride, index_stride });
            x_stride = x_stride.checked_mul(axis.input).ok_or_else(overflow)?;
        }
        axes.reverse();
        let one_element = |axis: &ViewAxis| axis.input == 1 && axis.output == 1 && axis.taps(0).count == 1;
        while axes.len() > 1 {
            let Some(number) = axes.iter().position(one_element) else { break };
            axes.remove(number);
        }
        let zeros = vec![0; plan.axes.len()];
        let (mut index_base, mut index_n, mut index_c, mut unit_base) = (0, 0, 0, 0);
        if let Some(strides) = &strides {
            index_base = plan.origin.flat(strides, 0, 0, &zeros);
            (index_n, index_c) = (strides.n, strides.c);
            unit_base = plan.origin.flat_in_plane(strides, 0, 0, &zeros);
        }
        let empty_index = match plan.indices.as_ref().map(IndexPlan::empty_base) {
            Some(EmptyBase::Plane(offset)) => EmptyBase::Plane(unit_base.wrapping_add(offset)),
            Some(base) => base,
            None => EmptyBase::Constant(-1),
        };
        let (outer, channels) = (outer.ok_or_else(overflow)?, plan.channels);
        let layout = plan.layout();
        Ok(View { outer, channels, layout, axes, inner, index_base, index_n, index_c, unit_base, empty_index })
    }

    /// The amount that a plane adds to indices. For NHWC planes: that of the first channel.
    pub fn index_of_plane(&self, outer: usize) -> i64 {
        let (n, c) = match self.layout {
            Layout::Nchw => (outer / self.channels.max(1), outer % self.channels.max(1)),
            Layout::Nhwc => (outer, 0),
        };
        (n as i64).wrapping_mul(self.index_n).wrapping_add((c as i64).wrapping_mul(self.index_c))
    }

    /// The index of a window without a winner under `NanPolicy::SeedLowest`. For NHWC planes: that of the first
    /// channel.
    pub fn index_of_seed(&self, outer: usize) -> i64 {
        self.unit_base.wrapping_add(self.index_of_plane(outer))
    }

    /// The index of an empty window. `plane` is the amount that its plane adds, `firsts` are the positions where the
    /// window begins.
    pub fn empty_index(&self, plane: i64, firsts: impl Iterator<Item = i64>) -> i64 {
        match self.empty_index {
            EmptyBase::Constant(index) => index,
            EmptyBase::Plane(base) => base.wrapping_add(plane),
            EmptyBase::ClampedStart => {
                let along = self.axes.iter().zip(firsts).map(|(axis, first)| first.wrapping_mul(axis.index_stride));
                along.fold(self.index_base.wrapping_add(plane), i64::wrapping_add)
            }
        }
    }

    /// The elements of one plane of X.
    pub fn plane(&self) -> usize {
        self.axes.iter().map(|axis| axis.input).product::<usize>().saturating_mul(self.inner)
    }

    /// The elements of Y at one position along the first axis.
    pub fn row(&self) -> usize {
        self.axes[1..].iter().map(|axis| axis.output).product::<usize>().saturating_mul(self.inner)
    }

    /// The most elements of a window.
    pub fn most_taps(&self) -> u64 {
        self.axes.iter().fold(1, |taps: u64, axis| taps.saturating_mul(axis.window.most_taps(axis.input)))
    }
}

/// Whether elements can be NaN and the last NaN of a window wins.
pub(crate) fn nan_wins(plan: &PoolPlan) -> bool {
    plan.nan_policy == NanPolicy::PropagateLast && plan.dtype().is_float()
}

/// The distances in elements from one batch item, channel and position of a tensor to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Distances {
    pub n: usize,
    pub c: usize,
    pub position: usize,
}

impl Distances {
    pub fn new(layout: Layout, channels: usize, plane: usize) -> Distances {
        let n = channels.saturating_mul(plane);
        match layout {
            Layout::Nchw => Distances { n, c: plane, position: 1 },
            Layout::Nhwc => Distances { n, c: 1, position: channels },
        }
    }

    pub fn at(self, n: usize, c: usize, position: usize) -> usize {
        n * self.n + c * self.c + position * self.position
    }
}

/// The elements of a plane of X and of a plane of Y.
pub(crate) fn unpool_planes(plan: &UnpoolPlan) -> [usize; 2] {
    [&plan.x_extents, &plan.y_extents]
        .map(|extents| extents.iter().fold(1, |count: usize, extent| count.saturating_mul(*extent)))
}
