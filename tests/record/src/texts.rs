//! Kernels' texts as what naga makes of them, each compiled once.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use naga::ShaderStage;
use naga::back::spv;
use naga::valid::{Capabilities, ValidationFlags, Validator};
use serde_json::{Value, json};

use crate::values::{hash, is_of_word};

/// What is known of kernels by their keys, each of which has one text: its constants, and what naga makes of it.
pub struct Texts<K> {
    known: HashMap<K, [Value; 2]>,
}

impl<K> Default for Texts<K> {
    fn default() -> Self {
        Texts { known: HashMap::new() }
    }
}

impl<K: Clone + Eq + Hash> Texts<K> {
    /// The values of a kernel's constants, and the length in words and the hash of its SPIR-V.
    pub fn kernel(&mut self, key: &K, wgsl: impl FnOnce() -> String) -> Result<[Value; 2], String> {
        if let Some(known) = self.known.get(key) {
            return Ok(known.clone());
        }
        let wgsl = wgsl();
        let words = spirv(&in_order_of_use(&wgsl)?)?;
        let compiled = json!([words.len(), hash(words.iter().flat_map(|word| word.to_le_bytes()))]);
        let known = [json!(constants(&wgsl)), compiled];
        self.known.insert(key.clone(), known.clone());
        Ok(known)
    }

    /// The number of kernels, and of those that naga tells apart.
    pub fn counts(&self) -> [usize; 2] {
        let modules: HashSet<String> = self.known.values().map(|[_, compiled]| compiled.to_string()).collect();
        [self.known.len(), modules.len()]
    }
}

/// The values of the constants with which a kernel's text begins, a line each.
fn constants(wgsl: &str) -> Vec<u64> {
    let lines = wgsl.lines().map_while(|line| line.strip_prefix("const ")?.strip_suffix("u;")?.split_once(" = "));
    lines.filter_map(|(_, value)| value.parse().ok()).collect()
}

/// SPIR-V as naga writes it without the names of functions, types and variables.
fn spirv(wgsl: &str) -> Result<Vec<u32>, String> {
    let module = naga::front::wgsl::parse_str(wgsl).map_err(|error| error.emit_to_string(wgsl))?;
    let info = Validator::new(ValidationFlags::empty(), Capabilities::empty())
        .validate(&module)
        .map_err(|error| error.emit_to_string(wgsl))?;
    let pipeline = spv::PipelineOptions { shader_stage: ShaderStage::Compute, entry_point: "main".to_owned() };
    let options = spv::Options { lang_version: (1, 3), flags: spv::WriterFlags::empty(), ..spv::Options::default() };
    spv::write_vec(&module, &info, &options, Some(&pipeline)).map_err(|error| format!("SPIR-V: {error}"))
}

/// The declarations that `main` needs, in the order in which they are first named, `main` first. Where a declaration
/// stands in the text, and in which file, then makes no difference.
fn in_order_of_use(wgsl: &str) -> Result<String, String> {
    let text: String =
        wgsl.lines().map(|line| line.split("//").next().unwrap_or_default()).flat_map(|line| [line, "\n"]).collect();
    let mut declared: HashMap<&str, &str> =
        declarations(&text).into_iter().filter_map(|declaration| Some((name(declaration)?, declaration))).collect();
    let mut ordered = vec![declared.remove("main").ok_or("a text has no entry point named main")?];
    let mut next = 0;
    while let Some(&declaration) = ordered.get(next) {
        next += 1;
        ordered.extend(words(declaration).filter_map(|word| declared.remove(word)));
    }
    Ok(ordered.join("\n"))
}

/// The declarations of module scope. Each ends with a semicolon or a closing brace outside all braces.
fn declarations(text: &str) -> Vec<&str> {
    let (mut declarations, mut depth, mut begin) = (Vec::new(), 0, 0);
    for (at, letter) in text.bytes().enumerate() {
        match letter {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 && (letter == b';' || letter == b'}') {
            declarations.push(&text[begin..=at]);
            begin = at + 1;
        }
    }
    declarations
}

/// The name that a declaration gives: the word after `fn`, `struct`, `const`, `alias`, or after the access of a `var`.
fn name(declaration: &str) -> Option<&str> {
    let kinds = ["fn", "struct", "const", "alias", "var"];
    let mut words = words(declaration).skip_while(|word| !kinds.contains(word));
    let accesses = ["storage", "uniform", "workgroup", "private", "read", "read_write"];
    words.next().and_then(|_| words.find(|word| !accesses.contains(word)))
}

/// The words of a text, without those that follow a point: members.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut before = "";
    text.split_inclusive(|letter| !is_of_word(letter)).filter_map(move |piece| {
        let member = before.ends_with('.');
        before = piece;
        let word = piece.trim_end_matches(|letter| !is_of_word(letter));
        (!member && !word.is_empty()).then_some(word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "const COUNT: u32 = 3u;
// Twice. fn main
fn twice(x: u32) -> u32 { return 2u * x; }
fn once(x: u32) -> u32 { return x; }
struct Pair { twice: u32, other: u32 }
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  var pair = Pair(twice(COUNT), once(2u));
  out[id.x] = pair.twice + pair.other;
}
fn unused() {}
";

    fn compiled(text: &str) -> Value {
        let [_, compiled] = Texts::default().kernel(&text, || text.to_owned()).unwrap();
        compiled
    }

    #[test]
    fn names_places_and_comments_make_no_difference() {
        let renamed = TEXT.replace("twice", "doubled").replace("Pair", "Two").replace("COUNT", "TAPS");
        assert_eq!(compiled(&renamed), compiled(TEXT));
        let (first, rest) = TEXT.split_once('\n').unwrap();
        let once = "fn once(x: u32) -> u32 { return x; }\n";
        assert_eq!(compiled(&format!("{once}{}{first}\n", rest.replace(once, ""))), compiled(TEXT));
    }

    #[test]
    fn what_a_kernel_computes_makes_a_difference() {
        for (from, to) in [("3u", "4u"), ("2u * x", "x * 2u"), ("binding(1)", "binding(2)"), ("size(64)", "size(32)")] {
            assert_ne!(compiled(&TEXT.replace(from, to)), compiled(TEXT), "{from}");
        }
    }

    #[test]
    fn a_kernel_is_compiled_once() {
        let mut texts = Texts::default();
        let first = texts.kernel(&1, || TEXT.to_owned()).unwrap();
        assert_eq!(first[0], json!([3]));
        assert_eq!(texts.kernel(&1, || panic!("it is known")).as_ref(), Ok(&first));
        assert_eq!(texts.kernel(&2, || TEXT.replace("once", "same")), Ok(first));
        assert_eq!(texts.counts(), [2, 1]);
    }
}
