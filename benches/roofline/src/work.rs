//! The plans of a row: one of the whole row, and one of a slice, which the reference can compute alone.

use bytemuck::AnyBitPattern;
use wgpu_pooling::{
    AdaptiveMaxPool, DType, GlobalMaxPool, IndexStrides, IndexType, Layout, MaxPool, MaxUnpool, NanPolicy, Plan,
    PlanError, PoolPlan, Pooling,
};

use crate::catalogue::{IndexSource, Operator, Row, Window};

/// The plans of a row.
#[derive(Debug, Clone)]
pub struct Plans {
    pub plan: Plan,
    /// The pool that computes an unpool's inputs, if they come from a pool.
    pub filled_by: Option<Plan>,
}

impl Plans {
    pub fn new(row: &Row, dtype: DType) -> Result<Plans, PlanError> {
        let shape = in_layout(row.layout, &row.pooled);
        let pool = pooling(row, if dtype.is_float() { row.nan_policy } else { NanPolicy::default() });
        let Operator::MaxUnpool { indices: source, outside_window, .. } = row.operator else {
            return Ok(Plans { plan: pool.plan(&shape, dtype, row.indices)?, filled_by: None });
        };
        let index_type = row.indices.unwrap_or(IndexType::I64);
        let pool_plan = pool.plan(&shape, dtype, Some(index_type))?;
        let unpool = MaxUnpool::inverse_of(pool.as_ref(), &shape).outside_window(outside_window);
        let plan = unpool.plan(pool_plan.output_shape(), dtype, index_type)?;
        Ok(Plans { plan, filled_by: Some(pool_plan).filter(|_| source == IndexSource::Pool) })
    }

    /// The shape of X.
    pub fn x_shape(&self) -> &[usize] {
        self.plan.input_shape()
    }

    /// The shape of Y.
    pub fn y_shape(&self) -> &[usize] {
        self.plan.output_shape()
    }

    /// The strides by which indices count, if there are any.
    fn strides(&self) -> Option<IndexStrides> {
        self.plan.index_space().map(|space| space.strides())
    }

    /// The fewest bytes that have to be moved.
    pub fn bytes(&self) -> u64 {
        self.plan.bytes()
    }

    /// The number of elements that the reference visits.
    pub fn taps(&self) -> u64 {
        match &self.plan {
            Plan::Pool(plan) => pool_taps(plan),
            Plan::Unpool(plan) => count(plan.input_shape()) + count(plan.output_shape()),
            Plan::Difference(plan) => count(plan.output_shape()),
        }
    }

    /// The taps of all windows; for an unpool, those of the pool that computes its inputs.
    pub fn window_taps(&self) -> u64 {
        self.filled_by.as_ref().and_then(Plan::pool).map_or_else(|| self.taps(), pool_taps)
    }
}

fn count(shape: &[usize]) -> u64 {
    shape.iter().map(|&extent| extent as u64).product()
}

fn pool_taps(plan: &PoolPlan) -> u64 {
    let outer = count(plan.input_shape()) / plan.axes.iter().map(|axis| axis.input as u64).product::<u64>().max(1);
    let axis_taps = plan.axes.iter().map(|axis| {
        let windows = (0..axis.output).map(|o| axis.window.taps(o, axis.input).count as u64);
        windows.sum::<u64>()
    });
    axis_taps.fold(outer, u64::saturating_mul)
}

/// The slices of a row: the planes of its batch items and channels, each planned as a row of its own.
#[derive(Debug, Clone)]
pub struct Slices {
    pub plans: Plans,
    pub count: usize,
    channels: usize,
    layout: Layout,
    /// The strides by which the indices of the whole row count.
    strides: Option<IndexStrides>,
}

impl Slices {
    pub fn new(row: &Row, dtype: DType) -> Result<Slices, PlanError> {
        let mut one = row.clone();
        one.pooled[..2].fill(1);
        let strides = Plans::new(row, dtype)?.strides();
        let [batch, channels] = [row.pooled[0], row.pooled[1]];
        let plans = Plans::new(&one, dtype)?;
        Ok(Slices { plans, count: batch * channels, channels, layout: row.layout, strides })
    }

    /// The number to add to the indices of a slice computed alone to get those of the whole row.
    pub fn base(&self, slice: usize) -> i64 {
        self.strides.as_ref().map_or(0, |strides| strides.flat(slice / self.channels, slice % self.channels, &[]))
    }

    /// The `count` elements of a slice in the bytes of X or Y; fewer if the bytes end before.
    pub fn elements<E: AnyBitPattern>(&self, bytes: &[u8], count: usize, slice: usize) -> Vec<E> {
        match self.layout {
            Layout::Nchw => self.in_planes(bytes, count, slice),
            Layout::Nhwc => {
                let item = slice / self.channels * count * self.channels * size_of::<E>();
                let elements = bytes.get(item..).unwrap_or_default().chunks_exact(size_of::<E>());
                let own = elements.skip(slice % self.channels).step_by(self.channels).take(count);
                own.map(bytemuck::pod_read_unaligned).collect()
            }
        }
    }

    /// The `count` elements of a slice in a tensor that lies in planes, as index tensors do whatever the layout of X.
    pub fn in_planes<E: AnyBitPattern>(&self, bytes: &[u8], count: usize, slice: usize) -> Vec<E> {
        let size = count * size_of::<E>();
        let own = bytes.get(slice * size..).unwrap_or_default();
        own.chunks_exact(size_of::<E>()).take(count).map(bytemuck::pod_read_unaligned).collect()
    }
}

/// The pool of a row; for an unpool, the pool that it undoes.
fn pooling(row: &Row, policy: NanPolicy) -> Box<dyn Pooling> {
    let layout = row.layout;
    match &row.operator {
        Operator::MaxPool(window) | Operator::MaxUnpool { window, .. } => {
            Box::new(max_pool(window).layout(layout).nan_policy(policy))
        }
        Operator::GlobalMaxPool => Box::new(GlobalMaxPool::new().layout(layout).nan_policy(policy)),
        Operator::AdaptiveMaxPool { output_size } => {
            Box::new(AdaptiveMaxPool::new(output_size).layout(layout).nan_policy(policy))
        }
    }
}

fn max_pool(window: &Window) -> MaxPool {
    let Window { kernel_shape, strides, pads, dilations } = window;
    let mut pool = MaxPool::new(kernel_shape);
    if let Some(strides) = strides {
        pool = pool.strides(strides);
    }
    if let Some(pads) = pads {
        pool = pool.pads(pads);
    }
    if let Some(dilations) = dilations {
        pool = pool.dilations(dilations);
    }
    pool
}

/// N, C and spatial extents in the order of a layout.
fn in_layout(layout: Layout, shape: &[usize]) -> Vec<usize> {
    match layout {
        Layout::Nchw => shape.to_vec(),
        Layout::Nhwc => [&shape[..1], &shape[2..], &shape[1..2]].concat(),
    }
}
