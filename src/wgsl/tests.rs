//! Parses every composed shader, validates it without optional features, and compares it with its Rust twin.

use std::collections::{BTreeMap, BTreeSet};

use naga::proc::TypeResolution;
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use naga::{AddressSpace, BinaryOperator, Expression, Literal, Module, ScalarKind, StorageAccess, TypeInner};

use wgpu_pooling_plan::internal::Reduction;
use wgpu_pooling_plan::{DType, IndexType, NanPolicy};

use super::link::{PROVIDES, REQUIRES, variants};
use super::*;
use crate::kernel::{
    ActivationKind, IndexDigits, PassDigits, PassInput, RowLoads, Sink, Specialised, UnpoolDigits, WindowConstants,
};
use crate::keys::{self, Places};
use crate::{
    Build, Choice, Family, IndexFlattening, Layout, Limits, MaxPool, MaxUnpool, OutsideWindow, Plan, PlanError, select,
    uniform,
};

/// Every combination of a key's fields. Each constant is represented by a few values.
fn every_key() -> Vec<KernelKey> {
    let constants = WindowConstants {
        kernel: [1, 3, 2],
        stride: [1, 2, 1],
        dilation: [1, 1, 2],
        pad_begin: [0; 3],
        kind: [0, 0, 1],
        nan_policy: NanPolicy::PropagateLast,
    };
    let indices = [IndexType::I32, IndexType::I64];
    let digits = [[3, 4, 2], [2, 0, 0], [0, 1, 1], [0, 0, 3], [0, 0, 0]];
    let digits = digits.map(|[source, target, first_axes]| UnpoolDigits { source, target, first_axes });
    let mut all = Vec::from([keys::unpool_clear()]);
    for digits in digits {
        all.extend(indices.map(|index_type| keys::unpool_claim(index_type, digits)));
    }
    for &outside in OutsideWindow::ALL {
        for places in [Places::default(), Places { inner: true, positions: true, same_place: true }] {
            let check = |skips| indices.map(|index_type| keys::unpool_check(index_type, outside, &places, skips));
            all.extend([false, true].map(check).concat());
        }
    }
    all.extend(indices.map(keys::unpool_report));
    all.extend(DType::ALL.map(keys::difference));
    for dtype in DType::ALL {
        let mut activations = vec![ActivationKind::Identity, ActivationKind::Clip];
        if dtype.is_float() && dtype.bytes() <= 4 {
            use ActivationKind::{HardSigmoid, LeakyRelu, Sigmoid, Tanh};
            activations.extend([LeakyRelu, HardSigmoid, Tanh, Sigmoid]);
        }
        for activation in activations {
            let row = |most_taps, adjacent| RowLoads::of(dtype, most_taps, adjacent);
            let specialised = [row(20, true), row(3, false)].map(|row| {
                let digits = PassDigits { axes: row.together % 4, inner: u32::from(row.words) };
                let index_digits =
                    IndexDigits { index: 2, store: 3, empty: row.together % 3, clamped_axes: digits.inner };
                Specialised { window: constants, row, layers: row.together, digits, index_digits }
            });
            for specialised in [None, Some(&specialised[0]), Some(&specialised[1])] {
                let values =
                    [Sink::Values, Sink::ValuesAndIndices(IndexType::I32), Sink::ValuesAndIndices(IndexType::I64)];
                let mut pass = |source, sinks: &[Sink]| {
                    let sinks = sinks.iter().chain(&values);
                    all.extend(
                        sinks.map(|&sink| keys::pool(Reduction::Max, dtype, source, sink, activation, specialised)),
                    );
                };
                pass(PassInput::Elements, &[Sink::Candidates, Sink::Accumulators]);
                pass(PassInput::Candidates, &[Sink::Candidates]);
                pass(PassInput::Accumulators, &[]);
            }
            // The text of an activation does not depend on the kernel around it.
            for some in [every_thread_tile, every_cells, every_sliding, every_reduction] {
                let some = some(dtype);
                let few = if activation == ActivationKind::Identity { some.len() } else { 1 };
                all.extend(some.iter().step_by(5).take(few).map(of_minima));
                all.extend(some.into_iter().take(few).map(|key| with_activation(&key, activation)));
            }
            for index_type in [None, Some(IndexType::I32), Some(IndexType::I64)] {
                let emit = |digits, fresh| keys::unpool_emit(dtype, index_type, activation, digits, fresh);
                all.extend(digits.map(|digits| emit(digits, true)));
                all.push(emit(digits[0], false));
            }
            if dtype.bytes() == 4 {
                all.push(keys::unpool_fill(dtype, activation));
                let scatter = |index_type| keys::unpool_scatter(dtype, index_type, activation, digits[0]);
                all.extend(indices.map(scatter));
                all.push(keys::unpool_scatter(dtype, IndexType::I64, activation, digits[3]));
            }
            all.extend(indices.map(|index_type| keys::unpool_gather(dtype, index_type, activation)));
        }
    }
    all
}

/// The same kernel of minima.
fn of_minima(key: &KernelKey) -> KernelKey {
    let mut kernel = key.kernel().clone();
    kernel.reduction = kernel.reduction.map(|_| Reduction::Min);
    kernel.into()
}

/// The same kernel with another activation, if it has any.
fn with_activation(key: &KernelKey, activation: ActivationKind) -> KernelKey {
    let mut kernel = key.kernel().clone();
    kernel.activation = kernel.activation.map(|_| activation);
    kernel.into()
}

/// The kernels of a plan in a family; none, if the family does not apply.
fn kernels(plan: &Plan, family: Family, build: Option<Build>) -> Vec<KernelKey> {
    match select(plan, &Limits::WEBGPU, &Choice { family: Some(family), build }) {
        Ok(schedule) => schedule.dispatches().iter().map(|dispatch| dispatch.key().clone()).collect(),
        Err(PlanError::KernelDoesNotApply { .. }) => Vec::new(),
        Err(error) => panic!("{error}"),
    }
}

/// The plans of pools under every NaN rule, without and with indices.
fn plans(dtype: DType, pools: &[(MaxPool, &[usize])]) -> Vec<Plan> {
    let mut plans = Vec::new();
    // Integers are pooled as by default where NaN is ignored.
    let of_type = |policy: &&NanPolicy| dtype.is_float() || **policy != NanPolicy::Ignore;
    for &nan_policy in NanPolicy::ALL.iter().filter(of_type) {
        for index_type in [None, Some(IndexType::I32), Some(IndexType::I64)] {
            let plan = |(pool, shape): &(MaxPool, &[usize])| {
                pool.clone().nan_policy(nan_policy).plan(shape, dtype, index_type).unwrap()
            };
            plans.extend(pools.iter().map(plan));
        }
    }
    plans
}

/// Thread tiles in every shape: along the last axis or inside it, even or not, in words or element by element.
fn every_thread_tile(dtype: DType) -> Vec<KernelKey> {
    let pool = |kernel: &[i64]| MaxPool::new(kernel);
    let pools: [(MaxPool, &[usize]); 20] = [
        (pool(&[3, 3]).pads([1; 4]), &[1, 1, 5, 13]),
        (pool(&[5, 5]).pads([2; 4]), &[1, 1, 8, 13]),
        (pool(&[1, 6]).strides([1, 2]), &[1, 1, 3, 35]),
        (pool(&[2, 1, 6]), &[1, 1, 3, 3, 18]),
        (pool(&[1, 7]), &[1, 1, 3, 35]),
        (pool(&[2, 2]).strides([2, 2]), &[1, 2, 8, 26]),
        (pool(&[3, 3]).pads([1; 4]).strides([2, 2]), &[1, 2, 8, 13]),
        (pool(&[3, 2]).strides([2, 3]), &[1, 2, 9, 40]),
        (pool(&[2, 3, 3]), &[1, 2, 4, 9, 12]),
        (pool(&[3, 3]), &[1, 2, 5, 14]),
        (pool(&[2, 2]).layout(Layout::Nhwc), &[1, 5, 5, 11]),
        (pool(&[2, 2]).strides([2, 2]).layout(Layout::Nhwc), &[1, 4, 6, 3]),
        (pool(&[2, 2]).strides([2, 2]), &[1, 2, 8, 64]),
        (pool(&[3, 3]).pads([1, 1, 1, 1]), &[1, 2, 8, 32]),
        (pool(&[5, 5]).pads([2; 4]), &[1, 2, 8, 32]),
        (pool(&[3, 2]).dilations([1, 2]).pads([1, 1, 1, 1]), &[1, 2, 8, 13]),
        (pool(&[4]).strides([4]).storage_order(1), &[1, 2, 64]),
        (pool(&[2, 1, 2]).strides([2, 1, 2]), &[1, 2, 8, 3, 32]),
        (pool(&[2, 2]).layout(Layout::Nhwc).index_layout(Layout::Nhwc), &[1, 3, 3, 16]),
        (pool(&[2, 2]).layout(Layout::Nhwc), &[1, 3, 3, 4]),
    ];
    let first = |plan: &Plan| kernels(plan, Family::ThreadTile, None).into_iter().next();
    let keys: Vec<KernelKey> = plans(dtype, &pools).iter().filter_map(first).collect();
    assert!(keys.len() >= 6 * 9, "{}: {}", dtype.name(), keys.len());
    keys
}

/// Cells in every shape: apart, overlapping, with gaps, cut off by padding; even or not, in words or element by
/// element.
fn every_cells(dtype: DType) -> Vec<KernelKey> {
    let mut keys = Vec::new();
    let seeded = || MaxPool::openvino([2, 2]).strides([2, 2]);
    let pools: [(MaxPool, &[usize]); 11] = [
        (seeded(), &[1, 2, 8, 32]),
        (seeded(), &[1, 2, 9, 13]),
        (seeded().layout(Layout::Nhwc), &[1, 4, 4, 12]),
        (MaxPool::new([2, 2]).strides([2, 2]), &[1, 2, 8, 32]),
        (MaxPool::new([2, 2]).strides([2, 2]).flatten(IndexFlattening::Plane), &[1, 2, 9, 13]),
        (MaxPool::new([3, 3]).strides([2, 2]).pads([1, 1, 1, 1]), &[1, 2, 9, 24]),
        (MaxPool::new([2]).strides([3]).storage_order(1), &[1, 2, 24]),
        (MaxPool::new([2, 1, 2]).strides([2, 1, 2]), &[1, 2, 4, 3, 16]),
        (MaxPool::new([1, 3]).pads([0, 1, 0, 1]), &[1, 2, 3, 16]),
        (MaxPool::new([2, 2]).strides([2, 2]).layout(Layout::Nhwc).index_layout(Layout::Nhwc), &[1, 4, 5, 16]),
        (MaxPool::new([2, 2]).strides([2, 2]).layout(Layout::Nhwc), &[1, 4, 4, 12]),
    ];
    for index_type in [IndexType::I32, IndexType::I64] {
        for ((pool, shape), &rule) in
            pools.iter().flat_map(|pool| OutsideWindow::ALL.iter().map(move |rule| (pool, rule)))
        {
            let pooled = pool.plan(shape, dtype, Some(index_type)).unwrap();
            let unpool = MaxUnpool::inverse_of(pool, shape).outside_window(rule);
            let plan = unpool.plan(pooled.output_shape(), dtype, index_type).unwrap();
            let found = kernels(&plan, Family::Gather, Some(Build::Specialised));
            let of_cells = |key: &&KernelKey| ["cells", "settle"].iter().any(|name| key.name().contains(name));
            let cells: Vec<KernelKey> = found.iter().filter(of_cells).cloned().collect();
            let wanted = if rule == OutsideWindow::Scatter { 2 } else { 1 };
            assert!(found.is_empty() || cells.len() == wanted, "the cells are written by one kernel");
            keys.extend(cells);
        }
    }
    // Odd rows of elements smaller than a word are not taken.
    assert!(keys.len() >= 2 * 5, "{}: {}", dtype.name(), keys.len());
    keys
}

/// Passes along one axis of every kind: from X or from another pass, to another pass or to the end, with and without
/// chunks, dilation, a rest and a last tap.
fn every_sliding(dtype: DType) -> Vec<KernelKey> {
    let pools: [(MaxPool, &[usize]); 8] = [
        (MaxPool::new([7, 7]).pads([3; 4]), &[1, 2, 16, 16]),
        (MaxPool::new([9, 12]).pads([4, 5, 4, 6]), &[1, 2, 18, 24]),
        (MaxPool::new([8, 9]).layout(Layout::Nhwc), &[1, 18, 24, 3]),
        (MaxPool::new([5, 20]).pads([2, 3, 2, 3]).strides([2, 3]), &[1, 2, 40, 61]),
        (MaxPool::new([9, 5]).dilations([1, 2]).layout(Layout::Nhwc), &[1, 12, 20, 4]),
        (MaxPool::new([15, 20]).layout(Layout::Nhwc), &[1, 20, 20, 6]),
        (MaxPool::new([9]).index_layout(Layout::Nhwc), &[1, 2, 64]),
        (MaxPool::new([71]), &[1, 2, 99]),
    ];
    let passes = |plan: &Plan| {
        let found = kernels(plan, Family::Sliding, None);
        assert!(!found.is_empty(), "{plan:?}");
        found.into_iter().rev()
    };
    plans(dtype, &pools).iter().flat_map(passes).collect()
}

/// Reduced planes, and planes and rows of windows by teams, with an X that is a multiple of four words or is not.
fn every_reduction(dtype: DType) -> Vec<KernelKey> {
    let pools: [(MaxPool, &[usize]); 6] = [
        (MaxPool::new([40, 40]), &[1, 2, 40, 40]),
        (MaxPool::new([31, 41]), &[1, 1, 31, 41]),
        (MaxPool::new([7, 7]), &[1, 1, 7, 7]),
        (MaxPool::new([20, 40]).strides([20, 40]), &[1, 1, 41, 83]),
        (MaxPool::new([2, 20, 40]).strides([20, 40, 1]), &[1, 1, 5, 41, 83]),
        (MaxPool::new([40]), &[1, 1, 400]),
    ];
    let of = |plan: &Plan| [Family::Reducing, Family::Teamed].map(|family| kernels(plan, family, None)).concat();
    let keys: Vec<KernelKey> = plans(dtype, &pools).iter().flat_map(of).collect();
    assert_eq!(keys.len(), 12 * if dtype.is_float() { 12 } else { 9 }, "{}", dtype.name());
    keys
}

fn parsed(key: &KernelKey) -> (Module, ModuleInfo) {
    let text = wgsl(key);
    let module = naga::front::wgsl::parse_str(&text)
        .unwrap_or_else(|error| panic!("{}: {}", key.name(), error.emit_to_string(&text)));
    // No capability is granted: a shader that needs an optional feature is an error here.
    let info = Validator::new(ValidationFlags::all(), Capabilities::empty())
        .validate(&module)
        .unwrap_or_else(|error| panic!("{}: {}", key.name(), error.emit_to_string(&text)));
    (module, info)
}

fn kind(resolution: &TypeResolution, module: &Module) -> Option<ScalarKind> {
    resolution.inner_with(&module.types).scalar_kind()
}

#[test]
fn every_shader_is_valid_without_optional_features_and_compares_no_floats() {
    use BinaryOperator::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
    let mut comparisons = 0;
    for key in every_key() {
        let (module, info) = parsed(&key);
        let functions = module.functions.iter().map(|(handle, function)| (function, &info[handle]));
        let entries =
            module.entry_points.iter().enumerate().map(|(i, entry)| (&entry.function, info.get_entry_point(i)));
        for (function, info) in functions.chain(entries) {
            for (_, expression) in function.expressions.iter() {
                match *expression {
                    Expression::Binary {
                        op: Equal | NotEqual | Less | LessEqual | Greater | GreaterEqual,
                        left,
                        ..
                    } => {
                        comparisons += 1;
                        assert_ne!(kind(&info[left].ty, &module), Some(ScalarKind::Float), "{}", key.name());
                    }
                    Expression::Literal(Literal::F32(value)) => assert!(value.is_finite(), "{}", key.name()),
                    Expression::Math { fun: naga::MathFunction::Max | naga::MathFunction::Min, arg, .. } => {
                        assert_ne!(kind(&info[arg].ty, &module), Some(ScalarKind::Float), "{}", key.name());
                    }
                    _ => {}
                }
            }
        }
    }
    assert!(comparisons > 1_000, "the search must have seen the kernels' comparisons, but saw {comparisons}");
}

#[test]
fn bindings_are_those_of_the_key() {
    for key in every_key() {
        // A driver's compiler should not have to read more.
        assert!(wgsl(&key).len() <= 64 << 10, "{}", key.name());
        let (module, info) = parsed(&key);
        let entry = info.get_entry_point(0);
        let mut found: Vec<(u32, bool)> = module
            .global_variables
            .iter()
            .filter(|(handle, _)| !entry[*handle].is_empty())
            .filter_map(|(_, variable)| match (variable.space, &variable.binding) {
                (AddressSpace::Storage { access }, Some(binding)) => {
                    assert_eq!(binding.group, 0);
                    Some((binding.binding, !access.contains(StorageAccess::STORE)))
                }
                (AddressSpace::Uniform, Some(binding)) => {
                    assert_eq!((binding.group, binding.binding), (0, 0));
                    None
                }
                (AddressSpace::WorkGroup | AddressSpace::Private, None) => None,
                other => panic!("{}: unexpected global {other:?}", key.name()),
            })
            .collect();
        found.sort_unstable();
        let expected: Vec<(u32, bool)> =
            key.bindings().iter().map(|binding| (binding.number, binding.read_only)).collect();
        assert_eq!(found, expected, "{}", key.name());
        assert_eq!(module.entry_points[0].workgroup_size, [key.workgroup(), 1, 1], "{}", key.name());
        assert_eq!(module.entry_points[0].name, "main", "{}", key.name());
    }
}

#[test]
fn uniform_structs_match_their_twins_in_name_offset_and_size() {
    let twins = [
        ("Axis", uniform::Axis::MEMBERS, size_of::<uniform::Axis>()),
        ("Digit", uniform::Digit::MEMBERS, size_of::<uniform::Digit>()),
        ("Slide", uniform::Slide::MEMBERS, size_of::<uniform::Slide>()),
        ("Activation", uniform::Activation::MEMBERS, size_of::<uniform::Activation>()),
        ("Pool", uniform::Pool::MEMBERS, size_of::<uniform::Pool>()),
        ("SourceDigit", uniform::SourceDigit::MEMBERS, size_of::<uniform::SourceDigit>()),
        ("TargetDigit", uniform::TargetDigit::MEMBERS, size_of::<uniform::TargetDigit>()),
        ("Unpool", uniform::Unpool::MEMBERS, size_of::<uniform::Unpool>()),
        ("Difference", uniform::Difference::MEMBERS, size_of::<uniform::Difference>()),
        ("Strides", uniform::Strides::MEMBERS, size_of::<uniform::Strides>()),
        ("CoordinateDigit", uniform::CoordinateDigit::MEMBERS, size_of::<uniform::CoordinateDigit>()),
        ("Divisor", uniform::Divisor::MEMBERS, size_of::<uniform::Divisor>()),
        ("Gather", uniform::Gather::MEMBERS, size_of::<uniform::Gather>()),
    ];
    let mut seen = BTreeMap::new();
    for key in every_key() {
        let (module, _) = parsed(&key);
        let mut layouter = naga::proc::Layouter::default();
        layouter.update(module.to_ctx()).unwrap();
        for (handle, ty) in module.types.iter() {
            let TypeInner::Struct { members, span } = &ty.inner else { continue };
            let name = ty.name.as_deref().unwrap();
            let Some((_, twin, size)) = twins.iter().find(|(twin, ..)| *twin == name) else { continue };
            let found: Vec<(&str, usize, usize)> = members
                .iter()
                .map(|member| {
                    (member.name.as_deref().unwrap(), member.offset as usize, layouter[member.ty].size as usize)
                })
                .collect();
            assert_eq!(found, *twin, "{name} in {}", key.name());
            assert_eq!((*span as usize, layouter[handle].size as usize), (*size, *size), "{name}");
            *seen.entry(name.to_owned()).or_insert(0) += 1;
        }
    }
    assert_eq!(seen.len(), twins.len(), "every twin must have been met: {seen:?}");
}

#[test]
fn every_part_is_linked_somewhere() {
    let used: BTreeSet<usize> = every_key().iter().flat_map(|key| key.linked().parts.clone()).collect();
    let unused: Vec<&str> = (0..PARTS.len()).filter(|part| !used.contains(part)).map(|part| PARTS[part].name).collect();
    assert!(unused.is_empty(), "{unused:?}");
}

#[test]
fn every_name_that_a_part_requires_has_one_provider_in_the_kernel() {
    for key in every_key() {
        let parts: Vec<&Part> = key.linked().parts.iter().map(|&part| &PARTS[part]).collect();
        let consts = key.kernel().consts.iter().map(|(name, _)| *name);
        let provided: Vec<&str> = parts.iter().flat_map(|part| part.names(PROVIDES)).chain(consts).collect();
        for name in parts.iter().flat_map(|part| part.names(REQUIRES)) {
            let count = provided.iter().filter(|provided| **provided == name).count();
            assert_eq!(count, 1, "{}: {name}", key.name());
        }
        assert_eq!(wgsl(&key).matches("@compute").count(), 1, "{}", key.name());
        let known = |name: &&str| PARTS.iter().any(|part| part.name == *name);
        assert!(variants(key.kernel()).iter().all(known), "{key:?}");
    }
}

/// The names that a part's text defines at module scope.
fn defined(text: &str) -> Vec<String> {
    let starts = ["fn ", "struct ", "alias ", "const ", "var<private> "];
    text.lines()
        .filter_map(|line| {
            let rest = match starts.iter().find_map(|start| line.strip_prefix(start)) {
                Some(rest) => rest,
                None if line.starts_with("@group") => line.split('>').nth(1)?.trim_start(),
                None => return None,
            };
            Some(rest.split(|c: char| !(c.is_alphanumeric() || c == '_')).next()?.to_owned())
        })
        .collect()
}

#[test]
fn every_part_states_what_it_provides_and_requires() {
    for part in PARTS {
        let (name, text) = (part.name, part.text);
        let own = name.rsplit('/').next().unwrap();
        let begin = if part.common.is_empty() { "// ".to_owned() } else { format!("//// {own}: ") };
        assert!(text.starts_with(&begin), "{name} begins with what it is");
        let defined = defined(text);
        for provided in part.names(PROVIDES) {
            assert!(defined.iter().any(|defined| defined == provided), "{name} says that it provides {provided}");
        }
        let mut code = text.lines().filter(|line| !line.starts_with("//"));
        for required in part.names(REQUIRES) {
            let used = code.clone().any(|line| line.contains(required));
            assert!(used, "{name} says that it requires {required} but does not use it");
        }
        assert!(code.next().is_some(), "{name} is empty");
    }
}

/// Several parts in a file have a header in common; a part alone in a file has the file's name.
#[test]
fn files_of_several_parts_have_a_header_in_common() {
    for part in PARTS {
        let alone = PARTS.iter().filter(|other| other.file == part.file).count() == 1;
        assert_eq!(alone, part.common.is_empty(), "{}", part.file);
        assert!(!alone || part.file == format!("{}.wgsl", part.name), "{}", part.name);
    }
}
