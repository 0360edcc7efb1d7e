//! A module without what it rarely does: the sides of branches that no invocation took, and what follows a side that
//! leaves and that all took, where they have loops, calls or stores. Each leaves a store of a number to a buffer of its
//! own, so that its condition is still computed.

use naga::compact::{KeepUnused, compact};
use naga::{
    AddressSpace, ArraySize, Block, Expression, Function, GlobalVariable, Handle, Literal, Module, ResourceBinding,
    Scalar, Span, Statement, StorageAccess, SwitchCase, Type, TypeInner,
};

use super::numbers::blocks;
use super::seen::Seen;
use crate::marks::LoopName;

/// The binding of the buffer, which no kernel uses.
const BINDING: u32 = 31;

/// The module, and for each of its loops the name that it had before.
pub fn usual(module: &Module, seen: &Seen) -> (Module, Vec<(LoopName, LoopName)>) {
    let mut usual = module.clone();
    let word = usual.types.insert(Type { name: None, inner: TypeInner::Scalar(Scalar::U32) }, Span::UNDEFINED);
    let inner = TypeInner::Array { base: word, size: ArraySize::Dynamic, stride: 4 };
    let ty = usual.types.insert(Type { name: None, inner }, Span::UNDEFINED);
    let buffer = usual.global_variables.append(
        GlobalVariable {
            name: Some("rare".to_owned()),
            space: AddressSpace::Storage { access: StorageAccess::LOAD | StorageAccess::STORE },
            binding: Some(ResourceBinding { group: 0, binding: BINDING }),
            ty,
            init: None,
            memory_decorations: naga::MemoryDecorations::empty(),
        },
        Span::UNDEFINED,
    );
    let mut cut = Cut { seen, buffer, function: String::new(), loops: 0, branches: 0, sides: 0, kept: Vec::new() };
    let handles: Vec<_> = usual.functions.iter().map(|(handle, _)| handle).collect();
    for handle in handles {
        let name = usual.functions[handle].name.clone().unwrap_or_default();
        cut.function(&mut usual.functions[handle], name);
    }
    for entry in &mut usual.entry_points {
        cut.function(&mut entry.function, entry.name.clone());
    }
    if cut.sides == 0 {
        return (module.clone(), cut.kept);
    }
    // What only the sides needed is removed too, since a valid module has no results of calls that are not made.
    compact(&mut usual, KeepUnused::No);
    (usual, cut.kept)
}

struct Cut<'a> {
    seen: &'a Seen,
    buffer: Handle<GlobalVariable>,
    function: String,
    /// The loops and branches of the function so far, and all sides that were cut.
    loops: usize,
    branches: usize,
    sides: u32,
    kept: Vec<(LoopName, LoopName)>,
}

impl Cut<'_> {
    fn function(&mut self, function: &mut Function, name: String) {
        (self.function, self.loops, self.branches) = (name, 0, 0);
        function.named_expressions.clear();
        let body = std::mem::take(&mut function.body);
        function.body = self.block(function, &body);
    }

    fn block(&mut self, function: &mut Function, block: &Block) -> Block {
        let mut kept = Block::with_capacity(block.len());
        let mut statements = block.span_iter();
        while let Some((statement, span)) = statements.next() {
            let mut only_accepted = false;
            let statement = match statement {
                Statement::Block(block) => Statement::Block(self.block(function, block)),
                Statement::If { condition, accept, reject } => {
                    let taken =
                        self.seen.sides.get(&(self.function.clone(), self.branches)).copied().unwrap_or_default();
                    self.branches += 1;
                    only_accepted = taken == [true, false] && leaves(accept);
                    let accept = self.side(function, accept, taken[0]);
                    let reject = self.side(function, reject, taken[1]);
                    Statement::If { condition: *condition, accept, reject }
                }
                Statement::Switch { selector, cases } => {
                    let cases =
                        cases.iter().map(|case| SwitchCase { body: self.block(function, &case.body), ..case.clone() });
                    Statement::Switch { selector: *selector, cases: cases.collect() }
                }
                Statement::Loop { body, continuing, break_if } => {
                    let before = LoopName { function: self.function.clone(), number: self.loops };
                    let number = self.kept.iter().filter(|(now, _)| now.function == self.function).count();
                    self.kept.push((LoopName { number, ..before.clone() }, before));
                    self.loops += 1;
                    let body = self.block(function, body);
                    let continuing = self.block(function, continuing);
                    Statement::Loop { body, continuing, break_if: *break_if }
                }
                other => other.clone(),
            };
            kept.push(statement, *span);
            if only_accepted {
                let rest: Vec<Statement> = statements.map(|(statement, _)| statement.clone()).collect();
                let rest = self.side(function, &Block::from_vec(rest), false);
                rest.span_iter().for_each(|(statement, span)| kept.push(statement.clone(), *span));
                break;
            }
        }
        kept
    }

    fn side(&mut self, function: &mut Function, side: &Block, taken: bool) -> Block {
        if taken || !has_work(side) {
            return self.block(function, side);
        }
        let [loops, branches] = counts(side);
        self.loops += loops;
        self.branches += branches;
        let expressions = &mut function.expressions;
        let base = expressions.append(Expression::GlobalVariable(self.buffer), Span::UNDEFINED);
        let value = expressions.append(Expression::Literal(Literal::U32(self.sides)), Span::UNDEFINED);
        let before = expressions.len();
        let pointer = expressions.append(Expression::AccessIndex { base, index: self.sides }, Span::UNDEFINED);
        let emitted = expressions.range_from(before);
        self.sides += 1;
        Block::from_vec(vec![Statement::Emit(emitted), Statement::Store { pointer, value }])
    }
}

/// Whether what follows the block is not reached from it.
fn leaves(block: &Block) -> bool {
    matches!(block.last(), Some(Statement::Return { .. } | Statement::Break | Statement::Continue))
}

fn has_work(block: &Block) -> bool {
    block.iter().any(|statement| {
        matches!(
            statement,
            Statement::Call { .. } | Statement::Loop { .. } | Statement::Store { .. } | Statement::Atomic { .. }
        ) || blocks(statement).into_iter().any(has_work)
    })
}

/// The loops and branches in a block.
fn counts(block: &Block) -> [usize; 2] {
    block.iter().fold([0; 2], |[loops, branches], statement| {
        let inner = blocks(statement).into_iter().map(counts).fold([0; 2], |[a, b], [c, d]| [a + c, b + d]);
        let own = [matches!(statement, Statement::Loop { .. }), matches!(statement, Statement::If { .. })];
        [loops + inner[0] + usize::from(own[0]), branches + inner[1] + usize::from(own[1])]
    })
}
