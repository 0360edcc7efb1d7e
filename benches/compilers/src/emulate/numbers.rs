//! The loops and branches of a module, each with a number in its function, in the order of the text.

use std::collections::HashMap;

use naga::{Block, Statement};

use crate::marks::LoopName;
use crate::spirv::Source;

/// A statement of a module by its address, which stays the same as long as the module is borrowed.
pub type Place = *const Statement;

/// A loop of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceLoop {
    pub name: LoopName,
    /// How many loops of the same function are around it.
    pub depth: usize,
    /// The line of the text.
    pub line: u32,
}

/// What is numbered.
#[derive(Debug, Default)]
pub struct Numbers {
    pub loops: HashMap<Place, LoopName>,
    /// Branches, by function and number.
    pub branches: HashMap<Place, (String, usize)>,
    /// The loops in their order.
    pub list: Vec<SourceLoop>,
}

impl Numbers {
    pub fn of(source: &Source) -> Numbers {
        let mut numbers = Numbers::default();
        let named = source.module.functions.iter();
        let named = named.map(|(_, function)| (function.name.clone().unwrap_or_default(), function));
        let entries = source.module.entry_points.iter().map(|entry| (entry.name.clone(), &entry.function));
        for (name, function) in named.chain(entries) {
            let mut inside = Inside { function: name, text: &source.text, loops: 0, branches: 0 };
            numbers.block(&function.body, 0, &mut inside);
        }
        numbers
    }

    fn block(&mut self, block: &Block, depth: usize, inside: &mut Inside<'_>) {
        for (statement, span) in block.span_iter() {
            let function = inside.function.clone();
            let mut deeper = depth;
            match statement {
                Statement::If { .. } => {
                    self.branches.insert(statement, (function, inside.branches));
                    inside.branches += 1;
                }
                Statement::Loop { body, .. } => {
                    let name = LoopName { function, number: inside.loops };
                    let spans = body.span_iter().map(|(_, span)| *span).chain([*span]);
                    let first = spans.into_iter().find(|span| span.is_defined());
                    let line = first.map_or(0, |span| span.location(inside.text).line_number);
                    self.list.push(SourceLoop { name: name.clone(), depth, line });
                    self.loops.insert(statement, name);
                    inside.loops += 1;
                    deeper += 1;
                }
                _ => {}
            }
            for inner in blocks(statement) {
                self.block(inner, deeper, inside);
            }
        }
    }
}

/// The function that is gone through, and what was found in it so far.
struct Inside<'a> {
    function: String,
    text: &'a str,
    loops: usize,
    branches: usize,
}

/// The blocks of a statement, in the order of the text.
pub fn blocks(statement: &Statement) -> Vec<&Block> {
    match statement {
        Statement::Block(block) => vec![block],
        Statement::If { accept, reject, .. } => vec![accept, reject],
        Statement::Switch { cases, .. } => cases.iter().map(|case| &case.body).collect(),
        Statement::Loop { body, continuing, .. } => vec![body, continuing],
        _ => Vec::new(),
    }
}
