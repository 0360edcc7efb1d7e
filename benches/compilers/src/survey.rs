//! Emulates and compiles the kernels of all cases, and computes the figures of each case.

use std::collections::BTreeMap;

use serde::Serialize;
use wgpu_pooling::{Dispatch, NanPolicy, element_count, wgsl};

use crate::aco;
use crate::card::{self, Work};
use crate::contents::Contents;
use crate::emulate::{self, Numbers, Seen};
use crate::family::Family;
use crate::judge::{Candidate, Kept};
use crate::rows::{Case, layout_name};
use crate::spirv::{Kernel, Source};
use crate::vulkan::Compiled;
use crate::worker::{self, Unavailable};

/// The most workgroups of a dispatch that are emulated, and the most dispatches of a kernel in a case.
const WORKGROUPS: u64 = 3;
const DISPATCHES: usize = 3;

/// Why there are no figures.
#[derive(Debug)]
pub enum Failure {
    Unavailable(Unavailable),
    /// A kernel that naga or the driver refuses, or that could not be read.
    Kernel(String),
}

/// The kernels of some cases, each once, and what the cases do with them.
#[derive(Default)]
pub struct Kernels {
    candidates: Vec<Candidate>,
    names: Vec<String>,
    texts: Vec<String>,
    /// For each case, its kernels.
    used: Vec<Vec<Used>>,
}

/// A kernel of a case.
struct Used {
    /// The position among the candidates.
    candidate: usize,
    /// The number of its dispatches.
    dispatches: usize,
    /// Each dispatch with what was seen of it or of another dispatch of the kernel.
    ran: Vec<(u64, usize)>,
    /// The bytes of each dispatch.
    bytes: Vec<f64>,
    seen: Vec<Seen>,
}

fn groups(dispatch: &Dispatch) -> u64 {
    dispatch.grid().into_iter().map(u64::from).product()
}

/// Workgroups from the middle of a grid, where most are.
fn sample(grid: [u32; 3]) -> Vec<[u32; 3]> {
    let [x, y, z] = grid.map(u64::from);
    let all = x * y * z;
    let mut numbers: Vec<u64> = (0..WORKGROUPS).map(|part| all * (2 * part + 1) / (2 * WORKGROUPS)).collect();
    numbers.dedup();
    let numbers = numbers.into_iter().filter(|&number| number < all);
    numbers.map(|number| [number % x, number / x % y, number / x / y].map(|it| it as u32)).collect()
}

impl Used {
    /// Emulates the dispatches of a kernel, one after the other.
    fn of(source: &Source, dispatches: &[&Dispatch], contents: &mut Contents<'_>) -> Result<Used, String> {
        let numbers = Numbers::of(source);
        let (mut seen, mut ran, mut all_bytes) = (Vec::new(), Vec::new(), Vec::new());
        for &dispatch in dispatches {
            if seen.len() < DISPATCHES {
                contents.bind(dispatch);
                let uniform: Vec<u32> = bytemuck::pod_collect_to_vec(dispatch.uniform());
                let mut one = Seen::default();
                for number in sample(dispatch.grid()) {
                    emulate::workgroup(
                        source,
                        &numbers,
                        [number, dispatch.grid()],
                        &uniform,
                        contents,
                        Some(&mut one),
                    )?;
                }
                seen.push(one);
            }
            let last: &Seen = &seen[seen.len() - 1];
            let of_binding = |(binding, bytes): (u32, f64)| {
                let bound = f64::from(emulate::Buffers::bytes(contents, binding));
                (bytes * groups(dispatch) as f64).min(bound)
            };
            all_bytes.push(last.bytes().map(of_binding).sum());
            ran.push((groups(dispatch), seen.len() - 1));
        }
        Ok(Used { candidate: 0, dispatches: dispatches.len(), ran, bytes: all_bytes, seen })
    }
}

impl Kernels {
    pub fn of(cases: &[Case]) -> Result<Kernels, Failure> {
        let mut kernels = Kernels::default();
        for case in cases {
            let mut texts: Vec<(String, Vec<&Dispatch>)> = Vec::new();
            for dispatch in case.dispatches() {
                let text = wgsl(dispatch.key());
                match texts.iter_mut().find(|(other, _)| *other == text) {
                    Some((_, dispatches)) => dispatches.push(dispatch),
                    None => texts.push((text, vec![dispatch])),
                }
            }
            let mut contents = Contents::new(case).map_err(Failure::Kernel)?;
            let mut used = Vec::new();
            for (text, dispatches) in texts {
                let name = dispatches[0].key().name().to_owned();
                let fault = |error: String| Failure::Kernel(format!("{}: {name}: {error}", case.row));
                let source = Source::parse(&text).map_err(fault)?;
                let mut one = Used::of(&source, &dispatches, &mut contents).map_err(fault)?;
                let mut all = Seen::default();
                one.seen.iter().for_each(|seen| all.sides(seen));
                let seen = Some(&all).filter(|_| !one.seen.is_empty());
                let candidate = Candidate::new(&source, seen).map_err(fault)?;
                one.candidate = kernels.put(candidate, name.clone(), text);
                used.push(one);
            }
            kernels.used.push(used);
        }
        Ok(kernels)
    }

    fn put(&mut self, candidate: Candidate, name: String, text: String) -> usize {
        if let Some(number) = self.candidates.iter().position(|other| *other == candidate) {
            return number;
        }
        self.candidates.push(candidate);
        self.names.push(name);
        self.texts.push(text);
        self.candidates.len() - 1
    }

    /// Compiles the kernels for a family. If the marked form differs beyond its marks, or has loops left, it is
    /// compiled too.
    pub fn compile(&self, family: Family) -> Result<Compilation<'_>, Failure> {
        let kernels: Vec<_> = self.candidates.iter().map(|candidate| candidate.kernel.clone()).collect();
        let (driver, plain) = self.all(family, &kernels, |number| number)?;
        let differs = |number: usize| {
            let candidate = &self.candidates[number];
            candidate.kernel.bindings != candidate.marked.bindings || aco::has_loops(&plain[number].ir)
        };
        let differing: Vec<usize> = (0..plain.len()).filter(|&number| differs(number)).collect();
        let kernels: Vec<_> = differing.iter().map(|&number| self.candidates[number].marked.clone()).collect();
        let (_, marked) = self.all(family, &kernels, |number| differing[number])?;
        let mut marked: BTreeMap<usize, Compiled> = differing.into_iter().zip(marked).collect();
        let mut results = Vec::new();
        for (number, compiled) in plain.into_iter().enumerate() {
            let marked = marked.remove(&number).unwrap_or_else(|| compiled.clone());
            let kept = Kept::new(&self.candidates[number], &compiled, &marked);
            results.push((kept.map_err(|error| self.failure(number, &error))?, compiled));
        }
        Ok(Compilation { kernels: self, family, driver, results })
    }

    /// Compiles kernels, none of which may be refused. `number` gives the position of each among all kernels, for the
    /// error's message.
    fn all(
        &self,
        family: Family,
        kernels: &[Kernel],
        number: impl Fn(usize) -> usize,
    ) -> Result<(String, Vec<Compiled>), Failure> {
        let (driver, compiled) = worker::compile_all(family, kernels).map_err(Failure::Unavailable)?;
        let each = compiled.into_iter().enumerate();
        let each = each.map(|(at, compiled)| compiled.map_err(|error| self.failure(number(at), &error)));
        Ok((driver, each.collect::<Result<_, _>>()?))
    }

    fn failure(&self, number: usize, error: &str) -> Failure {
        Failure::Kernel(format!("{}: {error}", self.names[number]))
    }
}

/// The kernels compiled for a family.
pub struct Compilation<'a> {
    kernels: &'a Kernels,
    pub family: Family,
    /// The driver's name and version.
    pub driver: String,
    results: Vec<(Kept, Compiled)>,
}

/// A case's figures.
#[derive(Debug, Clone, Serialize)]
pub struct Figures {
    /// The row's name.
    pub name: String,
    pub dtype: &'static str,
    pub layout: &'static str,
    /// `None` for the default.
    pub nan_policy: Option<&'static str>,
    pub family: &'static str,
    pub driver: String,
    /// X, Y and indices, each once, in 10^6 bytes.
    pub megabytes: f64,
    pub scratch_megabytes: f64,
    pub dispatches: usize,
    /// Vector operations for each element of Y, and as many as a card has time for while it moves the bytes.
    pub operations_per_output: f64,
    pub operations_budget: f64,
    /// The lines of cache that a load or store of neighbours touches, in the mean.
    pub lines_per_access: f64,
    /// The most vector registers of a kernel.
    pub registers: u32,
    /// The time on an H100 over that of a copy of the same bytes, and its limit.
    pub h100_copies: f64,
    pub limit: f64,
    pub kernels: Vec<KernelFigures>,
}

/// A kernel of a case, all its dispatches taken together.
#[derive(Debug, Clone, Serialize)]
pub struct KernelFigures {
    pub name: String,
    pub dispatches: usize,
    pub registers: u32,
    pub spilled: u32,
    pub spilled_scalar: u32,
    pub scratch_bytes: u32,
    pub code_bytes: u32,
    pub workgroup_bytes: u32,
    pub waves_per_simd: u32,
    pub operations_per_output: f64,
    pub lines_per_access: f64,
    /// Bytes that its dispatches read and write, over those that the plan has to move.
    pub bytes: f64,
    /// Each loop that is left, and how often it runs.
    pub loops: Vec<String>,
    /// Stores whose neighbours do not write neighbouring bytes.
    pub scattered: Vec<String>,
}

impl Figures {
    pub fn code_bytes(&self) -> u32 {
        self.kernels.iter().map(|kernel| kernel.code_bytes).max().unwrap_or(0)
    }

    pub fn spilled(&self) -> u32 {
        self.kernels.iter().map(|kernel| kernel.spilled + kernel.spilled_scalar).max().unwrap_or(0)
    }

    /// What a case takes its time for, in words.
    pub fn reason(&self) -> String {
        let bytes: f64 = self.kernels.iter().map(|kernel| kernel.bytes).sum();
        format!(
            "{:.0} operations an output of {:.0}, {bytes:.2} times the bytes, {:.1} lines an access, {} dispatches",
            self.operations_per_output, self.operations_budget, self.lines_per_access, self.dispatches
        )
    }
}

impl Compilation<'_> {
    /// The files of the kernels whose names contain `name_part`, each with its file name: WGSL, assembly and
    /// intermediate representation.
    pub fn files(&self, name_part: &str) -> Vec<(String, &str)> {
        let mut files = Vec::new();
        for (number, name) in self.kernels.names.iter().enumerate().filter(|(_, name)| name.contains(name_part)) {
            let (_, compiled) = &self.results[number];
            let plain: String = name.chars().map(|it| if it.is_alphanumeric() { it } else { '_' }).collect();
            let name = format!("{number:03}_{plain}");
            files.push((format!("{name}.wgsl"), self.kernels.texts[number].as_str()));
            files.push((format!("{name}.{}.s", self.family.name()), compiled.assembly.as_str()));
            files.push((format!("{name}.{}.aco", self.family.name()), compiled.ir.as_str()));
        }
        files
    }

    /// The figures of case `number`.
    pub fn figures(&self, number: usize, case: &Case) -> Result<Figures, String> {
        let outputs = element_count(case.schedule.output_shape()).unwrap_or(1).max(1) as f64;
        let moved = case.schedule.bytes_moved();
        let (mut works, mut kernels) = (Vec::new(), Vec::new());
        let (mut lines, mut accesses) = (0.0, 0.0);
        for used in &self.kernels.used[number] {
            let (own, [own_lines, own_accesses]) = self.work(used)?;
            lines += own_lines;
            accesses += own_accesses;
            let sum = |of: fn(&Work) -> f64| own.iter().map(of).sum::<f64>();
            let (kept, _) = &self.results[used.candidate];
            kernels.push(KernelFigures {
                name: self.kernels.names[used.candidate].clone(),
                dispatches: used.dispatches,
                registers: kept.registers,
                spilled: kept.spilled,
                spilled_scalar: kept.spilled_scalar,
                scratch_bytes: kept.scratch,
                code_bytes: kept.code_bytes,
                workgroup_bytes: kept.workgroup_memory,
                waves_per_simd: kept.waves_per_simd,
                operations_per_output: sum(|work| work.operations) / outputs,
                lines_per_access: own_lines / own_accesses.max(1.0),
                bytes: sum(|work| work.bytes) / moved.max(1) as f64,
                loops: loops(kept, used),
                scattered: used.seen.iter().flat_map(Seen::scattered).map(|access| access.describe()).collect(),
            });
            works.extend(own);
        }
        let dispatches = case.dispatches();
        Ok(Figures {
            name: case.row.clone(),
            dtype: case.dtype.name(),
            layout: layout_name(case.layout),
            nan_policy: Some(case.nan_policy).filter(|policy| *policy != NanPolicy::default()).map(NanPolicy::name),
            family: self.family.name(),
            driver: self.driver.clone(),
            megabytes: moved as f64 / 1e6,
            scratch_megabytes: case.schedule.scratch_bytes() as f64 / 1e6,
            dispatches: dispatches.len(),
            operations_per_output: works.iter().map(|work| work.operations).sum::<f64>() / outputs,
            operations_budget: card::budget(moved) / outputs,
            lines_per_access: lines / f64::max(accesses, 1.0),
            registers: kernels.iter().map(|kernel| kernel.registers).max().unwrap_or(0),
            h100_copies: card::copies(&works, moved),
            limit: case.limit(),
            kernels,
        })
    }

    /// What each dispatch of a kernel does; then the lines of cache and the accesses of all of them.
    fn work(&self, used: &Used) -> Result<(Vec<Work>, [f64; 2]), String> {
        let (kept, _) = &self.results[used.candidate];
        let (mut works, mut lines, mut accesses) = (Vec::new(), 0.0, 0.0);
        for (&(groups, number), &bytes) in used.ran.iter().zip(&used.bytes) {
            let seen = &used.seen[number];
            let executed = kept.executed(|name| seen.trips(name));
            let executed = executed.map_err(|error| format!("{}: {error}", self.kernels.names[used.candidate]))?;
            let waves = groups as f64 * f64::from(kept.waves_per_workgroup());
            let operations = executed.operations * waves * f64::from(kept.wave_size);
            let own = seen.lines() * groups as f64;
            works.push(Work { bytes, operations, lines: own });
            lines += own;
            accesses += seen.accesses_of_neighbours() * groups as f64;
        }
        Ok((works, [lines, accesses]))
    }
}

/// The loops that are left in a kernel, in words.
fn loops(kept: &Kept, used: &Used) -> Vec<String> {
    let words = |found: &Option<emulate::SourceLoop>| match found {
        None => "a loop that could not be told".to_owned(),
        Some(it) => {
            let trips = used.seen.first().map(|seen| format!(": {:.1} trips", seen.trips(&it.name)));
            format!("fn {}, line {}{}", it.name.function, it.line, trips.unwrap_or_default())
        }
    };
    kept.loops.iter().map(words).collect()
}
