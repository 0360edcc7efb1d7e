//! What instructions count for.

use std::ops::{Add, AddAssign, Mul};

/// Instructions of a wave, and what each of its lanes does in them.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Cost {
    pub instructions: f64,
    /// Operations of the vector unit: an instruction counts once, one of 64 bits twice, a reciprocal, root or
    /// exponential four times.
    pub operations: f64,
    /// Loads and stores of buffers.
    pub memory: f64,
    pub workgroup_memory: f64,
}

impl Cost {
    /// The weight by which paths are compared.
    pub fn weight(&self) -> f64 {
        self.operations + self.memory + self.workgroup_memory + self.instructions / 1024.0
    }
}

impl Add for Cost {
    type Output = Cost;

    fn add(self, other: Cost) -> Cost {
        Cost {
            instructions: self.instructions + other.instructions,
            operations: self.operations + other.operations,
            memory: self.memory + other.memory,
            workgroup_memory: self.workgroup_memory + other.workgroup_memory,
        }
    }
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Cost) {
        *self = *self + other;
    }
}

impl Mul<f64> for Cost {
    type Output = Cost;

    fn mul(self, times: f64) -> Cost {
        Cost {
            instructions: self.instructions * times,
            operations: self.operations * times,
            memory: self.memory * times,
            workgroup_memory: self.workgroup_memory * times,
        }
    }
}

/// What an instruction counts for, by its name in the assembly.
pub fn cost(name: &str) -> Cost {
    let one = Cost { instructions: 1.0, ..Cost::default() };
    let base = ["_e32", "_e64", "_dpp", "_sdwa"].iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name);
    if base.starts_with("v_") {
        return Cost { operations: operations(base), ..one };
    }
    if base.starts_with("ds_") {
        return Cost { workgroup_memory: 1.0, ..one };
    }
    if ["buffer_", "global_", "flat_", "scratch_", "tbuffer_", "image_"].iter().any(|kind| base.starts_with(kind)) {
        return Cost { memory: 1.0, ..one };
    }
    one
}

fn operations(base: &str) -> f64 {
    let is = |kinds: &[&str]| kinds.iter().any(|kind| base.starts_with(kind));
    if is(&["v_rcp_", "v_rsq_", "v_sqrt_", "v_exp_", "v_log_", "v_sin_", "v_cos_"]) {
        4.0
    } else if base.ends_with("64") || is(&["v_dual_"]) {
        2.0
    } else {
        1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vector_instructions_are_operations() {
        let operations = |name: &str| cost(name).operations;
        assert_eq!(
            (operations("v_max_u32_e32"), operations("v_mul_lo_u32"), operations("v_mov_b32_e32")),
            (1.0, 1.0, 1.0)
        );
        assert_eq!(
            (operations("v_lshlrev_b64"), operations("v_cmp_gt_u64_e32"), operations("v_rcp_f32_e32")),
            (2.0, 2.0, 4.0)
        );
        assert_eq!((operations("s_add_u32"), operations("s_waitcnt")), (0.0, 0.0));
    }

    #[test]
    fn loads_and_stores_are_told_by_their_memory() {
        assert_eq!((cost("ds_load_b128").workgroup_memory, cost("ds_load_b128").memory), (1.0, 0.0));
        assert_eq!((cost("buffer_load_dwordx4").memory, cost("global_store_b32").memory), (1.0, 1.0));
        assert_eq!(cost("v_max_u32_e32").weight(), 1.0 + 1.0 / 1024.0);
    }
}
