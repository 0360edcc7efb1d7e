//! The plans of a row: one of the whole row, and one of a slice, which the reference can compute alone.

use support::draw::pools::shape;
use wgpu_pooling::{
    AdaptiveMaxPool, DType, GlobalMaxPool, IndexType, Layout, MaxPool, MaxUnpool, NanPolicy, Plan, PlanError, Pooling,
    TensorSpec,
};
use wgpu_pooling_plan::{IndexStrides, PoolPlan};

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
        let shape = shape(row.layout, row.pooled[0], row.pooled[1], &row.pooled[2..]);
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

    /// The number of elements that the reference visits.
    pub fn taps(&self) -> u64 {
        match &self.plan {
            Plan::Pool(plan) => pool_taps(plan),
            plan => plan.inputs().iter().take(1).chain(plan.outputs()).map(|spec| count(&spec.shape)).sum(),
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
    /// The strides by which the indices of the whole row count.
    strides: Option<IndexStrides>,
}

impl Slices {
    pub fn new(row: &Row, dtype: DType) -> Result<Slices, PlanError> {
        let mut one = row.clone();
        one.pooled[..2].fill(1);
        let strides = Plans::new(row, dtype)?.plan.index_space().map(|space| space.strides());
        let [batch, channels] = [row.pooled[0], row.pooled[1]];
        Ok(Slices { plans: Plans::new(&one, dtype)?, count: batch * channels, channels, strides })
    }

    /// The number to add to the indices of a slice computed alone to get those of the whole row.
    pub fn base(&self, slice: usize) -> i64 {
        self.strides.as_ref().map_or(0, |strides| strides.flat(slice / self.channels, slice % self.channels, &[]))
    }

    /// The bytes of a slice, of which `spec` is a tensor, in those of the whole row; fewer if they end before.
    pub fn own(&self, spec: &TensorSpec, whole: &[u8], slice: usize) -> Vec<u8> {
        let (plane, size) = (spec.bytes() as usize, spec.dtype.bytes());
        // Where it begins, how many bytes follow each other, and how far the next ones are from them.
        let (first, run, step) = match spec.layout {
            Layout::Nchw => (slice * plane, plane, plane),
            Layout::Nhwc => {
                let item = slice / self.channels * self.channels * plane;
                (item + slice % self.channels * size, size, self.channels * size)
            }
        };
        let runs = whole.get(first..).unwrap_or_default().chunks(step.max(1)).take(plane / run.max(1));
        runs.map(|part| &part[..run.min(part.len())]).collect::<Vec<_>>().concat()
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
    let pool = MaxPool::new(kernel_shape);
    let pool = strides.iter().fold(pool, MaxPool::strides);
    let pool = pads.iter().fold(pool, MaxPool::pads);
    dilations.iter().fold(pool, MaxPool::dilations)
}
