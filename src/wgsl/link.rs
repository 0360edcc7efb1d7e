//! Linking: from the part with the entry point to all parts that it requires, by the names in their headers.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::decide::{Expression, Value};
use super::parts::PARTS;
use crate::kernel::{Binding, INPUT_BINDINGS, Kernel, WORKGROUP};

/// The parts of a kernel by their numbers in [`PARTS`], and the storage bindings that they declare.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Linked {
    pub parts: Vec<usize>,
    pub bindings: Vec<Binding>,
    /// The invocations of a workgroup.
    pub workgroup: u32,
}

pub(super) const PROVIDES: &str = "// provides: ";
pub(super) const REQUIRES: &str = "// requires: ";

/// What the headers of all parts say. They are read once.
pub(super) struct Headers {
    /// When each part is meant; `None` for one that does not say it.
    when: Vec<Option<Expression<'static>>>,
    /// The names that each part requires, by their numbers.
    requires: Vec<Vec<usize>>,
    /// The parts that provide each name.
    providers: Vec<Vec<usize>>,
    bindings: Vec<Vec<Binding>>,
}

pub(super) static HEADERS: LazyLock<Headers> = LazyLock::new(|| {
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    let mut number = |name| {
        let next = numbers.len();
        *numbers.entry(name).or_insert(next)
    };
    let names = |field| PARTS.iter().map(move |part| part.names(field));
    let provides: Vec<Vec<usize>> = names(PROVIDES).map(|names| names.map(&mut number).collect()).collect();
    let requires = names(REQUIRES).map(|names| names.map(&mut number).collect()).collect();
    let mut providers = vec![Vec::new(); numbers.len()];
    for (part, name) in provides.iter().enumerate().flat_map(|(part, names)| names.iter().map(move |name| (part, name)))
    {
        providers[*name].push(part);
    }
    let when = PARTS.iter().map(|part| part.when().and_then(Expression::new)).collect();
    let bindings = PARTS.iter().map(|part| part.text.lines().filter_map(declaration).collect()).collect();
    Headers { when, requires, providers, bindings }
});

impl Headers {
    /// Whether a kernel's facts are those for which a part is meant; `None` for a part that does not say it.
    pub fn is_meant(&self, part: usize, kernel: &Kernel) -> Option<bool> {
        let of_name = |name: &str| kernel.fact(name).map(Value::Number);
        let when = self.when.get(part)?.as_ref()?;
        Some(when.value(&of_name).is_some_and(Value::is_true))
    }

    /// The part of a kernel that provides a name: the one that is meant; where none is, the one that does not say when
    /// it is. A constant of the kernel is in its prelude, and no part provides it. A test checks that there is one.
    fn provider(&self, name: usize, kernel: &Kernel) -> Option<usize> {
        let providers = self.providers.get(name)?;
        let meant = |wanted| providers.iter().copied().find(move |&part| self.is_meant(part, kernel) == wanted);
        meant(Some(true)).or_else(|| meant(None))
    }
}

/// The parts that a kernel requires.
pub(crate) fn link(kernel: &Kernel) -> Linked {
    let headers = &*HEADERS;
    let (mut linked, mut seen) = (vec![false; PARTS.len()], vec![false; headers.providers.len()]);
    let entry = PARTS.iter().position(|part| part.name.strip_prefix("kernel/") == Some(kernel.entry));
    let mut wanted: Vec<usize> = entry.into_iter().collect();
    while let Some(part) = wanted.pop() {
        if std::mem::replace(&mut linked[part], true) {
            continue;
        }
        for &name in &headers.requires[part] {
            if !std::mem::replace(&mut seen[name], true) {
                wanted.extend(headers.provider(name, kernel));
            }
        }
    }
    let parts: Vec<usize> = (0..linked.len()).filter(|&part| linked[part]).collect();
    let mut bindings: Vec<Binding> = parts.iter().flat_map(|&part| headers.bindings[part].iter().copied()).collect();
    bindings.sort_unstable_by_key(|binding| binding.number);
    if kernel.writable_inputs {
        for input in bindings.iter_mut().filter(|binding| INPUT_BINDINGS.contains(&binding.number)) {
            input.read_only = false;
        }
    }
    Linked { parts, bindings, workgroup: entry.map_or(WORKGROUP as u32, workgroup) }
}

/// The invocations of a workgroup, as the part with the entry point declares them: a number, or `WORKGROUP`.
fn workgroup(entry: usize) -> u32 {
    let size = PARTS[entry].text.split_once("@workgroup_size(").and_then(|(_, rest)| rest.split_once(')'));
    size.and_then(|(size, _)| size.parse().ok()).unwrap_or(WORKGROUP as u32)
}

/// The storage binding that a line declares.
fn declaration(line: &str) -> Option<Binding> {
    let (number, rest) = line.strip_prefix("@group(0) @binding(")?.split_once(") var<storage, ")?;
    Some(Binding { number: number.parse().ok()?, read_only: rest.starts_with("read>") })
}

/// A part in which the bindings of inputs are declared writable.
pub(super) fn with_writable_inputs(part: &str) -> String {
    let is_input = |line: &str| declaration(line).is_some_and(|binding| INPUT_BINDINGS.contains(&binding.number));
    let line = |line: &str| if is_input(line) { line.replacen("read>", "read_write>", 1) } else { line.to_owned() };
    part.lines().map(|text| line(text) + "\n").collect()
}
