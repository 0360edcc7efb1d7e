//! What the shaders become on their way to a driver: naga writes every text of a broad sweep as HLSL, MSL, GLSL and
//! SPIR-V, with the options that wgpu-hal uses, and the results are searched for what a compiler behind one of them
//! refuses or miscompiles.

use std::collections::{BTreeMap, BTreeSet};

use compilers::language::{Language, Model};
use compilers::part::{End, each, processors};
use compilers::source::Source;
use compilers::translations::faults::{duplicates, wide_types};
use compilers::translations::{sweep, writers};
use naga::{Expression, Function, Module, Scalar, ScalarKind, Statement, TypeInner};

/// The functions of the activations that round: the only ones that may compute in floats.
fn float_functions() -> BTreeSet<String> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shaders/activation");
    let texts = std::fs::read_dir(folder).unwrap().map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap());
    let names = |text: String| -> Vec<String> {
        let functions = text.lines().filter_map(|line| line.strip_prefix("fn ")?.split('(').next());
        functions.map(str::to_owned).collect()
    };
    texts.flat_map(names).collect()
}

/// What is wrong with a module before anything is written: floats, 64-bit scalars, loops without an end.
fn module_faults(module: &Module, info: &naga::valid::ModuleInfo, floats: &BTreeSet<String>) -> Vec<String> {
    let mut faults = Vec::new();
    let functions = module.functions.iter().map(|(handle, function)| (function, &info[handle]));
    let entries = module.entry_points.iter().enumerate().map(|(at, entry)| (&entry.function, info.get_entry_point(at)));
    for (function, info) in functions.chain(entries) {
        let name = function.name.clone().unwrap_or_else(|| "main".to_owned());
        for (handle, _) in function.expressions.iter() {
            let Some(Scalar { kind, width }) = info[handle].ty.inner_with(&module.types).scalar() else { continue };
            if kind == ScalarKind::Float && !floats.contains(&name) {
                faults.push(format!("{name} computes in floats"));
            }
            // Literals without a suffix are abstract and 64 bits wide; they become concrete where they are used.
            let concrete = !matches!(kind, ScalarKind::AbstractInt | ScalarKind::AbstractFloat);
            if width > 4 && concrete {
                faults.push(format!("{name} has scalars of {} bits", u32::from(width) * 8));
            }
        }
        unbounded_loops(&function.body, &name, &mut faults);
        subtractions(function, info, module, &name, &mut faults);
    }
    for (_, ty) in module.types.iter() {
        if let TypeInner::Scalar(scalar) | TypeInner::Vector { scalar, .. } = ty.inner
            && scalar.width > 4
            && !matches!(scalar.kind, ScalarKind::AbstractInt | ScalarKind::AbstractFloat)
        {
            faults.push(format!("a type of {} bits: {:?}", u32::from(scalar.width) * 8, ty.name));
        }
    }
    faults
}

/// Finds loops that no statement inside them leaves.
fn unbounded_loops(block: &naga::Block, name: &str, faults: &mut Vec<String>) {
    /// Whether a block leaves the loop around it: by a break that is the loop's `own`, or by a return anywhere.
    fn leaves(block: &naga::Block, own: bool) -> bool {
        block.iter().any(|statement| match statement {
            Statement::Break => own,
            Statement::Return { .. } => true,
            Statement::Block(block) => leaves(block, own),
            Statement::If { accept, reject, .. } => leaves(accept, own) || leaves(reject, own),
            Statement::Switch { cases, .. } => cases.iter().any(|case| leaves(&case.body, false)),
            Statement::Loop { body, continuing, .. } => leaves(body, false) || leaves(continuing, false),
            _ => false,
        })
    }
    for statement in block.iter() {
        match statement {
            Statement::Block(block) => unbounded_loops(block, name, faults),
            Statement::If { accept, reject, .. } => {
                unbounded_loops(accept, name, faults);
                unbounded_loops(reject, name, faults);
            }
            Statement::Switch { cases, .. } => cases.iter().for_each(|case| unbounded_loops(&case.body, name, faults)),
            Statement::Loop { body, continuing, break_if } => {
                if break_if.is_none() && !leaves(body, true) {
                    faults.push(format!("{name} has a loop without an end"));
                }
                unbounded_loops(body, name, faults);
                unbounded_loops(continuing, name, faults);
            }
            _ => {}
        }
    }
}

/// Finds float subtractions in the range reduction of an exponential: compilers with fast math may reassociate terms
/// that cancel.
fn subtractions(
    function: &Function,
    info: &naga::valid::FunctionInfo,
    module: &Module,
    name: &str,
    faults: &mut Vec<String>,
) {
    if name != "decay" {
        return;
    }
    for (handle, expression) in function.expressions.iter() {
        let float = info[handle].ty.inner_with(&module.types).scalar_kind() == Some(ScalarKind::Float);
        let subtracts = matches!(
            expression,
            Expression::Binary { op: naga::BinaryOperator::Subtract, .. }
                | Expression::Unary { op: naga::UnaryOperator::Negate, .. }
        );
        if float && subtracts {
            faults.push(format!("{name} subtracts floats"));
        }
    }
}

/// The languages that are texts, one version of each that naga writes in its own way.
const LANGUAGES: [Language; 7] = [
    Language::Hlsl(Model::V5_1),
    Language::Hlsl(Model::V6_0),
    Language::Msl(2, 4),
    Language::Glsl(430),
    Language::Glsl(440),
    Language::Glsl(450),
    Language::GlslEs(310),
];

/// The most bytes of a text: drivers read each of them when a kernel is first used.
const LARGEST_TEXT: usize = 64 << 10;

fn faults_of(name: &str, wgsl: &str, floats: &BTreeSet<String>) -> Vec<String> {
    let source = Source::parse(wgsl).unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut faults = module_faults(&source.module, &source.info, floats);
    if wgsl.len() > LARGEST_TEXT {
        faults.push(format!("the text is longer than {LARGEST_TEXT} bytes"));
    }
    faults.extend(LANGUAGES.iter().flat_map(|language| language.write(wgsl, Some(&source)).unwrap().faults));
    faults.extend(writers::spirv_faults(&source.module, &source.info));
    faults
}

#[test]
fn no_translation_of_any_text_has_what_a_compiler_refuses() {
    let floats = float_functions();
    assert!(floats.contains("decay") && floats.contains("widen"), "{floats:?}");
    let texts = sweep::texts();
    let list: Vec<(&String, &String)> = texts.iter().collect();
    let found = each(&list, processors(), End::NEVER, |(wgsl, name)| faults_of(name, wgsl, &floats));
    let mut by_fault: BTreeMap<String, Vec<&String>> = BTreeMap::new();
    for (faults, (_, name)) in found.into_iter().zip(&list) {
        faults.into_iter().for_each(|fault| by_fault.entry(fault).or_default().push(name));
    }
    let number = list.len();
    let summary: Vec<String> =
        by_fault.iter().map(|(fault, names)| format!("{fault}: {} texts, {:?} first", names.len(), names[0])).collect();
    assert!(summary.is_empty(), "of {number} texts:\n{}", summary.join("\n"));
    println!("{number} texts in HLSL 5.1 and 6.0, MSL, GLSL 4.30, 4.40, 4.50, ES 3.10 and SPIR-V");
    assert!(number > 1_000, "the sweep has only {number} texts");
}

/// The checks find the faults that they search for.
#[test]
fn what_a_compiler_refuses_is_found() {
    let main = "@compute @workgroup_size(1) fn main() {";
    let out = "@group(0) @binding(1) var<storage, read_write> out: array<vec4<u32>>;";
    let cases = [
        (
            format!("alias A = u32; alias B = u32; {out} {main} var a = A(); var b = B(); out[0].x = a + b; }}"),
            "hlsl-5.1 defines ZeroValueuint() twice",
        ),
        (format!("{out} {main} out[0] = select(out[1], out[2], out[3] > out[4]); }}"), "glsl-4.30 mixes integers"),
        (
            format!("{out} {main} loop {{ if (out[0].x > 1u) {{ loop {{ break; }} }} }} }}"),
            "main has a loop without an end",
        ),
        (format!("{out} {main} out[0].x = u32(f32(out[1].x) * 0.5); }}"), "main computes in floats"),
        (
            format!(
                "{out} fn decay(x: f32) -> f32 {{ return x - 1.0; }} {main} out[0].x = bitcast<u32>(decay(1.0)); }}"
            ),
            "decay subtracts floats",
        ),
    ];
    for (wgsl, expected) in cases {
        let faults = faults_of("a text that is wrong", &wgsl, &float_functions());
        assert!(faults.iter().any(|fault| fault == expected), "{expected}: {faults:?}");
    }
    assert_eq!(wide_types("uint64_t a; long b; longest c;"), ["uint64_t", "long"]);
    assert_eq!(duplicates("int f(int a) {\n  return a;\n}\nint f(uint a) {\n}\nint f(int b) {\n}\n"), ["f(int)"]);
    assert_eq!(duplicates("struct A {\n  int a;\n};\nstruct B {\n  int a;\n};\nstruct A {\n};\n"), ["A"]);
}
