//! From compiled kernels to figures.

use crate::aco;
use crate::cycles::{Cost, Machine};
use crate::family::Family;
use crate::marks::{self, LoopName};
use crate::path::{self, Rest, Span, Trips};
use crate::spirv::{Kernel, Source};
use crate::trips::{self, Count, SourceLoop};
use crate::vulkan::Compiled;

/// A kernel as it is judged: as wgpu writes it, and with its loops marked.
pub struct Candidate {
    pub kernel: Kernel,
    pub marked: Kernel,
    pub workgroup: u32,
    marks: Vec<LoopName>,
    loops: Vec<SourceLoop>,
}

impl Candidate {
    pub fn new(wgsl: &str) -> Result<Candidate, String> {
        let source = Source::parse(wgsl)?;
        let kernel = source.kernel()?;
        let (words, marks) = marks::mark(&source.named()?.words);
        let marked = Kernel { words, ..kernel.clone() };
        let loops = trips::loops(&source.module, wgsl);
        Ok(Candidate { kernel, marked, workgroup: source.workgroup, marks, loops })
    }
}

/// What is known of a compiled kernel, whatever case it is dispatched for.
#[derive(Debug, Clone)]
pub struct Kept {
    pub registers: u32,
    /// The vector registers that were spilled, then the scalar ones, and the bytes of an invocation's private memory.
    pub spilled: u32,
    pub spilled_scalar: u32,
    pub scratch: u32,
    pub code_bytes: u32,
    pub workgroup_memory: u32,
    pub waves_per_simd: u32,
    pub wave_size: u32,
    pub instructions: u32,
    pub workgroup: u32,
    blocks: Vec<aco::Block>,
    spans: Vec<Span>,
    pub loops: Vec<CompiledLoop>,
}

/// A loop that is left in the compiled kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompiledLoop {
    /// The loop of the text that it comes from, if that could be found.
    pub source: Option<SourceLoop>,
}

/// What a case says of the loops of a kernel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Known {
    /// The extents of the largest window along three axes.
    pub widest: [u64; 3],
    /// The number of axes of the tensors.
    pub axes: u64,
    /// The elements of a line of Y, and the lines of Y over the invocations of the grid.
    pub line: u64,
    pub lines: f64,
}

impl CompiledLoop {
    fn trips(&self, known: Option<&Known>) -> Option<Trips> {
        match self.source.as_ref()?.count {
            Count::Known(trips) => Some(Trips::of(trips)),
            Count::Taps(axis) => known.map(|known| Trips::of(known.widest[axis])),
            Count::Digits => known.map(|known| Trips { at_most: true, ..Trips::of(known.axes) }),
            Count::Lines(beside) => known.map(|known| lines(beside, known)),
            Count::OfNan => Some(Trips::of(0)),
            Count::Unknown => None,
        }
    }

    /// The loop in words.
    pub fn describe(&self) -> String {
        match &self.source {
            None => "a loop that could not be told".to_owned(),
            Some(it) => {
                let trips = match it.count {
                    Count::Known(trips) => trips.to_string(),
                    Count::Taps(axis) => format!("the window's extent, axis {axis} of 3"),
                    Count::Digits => "at most the axes of a tensor".to_owned(),
                    Count::Lines(_) => "the lines of outputs".to_owned(),
                    Count::OfNan => "none without NaN".to_owned(),
                    Count::Unknown => "not known".to_owned(),
                };
                format!("fn {}, line {}: {trips}", it.name.function, it.line)
            }
        }
    }
}

impl Kept {
    /// Reads what the driver said of the kernel and of its marked form.
    pub fn new(candidate: &Candidate, compiled: &Compiled, marked: &Compiled, family: Family) -> Result<Kept, String> {
        let statistic = |name: &str| {
            let value = compiled.statistic(name).ok_or_else(|| format!("the driver does not tell {name:?}"))?;
            Ok::<u32, String>(value as u32)
        };
        let machine = Machine { doubled: family == Family::Navi31, wave_size: compiled.wave_size };
        let blocks = aco::parse(&marked.ir, &marked.assembly, machine, candidate.marks.len())?;
        let spans = path::loops(&blocks);
        let sources = sources(&blocks, &spans, candidate);
        Ok(Kept {
            registers: statistic("VGPRs")?,
            spilled: statistic("Spilled VGPRs")?,
            spilled_scalar: statistic("Spilled SGPRs")?,
            scratch: statistic("Scratch size")?,
            code_bytes: statistic("Code size")?,
            workgroup_memory: statistic("LDS size")?,
            waves_per_simd: statistic("Subgroups per SIMD")?,
            instructions: statistic("Instructions")?,
            wave_size: compiled.wave_size,
            workgroup: candidate.workgroup,
            loops: sources.into_iter().map(|source| CompiledLoop { source }).collect(),
            blocks,
            spans,
        })
    }

    pub fn waves_per_workgroup(&self) -> u32 {
        self.workgroup.div_ceil(self.wave_size.max(1))
    }

    /// What a wave executes: `known` is what the case says of loops, and `rest` bounds the loops without a count.
    /// `None` if a loop has no bound.
    pub fn executed(&self, known: Option<&Known>, rest: Rest) -> Option<path::Executed> {
        let trips: Vec<_> = self.loops.iter().map(|it| it.trips(known)).collect();
        path::executed(&self.blocks, &self.spans, &trips, rest)
    }

    /// The cost of all instructions, each counted once, as in the driver's statistic.
    pub fn once(&self) -> Cost {
        self.blocks.iter().fold(Cost::default(), |sum, block| sum + block.cost)
    }
}

/// The trips of a thread tile, one for each line that an invocation stores to. An invocation stores `beside`
/// neighbouring outputs of a line, and the last one those that are left; so `line` / `beside` invocations, rounded up,
/// share a line.
fn lines(beside: u64, known: &Known) -> Trips {
    let stored = (known.lines * known.line.div_ceil(beside) as f64).max(1.0);
    Trips { all: stored, at_most: false }
}

/// The loop of the text that each compiled loop comes from. A header has the marks of its own loop and of the loops
/// inside it, whether these are still loops or were unrolled. Without the marks of the compiled inner loops, the
/// header's own mark is the one whose loop stands outermost in the text.
fn sources(blocks: &[aco::Block], spans: &[Span], candidate: &Candidate) -> Vec<Option<SourceLoop>> {
    let mut told: Vec<Option<usize>> = vec![None; spans.len()];
    for (number, span) in spans.iter().enumerate().rev() {
        let inside = |other: usize| spans[other].header > span.header && spans[other].header <= span.last;
        let taken: Vec<usize> = (number + 1..spans.len()).filter(|&it| inside(it)).filter_map(|it| told[it]).collect();
        let left = blocks[span.header].marks.iter().filter(|mark| !taken.contains(mark));
        told[number] = left.copied().min_by_key(|&mark| source(candidate, mark).map_or(usize::MAX, |it| it.depth));
    }
    told.into_iter().map(|mark| source(candidate, mark?).cloned()).collect()
}

fn source(candidate: &Candidate, mark: usize) -> Option<&SourceLoop> {
    let name = candidate.marks.get(mark)?;
    candidate.loops.iter().find(|it| it.name == *name)
}

/// The seconds that arithmetic takes if it is all that a card does, with every SIMD at work.
pub fn arithmetic_seconds(waves: f64, cycles: f64, family: Family) -> f64 {
    let card = family.card();
    waves * cycles / (card.simds * card.clock_hz)
}

/// The seconds that bytes take at the card's bandwidth.
pub fn memory_seconds(bytes: u64, family: Family) -> f64 {
    bytes as f64 / family.card().bytes_per_second
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_has_the_cards_figures() {
        // 2.0 bytes for each cycle of a SIMD on a 7900 XTX, 1.42 on a 6900 XT.
        for (family, bytes) in [(Family::Navi31, 2.0), (Family::Navi21, 1.42)] {
            let ratio = arithmetic_seconds(1.0, 1e6, family) / memory_seconds((bytes * 1e6) as u64, family);
            assert!((ratio - 1.0).abs() < 0.01, "{ratio}");
        }
    }
}
