//! The numbers of the form as plans.

use wasm_bindgen::prelude::*;
use wgpu_pooling::{AdaptiveMaxPool, DType, ExecuteError, IndexType, MaxPool, MaxUnpool, Plan, Pooling, element_count};

use crate::picture::check_size;
use crate::thrown;

/// A pool of a picture and its unpool, planned for the picture's size.
#[wasm_bindgen]
pub struct Plans {
    pub(crate) pool: Plan,
    pub(crate) unpool: Plan,
}

#[wasm_bindgen]
impl Plans {
    /// A max pool of a picture of this height and width. `kernel` and `strides` are height and width, `pads` top, left,
    /// bottom and right.
    #[wasm_bindgen(js_name = maxPool)]
    pub fn max_pool(size: &[f64], kernel: &[f64], strides: &[f64], pads: &[f64]) -> Result<Plans, JsError> {
        let pool = MaxPool::new(whole("the window", kernel)?)
            .strides(whole("the stride", strides)?)
            .pads(whole("the padding", pads)?);
        Plans::new(&pool, size)
    }

    /// An adaptive max pool of a picture of this height and width to a grid of so many rows and columns.
    #[wasm_bindgen(js_name = adaptiveMaxPool)]
    pub fn adaptive_max_pool(size: &[f64], grid: &[f64]) -> Result<Plans, JsError> {
        Plans::new(&AdaptiveMaxPool::new(whole("the grid", grid)?), size)
    }

    fn new(pool: &impl Pooling, size: &[f64]) -> Result<Plans, JsError> {
        let [height, width] = whole("the picture's size", size)?[..] else {
            return Err(JsError::new("a picture's size is its height and its width"));
        };
        let shape = [1, 3, usize::try_from(height)?, usize::try_from(width)?];
        let pooled = pool.plan(&shape, DType::F32, Some(IndexType::I32)).map_err(thrown)?;
        let (rows, columns) = (pooled.output_shape()[2], pooled.output_shape()[3]);
        let unpool = MaxUnpool::inverse_of(pool, &shape);
        if element_count(pooled.output_shape()).map_err(thrown)? == 0 {
            return Err(JsError::new(&format!(
                "The pooled picture would be {columns} × {rows}: the window exceeds the padded picture of {width} × \
                 {height}."
            )));
        }
        check_size("The pooled picture", columns, rows)?;
        let unpool = unpool.plan(pooled.output_shape(), DType::F32, IndexType::I32);
        Ok(Plans { pool: pooled, unpool: unpool.map_err(|error| thrown(ExecuteError::from(error)))? })
    }

    /// The height and width of the pooled picture.
    #[wasm_bindgen(js_name = pooledSize, getter)]
    pub fn pooled_size(&self) -> Vec<u32> {
        self.pool.output_shape()[2..].iter().map(|&extent| extent as u32).collect()
    }
}

/// Numbers of JavaScript as whole numbers, which they have to be.
pub(crate) fn whole(what: &str, numbers: &[f64]) -> Result<Vec<i64>, JsError> {
    let whole = |&number: &f64| {
        // Every whole number up to 2^53 is exact in an f64.
        if number.fract() == 0.0 && number.abs() <= 9_007_199_254_740_992.0 {
            Ok(number as i64)
        } else {
            Err(JsError::new(&format!("{number} is no whole number, and {what} needs one.")))
        }
    };
    numbers.iter().map(whole).collect()
}
