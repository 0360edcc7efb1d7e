//! A small case from any bytes: the GPU gives the reference's bits, or its error.

use wgpu_pooling::{Build, Choice, Gpu, PlanError, Run, families, select};

use super::bytes::Bytes;
use super::small::{Most, composed, composition, read};
use crate::case::same;

/// A kernel is compiled for each window, so cases are small.
const MOST: Most = Most { innermost: 7, window: 4 };

/// Runs a small case in one of the families that apply, and expects the reference's bits or its error. It runs in the
/// generic build: there are thousands of inputs, and a specialised kernel is compiled for its window alone.
pub fn gpu_cpu(data: &[u8], gpu: &Gpu) {
    let mut bytes = Bytes(data);
    if bytes.byte() % 8 == 0 {
        if let Some((steps, case)) = composition(&mut bytes, &MOST) {
            composed(&steps, &case, gpu);
        }
        return;
    }
    let Some(case) = read(&mut bytes, &MOST) else { return };
    let plan = &case.plan;
    let mut families = families(plan, &gpu.limits());
    if families.is_empty() {
        let refused = select(plan, &gpu.limits(), &Choice::default());
        assert!(matches!(refused, Err(PlanError::NotOnGpu { .. })), "{plan:?}: {refused:?}");
        return;
    }
    families.retain(|family| family.builds().contains(&Build::Generic));
    assert!(!families.is_empty(), "{plan:?}");
    let choice = Choice { family: Some(bytes.of(&families)), build: Some(Build::Generic) };
    let schedule = select(plan, &gpu.limits(), &choice).expect("the family applies");
    let prepared = gpu.prepare_blocking(schedule).unwrap_or_else(|error| panic!("{plan:?}: {error}"));
    let actual = case.outcome(|x, y| prepared.run_blocking(x, y));
    same(&case.expected(), &actual).unwrap_or_else(|error| panic!("{plan:?}, {choice:?}: {error}"));
}
