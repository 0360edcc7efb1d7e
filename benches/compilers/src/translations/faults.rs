//! What can be seen to be wrong in a text that naga has written, without the compiler that reads it.

use std::collections::HashSet;

use crate::language::Language;

/// The names that a text defines at its outermost level; functions with their parameters' types, since they may be
/// overloaded.
fn definitions(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let (mut depth, mut parameters) = (0usize, 0usize);
    for line in text.lines() {
        let head = line.trim();
        let outermost = depth == 0 && parameters == 0;
        if outermost && !head.is_empty() && !head.starts_with(['#', '/', '}', '[']) && !head.starts_with("using ") {
            found.extend(definition(head));
        }
        depth += head.matches('{').count();
        depth = depth.saturating_sub(head.matches('}').count());
        parameters += head.matches('(').count();
        parameters = parameters.saturating_sub(head.matches(')').count());
    }
    found
}

/// The name that a line defines, and its parameters' types if it is a function.
fn definition(head: &str) -> Option<String> {
    // In GLSL a block begins with its `layout(..)`.
    let head = if head.starts_with("layout(") { head.split_once(')')?.1 } else { head };
    let head = head.split(['{', '=']).next()?.trim().trim_end_matches(';');
    let (before, parameters) = match head.split_once('(') {
        Some((before, rest)) => (before, Some(rest.rsplit_once(')')?.0)),
        _ => (head, None),
    };
    let name = before.split(" : ").next()?.split_whitespace().last()?.split('[').next()?;
    let types = parameters.map(|list| {
        let parameter = |parameter: &str| {
            let words: Vec<&str> = parameter.split_whitespace().collect();
            words[..words.len().saturating_sub(1)].join(" ")
        };
        list.split(',').map(parameter).collect::<Vec<_>>().join(", ")
    });
    Some(types.map_or(name.to_owned(), |types| format!("{name}({types})")))
}

/// The names that a text defines more than once.
pub fn duplicates(text: &str) -> Vec<String> {
    let mut seen = HashSet::new();
    definitions(text).into_iter().filter(|name| !seen.insert(name.clone())).collect()
}

/// The words of a text that name 64-bit types in one of the languages.
pub fn wide_types(text: &str) -> Vec<&str> {
    const WIDE: [&str; 11] =
        ["double", "dvec2", "dvec3", "dvec4", "int64_t", "uint64_t", "i64vec2", "u64vec2", "long", "ulong", "double2"];
    let words = text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    words.filter(|word| WIDE.contains(word)).collect()
}

/// What is wrong with one written text.
pub fn text_faults(language: Language, text: &str) -> Vec<String> {
    let name = language.name();
    let twice = duplicates(text).into_iter().map(|defined| format!("{name} defines {defined} twice"));
    let wide = wide_types(text).into_iter().map(|word| format!("{name} has the type {word}"));
    let mut faults: Vec<String> = twice.chain(wide).collect();
    // Below 4.50 GLSL's `mix` takes only floats, and naga writes an integer `select` by a vector as a `mix`.
    if matches!(language, Language::Glsl(..450)) && text.contains("mix(") {
        faults.push(format!("{name} mixes integers"));
    }
    faults
}
