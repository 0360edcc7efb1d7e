//! From compiled kernels to figures.

use crate::aco;
use crate::cost::Cost;
use crate::emulate::{Numbers, Seen, SourceLoop, usual};
use crate::marks::{self, LoopName};
use crate::path::{self, Span};
use crate::spirv::{Kernel, Source};
use crate::vulkan::Compiled;

/// A kernel as it is judged: as wgpu writes it, and with its loops marked, without what it rarely does.
#[derive(PartialEq)]
pub struct Candidate {
    pub kernel: Kernel,
    pub marked: Kernel,
    pub workgroup: u32,
    marks: Vec<LoopName>,
    loops: Vec<SourceLoop>,
}

impl Candidate {
    /// The kernel of a text. `seen` is what it does for a case; without it the kernel is judged as if it did all that
    /// it can.
    pub fn new(source: &Source, seen: Option<&Seen>) -> Result<Candidate, String> {
        let (module, before) =
            seen.map_or_else(|| (source.module.clone(), Vec::new()), |seen| usual(&source.module, seen));
        let Kernel { words, bindings } = Source::of(module, &source.text)?.named()?;
        let (words, mut marks) = marks::mark(&words);
        for mark in &mut marks {
            if let Some((_, name)) = before.iter().find(|(now, _)| now == mark) {
                *mark = name.clone();
            }
        }
        let marked = Kernel { words, bindings };
        let loops = Numbers::of(source).list;
        Ok(Candidate { kernel: source.kernel()?, marked, workgroup: source.workgroup, marks, loops })
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
    /// The loops that are left in the compiled kernel, each with that of the text that it comes from, if that could be
    /// found.
    pub loops: Vec<Option<SourceLoop>>,
}

impl Kept {
    /// Reads what the driver said of the kernel and of its marked form.
    pub fn new(candidate: &Candidate, compiled: &Compiled, marked: &Compiled) -> Result<Kept, String> {
        let statistic = |name: &str| {
            let value = compiled.statistic(name).ok_or_else(|| format!("the driver does not tell {name:?}"))?;
            Ok::<u32, String>(value as u32)
        };
        let blocks = aco::parse(&marked.ir, &marked.assembly, candidate.marks.len())?;
        let spans = path::loops(&blocks);
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
            loops: sources(&blocks, &spans, candidate),
            blocks,
            spans,
        })
    }

    pub fn waves_per_workgroup(&self) -> u32 {
        self.workgroup.div_ceil(self.wave_size.max(1))
    }

    /// What a wave executes, if the loops of the text run as often as `trips` says.
    pub fn executed(&self, trips: impl Fn(&LoopName) -> f64) -> Result<Cost, String> {
        let each =
            self.loops.iter().map(|it| it.as_ref().map(|it| trips(&it.name)).ok_or("a loop that could not be told"));
        Ok(path::executed(&self.blocks, &self.spans, &each.collect::<Result<Vec<f64>, _>>()?))
    }
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
