//! The ways in which the CPU backend computes a plan.

use wgpu_pooling::{Cpu, CpuKernel, ExecuteError, Plan, PlanError, PreparedCpu, SimdLevel};

/// The kernel that the backend chooses, then every kernel that applies, at each of these levels, with a name. The
/// general kernel applies to every plan; of the others one may be refused as such, and for no other reason.
pub fn ways(plan: &Plan, levels: &[SimdLevel]) -> Result<Vec<(String, PreparedCpu)>, ExecuteError> {
    let mut ways = Vec::new();
    for &level in levels {
        let cpu = Cpu::new().with_simd(level)?;
        let chosen = cpu.prepare(plan.clone())?;
        ways.push((format!("{} chosen, {}", chosen.kernel().name(), level.name()), chosen));
        for &kernel in CpuKernel::ALL {
            match cpu.clone().with_kernel(kernel).prepare(plan.clone()) {
                Err(ExecuteError::Plan(PlanError::KernelDoesNotApply { kernel: refused, .. }))
                    if refused == kernel.name() && kernel != CpuKernel::General => {}
                prepared => {
                    let prepared = prepared?;
                    assert_eq!(prepared.kernel(), kernel, "the kernel that was asked for");
                    ways.push((format!("{}, {}", kernel.name(), level.name()), prepared));
                }
            }
        }
    }
    Ok(ways)
}
