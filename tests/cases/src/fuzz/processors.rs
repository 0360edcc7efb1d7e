//! A small case from any bytes: the CPU backend gives the reference's bits, or its error.

use wgpu_pooling::{Cpu, CpuKernel, ExecuteError, PlanError, Run, SimdLevel};

use super::bytes::Bytes;
use super::small::{Most, composed, composition, read};
use crate::case::same;

/// Rows longer than the vectors of bytes that any processor has, and windows longer than most.
const MOST: Most = Most { innermost: 200, window: 40 };

/// Runs a small case at one of the levels that this processor has, in one of the kernels that apply, and expects the
/// reference's bits or its error.
pub fn cpu_reference(data: &[u8]) {
    let mut bytes = Bytes(data);
    let (level, kernel) = (bytes.of(SimdLevel::available()), bytes.of(CpuKernel::ALL));
    // A byte of its own, so that most cases have small windows.
    let most = if bytes.byte() % 4 == 0 { MOST } else { Most { window: 5, ..MOST } };
    let cpu = Cpu::new().with_simd(level).expect("the processor has it");
    if bytes.byte() % 8 == 0 {
        if let Some((steps, case)) = composition(&mut bytes, &most) {
            composed(&steps, &case, &cpu);
        }
        return;
    }
    let Some(case) = read(&mut bytes, &most) else { return };
    let plan = &case.plan;
    let prepared = match cpu.clone().with_kernel(kernel).prepare(plan.clone()) {
        Err(ExecuteError::Plan(PlanError::KernelDoesNotApply { .. })) if kernel != CpuKernel::General => {
            cpu.prepare(plan.clone())
        }
        prepared => prepared,
    };
    let prepared = prepared.unwrap_or_else(|error| panic!("{plan:?}: {error}"));
    let actual = case.outcome(|x, y| prepared.run_blocking(x, y));
    let kernel = prepared.kernel();
    same(&case.expected(), &actual).unwrap_or_else(|error| panic!("{plan:?}, {kernel:?} at {level:?}: {error}"));
}
