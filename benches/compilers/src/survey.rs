//! Compiles the kernels of all cases for a family, and computes the figures of each case.

use std::collections::HashMap;

use serde::Serialize;
use wgpu_pooling::{Dispatch, NanPolicy, element_count, wgsl};

use crate::aco;
use crate::cycles::Cost;
use crate::family::Family;
use crate::judge::{Candidate, Kept, arithmetic_seconds, memory_seconds};
use crate::path::{Executed, Rest};
use crate::rows::{Case, layout_name};
use crate::spirv::Kernel;
use crate::vulkan::Compiled;
use crate::worker::{self, Unavailable};

/// Why there are no figures.
#[derive(Debug)]
pub enum Failure {
    Unavailable(Unavailable),
    /// A kernel that naga or the driver refuses, or that could not be read.
    Kernel(String),
}

/// The kernels of some cases, each different text once.
#[derive(Default)]
pub struct Kernels {
    candidates: Vec<Candidate>,
    names: Vec<String>,
    /// The position of each text among the candidates.
    numbers: HashMap<String, usize>,
}

impl Kernels {
    pub fn of(cases: &[Case]) -> Result<Kernels, Failure> {
        let mut kernels = Kernels::default();
        for dispatch in cases.iter().flat_map(|case| case.schedule.dispatches()) {
            let text = wgsl(dispatch.key());
            if !kernels.numbers.contains_key(&text) {
                let name = dispatch.key().name().to_owned();
                let candidate = Candidate::new(&text).map_err(|error| Failure::Kernel(format!("{name}: {error}")))?;
                kernels.numbers.insert(text, kernels.candidates.len());
                kernels.candidates.push(candidate);
                kernels.names.push(name);
            }
        }
        Ok(kernels)
    }

    /// Compiles the kernels for a family. If a compiled kernel has loops left, its marked form is compiled too.
    pub fn compile(&self, family: Family) -> Result<Compilation<'_>, Failure> {
        let kernels: Vec<_> = self.candidates.iter().map(|candidate| candidate.kernel.clone()).collect();
        let (driver, plain) = self.all(family, &kernels, |number| number)?;
        let looping: Vec<usize> = (0..plain.len()).filter(|&number| aco::has_loops(&plain[number].ir)).collect();
        let kernels: Vec<_> = looping.iter().map(|&number| self.candidates[number].marked.clone()).collect();
        let (_, marked) = self.all(family, &kernels, |number| looping[number])?;
        let mut marked: HashMap<usize, Compiled> = looping.into_iter().zip(marked).collect();
        let mut results = Vec::new();
        for (number, compiled) in plain.into_iter().enumerate() {
            let marked = marked.remove(&number).unwrap_or_else(|| compiled.clone());
            let kept = Kept::new(&self.candidates[number], &compiled, &marked, family);
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
    pub row: String,
    pub dtype: &'static str,
    pub layout: &'static str,
    /// `None` for the default.
    pub nan_policy: Option<&'static str>,
    pub family: &'static str,
    pub driver: String,
    pub kernels: Vec<KernelFigures>,
    /// Arithmetic over memory time, of all dispatches.
    pub arithmetic: f64,
    /// Whether the trips of some loop are only bounded, so that the figures are upper bounds.
    pub at_most: bool,
    pub target: f64,
    /// The fewest bytes: inputs once, outputs once.
    pub bytes: u64,
    pub scratch_bytes: u64,
}

/// A kernel of a case, all its dispatches taken together.
#[derive(Debug, Clone, Serialize)]
pub struct KernelFigures {
    pub name: String,
    pub dispatches: usize,
    /// Whether it runs for the case's data.
    pub runs: bool,
    pub registers: u32,
    pub spilled: u32,
    pub spilled_scalar: u32,
    pub scratch_bytes: u32,
    pub code_bytes: u32,
    pub workgroup_bytes: u32,
    pub waves_per_simd: u32,
    pub instructions_per_output: f64,
    pub arithmetic: f64,
    /// The unit that is busy for the longest.
    pub bound: &'static str,
    /// Each loop that is left, and how often it runs.
    pub loops: Vec<String>,
}

impl Figures {
    pub fn registers(&self) -> u32 {
        self.kernels.iter().map(|kernel| kernel.registers).max().unwrap_or(0)
    }

    pub fn code_bytes(&self) -> u32 {
        self.kernels.iter().map(|kernel| kernel.code_bytes).max().unwrap_or(0)
    }

    pub fn spilled(&self) -> u32 {
        self.kernels.iter().map(|kernel| kernel.spilled + kernel.spilled_scalar).max().unwrap_or(0)
    }

    pub fn misses(&self) -> bool {
        self.arithmetic >= self.target
    }

    /// What bounds the arithmetic, in words.
    pub fn bound(&self) -> String {
        let heaviest = self.kernels.iter().max_by(|a, b| a.arithmetic.total_cmp(&b.arithmetic));
        let Some(kernel) = heaviest else { return String::new() };
        let most = if self.at_most { "at most " } else { "" };
        format!("{}, {most}{:.1} instructions an output", kernel.bound, kernel.instructions_per_output)
    }
}

impl Compilation<'_> {
    /// The files of the kernels whose names contain `name_part`, each with its file name: WGSL, assembly and
    /// intermediate representation.
    pub fn files(&self, name_part: &str) -> Vec<(String, &str)> {
        let mut files = Vec::new();
        for (text, &number) in
            self.kernels.numbers.iter().filter(|(_, number)| self.kernels.names[**number].contains(name_part))
        {
            let (_, compiled) = &self.results[number];
            let plain: String =
                self.kernels.names[number].chars().map(|it| if it.is_alphanumeric() { it } else { '_' }).collect();
            let name = format!("{number:03}_{plain}");
            files.push((format!("{name}.wgsl"), text.as_str()));
            files.push((format!("{name}.{}.s", self.family.name()), compiled.assembly.as_str()));
            files.push((format!("{name}.{}.aco", self.family.name()), compiled.ir.as_str()));
        }
        files
    }

    /// The figures of a case, whose kernels are among those compiled.
    pub fn figures(&self, case: &Case) -> Result<Figures, String> {
        let mut groups: Vec<(usize, Vec<&Dispatch>)> = Vec::new();
        for dispatch in case.schedule.dispatches() {
            let number = self.kernels.numbers.get(&wgsl(dispatch.key())).copied().ok_or("a kernel was not compiled")?;
            match groups.iter_mut().find(|(other, _)| *other == number) {
                Some((_, dispatches)) => dispatches.push(dispatch),
                None => groups.push((number, vec![dispatch])),
            }
        }
        let mut at_most = false;
        let kernels = groups.iter().map(|(number, dispatches)| {
            let (kernel, bounded) = self.kernel(case, *number, dispatches)?;
            at_most |= bounded;
            Ok(kernel)
        });
        let kernels = kernels.collect::<Result<Vec<_>, String>>()?;
        Ok(Figures {
            row: case.row.clone(),
            dtype: case.dtype.name(),
            layout: layout_name(case.layout),
            nan_policy: Some(case.nan_policy).filter(|policy| *policy != NanPolicy::default()).map(NanPolicy::name),
            family: self.family.name(),
            driver: self.driver.clone(),
            arithmetic: kernels.iter().map(|kernel| kernel.arithmetic).sum(),
            kernels,
            at_most,
            target: case.target,
            bytes: case.schedule.bytes_moved(),
            scratch_bytes: case.schedule.scratch_bytes(),
        })
    }

    /// A kernel's figures, and whether they are upper bounds.
    fn kernel(&self, case: &Case, number: usize, dispatches: &[&Dispatch]) -> Result<(KernelFigures, bool), String> {
        let (kept, _) = &self.results[number];
        let running: Vec<_> =
            dispatches.iter().filter(|dispatch| case.indirect || dispatch.indirect().is_none()).collect();
        let mut total = Cost::default();
        let (mut seconds, mut bounded) = (0.0, false);
        let mut same: Option<(Rest, Executed)> = None;
        for dispatch in &running {
            let share = case.share_of_x(dispatch, kept.workgroup).map(Rest::Loaded);
            let rest = share.unwrap_or(Rest::Iterations(dispatch.iterations()));
            let executed = match same {
                Some((other, executed)) if other == rest => executed,
                _ => kept.executed(Some(&case.known(dispatch, kept.workgroup)), rest).ok_or("a loop has no bound")?,
            };
            same = Some((rest, executed));
            let groups: f64 = dispatch.grid().into_iter().map(f64::from).product();
            let waves = groups * f64::from(kept.waves_per_workgroup());
            total += executed.cost * waves;
            seconds += arithmetic_seconds(waves, executed.cost.cycles(), self.family);
            bounded |= executed.bounded;
        }
        let outputs = element_count(case.schedule.output_shape()).unwrap_or(1).max(1) as f64;
        let kernel = KernelFigures {
            name: self.kernels.names[number].clone(),
            dispatches: dispatches.len(),
            runs: !running.is_empty(),
            registers: kept.registers,
            spilled: kept.spilled,
            spilled_scalar: kept.spilled_scalar,
            scratch_bytes: kept.scratch,
            code_bytes: kept.code_bytes,
            workgroup_bytes: kept.workgroup_memory,
            waves_per_simd: kept.waves_per_simd,
            instructions_per_output: total.instructions * f64::from(kept.wave_size) / outputs,
            arithmetic: seconds / memory_seconds(case.schedule.bytes_moved(), self.family),
            bound: total.busiest(),
            loops: kept.loops.iter().map(|it| it.describe()).collect(),
        };
        Ok((kernel, bounded))
    }
}
