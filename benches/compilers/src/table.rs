//! What AMD's compiler made of the kernels, checked in beside the sources, and how a run is compared with it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The most registers with which four waves fit on a SIMD: RDNA 3 has half as many more than RDNA 2.
const MOST_REGISTERS: u32 = 128;
const MOST_REGISTERS_OF_NAVI31: u32 = 192;
/// The most bytes of code: the instruction cache of a workgroup processor.
const MOST_CODE: u32 = 32 << 10;
/// A figure is worse than a stored one if it is above this many twentieths of it.
const WORSE: u64 = 21;

/// What the compiler says of a kernel. Spilled are registers of either kind, the others are vector registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Figures {
    pub instructions: u32,
    pub registers: u32,
    pub spilled: u32,
    pub code: u32,
}

impl Figures {
    fn each(self) -> [(&'static str, u32); 4] {
        let Figures { instructions, registers, spilled, code } = self;
        [("instructions", instructions), ("registers", registers), ("spilled", spilled), ("bytes of code", code)]
    }
}

/// The figures of a compiler, a kernel a line.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Table {
    /// The compiler, as "navi21, Mesa 22.3".
    pub compiler: String,
    pub kernels: BTreeMap<String, Figures>,
}

impl Table {
    pub fn parse(text: &str) -> Result<Table, String> {
        let (head, lines) = text.split_once('\n').ok_or("an empty table")?;
        let (compiler, _) = head.split_once(':').ok_or("a table that names no compiler")?;
        let kernel = |line: &str| {
            let mut rest = line;
            let mut number = || {
                let (word, behind) = rest.trim_start().split_once(' ')?;
                rest = behind;
                word.parse().ok()
            };
            let [instructions, registers, spilled, code] = [number()?, number()?, number()?, number()?];
            Some((rest.trim().to_owned(), Figures { instructions, registers, spilled, code }))
        };
        let kernels = lines.lines().map(|line| kernel(line).ok_or_else(|| format!("a line {line:?}")));
        Ok(Table { compiler: compiler.to_owned(), kernels: kernels.collect::<Result<_, _>>()? })
    }

    pub fn text(&self) -> String {
        let head = format!("{}: instructions, vector registers, spilled, bytes of code\n", self.compiler);
        let lines = self.kernels.iter().map(|(name, figures)| format!("{}\n", line(name, *figures)));
        head + &lines.collect::<String>()
    }

    /// What is wrong with a kernel: limits that it no longer keeps; by the same compiler also figures that are worse.
    pub fn faults(&self, compiler: &str, name: &str, found: Figures) -> Vec<String> {
        let stored = self.kernels.get(name);
        let registers = if compiler.starts_with("navi31") { MOST_REGISTERS_OF_NAVI31 } else { MOST_REGISTERS };
        let limits = [u32::MAX, registers, 0, MOST_CODE];
        let mut faults = Vec::new();
        for (at, ((what, now), most)) in found.each().into_iter().zip(limits).enumerate() {
            let before = stored.map(|stored| stored.each()[at].1);
            if now > most && before.is_none_or(|before| before <= most) {
                faults.push(format!("{now} {what}, to be at most {most}"));
            }
            let worse = |before: &u32| u64::from(now) * 20 > u64::from(*before) * WORSE;
            if let Some(before) = before.filter(worse).filter(|_| self.compiler == compiler) {
                faults.push(format!("{now} {what}, where the table has {before}"));
            }
        }
        if self.compiler == compiler && stored.is_none() {
            faults.push("it is not in the table, which --write rewrites".to_owned());
        }
        faults
    }
}

/// A kernel and its figures, as the table has them.
pub fn line(name: &str, figures: Figures) -> String {
    let [a, b, c, d] = figures.each().map(|(_, figure)| figure);
    format!("{a:6} {b:4} {c:4} {d:6} {name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: &str = "navi21, Mesa 22.3";
    const FIGURES: Figures = Figures { instructions: 400, registers: 40, spilled: 0, code: 2_000 };

    /// The faults of a kernel by a table that has `stored` of it.
    fn faults(stored: Option<Figures>, compiler: &str, found: Figures) -> Vec<String> {
        let kernels = stored.map(|stored| ("vgg f32 NCHW: pool".to_owned(), stored)).into_iter().collect();
        let table = Table { compiler: HERE.to_owned(), kernels };
        assert_eq!(Table::parse(&table.text()).unwrap(), table);
        table.faults(compiler, "vgg f32 NCHW: pool", found)
    }

    #[test]
    fn what_is_worse_than_the_table_is_a_fault() {
        let found = |found| faults(Some(FIGURES), HERE, found);
        assert!(found(FIGURES).is_empty());
        assert!(found(Figures { instructions: 420, registers: 42, spilled: 0, code: 100 }).is_empty());
        assert_eq!(found(Figures { instructions: 421, ..FIGURES }), ["421 instructions, where the table has 400"]);
        assert_eq!(found(Figures { registers: 43, code: 2_101, ..FIGURES }).len(), 2);
        assert_eq!(faults(None, HERE, FIGURES), ["it is not in the table, which --write rewrites"]);
    }

    #[test]
    fn every_compiler_has_to_keep_the_limits_but_where_the_table_does_not() {
        let more = Figures { registers: 129, spilled: 1, code: (32 << 10) + 4, ..FIGURES };
        for stored in [None, Some(FIGURES)] {
            assert_eq!(faults(stored, "navi21, Mesa 25.0", more).len(), 3);
            assert_eq!(faults(stored, "navi31, Mesa 25.0", more).len(), 2);
            assert!(faults(stored, "navi21, Mesa 25.0", Figures { registers: 128, ..FIGURES }).is_empty());
        }
        assert!(faults(Some(more), "navi21, Mesa 25.0", Figures { code: 40 << 10, ..more }).is_empty());
        assert!(faults(Some(more), HERE, more).is_empty());
        assert_eq!(faults(Some(more), HERE, Figures { spilled: 2, ..more }).len(), 1);
    }

    #[test]
    fn the_checked_in_table_is_read_and_written_alike() {
        let text = include_str!("../radv.txt");
        assert_eq!(Table::parse(text).unwrap().text(), text);
    }
}
