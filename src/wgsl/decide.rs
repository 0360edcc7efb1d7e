//! `if`s that a kernel's constants decide, and loops that are written out. A text is made without the blocks that are
//! never taken: drivers inline every function before they remove such blocks, so a call in one of them costs as much to
//! compile as one that is made. Loops between constant bounds that are marked as unrolled are written out, so that
//! elements of arrays have constant numbers and lie in registers.
//!
//! An `if` is plain WGSL and stays valid if it is left as it is. A loop that is written out may declare constants by
//! its variable, which WGSL allows only then.

use std::collections::HashMap;

/// A number, or a truth, that constants have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Value {
    Number(u32),
    Truth(bool),
}

impl Value {
    /// Whether it is true: in conditions of parts, which also have numbers that are 0 or 1, any other number is.
    pub fn is_true(self) -> bool {
        self != Value::Truth(false) && self != Value::Number(0)
    }
}

/// The value of a text that is an expression of constants.
fn value_of(text: &str, constants: &HashMap<&str, Value>) -> Option<Value> {
    Expression::new(text)?.value(&|name| constants.get(name).copied())
}

/// The text with every `if` resolved whose condition follows from the text's constants.
pub(super) fn decided(text: &str) -> String {
    let mut constants = HashMap::new();
    for line in text.lines() {
        if let Some((name, value)) = declaration(line)
            && let Some(value) = value_of(value, &constants)
        {
            constants.insert(name, value);
        }
    }
    let mut kept = String::with_capacity(text.len());
    Block { constants: &constants }.copy(text, &mut kept);
    kept
}

/// The name and the value of a constant of the module.
fn declaration(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.strip_prefix("const ")?.split_once(" = ")?;
    Some((name.split_once(": ")?.0, value.strip_suffix(';')?))
}

struct Block<'a> {
    constants: &'a HashMap<&'a str, Value>,
}

impl Block<'_> {
    /// Copies statements, and returns whether the last one ends the block, as `return` does.
    fn copy(&self, mut text: &str, kept: &mut String) -> bool {
        while let Some(at) = text.find(|c: char| c == '/' || c == '{' || is_of_a_name(c)) {
            let (before, rest) = text.split_at(at);
            kept.push_str(before);
            if rest.starts_with("//") {
                let (comment, rest) = split_after(rest, rest.find('\n'));
                kept.push_str(comment);
                text = rest;
            } else if let Some(rest) = rest.strip_prefix('/') {
                kept.push('/');
                text = rest;
            } else if rest.starts_with('{') {
                let (body, rest) = braces(rest);
                kept.push('{');
                self.copy(body, kept);
                kept.push('}');
                text = rest;
            } else {
                let (word, rest) = rest.split_at(rest.find(|c| !is_of_a_name(c)).unwrap_or(rest.len()));
                text = match word {
                    "if" => {
                        let before = kept.len();
                        let (rest, ends) = self.arms(rest, kept);
                        if ends {
                            kept.push_str(end_of(text));
                            return true;
                        }
                        // Nothing is left of the line either.
                        let line = kept.trim_end_matches(' ').len();
                        match rest.strip_prefix('\n') {
                            Some(next)
                                if kept.len() == before && kept.get(..line).is_some_and(|it| it.ends_with('\n')) =>
                            {
                                kept.truncate(line);
                                next
                            }
                            _ => rest,
                        }
                    }
                    "for" => self.unrolled(rest, kept).unwrap_or_else(|| {
                        kept.push_str(word);
                        rest
                    }),
                    "return" | "break" | "continue" => {
                        kept.push_str(word);
                        kept.push_str(split_after(rest, rest.find(';')).0);
                        kept.push_str(end_of(text));
                        return true;
                    }
                    _ => {
                        kept.push_str(word);
                        rest
                    }
                };
            }
        }
        kept.push_str(text);
        false
    }

    /// Copies the body of a loop that is marked as unrolled, once for each number of its variable, between constant
    /// bounds; `text` follows the word `for`. Returns the text behind the loop.
    fn unrolled<'t>(&self, text: &'t str, kept: &mut String) -> Option<&'t str> {
        let (head, rest) = text.split_at(text.find('{')?);
        let (body, behind) = braces(rest);
        let body = body.strip_prefix(UNROLLED)?;
        let (begin, rest) = head.trim_start().strip_prefix("(var ")?.split_once("; ")?;
        let (name, from) = begin.split_once(" = ")?;
        let end = rest.split_once("; ")?.0.strip_prefix(name)?.strip_prefix(" < ")?;
        let number = |text| match value_of(text, self.constants)? {
            Value::Number(number) => Some(number),
            Value::Truth(_) => None,
        };
        for value in number(from)?..number(end)? {
            kept.push('{');
            self.copy(&with_number(body, name, value), kept);
            kept.push('}');
        }
        Some(behind)
    }

    /// Copies what may be taken of the arms of an `if`; `text` follows that word. Returns the text behind them, and
    /// whether what is always taken ends the block around it.
    fn arms<'t>(&self, mut text: &'t str, kept: &mut String) -> (&'t str, bool) {
        let mut open = false;
        loop {
            let (condition, rest) = text.split_at(text.find('{').unwrap_or(text.len()));
            let (body, behind) = braces(rest);
            let value = value_of(condition, self.constants);
            let mut ends = false;
            if value != Some(Value::Truth(false)) {
                let mut own = String::new();
                ends = self.copy(body, &mut own);
                let always = value == Some(Value::Truth(true));
                kept.push_str(if open { " else " } else { "" });
                if !always {
                    kept.push_str("if");
                    kept.push_str(condition);
                }
                // Names that the block declares stay its own.
                let declares = ["let ", "var ", "const "].iter().any(|word| own.contains(word));
                if open || !always || declares {
                    kept.push('{');
                    kept.push_str(&own);
                    kept.push('}');
                } else {
                    kept.push_str(own.trim());
                }
                if always {
                    return (without_else(behind), ends && !open);
                }
                open = true;
            }
            let Some(otherwise) = behind.trim_start().strip_prefix("else") else {
                return (behind, false);
            };
            if let Some(next) = otherwise.trim_start().strip_prefix("if") {
                text = next;
                continue;
            }
            let (body, behind) = braces(otherwise.trim_start());
            if open {
                kept.push_str(" else {");
                self.copy(body, kept);
                kept.push('}');
            } else {
                kept.push('{');
                ends = self.copy(body, kept);
                kept.push('}');
            }
            return (behind, ends && !open);
        }
    }
}

/// What stands behind the brace of a loop that is unrolled.
const UNROLLED: &str = " // unrolled";

/// The text with a number in place of a name.
fn with_number(mut text: &str, name: &str, number: u32) -> String {
    let mut kept = String::with_capacity(text.len());
    while let Some(at) = text.find(is_of_a_name) {
        let (before, rest) = text.split_at(at);
        let (word, rest) = rest.split_at(rest.find(|c| !is_of_a_name(c)).unwrap_or(rest.len()));
        kept.push_str(before);
        if word == name && !before.ends_with('.') {
            kept.push_str(&format!("{number}u"));
        } else {
            kept.push_str(word);
        }
        text = rest;
    }
    kept.push_str(text);
    kept
}

/// The white space at the end of a block.
fn end_of(text: &str) -> &str {
    text.get(text.trim_end().len()..).unwrap_or("")
}

/// The text behind the arms that follow one that is always taken.
fn without_else(mut text: &str) -> &str {
    while let Some(otherwise) = text.trim_start().strip_prefix("else") {
        text = braces(otherwise.split_at(otherwise.find('{').unwrap_or(otherwise.len())).1).1;
    }
    text
}

/// What stands in braces, and what stands behind them. Braces in comments are text.
fn braces(text: &str) -> (&str, &str) {
    let (mut depth, mut comment) = (0usize, false);
    for (at, c) in text.char_indices() {
        comment = c != '\n' && (comment || text.get(at..).is_some_and(|rest| rest.starts_with("//")));
        if comment {
            continue;
        }
        depth = match c {
            '{' => depth.saturating_add(1),
            '}' => depth.saturating_sub(1),
            _ => depth,
        };
        if c == '}' && depth == 0 {
            let (inside, behind) = text.split_at(at);
            return (inside.get(1..).unwrap_or(""), behind.get(1..).unwrap_or(""));
        }
    }
    (text.get(1..).unwrap_or(""), "")
}

/// The text up to and with the character at a position, and the rest; all of it without one.
fn split_after(text: &str, at: Option<usize>) -> (&str, &str) {
    text.split_at(at.map_or(text.len(), |at| at.saturating_add(1)))
}

fn is_of_a_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// An expression of constants.
pub(super) enum Expression<'a> {
    Value(Value),
    Name(&'a str),
    /// An operator or a function, and its operands.
    Call(&'a str, Vec<Expression<'a>>),
}

/// The operators of two operands, those that bind the least first.
const OPERATORS: [&[&str]; 5] = [&["||"], &["&&"], &["==", "!=", "<=", ">=", "<", ">"], &["+", "-"], &["*", "/", "%"]];

impl<'a> Expression<'a> {
    /// The expression, if the text is nothing else.
    pub fn new(text: &'a str) -> Option<Expression<'a>> {
        let mut reader = Reader { text };
        let whole = reader.of_level(0)?;
        reader.text.trim().is_empty().then_some(whole)
    }

    /// The value, if it follows from that of names. Where one side of `&&` or `||` decides, the other need have none.
    pub fn value(&self, of_name: &impl Fn(&str) -> Option<Value>) -> Option<Value> {
        match self {
            Expression::Value(value) => Some(*value),
            Expression::Name(name) => of_name(name),
            Expression::Call(function, operands) => {
                let operand = |number: usize| operands.get(number).and_then(|operand| operand.value(of_name));
                apply(function, [operand(0), operand(1), operand(2)])
            }
        }
    }
}

/// What is left of the text of an expression, which is read from left to right.
struct Reader<'a> {
    text: &'a str,
}

impl<'a> Reader<'a> {
    fn take(&mut self, token: &str) -> bool {
        let rest = self.text.trim_start().strip_prefix(token);
        self.text = rest.unwrap_or(self.text);
        rest.is_some()
    }

    /// Operands of a level of operators and above.
    fn of_level(&mut self, level: usize) -> Option<Expression<'a>> {
        let Some(operators) = OPERATORS.get(level) else {
            return self.operand();
        };
        let mut left = self.of_level(level.saturating_add(1))?;
        while let Some(operator) = operators.iter().find(|operator| self.take(operator)) {
            left = Expression::Call(operator, vec![left, self.of_level(level.saturating_add(1))?]);
        }
        Some(left)
    }

    fn operand(&mut self) -> Option<Expression<'a>> {
        if self.take("!") {
            return Some(Expression::Call("!", vec![self.operand()?]));
        }
        if self.take("(") {
            let inside = self.of_level(0);
            return inside.filter(|_| self.take(")"));
        }
        let text = self.text.trim_start();
        let (word, rest) = text.split_at(text.find(|c| !is_of_a_name(c)).unwrap_or(text.len()));
        self.text = rest;
        if self.take("(") {
            let mut operands = Vec::new();
            while !self.take(")") {
                operands.push(self.of_level(0)?);
                if !self.take(",") && !self.text.trim_start().starts_with(')') {
                    return None;
                }
            }
            return Some(Expression::Call(word, operands));
        }
        Some(match word {
            "true" => Expression::Value(Value::Truth(true)),
            "false" => Expression::Value(Value::Truth(false)),
            _ => match word.strip_suffix('u').unwrap_or(word).parse() {
                Ok(number) => Expression::Value(Value::Number(number)),
                Err(_) => Expression::Name(word),
            },
        })
    }
}

/// The value of an operation.
fn apply(function: &str, operands: [Option<Value>; 3]) -> Option<Value> {
    use Value::{Number, Truth};
    let [left, right, third] = operands;
    let truths = operands.map(|operand| operand.map(Value::is_true));
    Some(match (function, left, right) {
        ("!", Some(_), None) => Truth(truths[0] == Some(false)),
        ("known", ..) => Truth(left.is_some()),
        ("&&", ..) if truths[..2].contains(&Some(false)) => Truth(false),
        ("||", ..) if truths[..2].contains(&Some(true)) => Truth(true),
        ("&&", Some(_), Some(_)) => Truth(true),
        ("||", Some(_), Some(_)) => Truth(false),
        ("==", Some(a), Some(b)) => Truth(a == b),
        ("!=", Some(a), Some(b)) => Truth(a != b),
        ("<", Some(Number(a)), Some(Number(b))) => Truth(a < b),
        (">", Some(Number(a)), Some(Number(b))) => Truth(a > b),
        ("<=", Some(Number(a)), Some(Number(b))) => Truth(a <= b),
        (">=", Some(Number(a)), Some(Number(b))) => Truth(a >= b),
        ("+", Some(Number(a)), Some(Number(b))) => Number(a.checked_add(b)?),
        ("-", Some(Number(a)), Some(Number(b))) => Number(a.checked_sub(b)?),
        ("*", Some(Number(a)), Some(Number(b))) => Number(a.checked_mul(b)?),
        ("/", Some(Number(a)), Some(Number(b))) => Number(a.checked_div(b)?),
        ("%", Some(Number(a)), Some(Number(b))) => Number(a.checked_rem(b)?),
        ("max", Some(Number(a)), Some(Number(b))) => Number(a.max(b)),
        ("min", Some(Number(a)), Some(Number(b))) => Number(a.min(b)),
        ("select", no, yes) => return if third?.is_true() { yes } else { no },
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::decided;

    /// A function with these statements, after the constants.
    fn with(statements: &str) -> String {
        let text =
            format!("const A: u32 = 2u;\nconst B: u32 = A * 3u;\nconst C: bool = B > A;\nfn f() {{\n{statements}}}\n");
        let kept = decided(&text);
        kept.split_once("fn f() {\n").unwrap().1.strip_suffix("}\n").unwrap().to_owned()
    }

    #[test]
    fn what_constants_rule_out_is_left_out() {
        for (statements, kept) in [
            ("  if (A == 3u) {\n    g();\n  }\n  h();\n", "  h();\n"),
            ("  if (A == 2u) {\n    g();\n  }\n  h();\n", "  g();\n  h();\n"),
            ("  if (C) { let a = 1u; g(a); } else { h(); }\n", "  { let a = 1u; g(a); }\n"),
            ("  if (!C) { g(); } else { h(); }\n", "  { h(); }\n"),
            ("  if (x) { g(); } else if (B > 6u) { h(); } else { i(); }\n", "  if (x) { g(); } else { i(); }\n"),
            ("  if (A > 2u) { g(); } else if (x) { h(); } else { i(); }\n", "  if (x) { h(); } else { i(); }\n"),
            ("  if (x) { g(); } else if (A < B) { h(); } else { i(); }\n", "  if (x) { g(); } else { h(); }\n"),
            ("  if (A < B) { g(); } else if (x) { h(); } else { i(); }\n", "  g();\n"),
            // What follows a return that is always reached is no statement any more.
            ("  if (A == 2u) {\n    return;\n  }\n  h();\n", "  return;\n"),
            ("  if (x) { if (A == 2u) { return; } g(); }\n  h();\n", "  if (x) { return; }\n  h();\n"),
            (
                "  if (x) { return; } else if (C) { return; }\n  h();\n",
                "  if (x) { return; } else { return; }\n  h();\n",
            ),
            // One side of && and || may be unknown.
            ("  if (x && A == 3u) { g(); }\n  h();\n", "  h();\n"),
            ("  if (g(x, A) == 3u || C) { g(); }\n", "  g();\n"),
            ("  if (max(A, 5u) - 1u == 4u && B % 4u == 2u) { g(); }\n", "  g();\n"),
            ("  if (select(1u, 7u, C) == 7u) { g(); }\n", "  g();\n"),
            ("  if (A == 3u) { // } is text\n    g();\n  }\n  h();\n", "  h();\n"),
        ] {
            assert_eq!(with(statements), kept, "{statements}");
        }
    }

    #[test]
    fn marked_loops_are_unrolled() {
        for (statements, kept) in [
            (
                "  for (var i = 0u; i < A; i++) { // unrolled\n    g(i, x.i, ii);\n  }\n",
                "  {\n    g(0u, x.i, ii);\n  }{\n    g(1u, x.i, ii);\n  }\n",
            ),
            (
                "  for (var i = A; i < B - 3u; i++) { // unrolled\n if (i == A) { g(); } h(i); }\n",
                "  {\n g(); h(2u); }\n",
            ),
            ("  for (var i = 2u; i < A; i++) { // unrolled\n g(i); }\n", "  \n"),
        ] {
            assert_eq!(with(statements), kept, "{statements}");
        }
    }

    #[test]
    fn what_constants_leave_open_stays() {
        for statements in [
            "  if (x) { g(); }\n",
            "  if (x && A == 2u) { g(); }\n",
            "  if (A - 3u == 0u) { g(); }\n",
            "  if (A / 0u == 0u) { g(); }\n",
            "  if (B & 1u) == 0u { g(); }\n",
            "  for (var a = 0u; a < A; a++) { g(); }\n",
            "  // if (A == 3u) is no statement here\n  h(a / A);\n",
        ] {
            assert_eq!(with(statements), statements);
        }
    }
}
