//! What the library would run within given limits. All of it is planning, which needs no device.

use std::fmt::Write;

use wgpu_pooling::{
    AdaptiveMaxPool, Choice, DType, GlobalMaxPool, IndexType, Limits, MaxPool, MaxUnpool, Plan, PlanError, select,
};

/// More elements than any device has room for.
const TOO_MANY: usize = 1 << 40;

/// The largest tensors that fit, and the kernels that run for some plans.
pub fn describe(limits: &Limits) -> Result<String, Box<dyn std::error::Error>> {
    let mut text = String::new();
    writeln!(text, "  {:<20} {:>12} {:>12}", "most elements", "pooled", "unpooled")?;
    for dtype in [DType::U8, DType::F16, DType::F32, DType::F64] {
        let pool = |elements| MaxPool::new([1]).plan(&[1, elements, 1], dtype, None);
        let unpool = |elements| MaxUnpool::new([1]).plan(&[1, elements, 1], dtype, IndexType::I32);
        let [pooled, unpooled] = [most(limits, pool), most(limits, unpool)];
        writeln!(text, "  {:<20} {pooled:>12} {unpooled:>12}", dtype.name())?;
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

/// The most elements for which a plan can be made and scheduled within these limits, found by bisection.
fn most(limits: &Limits, plan: impl Fn(usize) -> Result<Plan, PlanError>) -> usize {
    let fits = |elements| plan(elements).is_ok_and(|plan| select(&plan, limits, &Choice::default()).is_ok());
    // Every number up to some bound fits, and no number above it.
    let (mut fitting, mut refused) = (0, TOO_MANY);
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
        ("max pool 3 x 3, stride 2, of f16 [8, 64, 112, 112]", stem.plan(&[8, 64, 112, 112], DType::F16, None)?),
        ("max pool 2 x 2, stride 2, with i64 indices, of f32 [1, 64, 224, 224]", down),
        ("its max unpool", up),
        ("max pool 13 x 13, stride 1, of f16 [1, 256, 20, 20]", spp.plan(&[1, 256, 20, 20], DType::F16, None)?),
        (
            "adaptive max pool to 7 x 7, of f32 [1, 512, 38, 50]",
            AdaptiveMaxPool::new([7, 7]).plan(&[1, 512, 38, 50], DType::F32, None)?,
        ),
        ("global max pool of f32 [1, 16, 512, 512]", GlobalMaxPool::new().plan(&[1, 16, 512, 512], DType::F32, None)?),
    ])
}
