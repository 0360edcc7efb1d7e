//! The library as this program sees it: the only file, beside the catalogue's reader, that calls its public API.
//!
//! Each table gives what has a name in the library a number, its place, which must not change: what is new comes last.

use fastrand::Rng;
use serde_json::{Map, Value, json};
use wgpu_pooling::{
    Activation, AdaptiveMaxPool, AutoPad, Backend, Build, CeilRule, Choice, Cpu, CpuKernel, DType, Dispatch,
    Duplicates, EmptyIndex, EmptyValue, Family, GlobalMaxPool, IndexFlattening, IndexType, KernelKey, Layout, Limits,
    MaxPool, MaxUnpool, NanPolicy, Operand, OutOfBounds, OutsideWindow, PadsLimit, Plan, PlanError, PoolPlan, Pooling,
    Reference, Region, SamePadding, Schedule, SimdLevel, SizeRounding, StorageOrder, TensorSpec, Tile, Tiling,
    UnpoolMinSize, UnpoolSpace, families, select, stream_bytes, wgsl,
};

use crate::seeded::{Ask, Kind};
use crate::texts::Texts;
use crate::values::{debug, digest, hash};
use crate::{catalogue, work};

const FAMILIES: [Family; 9] = [
    Family::Direct,
    Family::ThreadTile,
    Family::Sliding,
    Family::Teamed,
    Family::Reducing,
    Family::Separable,
    Family::Accumulating,
    Family::Gather,
    Family::ClaimEmit,
];
const BUILDS: [Build; 2] = [Build::Generic, Build::Specialised];
const KERNELS: [CpuKernel; 8] = [
    CpuKernel::General,
    CpuKernel::Direct,
    CpuKernel::Flat,
    CpuKernel::Interleaved,
    CpuKernel::Columns,
    CpuKernel::Global,
    CpuKernel::Separable,
    CpuKernel::Scatter,
];
const LEVELS: [SimdLevel; 3] = [SimdLevel::Baseline, SimdLevel::Avx2, SimdLevel::Avx512];
const DTYPES: [DType; 12] = [
    DType::F32,
    DType::F16,
    DType::Bf16,
    DType::F64,
    DType::I8,
    DType::U8,
    DType::I16,
    DType::U16,
    DType::I32,
    DType::U32,
    DType::I64,
    DType::U64,
];
const INDEX_TYPES: [IndexType; 2] = [IndexType::I32, IndexType::I64];
const LAYOUTS: [Layout; 2] = [Layout::Nchw, Layout::Nhwc];
const ACTIVATIONS: [Activation; 7] = [
    Activation::Identity,
    Activation::Relu,
    Activation::Clip { min: -1.0, max: 6.0 },
    Activation::LeakyRelu { alpha: 0.1 },
    Activation::HardSigmoid { alpha: 0.2, beta: 0.5 },
    Activation::Tanh,
    Activation::Sigmoid,
];

/// The kinds of errors, as their `Debug` texts begin.
const ERRORS: [&str; 23] = [
    "KernelDoesNotApply",
    "CpuKernelDoesNotApply",
    "NotOnGpu",
    "ExceedsLimit",
    "KernelExceedsInput",
    "PadExceedsLimit",
    "GeometryOverflow",
    "ShapeOverflow",
    "ActivationType",
    "Combination",
    "IndexTypeTooNarrow",
    "EmptyIndexOverflow",
    "NotInvertible",
    "InverseShape",
    "InferredNotPositive",
    "OutputShapeTooSmall",
    "OutputCountTooSmall",
    "OutputShapeOuter",
    "SpaceMismatch",
    "IndexSpaceMismatch",
    "IndexShape",
    "ZeroExtent",
    "Plan(",
];
/// The variants in the `Debug` texts of windows and of what the kernels of the CPU backend are made of.
const VARIANTS: [&str; 13] = [
    "Strided",
    "Adaptive",
    "Nchw",
    "Nhwc",
    "Constant(",
    "Plane(",
    "Columns",
    "General",
    "Global(",
    "Direct(",
    "Flat(",
    "Interleaved(",
    "Separable(",
];

/// What a card has, and a software adapter with as much memory.
const CARD: Limits = Limits { max_buffer_bytes: (2 << 30) - 1, max_binding_bytes: (2 << 30) - 4, ..Limits::WEBGPU };
const LIMITS: [Limits; 3] = [Limits::WEBGPU, CARD, Limits { software: true, ..CARD }];
/// The bytes that tiles may have, and the limits of the device on which they may have them.
const BUDGETS: [(u64, Limits); 3] = [(1 << 14, CARD), (1 << 22, Limits::WEBGPU), (1 << 29, CARD)];

const CATALOGUES: [&str; 3] = [
    catalogue::OWN,
    include_str!("../../../benches/cpu_catalogue.json"),
    include_str!("../../../benches/model_catalogue.json"),
];
const SEED: u64 = 20_260_917;
const SEEDED: u64 = 2_000;
/// The most tables of windows that are hashed, and the most dispatches of a schedule that are recorded one by one.
const HASHED_BYTES: u64 = 1 << 20;
const WHOLE_DISPATCHES: usize = 8;

/// An item's numbers, and what is planned for it.
pub type Item = (Vec<u64>, Result<Plan, PlanError>);

/// Every item: the rows of the catalogues, then seeded plans, until enough of them are valid.
pub fn items() -> Result<Vec<Item>, String> {
    let mut items = Vec::new();
    for (number, text) in CATALOGUES.iter().enumerate() {
        for (row_number, row) in catalogue::parse(text)?.into_iter().enumerate() {
            let dtypes = row.dtype.map_or(vec![DType::F32, DType::F16, DType::U8, DType::I64], |own| vec![own]);
            let layouts = if row.layout == Layout::Nchw { &LAYOUTS[..] } else { &LAYOUTS[1..] };
            for (&dtype, &layout) in dtypes.iter().flat_map(|dtype| layouts.iter().map(move |layout| (dtype, layout))) {
                let row = catalogue::Row { layout, ..row.clone() };
                let item = [0, number, row_number, place(&DTYPES, dtype), place(&LAYOUTS, layout)];
                items.push((item.map(|it| it as u64).to_vec(), work::Plans::new(&row, dtype).map(|plans| plans.plan)));
            }
        }
    }
    let (mut rng, mut valid) = (Rng::with_seed(SEED), 0);
    for number in 0.. {
        if valid == SEEDED {
            break;
        }
        let plan = plan(&Ask::draw(&mut rng));
        valid += u64::from(plan.is_ok());
        items.push((vec![1, number], plan));
    }
    Ok(items)
}

/// The place of a value in its table.
fn place<T: PartialEq>(table: &[T], value: T) -> usize {
    table.iter().position(|it| *it == value).unwrap_or(table.len())
}

fn pick<T: Copy>(table: &[T], number: u8) -> T {
    table[usize::from(number) % table.len()]
}

/// Calls the setters that the operators have under the same names.
macro_rules! shared {
    ($operator:expr, $ask:expr) => {
        $operator
            .layout(pick(&LAYOUTS, $ask.types[0]))
            .index_layout(pick(&LAYOUTS, $ask.options[0]))
            .flatten(pick(IndexFlattening::ALL, $ask.options[1]))
            .index_order(pick(StorageOrder::ALL, $ask.options[2]))
    };
}

fn plan(ask: &Ask) -> Result<Plan, PlanError> {
    let dtype = pick(&DTYPES, ask.types[1]);
    let nan_rule = pick(NanPolicy::ALL, ask.types[2]);
    let index_type = pick(&INDEX_TYPES, ask.types[3]);
    let indices = [None, Some(IndexType::I32), Some(IndexType::I64)];
    let indices = pick(&indices, ask.types[4]);
    let shape = shape(ask, &ask.extents);
    match ask.kind {
        Kind::Window => window(ask).nan_policy(nan_rule).plan(&shape, dtype, indices),
        Kind::Whole => {
            let pool = shared!(GlobalMaxPool::new().nan_policy(nan_rule), ask);
            pool.plan(&shape, dtype, indices)
        }
        Kind::Adaptive => adaptive(ask).nan_policy(nan_rule).plan(&shape, dtype, indices),
        Kind::Unpool => unpool(ask).plan(&shape, dtype, index_type),
        Kind::Inverse => inverse(ask, &shape, dtype, index_type),
    }
}

/// The shape of a tensor in the layout that is asked for.
fn shape(ask: &Ask, extents: &[usize]) -> Vec<usize> {
    match pick(&LAYOUTS, ask.types[0]) {
        Layout::Nchw => [&[ask.batch, ask.channels], extents].concat(),
        Layout::Nhwc => [&[ask.batch], extents, &[ask.channels]].concat(),
    }
}

fn window(ask: &Ask) -> MaxPool {
    let pool = MaxPool::new(&ask.kernel).strides(&ask.strides).dilations(&ask.dilations);
    let pool = match pick(AutoPad::ALL, ask.options[3]) {
        AutoPad::NotSet => pool.pads(&ask.pads),
        auto_pad => pool.auto_pad(auto_pad),
    };
    let pool = pool
        .ceil_rule(pick(CeilRule::ALL, ask.options[4]))
        .same_padding(pick(SamePadding::ALL, ask.options[5]))
        .size_rounding(pick(SizeRounding::ALL, ask.options[6]))
        .empty_value(pick(EmptyValue::ALL, ask.options[7]))
        .empty_index(pick(EmptyIndex::ALL, ask.options[8]))
        .pads_limit(pick(PadsLimit::ALL, ask.options[9]))
        .activation(pick(&ACTIVATIONS, ask.options[10]));
    shared!(pool, ask)
}

fn adaptive(ask: &Ask) -> AdaptiveMaxPool {
    shared!(AdaptiveMaxPool::new(ask.outputs.as_deref().unwrap_or_default()), ask)
}

/// Sets the options that all unpools have.
fn unpool_options(unpool: MaxUnpool, ask: &Ask) -> MaxUnpool {
    unpool
        .duplicates(pick(Duplicates::ALL, ask.options[11]))
        .out_of_bounds(pick(OutOfBounds::ALL, ask.options[12]))
        .outside_window(pick(OutsideWindow::ALL, ask.options[13]))
        .activation(pick(&ACTIVATIONS, ask.options[10]))
}

fn unpool(ask: &Ask) -> MaxUnpool {
    let mut unpool = MaxUnpool::new(&ask.kernel).strides(&ask.strides).pads(&ask.pads);
    if let Some(outputs) = &ask.outputs {
        let extents: Vec<usize> = outputs.iter().map(|&output| output as usize).collect();
        let shape: Vec<i64> = shape(ask, &extents).into_iter().map(|extent| extent as i64).collect();
        unpool = unpool
            .output_shape(shape)
            .unpool_space(pick(UnpoolSpace::ALL, ask.options[14]))
            .unpool_min_size(pick(UnpoolMinSize::ALL, ask.options[15]));
    }
    unpool_options(shared!(unpool, ask), ask)
}

/// The unpool that undoes a pool.
fn inverse(ask: &Ask, shape: &[usize], dtype: DType, index_type: IndexType) -> Result<Plan, PlanError> {
    let pool: Box<dyn Pooling> = match ask.options[16] {
        0 => Box::new(window(ask)),
        number if number % 2 == 0 => Box::new(shared!(GlobalMaxPool::new(), ask)),
        _ => {
            let outputs: Vec<i64> = ask.extents.iter().map(|&extent| extent as i64 / 2 + 1).collect();
            Box::new(shared!(AdaptiveMaxPool::new(outputs), ask))
        }
    };
    let pooled = pool.plan(shape, dtype, Some(index_type))?;
    let unpool = unpool_options(MaxUnpool::inverse_of(pool.as_ref(), shape), ask);
    unpool.plan(pooled.output_shape(), dtype, index_type)
}

/// The line of an item.
pub fn line((item, plan): &Item, texts: &mut Texts<KernelKey>) -> Result<String, String> {
    let record = record(plan, item, texts).map_err(|error| format!("item {item:?}: {error}"))?;
    Ok(json!({"item": item, "record": record}).to_string())
}

/// Everything that is recorded of a plan, or why there is none.
fn record(plan: &Result<Plan, PlanError>, item: &[u64], texts: &mut Texts<KernelKey>) -> Result<Value, String> {
    let plan = match plan {
        Ok(plan) => plan,
        Err(error) => return Ok(json!({"refused": refused(error)})),
    };
    let mut record = Map::new();
    let tensors = |tensors: &[TensorSpec]| tensors.iter().map(tensor).collect::<Value>();
    record.insert("reads".to_owned(), tensors(plan.inputs()));
    record.insert("writes".to_owned(), tensors(plan.outputs()));
    let mut devices =
        LIMITS.iter().map(|limits| device(plan, limits, texts)).collect::<Result<Vec<Value>, String>>()?;
    // Most plans fit the smallest limits.
    if devices[0] == devices[1] {
        devices[1] = Value::Null;
    }
    record.insert("devices".to_owned(), json!(devices));
    if item.last().is_some_and(|number| number % 8 == 0)
        && let Ok(schedule) = select(plan, &CARD, &Choice::default())
    {
        record.insert("writable".to_owned(), self::schedule(&schedule.with_writable_inputs(), texts)?);
    }
    record.insert("cpu".to_owned(), cpu(plan));
    if let Plan::Pool(pool) = plan {
        let windows = pool.axes.iter().map(|axis| json!(debug(&format!("{axis:?}"), &VARIANTS)));
        record.insert("windows".to_owned(), windows.collect());
        let strides = pool.indices.as_ref().map(|indices| debug(&format!("{:?}", indices.space.strides()), &[]));
        record.insert("strides".to_owned(), json!(strides));
        record.insert("tiles".to_owned(), tiles(pool, texts)?);
    }
    Ok(Value::Object(record))
}

fn tensor(tensor: &TensorSpec) -> Value {
    json!([place(&DTYPES, tensor.dtype), place(&LAYOUTS, tensor.layout), tensor.shape])
}

/// An error by its kind and its numbers.
fn refused(error: &PlanError) -> Value {
    json!(debug(&format!("{error:?}"), &ERRORS))
}

/// The schedules of a plan on a device: in every family and build, and which of them the library chooses.
fn device(plan: &Plan, limits: &Limits, texts: &mut Texts<KernelKey>) -> Result<Value, String> {
    let (mut schedules, mut values) = (Vec::new(), Vec::new());
    for family in FAMILIES {
        for build in BUILDS {
            let schedule = select(plan, limits, &Choice { family: Some(family), build: Some(build) });
            values.push(match &schedule {
                Ok(schedule) => self::schedule(schedule, texts)?,
                Err(error) => refused(error),
            });
            schedules.extend(schedule);
        }
    }
    let choices = [None].into_iter().chain(BUILDS.map(Some)).map(|build| {
        match select(plan, limits, &Choice { build, ..Choice::default() }) {
            Ok(schedule) if schedules.contains(&schedule) => {
                Ok(json!([place(&FAMILIES, schedule.family()), place(&BUILDS, schedule.build())]))
            }
            Ok(schedule) => self::schedule(&schedule, texts),
            Err(error) => Ok(refused(&error)),
        }
    });
    let choices = choices.collect::<Result<Value, String>>()?;
    let order: Vec<usize> = families(plan, limits).into_iter().map(|family| place(&FAMILIES, family)).collect();
    Ok(json!({"order": order, "choices": choices, "schedules": values}))
}

fn schedule(schedule: &Schedule, texts: &mut Texts<KernelKey>) -> Result<Value, String> {
    let dispatches = schedule.dispatches();
    let tables = match schedule.operand_bytes(Operand::Tables) {
        Some(bytes) if bytes <= HASHED_BYTES => {
            schedule.window_tables().map(|bytes| digest(&bytes)).map_err(|error| error.to_string())?
        }
        bytes => json!(bytes),
    };
    let buffers: Vec<Value> = schedule
        .operands()
        .into_iter()
        .map(|operand| json!([self::operand(operand), schedule.operand_bytes(operand)]))
        .collect();
    let last = dispatches.len().saturating_sub(1);
    let whole = |number: usize| number < WHOLE_DISPATCHES || number == last || number == last / 2;
    let numbered = dispatches.iter().enumerate().filter(|(number, _)| whole(*number));
    let recorded = numbered.map(|(_, dispatch)| self::dispatch(dispatch, texts)).collect::<Result<Value, String>>()?;
    let all = dispatches.iter().flat_map(|dispatch| {
        let ranges =
            dispatch.bindings().map(|(_, range)| [operand(range.operand), range.offset, range.bytes.unwrap_or(0)]);
        let ranges: Vec<[u64; 3]> = ranges.collect();
        [bytemuck::cast_slice(&ranges), bytemuck::bytes_of(&dispatch.grid()), dispatch.uniform()].concat()
    });
    Ok(json!({
        "family": place(&FAMILIES, schedule.family()),
        "build": place(&BUILDS, schedule.build()),
        "scratch": schedule.scratch(),
        "tables": tables,
        "buffers": buffers,
        "moved": schedule.bytes_moved(),
        "keeps": schedule.keeps_report(),
        "submits": schedule.slices().iter().map(|slice| slice.end).collect::<Vec<_>>(),
        "count": dispatches.len(),
        "all": hash(all),
        "dispatches": recorded,
    }))
}

fn operand(operand: Operand) -> u64 {
    match operand {
        Operand::X => 0,
        Operand::Y => 1,
        Operand::Indices => 2,
        Operand::IndicesOut => 3,
        Operand::Report => 4,
        Operand::Tables => 5,
        Operand::Scratch(number) => 10 + number as u64,
        _ => u64::MAX,
    }
}

fn dispatch(dispatch: &Dispatch, texts: &mut Texts<KernelKey>) -> Result<Value, String> {
    let bindings: Vec<Value> = dispatch
        .bindings()
        .map(|(binding, range)| {
            json!([binding.number, binding.read_only, operand(range.operand), range.offset, range.bytes])
        })
        .collect();
    let [constants, spirv] = texts.kernel(dispatch.key(), || wgsl(dispatch.key()))?;
    Ok(json!({
        "grid": dispatch.grid(),
        "group": dispatch.workgroup_size(),
        "uniform": digest(dispatch.uniform()),
        "bindings": bindings,
        "constants": constants,
        "loops": dispatch.iterations(),
        "spirv": spirv,
    }))
}

/// The kernel that the CPU backend chooses at each level of vector instructions that the processor has, and every
/// kernel.
fn cpu(plan: &Plan) -> Value {
    let levels = LEVELS.map(|level| match Cpu::new().with_simd(level) {
        Ok(cpu) => prepared(cpu, plan),
        Err(_) => Value::Null,
    });
    let kernels = KERNELS.map(|kernel| prepared(Cpu::new().with_kernel(kernel), plan));
    json!({"levels": levels, "kernels": kernels})
}

/// The kernel that computes a plan, and its parameters.
fn prepared(cpu: Cpu, plan: &Plan) -> Value {
    match cpu.prepare(plan.clone()) {
        Ok(prepared) => {
            let text = format!("{prepared:?}");
            // What is prepared has the backend, the plan, the kernel and scratch memory.
            let work = text.rsplit_once(", work: ").and_then(|(_, rest)| rest.rsplit_once(", scratch: "));
            json!([place(&KERNELS, prepared.kernel()), debug(work.map_or("", |(work, _)| work), &VARIANTS)])
        }
        Err(error) => json!(debug(&format!("{error:?}"), &ERRORS)),
    }
}

/// The tiles of a pool for some budgets, each on a device and on the CPU.
fn tiles(plan: &PoolPlan, texts: &mut Texts<KernelKey>) -> Result<Value, String> {
    let mut tilings = Vec::new();
    for (budget, limits) in BUDGETS {
        tilings.push(match Tiling::new(plan, budget, |tile| stream_bytes(tile, &limits)) {
            Ok(tiling) => self::tiling(&tiling, Some(&limits), texts)?,
            Err(error) => refused(&error),
        });
        tilings.push(match Tiling::new(plan, budget, |tile| Reference.stream_bytes(tile)) {
            Ok(tiling) => self::tiling(&tiling, None, texts)?,
            Err(error) => refused(&error),
        });
    }
    Ok(Value::Array(tilings))
}

/// The first two tiles, the middle one and the last one, and how the last one is computed.
fn tiling(tiling: &Tiling, limits: Option<&Limits>, texts: &mut Texts<KernelKey>) -> Result<Value, String> {
    let last = tiling.len().saturating_sub(1);
    let mut numbers = vec![0, 1, last / 2, last];
    numbers.dedup();
    let tiles: Vec<Value> = numbers.into_iter().map(|number| json!(tiling.tile(number).as_ref().map(tile))).collect();
    let computed = match (tiling.tile(last), limits) {
        (Some(tile), Some(limits)) => match select(&Plan::Pool(tile.plan().clone()), limits, &Choice::default()) {
            Ok(schedule) => self::schedule(&schedule, texts)?,
            Err(error) => refused(&error),
        },
        (Some(tile), None) => prepared(Cpu::new(), &Plan::Pool(tile.plan().clone())),
        (None, _) => Value::Null,
    };
    Ok(json!({"count": tiling.len(), "peak": tiling.peak_bytes(), "tiles": tiles, "last": computed}))
}

fn tile(tile: &Tile) -> Value {
    let region = |region: &Region| debug(&format!("{region:?}"), &[]);
    let windows = debug(&format!("{:?}", tile.plan().axes), &VARIANTS);
    json!([region(tile.output()), region(tile.input()), tile.is_part(), windows])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::differences;

    fn lines(plans: impl IntoIterator<Item = Result<Plan, PlanError>>) -> String {
        let mut texts = Texts::default();
        let lines = plans.into_iter().map(|plan| line(&(vec![1, 1], plan), &mut texts).unwrap() + "\n");
        lines.collect()
    }

    fn pool(pool: &dyn Pooling, shape: &[usize], indices: Option<IndexType>) -> Result<Plan, PlanError> {
        pool.plan(shape, DType::F32, indices)
    }

    /// The fields in which two plans differ.
    fn fields(old: Result<Plan, PlanError>, new: Result<Plan, PlanError>) -> Vec<String> {
        let differences = differences(&lines([old]), &lines([new])).unwrap();
        differences.into_iter().map(|difference| difference.field).collect()
    }

    #[test]
    fn a_plan_is_recorded_alike_each_time() {
        let plan = || pool(&MaxPool::new([3, 3]), &[2, 3, 40, 50], Some(IndexType::I64));
        assert_eq!(fields(plan(), plan()), [""; 0]);
    }

    #[test]
    fn changes_are_seen_where_they_are() {
        let square = |stride: i64| MaxPool::new([3, 3]).strides([stride, stride]);
        let plan = |stride, extent| pool(&square(stride), &[2, 3, extent, 64], None);
        let has = |fields: &[String], begin: &str, end: &str| {
            fields.iter().any(|field| field.starts_with(begin) && field.contains(end))
        };
        let other_extent = fields(plan(2, 64), plan(2, 66));
        for field in [".uniform[1]", ".grid[", ".buffers[", ".all"] {
            assert!(has(&other_extent, "devices", field), "{field} is not in {other_extent:?}");
        }
        let other_stride = fields(plan(2, 64), plan(3, 64));
        for (begin, end) in [("devices", ".constants["), ("devices", ".spirv["), ("cpu.levels", ""), ("tiles", "")] {
            assert!(has(&other_stride, begin, end), "{begin} {end} is not in {other_stride:?}");
        }
    }

    #[test]
    fn another_kernel_of_the_cpu_is_seen() {
        let plan = pool(&MaxPool::new([2, 2]), &[1, 1, 20, 20], None).unwrap();
        let [direct, general] =
            [CpuKernel::Direct, CpuKernel::General].map(|it| prepared(Cpu::new().with_kernel(it), &plan));
        assert_ne!(direct[0], general[0]);
        assert!(direct[1].as_array().unwrap().len() > general[1].as_array().unwrap().len());
    }

    /// The first text in a value, which keys of objects are not.
    fn first_text(value: &Value) -> Option<&str> {
        match value {
            Value::String(text) => Some(text),
            Value::Array(values) => values.iter().find_map(first_text),
            Value::Object(fields) => fields.values().find_map(first_text),
            _ => None,
        }
    }

    #[test]
    fn records_have_no_names_of_the_library() {
        let mut rng = Rng::with_seed(SEED);
        let text = lines((0..60).map(|_| plan(&Ask::draw(&mut rng))));
        for line in text.lines() {
            assert_eq!(first_text(&serde_json::from_str(line).unwrap()), None);
        }
        let families = Family::ALL.iter().map(|family| family.name());
        let kernels = CpuKernel::ALL.iter().map(|kernel| kernel.name());
        for name in families.chain(kernels).chain(DTYPES.iter().map(|dtype| dtype.name())) {
            assert!(!text.contains(name), "{name}");
        }
    }

    #[test]
    fn tables_have_every_family_and_kernel() {
        assert!(Family::ALL.iter().all(|family| FAMILIES.contains(family)));
        assert!(CpuKernel::ALL.iter().all(|kernel| KERNELS.contains(kernel)));
        assert!(SimdLevel::available().iter().all(|level| LEVELS.contains(level)));
        assert!(DType::ALL.iter().all(|dtype| DTYPES.contains(dtype)));
    }
}
