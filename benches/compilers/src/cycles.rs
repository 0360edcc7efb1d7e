//! Which unit an instruction keeps busy, and for how many cycles.
//!
//! The figures are those of Mesa's own estimate (`aco_statistics.cpp`, `get_perf_info` for GFX10 and later) for a wave
//! of 64: two cycles for a vector instruction, or one on RDNA 3 if its doubled units take both halves of the wave at
//! once.

use std::ops::{Add, AddAssign, Mul};

/// Cycles of each unit of a SIMD, and the instructions that took them.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Cost {
    pub instructions: f64,
    pub vector: f64,
    /// Transcendental functions, 64-bit and wide integer products.
    pub complex: f64,
    pub scalar: f64,
    pub branch: f64,
    pub workgroup_memory: f64,
    pub memory: f64,
    /// Bytes that each lane loads from buffers.
    pub loaded: f64,
}

impl Cost {
    /// The cycles of the busiest unit: the units work in parallel, for different waves.
    pub fn cycles(&self) -> f64 {
        self.units().into_iter().fold(0.0, f64::max)
    }

    /// The weight by which paths are compared: the cycles of all units, and a little for each instruction.
    pub fn weight(&self) -> f64 {
        self.units().into_iter().sum::<f64>() + self.instructions / 1024.0
    }

    /// The unit that is busy for the longest, in words.
    pub fn busiest(&self) -> &'static str {
        let names = [
            "vector unit",
            "products and functions",
            "scalar unit",
            "branches",
            "workgroup memory",
            "memory instructions",
        ];
        let units = self.units().into_iter().zip(names);
        units.max_by(|(a, _), (b, _)| a.total_cmp(b)).map_or("", |(_, name)| name)
    }

    fn units(&self) -> [f64; 6] {
        [self.vector, self.complex, self.scalar, self.branch, self.workgroup_memory, self.memory]
    }
}

impl Add for Cost {
    type Output = Cost;

    fn add(self, other: Cost) -> Cost {
        Cost {
            instructions: self.instructions + other.instructions,
            vector: self.vector + other.vector,
            complex: self.complex + other.complex,
            scalar: self.scalar + other.scalar,
            branch: self.branch + other.branch,
            workgroup_memory: self.workgroup_memory + other.workgroup_memory,
            memory: self.memory + other.memory,
            loaded: self.loaded + other.loaded,
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
            vector: self.vector * times,
            complex: self.complex * times,
            scalar: self.scalar * times,
            branch: self.branch * times,
            workgroup_memory: self.workgroup_memory * times,
            memory: self.memory * times,
            loaded: self.loaded * times,
        }
    }
}

/// The machine that instructions are counted for: the instruction set and the size of a wave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Machine {
    /// RDNA 3, which issues both halves of a wave of 64 at once where it can.
    pub doubled: bool,
    pub wave_size: u32,
}

/// What an instruction costs, by its name in the assembly.
pub fn cost(name: &str, machine: Machine) -> Cost {
    let halves = if machine.wave_size == 64 { 2.0 } else { 1.0 };
    let one = Cost { instructions: 1.0, ..Cost::default() };
    let base = ["_e32", "_e64", "_dpp", "_sdwa"].iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name);
    if base.starts_with("v_") {
        let passes = if machine.doubled && dual_issued(base) { 1.0 } else { halves };
        let (vector, complex) = vector(base);
        return Cost { vector: vector * passes, complex: complex * passes, ..one };
    }
    if base.starts_with("ds_") {
        return Cost { workgroup_memory: halves, ..one };
    }
    if ["buffer_", "global_", "flat_", "scratch_", "tbuffer_", "image_"].iter().any(|kind| base.starts_with(kind)) {
        return Cost { memory: halves, loaded: loaded(base), ..one };
    }
    if ["s_branch", "s_cbranch", "s_sendmsg", "s_endpgm", "s_setpc", "s_swappc"].iter().any(|it| base.starts_with(it)) {
        return Cost { branch: 1.0, ..one };
    }
    if ["s_waitcnt", "s_delay_alu", "s_nop", "s_clause", "s_barrier", "s_code_end", "s_inst_prefetch", "s_set_inst"]
        .iter()
        .any(|it| base.starts_with(it))
    {
        return one;
    }
    Cost { scalar: 1.0, ..one }
}

/// The bytes that each lane loads.
fn loaded(base: &str) -> f64 {
    let Some((_, width)) = base.split_once("_load_") else { return 0.0 };
    match width.trim_start_matches("d16_").trim_start_matches("hi_") {
        "dword" | "b32" => 4.0,
        "dwordx2" | "b64" => 8.0,
        "dwordx3" | "b96" => 12.0,
        "dwordx4" | "b128" => 16.0,
        "ushort" | "sshort" | "short" | "u16" | "i16" | "b16" => 2.0,
        _ => 1.0,
    }
}

/// The cycles of the vector unit, and of the units for products and functions beside it, for half a wave.
fn vector(base: &str) -> (f64, f64) {
    let is = |kinds: &[&str]| kinds.iter().any(|kind| base.starts_with(kind));
    if is(&["v_rcp_f32", "v_rsq_f32", "v_sqrt_f32", "v_exp_f32", "v_log_f32", "v_sin_f32", "v_cos_f32", "v_rcp_iflag"])
        || is(&["v_rcp_f16", "v_rsq_f16", "v_sqrt_f16", "v_exp_f16", "v_log_f16", "v_sin_f16", "v_cos_f16"])
    {
        return (1.0, 4.0);
    }
    if is(&["v_mul_lo_u32", "v_mul_hi_u32", "v_mul_hi_i32", "v_mul_lo_i32"]) {
        return (4.0, 4.0);
    }
    if base.ends_with("_f64") || base.contains("_f64_") {
        return (16.0, 16.0);
    }
    if base.ends_with("64") {
        return (2.0, 2.0);
    }
    (1.0, 0.0)
}

/// Whether RDNA 3 issues an instruction for both halves of a wave at once (`is_dual_issue_capable`).
fn dual_issued(base: &str) -> bool {
    let floats = ["v_fma", "v_fmac", "v_fmaak", "v_fmamk", "v_mul", "v_add", "v_sub", "v_subrev", "v_max", "v_min"];
    let halves =
        ["v_max", "v_min", "v_add", "v_sub", "v_mad", "v_mul_lo", "v_and", "v_or", "v_xor", "v_not", "v_cndmask"];
    let shifts = ["v_lshrrev_b16", "v_ashrrev_i16", "v_lshlrev_b16", "v_mov_b16", "v_mov_b32", "v_cndmask_b32"];
    let (kind, ty) = base.rsplit_once('_').unwrap_or((base, ""));
    match ty {
        "f32" | "f16" if floats.contains(&kind) || base.starts_with("v_dot2") => true,
        "u16" | "i16" | "b16" if halves.contains(&kind) => true,
        _ => shifts.contains(&base),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RDNA2: Machine = Machine { doubled: false, wave_size: 64 };
    const RDNA3: Machine = Machine { doubled: true, wave_size: 64 };

    #[test]
    fn vector_instructions_take_a_cycle_for_each_half_of_a_wave() {
        assert_eq!(cost("v_max_u32_e32", RDNA2).vector, 2.0);
        assert_eq!(cost("v_cndmask_b32_e64", RDNA2).vector, 2.0);
        assert_eq!(cost("v_cndmask_b32_e64", RDNA3).vector, 1.0);
        assert_eq!(cost("v_max_u32_e32", RDNA3).vector, 2.0);
        assert_eq!(cost("v_max_u32_e32", Machine { wave_size: 32, ..RDNA2 }).vector, 1.0);
    }

    #[test]
    fn products_and_reciprocals_take_longer() {
        assert_eq!(cost("v_mul_lo_u32", RDNA2).vector, 8.0);
        assert_eq!((cost("v_rcp_f32_e32", RDNA2).vector, cost("v_rcp_f32_e32", RDNA2).complex), (2.0, 8.0));
        assert_eq!(cost("v_lshlrev_b64", RDNA2).vector, 4.0);
        assert_eq!(cost("v_mul_u32_u24_e32", RDNA2).vector, 2.0);
    }

    #[test]
    fn each_other_instruction_has_its_unit() {
        assert_eq!(cost("ds_load_b128", RDNA3).workgroup_memory, 2.0);
        assert_eq!(cost("buffer_load_dwordx4", RDNA2).memory, 2.0);
        let loaded = ["buffer_load_dwordx4", "buffer_load_b64", "buffer_load_ushort", "buffer_store_b32"];
        assert_eq!(loaded.map(|name| cost(name, RDNA3).loaded), [16.0, 8.0, 2.0, 0.0]);
        assert_eq!(cost("s_cbranch_execz", RDNA2).branch, 1.0);
        assert_eq!(cost("s_add_u32", RDNA2).scalar, 1.0);
        assert_eq!(cost("s_waitcnt", RDNA2).weight(), 1.0 / 1024.0);
    }

    #[test]
    fn the_busiest_unit_decides() {
        let cost = cost("v_max_u32_e32", RDNA2) * 3.0 + cost("ds_load_b128", RDNA2) * 2.0;
        assert_eq!((cost.cycles(), cost.instructions), (6.0, 5.0));
    }
}
