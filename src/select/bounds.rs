//! Limits of every schedule, and the checks of grids and buffers against them.

use wgpu_pooling_plan::PlanError;

use crate::kernel::WORKGROUP;
use crate::schedule::Limits;

/// The most loop iterations of one invocation, summed over all its loops.
///
/// Some software Vulkan drivers silently end an invocation's loops after 65,535 iterations, summed over the diverging
/// lanes of a subgroup; drivers' watchdogs end long dispatches. Seven thousand leaves room for eight diverging lanes.
///
/// ```
/// use wgpu_pooling::{families, DType, Family, Limits, MaxPool, MAX_ITERATIONS};
///
/// // More taps in a window than one invocation may read.
/// let plan = MaxPool::new([90, 90]).plan(&[1, 1, 200, 300], DType::F32, None)?;
/// assert!(90 * 90 > MAX_ITERATIONS && !families(&plan, &Limits::WEBGPU).contains(&Family::Direct));
/// # Ok::<(), wgpu_pooling::PlanError>(())
/// ```
pub const MAX_ITERATIONS: u64 = 7_000;

/// The most taps of one dispatch, so that it ends before a driver's watchdog resets the device.
pub(super) const MAX_TAPS: u64 = crate::schedule::MAX_WORK;

/// The most dispatches of a schedule. Callers should tile or stream pools that need more.
pub(super) const MAX_DISPATCHES: u64 = 1 << 14;

/// The most elements of a tensor: between passes, the highest bit of a 32-bit position is a flag.
pub(super) const MAX_ELEMENTS: u64 = 1 << 31;

/// The grid of workgroups for this many invocations, folded into x and y.
pub(super) fn grid(invocations: u64, limits: &Limits) -> Result<[u32; 3], PlanError> {
    let most = u64::from(limits.max_workgroups_per_dimension).max(1);
    let groups = invocations.div_ceil(WORKGROUP);
    let rows = groups.div_ceil(most).max(1);
    if rows > most {
        return Err(PlanError::ExceedsLimit {
            what: "workgroups (max_workgroups_per_dimension)",
            needed: groups,
            limit: most.saturating_mul(most),
        });
    }
    // Rows of equal width leave fewer surplus workgroups than there are rows.
    Ok([groups.div_ceil(rows) as u32, rows as u32, 1])
}

/// Refuses a buffer that the device cannot hold. A buffer that is larger than a binding is accepted, since it may be
/// bound in ranges.
pub(super) fn check_buffer(what: &'static str, bytes: u64, limits: &Limits) -> Result<(), PlanError> {
    PlanError::within(what, bytes, limits.max_buffer_bytes)
}

/// Refuses a buffer that the device cannot hold or bind whole.
pub(super) fn check_bytes(what: &'static str, bytes: u64, limits: &Limits) -> Result<(), PlanError> {
    PlanError::within(what, bytes, limits.max_buffer_bytes.min(limits.max_binding_bytes))
}

/// A checked sum or product of a caller's numbers; `None`, an overflow of 64 bits, is refused.
pub(super) fn checked(what: &'static str, value: Option<u64>) -> Result<u64, PlanError> {
    value.ok_or(PlanError::ExceedsLimit { what, needed: u64::MAX, limit: u64::MAX })
}

pub(super) fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    match a.checked_rem(b) {
        None => a,
        Some(rest) => greatest_common_divisor(b, rest),
    }
}

/// Refuses more elements than positions can count.
pub(super) fn check_elements(what: &'static str, elements: u64) -> Result<(), PlanError> {
    PlanError::within(what, elements, MAX_ELEMENTS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_fold_and_cover() {
        let limits = Limits { max_workgroups_per_dimension: 4, ..Limits::WEBGPU };
        for invocations in [0, 1, 64, 65, 4 * 64, 4 * 64 + 1, 13 * 64, 16 * 64] {
            let [x, y, z] = grid(invocations, &limits).unwrap();
            assert!(x <= 4 && y <= 4 && z == 1);
            assert!(u64::from(x) * u64::from(y) * WORKGROUP >= invocations);
        }
        let what = "workgroups (max_workgroups_per_dimension)";
        assert_eq!(grid(17 * 64, &limits), Err(PlanError::ExceedsLimit { what, needed: 17, limit: 16 }));
    }
}
