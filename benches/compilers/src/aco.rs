//! The compiled kernel, block by block: the control flow comes from the compiler's intermediate representation, the
//! instructions from the assembly. Both number the blocks in the same way.

use std::collections::{HashMap, HashSet};

use crate::cost::{Cost, cost};
use crate::marks;

/// A stretch of instructions that run one after the other.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Block {
    /// The blocks that the wave comes from. At a divergent branch the wave goes through one side and then through the
    /// other.
    pub before: Vec<usize>,
    pub loop_header: bool,
    /// In a loop's header: the marks that the variables of its phis begin with.
    pub marks: Vec<usize>,
    pub cost: Cost,
}

/// Whether any loop is left.
pub fn has_loops(ir: &str) -> bool {
    ir.contains("loop-header")
}

/// The blocks in their order, the first being where the kernel begins.
pub fn parse(ir: &str, assembly: &str, loops: usize) -> Result<Vec<Block>, String> {
    let mut blocks = control_flow(ir, loops)?;
    let mut at = 0;
    let mut last = Cost::default();
    for line in assembly.lines() {
        let code = line.split(';').next().unwrap_or_default().trim();
        if let Some(number) = code.strip_prefix("BB").and_then(|rest| rest.strip_suffix(':')) {
            at = number.parse().map_err(|_| format!("a label {code:?}"))?;
            continue;
        }
        let block =
            blocks.get_mut(at).ok_or_else(|| format!("the assembly has a block {at}, the representation has not"))?;
        if let Some(times) = line.trim().strip_prefix("(then repeated ").and_then(|rest| rest.split(' ').next()) {
            block.cost += last * times.parse().map_err(|_| format!("a repetition {line:?}"))?;
            continue;
        }
        let Some(name) = code.split_whitespace().next() else { continue };
        if name.contains('_') {
            last = cost(name);
            block.cost += last;
        }
    }
    Ok(blocks)
}

fn control_flow(ir: &str, loops: usize) -> Result<Vec<Block>, String> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut values = Values { loops, known: HashMap::new() };
    let mut headers: Vec<(usize, Vec<Operand>)> = Vec::new();
    for line in ir.lines() {
        if let Some(number) = line.strip_prefix("BB").and_then(|rest| rest.trim().parse::<usize>().ok()) {
            if number != blocks.len() {
                return Err(format!("block {number} follows {} blocks", blocks.len()));
            }
            blocks.push(Block::default());
            continue;
        }
        let number = blocks.len().wrapping_sub(1);
        let Some(block) = blocks.last_mut() else { continue };
        if let Some((_, rest)) = line.split_once("linear preds:") {
            let (before, kind) = rest.split_once("kind:").ok_or_else(|| format!("block {number} without a kind"))?;
            let numbers = before.split([',', '/', ' ']).filter_map(|word| word.strip_prefix("BB"));
            block.before = numbers.filter_map(|number| number.parse().ok()).collect();
            block.loop_header = kind.contains("loop-header");
            continue;
        }
        let Some((results, operation)) = line.split_once(" = ") else { continue };
        let (name, operands) = operation.trim().split_once(' ').unwrap_or((operation.trim(), ""));
        let phi = matches!(name, "p_phi" | "p_linear_phi");
        if !phi && !["p_parallelcopy", "s_mov_b32", "v_mov_b32"].contains(&name) {
            continue;
        }
        let operands: Vec<Operand> = operands.split(',').filter_map(Operand::parse).collect();
        if let Some(result) = results.split_once('%').and_then(|(_, rest)| leading_number(rest)) {
            values.known.insert(result, operands.clone());
        }
        if phi && block.loop_header {
            match headers.last_mut() {
                Some((header, all)) if *header == number => all.extend(operands),
                _ => headers.push((number, operands)),
            }
        }
    }
    for (header, operands) in headers {
        let mut found: Vec<usize> = operands.iter().flat_map(|operand| values.marks(*operand)).collect();
        found.sort_unstable();
        found.dedup();
        blocks[header].marks = found;
    }
    if blocks.is_empty() { Err("the driver gave no representation in blocks".to_owned()) } else { Ok(blocks) }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operand {
    Value(usize),
    Constant(u32),
}

impl Operand {
    fn parse(text: &str) -> Option<Operand> {
        let text = text.trim().rsplit(')').next().unwrap_or_default();
        match text.strip_prefix('%') {
            Some(number) => leading_number(number).map(Operand::Value),
            None => u32::from_str_radix(text.strip_prefix("0x")?, 16).ok().map(Operand::Constant),
        }
    }
}

fn leading_number(text: &str) -> Option<usize> {
    let end = text.find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().ok()
}

/// The operands of phis and copies.
struct Values {
    loops: usize,
    known: HashMap<usize, Vec<Operand>>,
}

impl Values {
    /// The marks that a value can have, followed through phis and copies.
    fn marks(&self, operand: Operand) -> Vec<usize> {
        let (mut found, mut seen, mut open) = (Vec::new(), HashSet::new(), vec![operand]);
        while let Some(operand) = open.pop() {
            match operand {
                Operand::Constant(word) => found.extend(marks::marked(word, self.loops)),
                Operand::Value(number) if seen.insert(number) => {
                    open.extend(self.known.get(&number).into_iter().flatten().copied());
                }
                Operand::Value(_) => {}
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IR: &str = "After Spilling:
ACO shader stage: compute_cs
BB0
/* logical preds: / linear preds: / kind: uniform, top-level, */
\t s1: %9 = p_parallelcopy 0x5ab10001
BB1
/* logical preds: BB0, BB3, / linear preds: BB0, BB3, / kind: uniform, loop-header, */
\t s1: %12 = p_linear_phi 0x5ab10000, (kill)%20
\t v1: %13 = p_phi %9, (kill)%21
\t s1: %14 = p_linear_phi -1, (kill)%22
BB2
/* logical preds: BB1, BB2, / linear preds: BB1, BB2, / kind: loop-header, branch, */
\t v1: %30 = p_phi (kill)%13, (kill)%31
BB3
/* logical preds: BB2, / linear preds: BB2, / kind: uniform, continue, */
BB4
/* logical preds: BB1, / linear preds: BB1, / kind: uniform, top-level, loop-exit, */
";

    #[test]
    fn control_flow_and_marks_are_read() {
        let blocks = parse(IR, "", 2).unwrap();
        let before: Vec<_> = blocks.iter().map(|block| block.before.clone()).collect();
        assert_eq!(before, [vec![], vec![0, 3], vec![1, 2], vec![2], vec![1]]);
        let marks: Vec<_> = blocks.iter().map(|block| (block.loop_header, block.marks.clone())).collect();
        assert_eq!(marks[1..3], [(true, vec![0, 1]), (true, vec![1])]);
        assert!(marks.iter().filter(|(header, _)| !header).all(|(_, marks)| marks.is_empty()));
    }

    #[test]
    fn instructions_are_counted_in_their_blocks() {
        let assembly = "BB0:
\tv_mov_b32_e32 v1, 0 ; 7e020280
\tv_nop ; 7e000000
\t(then repeated 2 times)
BB2:
\ts_add_u32 s0, s1, 1 ; 80008101
";
        let blocks = parse(IR, assembly, 0).unwrap();
        let counts: Vec<_> = blocks.iter().map(|block| block.cost.instructions).collect();
        assert_eq!(counts, [4.0, 0.0, 1.0, 0.0, 0.0]);
        assert_eq!((blocks[0].cost.operations, blocks[2].cost.operations), (4.0, 0.0));
    }

    #[test]
    fn what_does_not_fit_together_is_an_error() {
        assert!(parse("", "", 0).unwrap_err().contains("no representation"));
        assert!(parse(IR, "BB7:\n\ts_nop 0\n", 0).unwrap_err().contains("block 7"));
    }
}
