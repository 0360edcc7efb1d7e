//! What the library makes of limits. All of it is planning, which needs no device.

use std::fmt::Write;

use wgpu_pooling::{
    AdaptiveMaxPool, Choice, DType, GlobalMaxPool, IndexType, Limits, MaxPool, MaxUnpool, Plan, PlanError, select,
};

/// Positions are 31 bits wide.
const MOST_ELEMENTS: usize = 1 << 31;

/// The largest tensors, and what runs for some plans.
pub fn describe(limits: &Limits) -> Result<String, Box<dyn std::error::Error>> {
    let mut text = String::new();
    writeln!(text, "  largest tensors")?;
    for dtype in [DType::U8, DType::F16, DType::F32, DType::F64] {
        let elements = largest(dtype, limits);
        let mebibytes = (elements * dtype.bytes()) as f64 / f64::from(1 << 20);
        writeln!(text, "    {:<4} {elements:>12} elements, {mebibytes:.0} MiB", dtype.name())?;
    }
    for (name, plan) in typical()? {
        let schedule = select(&plan, limits, &Choice::default());
        writeln!(text, "  {name}")?;
        match schedule {
            Ok(schedule) => writeln!(
                text,
                "    {}, {} bytes moved, {} of scratch memory",
                schedule.kernel(),
                schedule.bytes_moved(),
                schedule.scratch_bytes()
            )?,
            Err(error) => writeln!(text, "    nothing: {error}")?,
        }
    }
    Ok(text)
}

/// The most elements that a pool reads and writes under these limits, found by asking.
fn largest(dtype: DType, limits: &Limits) -> usize {
    let fits = |elements: usize| {
        let plan = MaxPool::new([1]).plan(&[1, 1, elements], dtype, None);
        plan.is_ok_and(|plan| select(&plan.into(), limits, &Choice::default()).is_ok())
    };
    // It fits up to some number and never above.
    let (mut fitting, mut refused) = (0, MOST_ELEMENTS + 1);
    while fitting + 1 < refused {
        let middle = fitting + (refused - fitting) / 2;
        *if fits(middle) { &mut fitting } else { &mut refused } = middle;
    }
    fitting
}

/// Pools and an unpool as known networks have them.
fn typical() -> Result<Vec<(&'static str, Plan)>, PlanError> {
    let stem = MaxPool::new([3, 3]).strides([2, 2]).pads([1; 4]);
    let segnet = MaxPool::new([2, 2]).strides([2, 2]);
    let spp = MaxPool::new([13, 13]).pads([6; 4]);
    let down = segnet.plan(&[1, 64, 224, 224], DType::F32, Some(IndexType::I64))?;
    let up =
        MaxUnpool::inverse_of(&segnet, down.input_shape()).plan(down.output_shape(), DType::F32, IndexType::I64)?;
    Ok(vec![
        ("max pool 3 x 3, stride 2, of f16 [8, 64, 112, 112]", stem.plan(&[8, 64, 112, 112], DType::F16, None)?.into()),
        ("max pool 2 x 2, stride 2, with i64 indices, of f32 [1, 64, 224, 224]", down.into()),
        ("its max unpool", up.into()),
        ("max pool 13 x 13, stride 1, of f16 [1, 256, 20, 20]", spp.plan(&[1, 256, 20, 20], DType::F16, None)?.into()),
        (
            "adaptive max pool to 7 x 7, of f32 [1, 512, 38, 50]",
            AdaptiveMaxPool::new([7, 7]).plan(&[1, 512, 38, 50], DType::F32, None)?.into(),
        ),
        (
            "global max pool of f32 [1, 16, 512, 512]",
            GlobalMaxPool::new().plan(&[1, 16, 512, 512], DType::F32, None)?.into(),
        ),
    ])
}
