//! From a row to plans: of the whole, and of one slice of it, which the reference can compute alone.

use bytemuck::AnyBitPattern;
use wgpu_pooling::{
    AdaptiveMaxPool, DType, GlobalMaxPool, IndexStrides, IndexType, Layout, MaxPool, MaxUnpool, NanPolicy, Plan,
    PlanError, PoolPlan, Pooling,
};

use crate::catalogue::{IndexSource, Operator, Row, Window};

/// What a row asks for, planned.
#[derive(Debug, Clone)]
pub struct Plans {
    pub plan: Plan,
    /// What fills an unpool's inputs, if it is the pool.
    pub filled_by: Option<PoolPlan>,
}

impl Plans {
    pub fn new(row: &Row, dtype: DType) -> Result<Plans, PlanError> {
        let shape = in_layout(row.layout, &row.pooled);
        let pool = pooling(row, if dtype.is_float() { row.nan_policy } else { NanPolicy::default() });
        let Operator::MaxUnpool { indices: source, .. } = row.operator else {
            return Ok(Plans { plan: pool.plan(&shape, dtype, row.indices)?.into(), filled_by: None });
        };
        let index_type = row.indices.unwrap_or(IndexType::I64);
        let pool_plan = pool.plan(&shape, dtype, Some(index_type))?;
        let unpool = MaxUnpool::inverse_of(pool.as_ref(), &shape);
        let plan = unpool.plan(pool_plan.output_shape(), dtype, index_type)?;
        Ok(Plans { plan: plan.into(), filled_by: Some(pool_plan).filter(|_| source == IndexSource::Pool) })
    }

    /// X.
    pub fn x_shape(&self) -> &[usize] {
        match &self.plan {
            Plan::Pool(plan) => plan.input_shape(),
            Plan::Unpool(plan) => plan.input_shape(),
            Plan::Convert(plan) => plan.input_shape(),
        }
    }

    /// Y.
    pub fn y_shape(&self) -> &[usize] {
        match &self.plan {
            Plan::Pool(plan) => plan.output_shape(),
            Plan::Unpool(plan) => plan.output_shape(),
            Plan::Convert(plan) => plan.output_shape(),
        }
    }

    /// How indices count, if there are any.
    fn strides(&self) -> Option<IndexStrides> {
        match &self.plan {
            Plan::Pool(plan) => plan.indices().map(|indices| indices.space.strides()),
            Plan::Unpool(plan) => Some(plan.space().strides()),
            Plan::Convert(_) => None,
        }
    }

    /// The fewest bytes that have to be moved.
    pub fn bytes(&self) -> u64 {
        match &self.plan {
            Plan::Pool(plan) => plan.bytes(),
            Plan::Unpool(plan) => plan.bytes(),
            Plan::Convert(plan) => plan.bytes(),
        }
    }

    /// How many elements the reference looks at.
    pub fn taps(&self) -> u64 {
        match &self.plan {
            Plan::Pool(plan) => pool_taps(plan),
            Plan::Unpool(plan) => count(plan.input_shape()) + count(plan.output_shape()),
            Plan::Convert(plan) => count(plan.input_shape()),
        }
    }

    /// How many elements all windows look at: of an unpool those of the pool that fills its inputs.
    pub fn window_taps(&self) -> u64 {
        self.filled_by.as_ref().map_or_else(|| self.taps(), pool_taps)
    }
}

fn count(shape: &[usize]) -> u64 {
    shape.iter().map(|&extent| extent as u64).product()
}

fn pool_taps(plan: &PoolPlan) -> u64 {
    let outer = count(plan.input_shape()) / plan.axes().iter().map(|axis| axis.input as u64).product::<u64>().max(1);
    let axis_taps = plan.axes().iter().map(|axis| {
        let windows = (0..axis.output).map(|o| axis.window.taps(o, axis.input, axis.output).count as u64);
        windows.sum::<u64>()
    });
    axis_taps.fold(outer, u64::saturating_mul)
}

/// The slices of a row: the planes of its batch items and channels. Each is a row of its own.
#[derive(Debug, Clone)]
pub struct Slices {
    pub plans: Plans,
    pub count: usize,
    channels: usize,
    layout: Layout,
    /// How indices of the whole count.
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

    /// What the whole's indices have more than those of a slice computed alone.
    pub fn base(&self, slice: usize) -> i64 {
        self.strides.as_ref().map_or(0, |strides| strides.flat(slice / self.channels, slice % self.channels, &[]))
    }

    /// The `count` elements that a slice has of X or Y, whose bytes these are: fewer where the whole ends before.
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

    /// The `count` indices that a slice has of an index tensor, which lies in planes beside X of either layout.
    pub fn in_planes<E: AnyBitPattern>(&self, bytes: &[u8], count: usize, slice: usize) -> Vec<E> {
        let size = count * size_of::<E>();
        let own = bytes.get(slice * size..).unwrap_or_default();
        own.chunks_exact(size_of::<E>()).take(count).map(bytemuck::pod_read_unaligned).collect()
    }
}

/// The pool of a row; that of an unpool is the one that it undoes.
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
