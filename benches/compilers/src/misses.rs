//! The list of cases that are known to miss a target. It is checked in beside the sources, and a run is compared with
//! it.
//!
//! A case is a row in a type, a layout and perhaps another NaN rule. Its figures are listed by compiler, as "navi21,
//! Mesa 22.3", since versions differ. If the list has no figures of a compiler, the run says so, and a listed case may
//! have any figure.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::survey::Figures;

/// The factor by which a listed figure may grow before it counts as worse.
const ROUNDING: f64 = 1.05;
/// The most vector registers of a kernel.
pub const MOST_REGISTERS: u32 = 128;
/// The most bytes of a kernel's code: the instruction cache of a workgroup processor.
pub const MOST_CODE: u32 = 32 << 10;

/// The checked-in list.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Misses {
    /// Cases that take longer on an H100 than they may, in copies.
    pub copies: Vec<Miss<f64>>,
    /// Cases with a kernel that spills or has more than 128 vector registers. This section is to become empty, and then
    /// to go.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub registers: Vec<Miss<Registers>>,
    /// Cases with a kernel of more than 32 KB of code.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub code: Vec<Miss<u32>>,
    /// Cases whose schedule or stores break a rule that no compiler's figure shows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub structure: Vec<Miss<Structure>>,
}

/// A case that misses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Miss<T> {
    pub row: String,
    pub dtype: String,
    pub layout: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nan_policy: Option<String>,
    /// The figures by compiler.
    pub figures: BTreeMap<String, T>,
    /// What bounds the case.
    pub reason: String,
}

/// Vector registers, and registers of either kind that were spilled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Registers {
    pub vector: u32,
    pub spilled: u32,
}

impl Registers {
    fn of(figures: &Figures) -> Registers {
        Registers { vector: figures.registers, spilled: figures.spilled() }
    }

    fn misses(self) -> bool {
        self.vector > MOST_REGISTERS || self.spilled > 0
    }
}

/// What a card does not do in the time of a copy, whatever the kernels compute: a pool is one dispatch, a pool of whole
/// planes and an unpool are two; and neighbours store neighbouring bytes, at most 16 each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Structure {
    pub dispatches: usize,
    /// Stores with holes between neighbours.
    pub scattered: usize,
}

impl Structure {
    fn of(figures: &Figures) -> Structure {
        let scattered = figures.kernels.iter().map(|kernel| kernel.scattered.len()).sum();
        Structure { dispatches: figures.dispatches, scattered }
    }

    fn misses(self, figures: &Figures) -> bool {
        let two = |name: &str| name.starts_with("unpool") || name.contains("reduced to candidates");
        let most = if figures.kernels.iter().any(|kernel| two(&kernel.name)) { 2 } else { 1 };
        self.dispatches > most || self.scattered > 0
    }

    fn is_worse(self, before: Structure) -> bool {
        self.dispatches > before.dispatches || self.scattered > before.scattered
    }

    fn describe(self) -> String {
        format!("{} dispatches, {} stores with holes", self.dispatches, self.scattered)
    }
}

/// The verdict on a case.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    Meets,
    /// Misses as it is listed.
    Listed,
    /// Listed, but no longer a miss: the entry can go.
    Met,
    /// Fails, with what is wrong.
    Fails(String),
}

/// A compiler as the list names it: the family, and the driver's version without its last part.
pub fn compiler(figures: &Figures) -> String {
    let version = figures.driver.split([' ', '-']).nth(1).unwrap_or(&figures.driver);
    let short: Vec<&str> = version.split('.').take(2).collect();
    format!("{}, Mesa {}", figures.family, short.join("."))
}

impl<T: Copy> Miss<T> {
    fn is_of(&self, figures: &Figures) -> bool {
        self.row == figures.name
            && self.dtype == figures.dtype
            && self.layout == figures.layout
            && self.nan_policy.as_deref() == figures.nan_policy
    }
}

impl Misses {
    pub fn parse(text: &str) -> Result<Misses, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    /// Whether any figure is of this compiler.
    pub fn knows(&self, compiler: &str) -> bool {
        self.copies.iter().any(|miss| miss.figures.contains_key(compiler))
            || self.registers.iter().any(|miss| miss.figures.contains_key(compiler))
            || self.code.iter().any(|miss| miss.figures.contains_key(compiler))
            || self.structure.iter().any(|miss| miss.figures.contains_key(compiler))
    }

    /// The verdicts on a case's time, on its registers, on its code and on its structure.
    pub fn judge(&self, figures: &Figures) -> [Verdict; 4] {
        let now = figures.h100_copies;
        let copies = Found {
            what: format!("{now:.2} copies on an H100, to be at most {}", figures.limit),
            figure: now,
            misses: now > figures.limit,
            worse: |now, before| now > before * ROUNDING,
        };
        let now = Registers::of(figures);
        let registers = Found {
            what: format!("{} vector registers, {} spilled", now.vector, now.spilled),
            figure: now,
            misses: now.misses(),
            worse: |now, before| now.vector > before.vector || now.spilled > before.spilled,
        };
        let known = self.knows(&compiler(figures));
        let now = figures.code_bytes();
        let code = Found {
            what: format!("{now} bytes of code, to be at most {MOST_CODE}"),
            figure: now,
            misses: now > MOST_CODE,
            worse: |now, before| now > before,
        };
        let now = Structure::of(figures);
        let structure =
            Found { what: now.describe(), figure: now, misses: now.misses(figures), worse: Structure::is_worse };
        [
            copies.verdict(&self.copies, figures, known),
            registers.verdict(&self.registers, figures, known),
            code.verdict(&self.code, figures, known),
            structure.verdict(&self.structure, figures, known),
        ]
    }

    /// Takes the figures of the judged cases over into the list, by their compilers. Other entries, and reasons, stay.
    pub fn update(&mut self, all: &[Figures]) {
        for figures in all {
            let missed = figures.h100_copies > figures.limit;
            let copies = missed.then(|| (figures.h100_copies * 100.0).round() / 100.0);
            put(&mut self.copies, figures, copies, || figures.reason());
            let registers = Registers::of(figures);
            let kernels = figures
                .kernels
                .iter()
                .filter(|kernel| kernel.registers > MOST_REGISTERS || kernel.spilled + kernel.spilled_scalar > 0);
            let names = || kernels.map(|kernel| kernel.name.clone()).collect::<Vec<_>>().join("; ");
            put(&mut self.registers, figures, registers.misses().then_some(registers), names);
            let bytes = figures.code_bytes();
            let longest = || figures.kernels.iter().max_by_key(|kernel| kernel.code_bytes).map(|it| it.name.clone());
            put(&mut self.code, figures, (bytes > MOST_CODE).then_some(bytes), || longest().unwrap_or_default());
            let structure = Some(Structure::of(figures)).filter(|it| it.misses(figures));
            put(&mut self.structure, figures, structure, || {
                let first = figures.kernels.iter().max_by_key(|kernel| kernel.scattered.len());
                first.map(|kernel| kernel.name.clone()).unwrap_or_default()
            });
        }
    }

    /// The list as it is checked in: one case in a line.
    pub fn text(&self) -> Result<String, String> {
        let mut text = "{\n  \"copies\": [\n".to_owned();
        lines(&self.copies, &mut text)?;
        text.push_str("  ]");
        if !self.registers.is_empty() {
            text.push_str(",\n  \"registers\": [\n");
            lines(&self.registers, &mut text)?;
            text.push_str("  ]");
        }
        if !self.code.is_empty() {
            text.push_str(",\n  \"code\": [\n");
            lines(&self.code, &mut text)?;
            text.push_str("  ]");
        }
        if !self.structure.is_empty() {
            text.push_str(",\n  \"structure\": [\n");
            lines(&self.structure, &mut text)?;
            text.push_str("  ]");
        }
        text.push_str("\n}\n");
        Ok(text)
    }
}

/// A figure of a case, and how it is compared with the list.
struct Found<T> {
    what: String,
    figure: T,
    misses: bool,
    worse: fn(T, T) -> bool,
}

impl<T: Copy> Found<T> {
    fn verdict(&self, list: &[Miss<T>], figures: &Figures, known: bool) -> Verdict {
        let miss = list.iter().find(|miss| miss.is_of(figures));
        let before = miss.and_then(|miss| miss.figures.get(&compiler(figures))).copied();
        match (self.misses, miss, before) {
            (false, _, None) => Verdict::Meets,
            (false, _, Some(_)) => Verdict::Met,
            (true, _, Some(before)) if (self.worse)(self.figure, before) => {
                Verdict::Fails(format!("{}: more than is listed", self.what))
            }
            (true, _, Some(_)) => Verdict::Listed,
            // The list has no figures of this compiler.
            (true, Some(_), None) if !known => Verdict::Listed,
            (true, _, None) => Verdict::Fails(format!("{}: not listed", self.what)),
        }
    }
}

fn lines<T: Serialize>(list: &[Miss<T>], text: &mut String) -> Result<(), String> {
    for (number, miss) in list.iter().enumerate() {
        let line = serde_json::to_string(miss).map_err(|error| error.to_string())?;
        let comma = if number + 1 < list.len() { "," } else { "" };
        text.push_str(&format!("    {line}{comma}\n"));
    }
    Ok(())
}

fn put<T: Copy>(list: &mut Vec<Miss<T>>, figures: &Figures, found: Option<T>, reason: impl FnOnce() -> String) {
    let compiler = compiler(figures);
    let at = list.iter().position(|miss| miss.is_of(figures));
    match (at, found) {
        (Some(at), Some(found)) => {
            list[at].figures.insert(compiler, found);
        }
        (Some(at), None) => {
            list[at].figures.remove(&compiler);
            if list[at].figures.is_empty() {
                list.remove(at);
            }
        }
        (None, Some(found)) => list.push(Miss {
            row: figures.name.clone(),
            dtype: figures.dtype.to_owned(),
            layout: figures.layout.to_owned(),
            nan_policy: figures.nan_policy.map(str::to_owned),
            figures: BTreeMap::from([(compiler, found)]),
            reason: reason(),
        }),
        (None, None) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::survey::KernelFigures;

    fn figures(h100_copies: f64, registers: u32, spilled: u32) -> Figures {
        let kernel = KernelFigures {
            name: "pool".to_owned(),
            dispatches: 1,
            registers,
            spilled,
            spilled_scalar: 0,
            scratch_bytes: 0,
            code_bytes: MOST_CODE,
            workgroup_bytes: 0,
            waves_per_simd: 8,
            operations_per_output: 40.0,
            lines_per_access: 1.0,
            bytes: 1.0,
            loops: Vec::new(),
            scattered: Vec::new(),
        };
        Figures {
            name: "vgg".to_owned(),
            dtype: "f32",
            layout: "NCHW",
            nan_policy: None,
            family: "navi21",
            driver: "Mesa 22.3.6".to_owned(),
            kernels: vec![kernel],
            megabytes: 100.0,
            scratch_megabytes: 0.0,
            dispatches: 1,
            operations_per_output: 40.0,
            operations_budget: 35.0,
            lines_per_access: 1.0,
            registers,
            h100_copies,
            limit: 1.25,
        }
    }

    fn listed(copies: f64, registers: u32, spilled: u32) -> Misses {
        let mut misses = Misses::default();
        misses.update(&[figures(copies, registers, spilled)]);
        misses
    }

    fn fails(verdict: &Verdict) -> bool {
        matches!(verdict, Verdict::Fails(_))
    }

    #[test]
    fn what_is_not_listed_has_to_meet_the_targets() {
        let list = Misses::default();
        assert_eq!(list.judge(&figures(1.25, 128, 0)), [const { Verdict::Meets }; 4]);
        assert!(list.judge(&figures(1.26, 129, 0))[..2].iter().all(fails));
        assert!(fails(&list.judge(&figures(0.1, 64, 1))[1]), "a spilled register");
    }

    #[test]
    fn code_has_to_fit_the_instruction_cache() {
        let mut long = figures(0.1, 64, 0);
        long.kernels[0].code_bytes = MOST_CODE + 4;
        assert!(fails(&Misses::default().judge(&long)[2]));
        let mut list = Misses::default();
        list.update(std::slice::from_ref(&long));
        assert_eq!(list.judge(&long)[2], Verdict::Listed);
        assert_eq!(Misses::parse(&list.text().unwrap()).unwrap(), list);
        long.kernels[0].code_bytes += 4;
        assert!(fails(&list.judge(&long)[2]));
    }

    #[test]
    fn a_pool_is_one_dispatch_whose_neighbours_store_neighbouring_bytes() {
        let more = |dispatches, scattered: usize| {
            let mut more = Figures { dispatches, ..figures(0.1, 64, 0) };
            more.kernels[0].scattered = vec!["a store".to_owned(); scattered];
            more
        };
        let list = Misses::default();
        assert!(fails(&list.judge(&more(2, 0))[3]) && fails(&list.judge(&more(1, 1))[3]));
        let mut unpool = more(2, 0);
        unpool.kernels[0].name = "unpool cells".to_owned();
        assert_eq!(list.judge(&unpool)[3], Verdict::Meets);
        let mut list = list;
        list.update(&[more(3, 2)]);
        assert_eq!(list.judge(&more(3, 2))[3], Verdict::Listed);
        assert_eq!(Misses::parse(&list.text().unwrap()).unwrap(), list);
        assert!(fails(&list.judge(&more(4, 2))[3]) && fails(&list.judge(&more(3, 3))[3]));
    }

    #[test]
    fn a_listed_miss_may_not_become_worse_but_by_rounding() {
        let list = listed(2.0, 144, 3);
        assert_eq!(list.judge(&figures(2.06, 144, 3))[..2], [Verdict::Listed, Verdict::Listed]);
        assert!(list.judge(&figures(2.12, 145, 3))[..2].iter().all(fails));
        assert!(fails(&list.judge(&figures(2.0, 144, 4))[1]));
        assert_eq!(list.judge(&figures(1.0, 64, 0))[..2], [Verdict::Met, Verdict::Met]);
    }

    #[test]
    fn another_nan_rule_is_another_case() {
        assert!(fails(
            &listed(2.0, 64, 0).judge(&Figures { nan_policy: Some("propagate_last"), ..figures(2.0, 64, 0) })[0]
        ));
    }

    #[test]
    fn a_compiler_that_the_list_does_not_know_may_have_any_figure_of_a_listed_case() {
        let list = listed(2.0, 64, 0);
        let newer = Figures { driver: "Mesa 25.0.7-2~bpo12+1".to_owned(), ..figures(2.0, 64, 0) };
        assert_eq!(compiler(&newer), "navi21, Mesa 25.0");
        assert!(!list.knows(&compiler(&newer)));
        assert_eq!(list.judge(&newer)[0], Verdict::Listed);
        let mut both = list.clone();
        both.update(std::slice::from_ref(&newer));
        assert!(both.knows(&compiler(&newer)) && both.copies.len() == 1);
        assert!(fails(&both.judge(&Figures { h100_copies: 2.2, ..newer })[0]));
    }

    #[test]
    fn writing_keeps_reasons_and_drops_what_is_met() {
        let mut list = listed(2.0, 144, 0);
        list.copies[0].reason = "by hand".to_owned();
        list.update(&[figures(1.9, 64, 0)]);
        assert_eq!((list.copies[0].reason.as_str(), list.registers.len()), ("by hand", 0));
        assert_eq!(Misses::parse(&list.text().unwrap()).unwrap(), list);
        list.update(&[figures(1.0, 64, 0)]);
        assert_eq!(list, Misses::default());
    }

    #[test]
    fn the_checked_in_list_is_read_and_written_alike() {
        let text = include_str!("../misses.json");
        assert_eq!(Misses::parse(text).unwrap().text().unwrap(), text);
    }
}
