//! Parses every composed shader, validates it without optional features, and compares it with its Rust twin.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use naga::proc::TypeResolution;
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use naga::{AddressSpace, BinaryOperator, Expression, Literal, Module, ScalarKind, StorageAccess, TypeInner};

use wgpu_pooling_plan::{DType, DifferencePlan, IndexType, NanPolicy};

use super::decide::Expression as Condition;
use super::link::{HEADERS, PROVIDES, REQUIRES};
use super::*;
use crate::kernel::ActivationKind;
use crate::{
    AdaptiveMaxPool, Build, Choice, Duplicates, Family, IndexFlattening, Layout, Limits, MaxPool, MaxUnpool,
    OutOfBounds, OutsideWindow, Plan, PlanError, select, uniform,
};

/// Kernels of every sort: of every element type, family and build. An activation's text does not depend on the kernel
/// around it, so few kernels have one.
#[expect(clippy::mutable_key_type, reason = "a key is equal, and hashed, by its kernel alone")]
fn every_key() -> Vec<KernelKey> {
    let mut all = Vec::new();
    for dtype in DType::ALL {
        let mut activations = vec![ActivationKind::Clip];
        if dtype.is_float() && dtype.bytes() <= 4 {
            use ActivationKind::{HardSigmoid, LeakyRelu, Sigmoid, Tanh};
            activations.extend([LeakyRelu, HardSigmoid, Tanh, Sigmoid]);
        }
        for some in [every_tap_by_tap, every_thread_tile, every_sliding, every_reduction, every_unpool, every_cells] {
            let some = some(dtype);
            all.extend(some.iter().step_by(5).map(of_minima));
            let few = |kind| some.iter().filter_map(move |key| with_activation(key, kind)).take(3);
            all.extend(activations.iter().copied().flat_map(few));
            all.extend(some);
        }
        let pool = MaxPool::new([2]).plan(&[1, 1, 8], dtype, None).unwrap();
        let difference = Plan::Difference(DifferencePlan::of(&pool.outputs()[0]));
        all.extend(kernels(&difference, Family::Direct, None));
    }
    let mut seen = HashSet::new();
    all.retain(|key| seen.insert(key.clone()));
    all
}

/// The same kernel of minima.
fn of_minima(key: &KernelKey) -> KernelKey {
    let mut kernel = key.kernel().clone();
    kernel.facts.iter_mut().filter(|(name, _)| *name == "MIN").for_each(|(_, is)| *is = 1);
    kernel.into()
}

/// The same kernel with another activation, if it has any.
fn with_activation(key: &KernelKey, activation: ActivationKind) -> Option<KernelKey> {
    let mut kernel = key.kernel().clone();
    let none = kernel.facts.iter().position(|(name, _)| *name == "none")?;
    kernel.facts.remove(none);
    Some(kernel.activated(activation).into())
}

/// The kernels of a plan in a family; none, if the family does not apply.
fn kernels(plan: &Plan, family: Family, build: Option<Build>) -> Vec<KernelKey> {
    kernels_on(&Limits::WEBGPU, plan, family, build)
}

fn kernels_on(limits: &Limits, plan: &Plan, family: Family, build: Option<Build>) -> Vec<KernelKey> {
    match select(plan, limits, &Choice { family: Some(family), build }) {
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

/// Passes that read their windows tap by tap: of elements, candidates and accumulators, by formulas and by tables.
fn every_tap_by_tap(dtype: DType) -> Vec<KernelKey> {
    let pools: [(MaxPool, &[usize]); 5] = [
        (MaxPool::new([1, 3, 2]).strides([1, 2, 1]).dilations([1, 1, 2]).pads([1; 6]), &[2, 2, 3, 7, 8]),
        (MaxPool::new([2, 20]).flatten(IndexFlattening::Plane), &[1, 2, 3, 41]),
        (MaxPool::openvino([3]).pads([2, 2]).storage_order(1), &[1, 2, 9]),
        (MaxPool::new([2, 2]).layout(Layout::Nhwc), &[1, 5, 5, 3]),
        (MaxPool::new([2; 4]), &[1, 1, 3, 3, 3, 3]),
    ];
    let adaptive = [None, Some(IndexType::I32), Some(IndexType::I64)]
        .map(|index_type| AdaptiveMaxPool::new([3, 5]).plan(&[1, 1, 7, 11], dtype, index_type).unwrap());
    let of = |plan: &Plan| {
        let both = [Family::Direct, Family::Separable].map(|family| {
            [Build::Generic, Build::Specialised].map(|build| kernels(plan, family, Some(build))).concat()
        });
        [both.concat(), kernels(plan, Family::Accumulating, None)].concat()
    };
    plans(dtype, &pools).iter().chain(&adaptive).flat_map(of).collect()
}

/// Unpools by claims, with and without reports of their own, and by windows.
fn every_unpool(dtype: DType) -> Vec<KernelKey> {
    let mut keys = Vec::new();
    let pools: [(MaxPool, &[usize]); 4] = [
        (MaxPool::new([3, 3]).strides([2, 2]), &[2, 2, 9, 9]),
        (MaxPool::new([2, 2]).flatten(IndexFlattening::Plane), &[2, 2, 5, 4]),
        (MaxPool::new([2, 2]).layout(Layout::Nhwc), &[2, 4, 4, 3]),
        (MaxPool::openvino([2, 2]), &[2, 2, 4, 4]),
    ];
    let few = Limits { max_storage_buffers: 4, ..Limits::WEBGPU };
    for index_type in [IndexType::I32, IndexType::I64] {
        for (pool, shape) in &pools {
            let pooled = pool.plan(shape, dtype, Some(index_type)).unwrap();
            let plan = |unpool: MaxUnpool| unpool.plan(pooled.output_shape(), dtype, index_type).unwrap();
            let unpool = || MaxUnpool::inverse_of(pool, shape);
            let any = plan(unpool().duplicates(Duplicates::Any).out_of_bounds(OutOfBounds::Skip));
            for (plan, limits) in [(&plan(unpool()), &Limits::WEBGPU), (&plan(unpool()), &few), (&any, &Limits::WEBGPU)]
            {
                keys.extend(kernels_on(limits, plan, Family::ClaimEmit, None));
            }
            for &rule in OutsideWindow::ALL {
                keys.extend(kernels(&plan(unpool().outside_window(rule)), Family::Gather, Some(Build::Generic)));
            }
        }
    }
    keys
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
        [found.into_iter().rev().collect(), kernels(plan, Family::Strip, None)].concat()
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
    let mut providers: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (part, name) in
        PARTS.iter().enumerate().flat_map(|(number, part)| part.names(PROVIDES).map(move |name| (number, name)))
    {
        providers.entry(name).or_default().push(part);
    }
    let none = Vec::new();
    for key in every_key() {
        let (kernel, parts) = (key.kernel(), &key.linked().parts);
        let is_meant = |part: usize| HEADERS.is_meant(part, kernel);
        let required: BTreeSet<&str> = parts.iter().flat_map(|&part| PARTS[part].names(REQUIRES)).collect();
        for name in required {
            let providers = providers.get(name).unwrap_or(&none);
            let of = |wanted| providers.iter().filter(|&&part| is_meant(part) == wanted).count();
            let consts = kernel.consts.iter().filter(|(known, _)| *known == name).count();
            let in_all = consts + if of(Some(true)) > 0 { of(Some(true)) } else { of(None) };
            assert_eq!(in_all, 1, "{}: {name} of {kernel:?}", key.name());
            assert_eq!(
                parts.iter().filter(|part| providers.contains(part)).count() + consts,
                1,
                "{}: {name}",
                key.name()
            );
        }
        for &part in parts {
            assert_ne!(is_meant(part), Some(false), "{}: {}", key.name(), PARTS[part].name);
        }
        assert_eq!(wgsl(&key).matches("@compute").count(), 1, "{}", key.name());
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
        let begin = if part.common.is_empty() { "//".to_owned() } else { format!("//// {own}") };
        let when = part.when().map_or(String::new(), |when| format!(" when {when}:"));
        assert!(text.starts_with(&(begin + &when)), "{name} begins with what it is, and when");
        assert!(part.when().is_none_or(|when| Condition::new(when).is_some()), "{name} has a condition");
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
