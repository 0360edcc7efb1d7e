//! Figures as a table for people.

use crate::cost::Cost;
use crate::judge::Kept;
use crate::misses::Verdict;
use crate::survey::{Figures, KernelFigures};

const HEAD: &str = concat!(
    "row                  type layout family  VGPRs spilled    LDS waves   code    ops/out  budget   lines ",
    "dispatches  H100, copies  kernel"
);

/// The table's head.
pub fn head() -> &'static str {
    HEAD
}

/// A case: a line for all its dispatches, one for each kernel if there are several, stores that are scattered,
/// failures, and listed misses that are none any more.
pub fn case(figures: &Figures, verdicts: &[Verdict]) -> String {
    let mut text = format!(
        "{} {} {:>10.1} {:>7.1} {:>7.1} {:>10} {:>13.2}",
        names(figures),
        of_compiler(figures.registers, figures.spilled(), figures.code_bytes(), figures.kernels.first()),
        figures.operations_per_output,
        figures.operations_budget,
        figures.lines_per_access,
        figures.dispatches,
        figures.h100_copies,
    );
    match &figures.kernels[..] {
        [kernel] => text.push_str(&format!("  {}\n", kernel.name)),
        kernels => {
            text.push_str(&format!("  {:.1} MB, {:.1} MB of scratch\n", figures.megabytes, figures.scratch_megabytes));
            kernels.iter().for_each(|kernel| text.push_str(&of_kernel(figures, kernel)));
        }
    }
    for store in figures.kernels.iter().flat_map(|kernel| &kernel.scattered) {
        text.push_str(&format!("{:<20} a store with holes: {store}\n", ""));
    }
    for verdict in verdicts {
        match verdict {
            Verdict::Meets | Verdict::Listed => {}
            Verdict::Met => text.push_str(&format!("{:<20} listed, but no miss any more\n", "")),
            Verdict::Fails(why) => text.push_str(&format!("{:<20} FAILS: {why}\n", "")),
        }
    }
    text
}

fn names(figures: &Figures) -> String {
    format!("{:<20} {:<4} {:<6} {:<6}", figures.name, figures.dtype, figures.layout, figures.family)
}

fn of_compiler(registers: u32, spilled: u32, code: u32, kernel: Option<&KernelFigures>) -> String {
    let (memory, waves) = kernel.map_or((0, 0), |kernel| (kernel.workgroup_bytes, kernel.waves_per_simd));
    format!("{registers:>6} {spilled:>7} {memory:>6} {waves:>5} {code:>6}")
}

fn of_kernel(figures: &Figures, kernel: &KernelFigures) -> String {
    format!(
        "{} {} {:>10.1} {:>7} {:>7.1} {:>10} {:>13}    {}\n",
        names(figures),
        of_compiler(kernel.registers, kernel.spilled + kernel.spilled_scalar, kernel.code_bytes, Some(kernel)),
        kernel.operations_per_output,
        "",
        kernel.lines_per_access,
        kernel.dispatches,
        "",
        kernel.name,
    )
}

/// The report of one text that is judged by itself.
pub fn alone(kept: &Kept, executed: &Cost, family: &str, driver: &str) -> String {
    let mut text = format!(
        "{family}, {driver}\n  {} VGPRs, {} vector and {} scalar registers spilled, {} bytes of scratch\n  {} bytes of \
         workgroup memory, {} waves a SIMD, workgroups of {} in waves of {}\n  {} instructions in {} bytes\n  a wave \
         executes {:.0} instructions, a lane of it {:.0} vector operations\n",
        kept.registers,
        kept.spilled,
        kept.spilled_scalar,
        kept.scratch,
        kept.workgroup_memory,
        kept.waves_per_simd,
        kept.workgroup,
        kept.wave_size,
        kept.instructions,
        kept.code_bytes,
        executed.instructions,
        executed.operations,
    );
    for it in kept.loops.iter().flatten() {
        text.push_str(&format!("  a loop is left: fn {}, line {}\n", it.name.function, it.line));
    }
    text
}
