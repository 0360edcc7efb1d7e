//! The reference, tile by tile: it checks what was computed.

use std::error::Error;
use std::io;
use std::path::Path;

use wgpu_pooling::{
    Element, ExecuteError, Layout, PlanError, PoolPlan, Region, StreamSource, Tensor, TensorView, Tile, Tiling,
};

use crate::agreement::{expected, same};
use crate::file::Input;

/// The memory budget of the comparison, in bytes.
const COMPARED_AT_A_TIME: u64 = 64 << 20;

/// The numbers of values and of indices in the files, if all are those of the reference; otherwise the first
/// difference.
pub fn compare<T: Element>(
    plan: &PoolPlan,
    input: &mut Input,
    y: &Path,
    indices: Option<&Path>,
) -> Result<[usize; 2], Box<dyn Error>> {
    let mut y = Input::open(y, None)?;
    let mut indices = indices.map(|path| Input::open(path, None)).transpose()?;
    let tiling = Tiling::on_cpu(plan, COMPARED_AT_A_TIME)?;
    let mut agreed = [0, 0];
    for tile in (0..tiling.len()).filter_map(|number| tiling.tile(number)) {
        let (expected, expected_indices) = compute::<T>(&tile, plan, input)?;
        let written: Vec<T> = gather(tile.output(), plan.output_shape(), plan.outputs()[0].layout, &mut y)?;
        let written = Tensor::new(expected.shape(), written)?;
        agreed[0] += same("value", &written, &expected, |value: T| value.to_bits64())?;
        if let (Some(expected), Some(indices), Some(of)) = (expected_indices, &mut indices, plan.outputs().get(1)) {
            let written: Vec<i64> = gather(tile.output(), &of.shape, of.layout, indices)?;
            agreed[1] += same("index", &Tensor::new(expected.shape(), written)?, &expected, |index| index)?;
        }
    }
    Ok(agreed)
}

fn compute<T: Element>(
    tile: &Tile,
    plan: &PoolPlan,
    input: &mut Input,
) -> Result<(Tensor<T>, Option<Tensor<i64>>), ExecuteError> {
    if tile.is_part() {
        // Only streams merge the parts of a window that exceeds a tile.
        let what = "bytes of a window";
        let needed = tile.plan().bytes();
        return Err(PlanError::ExceedsLimit { what, needed, limit: COMPARED_AT_A_TIME }.into());
    }
    let source = |error: io::Error| ExecuteError::Source { first: 0, elements: 0, error: error.to_string() };
    let x: Vec<T> = gather(tile.input(), plan.input_shape(), plan.inputs()[0].layout, input).map_err(source)?;
    let x = TensorView::new(tile.plan().input_shape(), &x)?;
    if plan.indices().is_none() {
        return Ok((expected(tile.plan().clone(), &[x.into()])?, None));
    }
    let (y, indices) = expected(tile.plan().clone(), &[x.into()])?;
    Ok((y, Some(indices)))
}

fn gather<T: Element>(region: &Region, shape: &[usize], layout: Layout, input: &mut Input) -> io::Result<Vec<T>> {
    let mut elements = vec![T::from_bits64(0); region.elements() as usize];
    let mut rest = elements.as_mut_slice();
    for (first, length) in region.runs(shape, layout) {
        let (run, behind) = rest.split_at_mut(length);
        input.read(first, run)?;
        rest = behind;
    }
    Ok(elements)
}
