//! Figures as a table for people.

use crate::judge::Kept;
use crate::misses::Verdict;
use crate::path::Executed;
use crate::survey::{Figures, KernelFigures};

const HEAD: &str =
    "row                  type layout family  VGPRs spilled    LDS waves   code  instr/out  arith/mem  kernel";

/// The table's head.
pub fn head() -> &'static str {
    HEAD
}

/// A case: a line for each kernel, one for all if there are several, the scratch memory, failures, and listed misses
/// that are none any more.
pub fn case(figures: &Figures, verdicts: &[Verdict]) -> String {
    let mut text = String::new();
    for kernel in &figures.kernels {
        text.push_str(&line(figures, kernel));
    }
    if figures.kernels.len() > 1 {
        let all = format!("{}{:.3}", most(figures), figures.arithmetic);
        text.push_str(&format!("{} {:>48} {all:>10}  all dispatches\n", names(figures), ""));
    }
    let bytes = |bytes: u64| bytes as f64 / 1e6;
    if figures.scratch_bytes > 0 {
        let (moved, scratch) = (bytes(figures.bytes), bytes(figures.scratch_bytes));
        text.push_str(&format!("{:<20} beside {moved:.1} MB there are {scratch:.1} MB of scratch memory\n", ""));
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
    format!("{:<20} {:<4} {:<6} {:<6}", figures.row, figures.dtype, figures.layout, figures.family)
}

fn most(figures: &Figures) -> &'static str {
    if figures.at_most { "<= " } else { "" }
}

fn line(figures: &Figures, kernel: &KernelFigures) -> String {
    let times = if kernel.dispatches > 1 { format!(" ({} dispatches)", kernel.dispatches) } else { String::new() };
    let (per_output, arithmetic) = if kernel.runs {
        (format!("{:.2}", kernel.instructions_per_output), format!("{}{:.3}", most(figures), kernel.arithmetic))
    } else {
        ("-".to_owned(), "-".to_owned())
    };
    format!(
        "{} {:>6} {:>7} {:>6} {:>5} {:>6} {per_output:>10} {arithmetic:>10}  {}{times}\n",
        names(figures),
        kernel.registers,
        kernel.spilled + kernel.spilled_scalar,
        kernel.workgroup_bytes,
        kernel.waves_per_simd,
        kernel.code_bytes,
        kernel.name,
    )
}

/// The report of one text that is judged by itself.
pub fn alone(kept: &Kept, executed: Option<&Executed>, family: &str, driver: &str) -> String {
    let mut text = format!(
        "{family}, {driver}\n  {} VGPRs, {} vector and {} scalar registers spilled, {} bytes of scratch\n  {} bytes of \
         workgroup memory, {} waves a SIMD, workgroups of {} in waves of {}\n  {} instructions in {} bytes\n",
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
    );
    match executed {
        Some(it) => text.push_str(&format!(
            "  a wave executes {}{:.0} instructions in {:.0} cycles ({})\n",
            if it.bounded { "at most " } else { "" },
            it.cost.instructions,
            it.cost.cycles(),
            it.cost.busiest()
        )),
        None => {
            text.push_str("  how much a wave executes is not known: --iterations bounds the loops without a count\n")
        }
    }
    for it in &kept.loops {
        text.push_str(&format!("  loop: {}\n", it.describe()));
    }
    text
}
