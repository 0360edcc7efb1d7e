//! How often the loops of a text run, as far as the text says.
//!
//! The trips of a loop `for (var i = a; i < b; i += c)`, also with `i + d < b`, follow from the text if b, c and d are
//! constant: literals, sums and products of the prelude's constants, or calls of functions that only return such a
//! constant. If a is not constant but unsigned (the number of an invocation), it is taken as 0: the invocation with the
//! most trips decides, since a wave runs until its last invocation is done. Other loops have rules: the bound of a loop
//! over a window's taps stands in a uniform or a table, so it is taken from a constant of the prelude or from the case;
//! a thread tile has a trip for each line of outputs; a loop over digits has at most a trip for each axis of the
//! tensor; a loop over windows that begin with a NaN has none. All other loops are [`Count::Unknown`].

use naga::{
    BinaryOperator, Block, Expression, Function, Handle, Literal, LocalVariable, Module, ScalarKind, Statement,
    TypeInner,
};

use crate::marks::LoopName;

/// How often a loop's body runs each time that the loop is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Count {
    Known(u64),
    /// As often as the widest window has taps along this one of the kernel's three axes.
    Taps(usize),
    /// As often as a position has digits: at most one for each axis of the tensor.
    Digits,
    /// Once for each line of a thread tile; an invocation writes this many neighbouring outputs of a line.
    Lines(u64),
    /// A loop over windows that begin with a NaN: no trips, since speed is judged by data without NaN.
    OfNan,
    Unknown,
}

/// A loop of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceLoop {
    pub name: LoopName,
    /// How many loops of the same function are around it.
    pub depth: usize,
    /// The line of the text.
    pub line: u32,
    pub count: Count,
}

/// The loops over a window's taps, whose bound stands in a uniform or a table: the function, the loop's number in it,
/// and the axis. In a specialised text KIND_0 to KIND_2 say whether the windows of an axis come from a table; if not,
/// KERNEL_0 to KERNEL_2 are the largest bounds.
const TAPS: [(&str, usize, usize); 3] = [("scan", 0, 0), ("scan", 1, 1), ("scan", 2, 2)];

/// Where windows come from, as the shaders number it (window/windows.wgsl).
const FORMULA: i64 = 0;
const TABLE: i64 = 1;

/// Every loop of a module.
pub fn loops(module: &Module, text: &str) -> Vec<SourceLoop> {
    let functions = module.functions.iter().map(|(_, function)| (function, function.name.clone().unwrap_or_default()));
    let entries = module.entry_points.iter().map(|entry| (&entry.function, entry.name.clone()));
    let mut found = Vec::new();
    for (function, name) in functions.chain(entries) {
        let mut visitor = Visitor { module, text, function, name, found: &mut found, number: 0 };
        visitor.block(&function.body, 0, &[]);
    }
    found
}

struct Visitor<'a> {
    module: &'a Module,
    text: &'a str,
    function: &'a Function,
    name: String,
    found: &'a mut Vec<SourceLoop>,
    number: usize,
}

/// A store to a local variable: the variable and the value.
type Stored = (Handle<LocalVariable>, Handle<Expression>);

impl Visitor<'_> {
    fn block(&mut self, block: &Block, depth: usize, before: &[Stored]) {
        let mut stored = before.to_vec();
        for (statement, span) in block.span_iter() {
            match statement {
                Statement::Store { pointer, value } => {
                    if let Expression::LocalVariable(variable) = self.function.expressions[*pointer] {
                        stored.push((variable, *value));
                    }
                }
                Statement::Block(block) => self.block(block, depth, &stored),
                Statement::If { accept, reject, .. } => {
                    self.block(accept, depth, &stored);
                    self.block(reject, depth, &stored);
                }
                Statement::Switch { cases, .. } => {
                    cases.iter().for_each(|case| self.block(&case.body, depth, &stored));
                }
                Statement::Loop { body, continuing, break_if } => {
                    let name = LoopName { function: self.name.clone(), number: self.number };
                    self.number += 1;
                    let counted = if break_if.is_none() { self.count(body, continuing, &stored) } else { None };
                    let counted = counted.map(Count::Known).or_else(|| self.taps(&name)).or_else(|| self.digits(body));
                    let counted = counted.or_else(|| self.thread_tile(&name)).or_else(|| self.sliding(&name));
                    let count = counted.unwrap_or(Count::Unknown);
                    let first = body.span_iter().map(|(_, span)| *span).chain([*span]).find(|span| span.is_defined());
                    let line = first.map_or(0, |span| span.location(self.text).line_number);
                    self.found.push(SourceLoop { name, depth, line, count });
                    self.block(body, depth + 1, &stored);
                    self.block(continuing, depth + 1, &stored);
                }
                _ => {}
            }
        }
    }

    /// The trips of a loop over a variable with a constant bound and step.
    fn count(&self, body: &Block, continuing: &Block, before: &[Stored]) -> Option<u64> {
        let condition = body.iter().find_map(|statement| match statement {
            Statement::If { condition, accept, reject } if accept.is_empty() && breaks(reject) => Some(*condition),
            _ => None,
        })?;
        let leads = body.iter().find(|statement| !matches!(statement, Statement::Emit(_) | Statement::Call { .. }));
        if !matches!(leads, Some(Statement::If { .. })) {
            return None;
        }
        let Expression::Binary { op, left, right } = self.function.expressions[condition] else { return None };
        let (left, ahead) = match self.function.expressions[left] {
            Expression::Binary { op: BinaryOperator::Add, left, right } => (left, self.literal(right)?),
            _ => (left, 0),
        };
        let variable = self.loaded(left)?;
        let bound = self.literal(right)? - ahead;
        let mut steps = Vec::new();
        stores(continuing, self.function, variable, &mut steps);
        let [step] = steps[..] else { return None };
        let mut elsewhere = Vec::new();
        stores(body, self.function, variable, &mut elsewhere);
        if !elsewhere.is_empty() {
            return None;
        }
        let Expression::Binary { op: BinaryOperator::Add, left, right } = self.function.expressions[step] else {
            return None;
        };
        let step = match self.loaded(left) == Some(variable) {
            true => self.literal(right)?,
            false => return None,
        };
        let begin = self.begin(variable, before)?;
        let room = match op {
            BinaryOperator::Less => bound - begin,
            BinaryOperator::LessEqual => bound - begin + 1,
            _ => return None,
        };
        (step > 0).then(|| (room.max(0) as u64).div_ceil(step as u64))
    }

    /// The first value of a variable; 0 if the value is not constant but unsigned.
    fn begin(&self, variable: Handle<LocalVariable>, before: &[Stored]) -> Option<i64> {
        let last = before.iter().rev().find(|(stored, _)| *stored == variable).map(|(_, value)| *value);
        let value = last.or(self.function.local_variables[variable].init);
        let known = value.and_then(|value| self.literal(value));
        let ty = &self.module.types[self.function.local_variables[variable].ty].inner;
        let unsigned = matches!(ty, TypeInner::Scalar(scalar) if scalar.kind == ScalarKind::Uint);
        known.or(unsigned.then_some(0))
    }

    fn loaded(&self, expression: Handle<Expression>) -> Option<Handle<LocalVariable>> {
        let Expression::Load { pointer } = self.function.expressions[expression] else { return None };
        match self.function.expressions[pointer] {
            Expression::LocalVariable(variable) => Some(variable),
            _ => None,
        }
    }

    fn literal(&self, expression: Handle<Expression>) -> Option<i64> {
        match self.function.expressions[expression] {
            Expression::Literal(literal) => whole(literal),
            Expression::Constant(constant) => self.constant(constant),
            Expression::CallResult(function) => {
                let (function, value) = self.returned(function)?;
                match function.expressions[value] {
                    Expression::Literal(literal) => whole(literal),
                    Expression::Constant(constant) => self.constant(constant),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The value that a function returns, if the function does nothing else.
    fn returned(&self, function: Handle<Function>) -> Option<(&Function, Handle<Expression>)> {
        let function = &self.module.functions[function];
        let mut statements = function.body.iter().filter(|statement| !matches!(statement, Statement::Emit(_)));
        match (statements.next(), statements.next()) {
            (Some(Statement::Return { value: Some(value) }), None) => Some((function, *value)),
            _ => None,
        }
    }

    fn constant(&self, constant: Handle<naga::Constant>) -> Option<i64> {
        match self.module.global_expressions[self.module.constants[constant].init] {
            Expression::Literal(literal) => whole(literal),
            _ => None,
        }
    }

    /// A constant of the text by its name.
    fn named(&self, name: &str) -> Option<i64> {
        let (found, _) = self.module.constants.iter().find(|(_, it)| it.name.as_deref() == Some(name))?;
        self.constant(found)
    }

    fn taps(&self, name: &LoopName) -> Option<Count> {
        let taps = TAPS.iter().find(|(function, number, _)| name.function == *function && name.number == *number);
        let (_, _, axis) = *taps?;
        // If `accumulate_row` goes along the rows, `scan` has no loop over axis 2: its third loop replaces the second
        // one, for windows of one layer.
        let by_rows = self.module.functions.iter().any(|(_, it)| it.name.as_deref() == Some("accumulate_row"));
        let axis = if by_rows { axis.min(1) } else { axis };
        match self.named(&format!("KIND_{axis}"))? {
            FORMULA => Some(Count::Known(self.named(&format!("KERNEL_{axis}"))?.try_into().ok()?)),
            TABLE => Some(Count::Taps(axis)),
            _ => None,
        }
    }

    /// A loop over the digits of a position is bounded by a member of the uniform, which is known by its name.
    fn digits(&self, body: &Block) -> Option<Count> {
        let condition = body.iter().find_map(|statement| match statement {
            Statement::If { condition, accept, reject } if accept.is_empty() && breaks(reject) => Some(*condition),
            _ => None,
        })?;
        let Expression::Binary { op: BinaryOperator::Less, right, .. } = self.function.expressions[condition] else {
            return None;
        };
        let (function, right) = match self.function.expressions[right] {
            Expression::CallResult(function) => self.returned(function)?,
            _ => (self.function, right),
        };
        let Expression::Load { pointer } = function.expressions[right] else { return None };
        let Expression::AccessIndex { base, index } = function.expressions[pointer] else { return None };
        let Expression::GlobalVariable(global) = function.expressions[base] else { return None };
        let TypeInner::Struct { members, .. } = &self.module.types[self.module.global_variables[global].ty].inner
        else {
            return None;
        };
        let member = members.get(index as usize)?.name.as_deref()?;
        (member.ends_with("digits") || member == "spatial_axes").then_some(Count::Digits)
    }

    /// The loops of `conclude` in a sliding kernel, which the prelude does not bound: they run over windows that begin
    /// with a NaN.
    fn sliding(&self, name: &LoopName) -> Option<Count> {
        self.named("CHUNKS")?;
        (name.function == "conclude").then_some(Count::OfNan)
    }

    /// The loop over the lines of a thread tile. The prelude says how many neighbouring outputs of a line the tile has,
    /// and all other loops of such a kernel have constant bounds.
    fn thread_tile(&self, name: &LoopName) -> Option<Count> {
        let named = |name: &str| self.named(name).and_then(|value| u64::try_from(value).ok());
        let beside = named("OWNED").or_else(|| named("ACROSS").and(named("QUADS")).map(|quads| 4 * quads))?;
        (name.function == "main").then_some(Count::Lines(beside))
    }
}

fn whole(literal: Literal) -> Option<i64> {
    match literal {
        Literal::U32(value) => Some(value.into()),
        Literal::I32(value) => Some(value.into()),
        _ => None,
    }
}

fn breaks(block: &Block) -> bool {
    matches!(block.iter().next(), Some(Statement::Break))
}

/// The values that a block stores to a variable, at any depth. A call that gets a pointer to the variable could store
/// any value, and is listed as the pointer.
fn stores(block: &Block, function: &Function, variable: Handle<LocalVariable>, found: &mut Vec<Handle<Expression>>) {
    let is_it = |pointer: &Handle<Expression>| {
        let expression = &function.expressions[*pointer];
        matches!(expression, Expression::LocalVariable(it) if *it == variable)
    };
    for statement in block.iter() {
        match statement {
            Statement::Store { pointer, value } if is_it(pointer) => found.push(*value),
            Statement::Call { arguments, .. } => found.extend(arguments.iter().copied().filter(|it| is_it(it))),
            Statement::Block(block) => stores(block, function, variable, found),
            Statement::If { accept, reject, .. } => {
                stores(accept, function, variable, found);
                stores(reject, function, variable, found);
            }
            Statement::Switch { cases, .. } => {
                cases.iter().for_each(|case| stores(&case.body, function, variable, found));
            }
            Statement::Loop { body, continuing, .. } => {
                stores(body, function, variable, found);
                stores(continuing, function, variable, found);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(body: &str) -> Vec<(usize, Count)> {
        let text = format!(
            "const ROWS: u32 = 13u; const KERNEL_1: u32 = 5u; const KIND_1: u32 = 0u;
            @group(0) @binding(0) var<storage, read_write> y: array<u32>;
            fn scan(n: u32) {{ for (var i = 0u; i < n; i++) {{ for (var j = 0u; j < y[i]; j++) {{ y[j] = i; }} }} }}
            @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) local: u32) {{ {body} }}"
        );
        let module = naga::front::wgsl::parse_str(&text).unwrap();
        loops(&module, &text).into_iter().map(|it| (it.depth, it.count)).skip(2).collect()
    }

    #[test]
    fn loops_with_constant_bounds_count_themselves() {
        let known = |count| vec![(0, Count::Known(count))];
        assert_eq!(counts("for (var i = 0u; i < ROWS * 2u; i++) { y[i] = 0u; }"), known(26));
        assert_eq!(counts("for (var i = 1; i <= 9; i += 2) { y[i] = 0u; }"), known(5));
        assert_eq!(counts("for (var i = local; i < ROWS * 40u; i += 64u) { y[i] = 0u; }"), known(9));
        assert_eq!(counts("for (var i = 9u; i < 3u; i++) { y[i] = 0u; }"), known(0));
    }

    #[test]
    fn nested_loops_are_counted_each_for_itself() {
        let found = counts("for (var i = 0u; i < 3u; i++) { for (var j = 0u; j < 4u; j++) { y[i] = j; } }");
        assert_eq!(found, [(0, Count::Known(3)), (1, Count::Known(4))]);
    }

    #[test]
    fn what_the_text_does_not_say_is_unknown() {
        let unknown = vec![(0, Count::Unknown)];
        assert_eq!(counts("for (var i = 0u; i < y[0]; i++) { y[i] = 0u; }"), unknown);
        assert_eq!(counts("for (var i = 0u; i < 9u; i++) { i += y[i]; }"), unknown);
        assert_eq!(counts("for (var i = i32(y[0]); i < 9; i++) { y[i] = 0u; }"), unknown);
        assert_eq!(counts("var i = 0u; loop { i++; if (i > 9u) { break; } }"), unknown);
    }

    #[test]
    fn loops_over_digits_and_lines_are_told_by_the_uniform_and_the_prelude() {
        let text =
            "const ACROSS: u32 = 8u; const LINES_BETWEEN: u32 = 1u; const KERNEL_1: u32 = 3u; const QUADS: u32 = 2u;
            struct Pool { tile_lines: u32, index_digits: u32 }
            @group(0) @binding(1) var<uniform> pool: Pool;
            @group(0) @binding(0) var<storage, read_write> y: array<u32>;
            fn constant_digits() -> u32 { return KERNEL_1; }
            fn index_digits() -> u32 { return pool.index_digits; }
            @compute @workgroup_size(64) fn main() {
                for (var line = 0u; line + LINES_BETWEEN < KERNEL_1; line++) { y[line] = 0u; }
                for (var line = 0u; line < pool.tile_lines; line++) {
                    for (var i = 0u; i < index_digits(); i++) { y[i] = line; }
                    for (var i = 0u; i < constant_digits(); i++) { y[i] = line; }
                }
            }";
        let module = naga::front::wgsl::parse_str(text).unwrap();
        let found: Vec<_> = loops(&module, text).into_iter().map(|it| it.count).collect();
        assert_eq!(found, [Count::Known(2), Count::Lines(8), Count::Digits, Count::Known(3)]);
    }

    #[test]
    fn loops_of_a_sliding_maximum_are_over_its_core_and_in_the_end_over_nan() {
        let text = "const CHUNKS: u32 = 13u; const RUN: u32 = 8u;
            struct Pool { rows: u32 }
            @group(0) @binding(1) var<uniform> pool: Pool;
            @group(0) @binding(0) var<storage, read_write> y: array<u32>;
            fn conclude() { for (var row = 0u; row < pool.rows; row++) { y[row] = 0u; } }
            @compute @workgroup_size(64) fn main() {
                for (var i = RUN; i < CHUNKS; i++) { y[i] = i; }
                conclude();
            }";
        let module = naga::front::wgsl::parse_str(text).unwrap();
        let found: Vec<_> = loops(&module, text).into_iter().map(|it| it.count).collect();
        assert_eq!(found, [Count::OfNan, Count::Known(5)]);
    }

    #[test]
    fn a_loop_over_a_tables_taps_is_the_cases_business() {
        let text = "const KERNEL_0: u32 = 1u; const KIND_0: u32 = 1u;
            @group(0) @binding(0) var<storage, read_write> y: array<u32>;
            fn scan(n: u32) { for (var i = 0u; i < n; i++) { y[i] = i; } }
            @compute @workgroup_size(64) fn main() { scan(y[0]); }";
        let module = naga::front::wgsl::parse_str(text).unwrap();
        assert_eq!(loops(&module, text)[0].count, Count::Taps(0));
    }

    #[test]
    fn rows_that_a_part_of_its_own_goes_along_are_those_of_the_second_axis() {
        let text = "const KERNEL_0: u32 = 1u; const KIND_0: u32 = 0u; const KERNEL_1: u32 = 3u; const KIND_1: u32 = 0u;
            const KERNEL_2: u32 = 512u; const KIND_2: u32 = 0u;
            @group(0) @binding(0) var<storage, read_write> y: array<u32>;
            fn accumulate_row(n: u32) { for (var i = 0u; i < 64u; i++) { y[i] = n; } }
            fn scan(n: u32) {
                for (var i = 0u; i < n; i++) { for (var j = 0u; j < n; j++) { accumulate_row(j); } }
                for (var j = 0u; j < n; j++) { accumulate_row(j); }
            }
            @compute @workgroup_size(64) fn main() { scan(y[0]); }";
        let module = naga::front::wgsl::parse_str(text).unwrap();
        let found: Vec<_> = loops(&module, text).into_iter().map(|it| it.count).collect();
        assert_eq!(found, [64, 1, 3, 3].map(Count::Known));
    }

    #[test]
    fn a_loop_over_taps_ends_with_the_constant_of_the_prelude() {
        let text = "const KERNEL_1: u32 = 5u; const KIND_1: u32 = 0u;
            @group(0) @binding(0) var<storage, read_write> y: array<u32>;
            fn scan(n: u32) { for (var i = 0u; i < n; i++) { for (var j = 0u; j < y[i]; j++) { y[j] = i; } } }
            @compute @workgroup_size(64) fn main() { scan(y[0]); }";
        let module = naga::front::wgsl::parse_str(text).unwrap();
        let found: Vec<_> = loops(&module, text).into_iter().map(|it| (it.line, it.count)).collect();
        assert_eq!(found, [(3, Count::Unknown), (3, Count::Known(5))], "there is no KERNEL_0");
    }
}
