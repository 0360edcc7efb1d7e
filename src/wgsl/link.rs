//! Linking: from the part with the entry point to all parts that it requires, by the names in their headers.

use std::collections::{BTreeSet, HashMap};

use wgpu_pooling_plan::internal::Reduction;
use wgpu_pooling_plan::{DType, IndexType};

use super::parts::PARTS;
use crate::kernel::{ActivationKind, Binding, INPUT_BINDINGS, Kernel, WORKGROUP};

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

/// The parts that a kernel requires. A name that several parts provide is taken from the first among the kernel's
/// variants that provides it; a name that is a constant of the kernel is in its prelude. A test checks that every name
/// has a provider.
pub(crate) fn link(kernel: &Kernel) -> Linked {
    let mut providers: HashMap<&str, Vec<usize>> = HashMap::new();
    for (number, part) in PARTS.iter().enumerate() {
        for name in part.names(PROVIDES) {
            providers.entry(name).or_default().push(number);
        }
    }
    let variants = variants(kernel);
    let is = |part: usize, variant: &str| PARTS.get(part).is_some_and(|part| part.name == variant);
    let provider = |name: &str| match providers.get(name)?.as_slice() {
        [one] => Some(*one),
        several => variants.iter().find_map(|variant| several.iter().copied().find(|&part| is(part, variant))),
    };
    let mut linked = BTreeSet::new();
    let mut wanted: Vec<usize> = PARTS.iter().position(|part| part.name == kernel.entry).into_iter().collect();
    while let Some(number) = wanted.pop() {
        if linked.insert(number)
            && let Some(part) = PARTS.get(number)
        {
            wanted.extend(part.names(REQUIRES).filter_map(provider));
        }
    }
    let parts: Vec<usize> = linked.into_iter().collect();
    let mut bindings = bindings(&parts);
    if kernel.writable_inputs {
        for input in bindings.iter_mut().filter(|binding| INPUT_BINDINGS.contains(&binding.number)) {
            input.read_only = false;
        }
    }
    let workgroup = workgroup(kernel.entry);
    Linked { parts, bindings, workgroup }
}

/// The invocations of a workgroup, as the part with the entry point declares them: a number, or `WORKGROUP`.
fn workgroup(entry: &str) -> u32 {
    let text = PARTS.iter().find(|part| part.name == entry).map_or("", |part| part.text);
    let size = text.split_once("@workgroup_size(").and_then(|(_, rest)| rest.split_once(')'));
    size.and_then(|(size, _)| size.parse().ok()).unwrap_or(WORKGROUP as u32)
}

/// The storage bindings that parts declare, in the order of their numbers.
fn bindings(parts: &[usize]) -> Vec<Binding> {
    let texts = parts.iter().filter_map(|&part| PARTS.get(part));
    let declared = texts.flat_map(|part| part.text.lines().filter_map(declaration));
    let mut bindings: Vec<Binding> = declared.collect();
    bindings.sort_unstable_by_key(|binding| binding.number);
    bindings
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

/// The parts that a kernel prefers where several provide a name.
pub(super) fn variants(kernel: &Kernel) -> Vec<&'static str> {
    let mut variants = kernel.variants.clone();
    variants.extend(kernel.element.map(element).into_iter().flatten());
    // The defaults; kernels list their own variants earlier.
    variants.extend(["index/digits_uniform", "window/policy", "core/element"]);
    if let (Some(reduction), Some(dtype)) = (kernel.reduction, kernel.element) {
        // The other orders have accumulators of a key and a position.
        let other = kernel.variants.iter().any(|part| part.starts_with("reduce/") && *part != "reduce/max");
        variants.extend(other.then_some("reduce/key_and_position"));
        variants.extend(["reduce/max", "reduce/accumulator"]);
        variants.push(match (reduction, dtype.is_float()) {
            (Reduction::Max, _) => "reduce/largest",
            (Reduction::Min, true) => "reduce/smallest_float",
            (Reduction::Min, false) => "reduce/smallest_integer",
        });
    }
    if let (Some(activation), Some(dtype)) = (kernel.activation, kernel.element) {
        variants.extend(activation_parts(activation, dtype));
    }
    variants.extend(kernel.reads.map(|index_type| match index_type {
        IndexType::I32 => "index/read_i32",
        IndexType::I64 => "index/read_i64",
    }));
    variants.extend(match kernel.writes {
        None => ["index/none"; 2],
        Some(IndexType::I32) => ["index/write", "index/store_i32"],
        Some(IndexType::I64) => ["index/write", "index/store_i64"],
    });
    variants
}

/// Storage and key of an element type by its size, and its order.
fn element(dtype: DType) -> Vec<&'static str> {
    let mut parts = match dtype.bytes() {
        1 => vec!["element/word8", "element/words", "element/shared_words", "element/key32"],
        2 => vec!["element/word16", "element/words", "element/shared_words", "element/key32"],
        4 => vec!["element/word32", "element/words", "element/whole_words", "element/key32"],
        _ => vec!["element/word64", "element/whole_words", "element/key64"],
    };
    parts.extend(["element/memory", "element/output"]);
    parts.extend_from_slice(match dtype {
        DType::F32 => &["element/floats", "element/f32"],
        DType::F16 => &["element/floats", "element/f16"],
        DType::Bf16 => &["element/floats", "element/bf16"],
        DType::F64 => &["element/f64"],
        DType::I8 | DType::I16 | DType::I32 | DType::I64 => &["element/signed", "element/integers"],
        DType::U8 | DType::U16 | DType::U32 | DType::U64 => &["element/unsigned", "element/integers"],
    });
    parts
}

/// The name of a part, if there is one that is called so.
fn part(name: &str) -> Option<&'static str> {
    PARTS.iter().map(|part| part.name).find(|part| *part == name)
}

/// The parts of the activation and of the conversion to f32 and back, which activations that round use. Schedules use
/// such activations only with element types that have a conversion.
fn activation_parts(activation: ActivationKind, dtype: DType) -> [&'static str; 2] {
    let via = part(&format!("activation/via_{}", dtype.name())).unwrap_or("activation/via_f32");
    let activation = match activation {
        ActivationKind::Identity => "activation/none",
        ActivationKind::Clip => "activation/clip",
        ActivationKind::LeakyRelu => "activation/leaky_relu",
        ActivationKind::HardSigmoid => "activation/hard_sigmoid",
        ActivationKind::Tanh => "activation/tanh",
        ActivationKind::Sigmoid => "activation/sigmoid",
    };
    [via, activation]
}
