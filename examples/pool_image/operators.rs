//! The three operators, their plans for a picture, and their results.

use std::error::Error;

use examples::agreement::same;
use examples::picture::MOST_PIXELS;
use wgpu_pooling::{
    AdaptiveMaxPool, Backend, DType, ExecuteError, IndexType, MaxPool, MaxUnpool, OutsideWindow, Plan, PreparedPlan,
    Tensor, element_count,
};

use crate::options::Options;

/// The plans of the three operators for a picture's shape. Planning needs no GPU, and finds what is wrong with the
/// options.
pub struct Plans {
    pub pool: Plan,
    pub unpool: Plan,
    pub adaptive: Plan,
}

/// The results of the operators.
pub struct Results {
    pub pooled: Tensor<f32>,
    pub indices: Tensor<i64>,
    pub unpooled: Tensor<f32>,
    pub adaptive: Tensor<f32>,
    pub adaptive_indices: Tensor<i64>,
}

impl Plans {
    /// The operators that the options ask for, on a picture of this shape. Their outputs are pictures: not empty, and
    /// not so large that memory would not hold them.
    pub fn new(options: &Options, shape: &[usize]) -> Result<Self, Box<dyn Error>> {
        let pool = MaxPool::new(options.kernel).strides(options.stride()).pads(options.pads);
        // Indices of a pool lie in their own windows. An unpool that is told so is one dispatch or two on a GPU, but
        // cannot have very many windows that overlap.
        let overlap = options.kernel.iter().zip(options.stride()).any(|(&kernel, stride)| kernel / 2 > stride);
        let outside_window = if overlap { OutsideWindow::Scatter } else { OutsideWindow::Error };
        let unpool = MaxUnpool::inverse_of(&pool, shape).outside_window(outside_window);
        let adaptive = AdaptiveMaxPool::new(options.grid);

        let pool = pool
            .plan(shape, DType::F32, Some(IndexType::I64))
            .map_err(|error| format!("max pool of a {} picture: {error}", size(shape)))?;
        check_size("pooled", &pool)?;
        let unpool = unpool.plan(pool.output_shape(), DType::F32, IndexType::I64)?;
        let adaptive = adaptive.plan(shape, DType::F32, Some(IndexType::I64))?;
        check_size("adaptively pooled", &adaptive)?;
        Ok(Plans { pool, unpool, adaptive })
    }

    /// The operators on a picture, and the names of the kernels that computed them.
    pub fn compute(&self, on: &dyn Backend, x: &Tensor<f32>) -> Result<(Results, [String; 3]), ExecuteError> {
        let prepare = |plan: Plan| pollster::block_on(on.prepare(plan));
        let pool = prepare(self.pool.clone())?;
        let unpool = prepare(self.unpool.clone())?;
        let adaptive_pool = prepare(self.adaptive.clone())?;
        let (pooled, indices): (_, Tensor<i64>) = pool.call_blocking(&[x.into()])?;
        let unpooled = unpool.call_blocking(&[(&pooled).into(), (&indices).into()])?;
        let (adaptive, adaptive_indices) = adaptive_pool.call_blocking(&[x.into()])?;
        let kernels = [pool, unpool, adaptive_pool].map(|prepared| prepared.kernel());
        Ok((Results { pooled, indices, unpooled, adaptive, adaptive_indices }, kernels))
    }
}

/// Refuses outputs that are no pictures. The library accepts empty outputs, but they have no pixels to show.
fn check_size(what: &str, plan: &Plan) -> Result<(), Box<dyn Error>> {
    let size = size(plan.output_shape());
    match element_count(plan.output_shape())? / 3 {
        0 => {
            let from = self::size(plan.input_shape());
            Err(format!("the {what} picture would be {size}: the kernel exceeds the padded {from} picture").into())
        }
        pixels if pixels > MOST_PIXELS => {
            Err(format!("the {what} picture would be {size}, more than the {MOST_PIXELS} pixels of this example")
                .into())
        }
        _ => Ok(()),
    }
}

/// Height and width of a 1 x 3 x height x width shape in words.
pub fn size(shape: &[usize]) -> String {
    shape.iter().skip(2).map(usize::to_string).collect::<Vec<_>>().join(" x ")
}

impl Results {
    /// The numbers of values and of indices, if all have the same bits as `expected`; otherwise the first difference.
    pub fn compare(&self, expected: &Results) -> Result<[usize; 2], String> {
        let values = [
            ("pooled", &self.pooled, &expected.pooled),
            ("unpooled", &self.unpooled, &expected.unpooled),
            ("adaptively pooled", &self.adaptive, &expected.adaptive),
        ];
        let indices = [
            ("pooled", &self.indices, &expected.indices),
            ("adaptively pooled", &self.adaptive_indices, &expected.adaptive_indices),
        ];
        let mut counts = [0, 0];
        for (name, ours, theirs) in values {
            counts[0] += same(&format!("{name} value"), ours, theirs, |value| value.to_bits())?;
        }
        for (name, ours, theirs) in indices {
            counts[1] += same(&format!("{name} index"), ours, theirs, |index| index)?;
        }
        Ok(counts)
    }
}
