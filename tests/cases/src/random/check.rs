//! One case against its definition on every path: the reference, each kernel of the CPU backend that applies, and each
//! family that applies on the GPU.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use wgpu_pooling::{
    Build, Choice, DType, Dispatch, ExecuteError, Family, IndexType, Limits, MaxUnpool, OutsideWindow, Plan, PlanError,
    Run, Schedule, Sizes, families, select, select_sized,
};
#[cfg(feature = "cpu")]
use wgpu_pooling::{Cpu, PreparedCpu};
#[cfg(feature = "gpu")]
use wgpu_pooling::{Gpu, Prepared};

use super::definition::{self, Pooled, Scatter, Scattered, Verdict};
use super::pools::{PoolCase, shape};
use super::unpools::{Target, UnpoolCase};
use crate::case::{Case, Outcome, bytes_of};
#[cfg(feature = "cpu")]
use support::cpu::{Host, Net};
#[cfg(feature = "gpu")]
use support::device::gpu;
#[cfg(feature = "gpu")]
use support::harness::computes_on_gpu;
use support::splitmix::splitmix64;

/// Limits that most cases exceed somewhere: bindings of 6 KiB, four storage buffers and one workgroup a dimension.
const TIGHT: Limits = Limits {
    max_buffer_bytes: 1 << 20,
    max_binding_bytes: 6 << 10,
    max_workgroups_per_dimension: 1,
    max_storage_buffers: 4,
    software: false,
};

/// What runs a schedule without a device.
type Interpreter = fn(Schedule) -> Arc<dyn Run>;

static INTERPRETER: OnceLock<Interpreter> = OnceLock::new();

/// Lets every case run in an interpreter of schedules instead of on a GPU: in every family and build, as small and as
/// large tensors run. A binary that does so calls it before anything else.
pub fn interpret(interpreter: Interpreter) {
    INTERPRETER.get_or_init(|| interpreter);
}

/// The schedules that have run in the interpreter.
static INTERPRETED: AtomicU32 = AtomicU32::new(0);

/// How many schedules have run in the interpreter.
pub fn interpreted() -> u32 {
    INTERPRETED.load(Ordering::Relaxed)
}

/// Loop iterations of a schedule that is interpreted: half a minute.
const MOST_WORK: u64 = 1 << 22;

/// More taps than this for a workgroup take the interpreter long, where a kernel reads every window tap by tap.
const MOST_TAPS: u64 = 1 << 11;

/// Numbers drawn from a text.
struct Draw(u64);

impl Draw {
    fn of(text: &str) -> Draw {
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        Draw(hasher.finish())
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        self.0 = splitmix64(self.0);
        from[(self.0 >> 8) as usize % from.len()]
    }

    /// In a quarter of the draws the sizes that a plan has by itself.
    fn sizes(&mut self) -> Sizes {
        if self.pick(&[true, false, false, false]) {
            return Sizes::default();
        }
        Sizes {
            tile_lines: self.pick(&[None, Some(2), Some(4), Some(8), Some(8)]),
            strip_blocks: self.pick(&[None, Some(1), Some(2), Some(3), Some(8)]),
            run: self.pick(&[None, None, Some(2), Some(4), Some(8), Some(16)]),
            chunks: self.pick(&[None, Some(2), Some(3), Some(5), Some(8)]),
            planes: self.pick(&[None, Some(1), Some(2), Some(5)]),
            part_bytes: self.pick(&[None, Some(1 << 10), Some(1 << 11), Some(1 << 12)]),
            part_taps: self.pick(&[None, Some(2), Some(3), Some(7)]),
            members: self.pick(&[None, Some(2), Some(4), Some(8)]),
            quads: self.pick(&[None, Some(1), Some(2), Some(3), Some(4)]),
            cell_lines: self.pick(&[None, Some(1), Some(2), Some(4)]),
            idle: self.pick(&[None, Some(1), Some(64), Some(128)]),
            taps: self.pick(&[None, None, None, Some(1 << 9), Some(1 << 12)]),
        }
    }
}

/// The GPU of a test, if there is one, and counts of the outcomes of its cases.
pub struct Bench {
    #[cfg(feature = "gpu")]
    gpu: Option<&'static Gpu>,
    /// The ways in which the kernels of the CPU backend have computed cases.
    #[cfg(feature = "cpu")]
    pub net: Net,
    counts: Cell<BTreeMap<String, u32>>,
    /// How many further cases run in specialised kernels too.
    written_out: Cell<u32>,
}

impl Bench {
    /// Opens the GPU of a binary that computes on one. Every case runs in the generic kernels. The first `written_out`
    /// cases to which specialised kernels apply run in those too: they are compiled for each case alone, which takes
    /// longer than the rest of the test.
    pub fn new(written_out: u32) -> Self {
        Bench {
            #[cfg(feature = "gpu")]
            gpu: computes_on_gpu().then(gpu),
            #[cfg(feature = "cpu")]
            net: Net::default(),
            counts: Cell::default(),
            written_out: Cell::new(written_out),
        }
    }

    fn limits(&self) -> Limits {
        #[cfg(feature = "gpu")]
        if let Some(gpu) = self.gpu {
            return gpu.limits();
        }
        Limits::WEBGPU
    }

    pub fn count(&self, what: &str) {
        self.add(what, 1);
    }

    fn add(&self, what: &str, number: u32) {
        let mut counts = self.counts.take();
        *counts.entry(what.to_owned()).or_default() += number;
        self.counts.set(counts);
    }

    pub fn counted(&self, what: &str) -> u32 {
        let counts = self.counts.take();
        let counted = counts.get(what).copied().unwrap_or(0);
        self.counts.set(counts);
        counted
    }

    /// The reference, then every kernel of the CPU backend that applies, then every family that applies in the generic
    /// build, each with its name. The first `written_out` cases also get the specialised builds. A plan that no family
    /// computes is an error, unless it exceeds what a GPU can do and `select` says so.
    fn paths(&self, plan: &Plan) -> Result<Vec<(String, Way)>, String> {
        let mut paths = vec![("reference".to_owned(), Way::Reference)];
        #[cfg(feature = "cpu")]
        paths.extend(self.on_cpu(plan)?);
        let limits = self.limits();
        let found = families(plan, &limits);
        if let (Some(&interpreter), false) = (INTERPRETER.get(), found.is_empty()) {
            paths.extend(self.interpreted(plan, &found, interpreter)?);
            return Ok(paths);
        }
        if found.is_empty() {
            return match select(plan, &limits, &Choice::default()) {
                Err(PlanError::NotOnGpu { .. } | PlanError::ExceedsLimit { .. }) => {
                    self.count("not on a GPU");
                    Ok(paths)
                }
                other => Err(format!("no family applies, but the selection is {other:?}")),
            };
        }
        let mut path = |schedule: Schedule, how: &str| {
            paths.extend(self.on_gpu(schedule, how)?);
            Ok::<(), String>(())
        };
        let generic = |family: &Family| family.builds().contains(&Build::Generic);
        for family in found.iter().copied().filter(generic) {
            let choice = Choice { family: Some(family), build: Some(Build::Generic) };
            match select(plan, &limits, &choice) {
                Ok(schedule) => path(schedule, "")?,
                Err(error) => return Err(format!("{family:?}: {error}")),
            }
            self.count(family.name());
        }
        let choice = Choice { build: Some(Build::Generic), ..Choice::default() };
        // The schedule for a device with small bindings, if it is another one.
        if let (Ok(whole), Ok(schedule)) = (select(plan, &limits, &choice), select(plan, &TIGHT, &choice))
            && whole.dispatches() != schedule.dispatches()
        {
            self.count("cut");
            path(schedule, ", cut")?;
        }
        let mut written_out = false;
        let specialised = |family: &Family| family.builds().contains(&Build::Specialised);
        for family in found.into_iter().filter(specialised) {
            let choice = Choice { family: Some(family), build: Some(Build::Specialised) };
            // One case after the other as on a GPU and as on a software adapter.
            let limits = Limits { software: self.written_out.get().is_multiple_of(2), ..limits };
            let Ok(schedule) = select(plan, &limits, &choice) else { continue };
            if self.written_out.get() == 0 || schedule.dispatches().is_empty() {
                continue;
            }
            written_out = true;
            let cut = select(plan, &TIGHT, &choice).ok().filter(|cut| cut.dispatches() != schedule.dispatches());
            path(schedule, "")?;
            if let Some(cut) = cut {
                self.count("written out and cut");
                path(cut, ", cut")?;
            }
        }
        if written_out {
            self.written_out.set(self.written_out.get() - 1);
            self.count("written out");
        }
        Ok(paths)
    }

    /// Every family and build in the interpreter, as GPUs and software adapters run them, with sizes that are drawn;
    /// and what is selected for a device with small bindings.
    fn interpreted(
        &self,
        plan: &Plan,
        families: &[Family],
        interpreter: Interpreter,
    ) -> Result<Vec<(String, Way)>, String> {
        let mut draw = Draw::of(&format!("{plan:?}"));
        let mut found: Vec<(String, Schedule)> = Vec::new();
        let mut add = |limits: &Limits, choice: Choice, sizes: Sizes| {
            // Sizes divide outputs further than some limits allow.
            let sized = select_sized(plan, limits, &choice, sizes);
            let Ok(schedule) = sized.or_else(|_| select(plan, limits, &choice)) else { return };
            let work = schedule.dispatches().iter().map(Dispatch::work).fold(0, u64::saturating_add);
            if work > MOST_WORK {
                return self.count("too much work to interpret");
            }
            let name = format!("{} for {limits:?}, {sizes:?}", schedule.kernel());
            if found.iter().all(|(_, other)| *other != schedule) {
                found.push((name, schedule));
            }
        };
        let outputs = plan.output_shape().iter().product::<usize>() as u64;
        let taps = plan.pool().map_or(0, |pool| pool.most_taps().saturating_mul(outputs.div_ceil(64)));
        for &family in families {
            let most = match family {
                Family::Sliding | Family::Reducing => u64::MAX,
                Family::Teamed => 4 * MOST_TAPS,
                _ => MOST_TAPS,
            };
            if taps > most {
                continue;
            }
            // Kernels that hold several outputs, twice: more depends on their sizes.
            let twice = !matches!(family, Family::Direct | Family::Separable | Family::Accumulating);
            let builds = family.builds().iter().chain(family.builds().last().filter(|_| twice));
            for &build in builds {
                let limits = Limits { software: draw.pick(&[false, true]), ..Limits::WEBGPU };
                add(&limits, Choice { family: Some(family), build: Some(build) }, draw.sizes());
            }
        }
        if taps <= MOST_TAPS {
            let build = draw.pick(&[Build::Generic, Build::Specialised]);
            let limits = Limits { software: draw.pick(&[false, true]), ..TIGHT };
            add(&limits, Choice { family: None, build: Some(build) }, draw.sizes());
        }
        for (_, schedule) in &found {
            self.count(&format!("{:?} {:?}", schedule.build(), schedule.family()));
        }
        self.add("schedules", found.len() as u32);
        INTERPRETED.fetch_add(found.len() as u32, Ordering::Relaxed);
        Ok(found.into_iter().map(|(name, schedule)| (name, Way::Interpreted(interpreter(schedule)))).collect())
    }

    /// The kernels of the CPU backend, each in the way that is next in the net.
    #[cfg(feature = "cpu")]
    fn on_cpu(&self, plan: &Plan) -> Result<Vec<(String, Way)>, String> {
        let on_cpu = |error| format!("the CPU backend: {error}");
        let chosen = Cpu::new().prepare(plan.clone()).map_err(on_cpu)?;
        self.count(&format!("chosen {} on the CPU", chosen.kernel().name()));
        let each = |(way, prepared): (support::cpu::Way, PreparedCpu)| {
            let name = format!("CPU, {}, {way}", prepared.kernel().name());
            (name, Way::Cpu(Box::new(prepared), way.host))
        };
        Ok(self.net.prepared(plan).map_err(on_cpu)?.into_iter().map(each).collect())
    }

    /// A schedule on the GPU, if there is one.
    #[cfg(feature = "gpu")]
    fn on_gpu(&self, schedule: Schedule, how: &str) -> Result<Option<(String, Way)>, String> {
        let Some(gpu) = self.gpu else { return Ok(None) };
        let name = format!("{}{how}", schedule.kernel());
        let prepared = gpu.prepare_blocking(schedule).map_err(|error| format!("{name}: {error}"))?;
        Ok(Some((name, Way::Gpu(prepared))))
    }

    #[cfg(not(feature = "gpu"))]
    fn on_gpu(&self, _: Schedule, _: &str) -> Result<Option<(String, Way)>, String> {
        Ok(None)
    }
}

/// A way to compute a plan.
enum Way {
    Reference,
    Interpreted(Arc<dyn Run>),
    #[cfg(feature = "cpu")]
    Cpu(Box<PreparedCpu>, &'static Host),
    #[cfg(feature = "gpu")]
    Gpu(Prepared),
}

impl Way {
    /// What a case gives, written over garbage.
    fn outcome(&self, case: &Case) -> Outcome {
        match self {
            Way::Reference => case.expected(),
            Way::Interpreted(run) => case.outcome(|x, y| run.run_blocking(x, y)),
            #[cfg(feature = "cpu")]
            Way::Cpu(prepared, host) => host.call(|| case.outcome(|x, y| prepared.run_blocking(x, y))),
            #[cfg(feature = "gpu")]
            Way::Gpu(prepared) => case.outcome(|x, y| prepared.run_blocking(x, y)),
        }
    }
}

impl fmt::Display for Bench {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = self.counts.take();
        let parts: Vec<String> = counts.iter().map(|(what, count)| format!("{count} {what}")).collect();
        self.counts.set(counts);
        formatter.write_str(&parts.join(", "))
    }
}

/// What the library computes for a pool: the bits of Y, and indices if they were asked for.
pub struct Output {
    pub y: Vec<u64>,
    pub indices: Option<Vec<i64>>,
}

/// The bits of elements, from their bytes.
fn bits(dtype: DType, bytes: &[u8]) -> Vec<u64> {
    let word = |element: &[u8]| element.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
    bytes.chunks_exact(dtype.bytes()).map(word).collect()
}

/// A plan on these elements and indices.
fn on(plan: &Plan, x: &[u64], indices: &[i64]) -> Case {
    let inputs = plan.inputs().iter().enumerate().map(|(number, spec)| match number {
        0 => bytes_of(spec.dtype, x),
        _ => bytes_of(spec.dtype, &indices.iter().map(|&index| index as u64).collect::<Vec<_>>()),
    });
    Case::new(plan.clone(), inputs.collect())
}

/// Computes a pool on one path.
fn compute_pool(case: &Case, way: &Way) -> Result<Output, String> {
    let outputs = way.outcome(case).map_err(|error| error.to_string())?;
    let mut outputs = case.plan.outputs().iter().zip(&outputs).map(|(spec, bytes)| bits(spec.dtype, bytes));
    let signed =
        |index: u64| if case.plan.index_type() == Some(IndexType::I32) { index as i32 as i64 } else { index as i64 };
    let y = outputs.next().ok_or("a pool has a Y")?;
    Ok(Output { y, indices: outputs.next().map(|indices| indices.into_iter().map(signed).collect()) })
}

fn same<V: PartialEq + fmt::LowerHex>(what: &str, path: &str, expected: &[V], actual: &[V]) -> Result<(), String> {
    if expected.len() != actual.len() {
        return Err(format!("{path}: {what} has {} elements, not {}", actual.len(), expected.len()));
    }
    match expected.iter().zip(actual).position(|(expected, actual)| expected != actual) {
        None => Ok(()),
        Some(i) => Err(format!("{path}: {what}[{i}] is {:#x}, defined is {:#x}", actual[i], expected[i])),
    }
}

/// Plans and computes a pool on every path and compares with its definition. `None` if the pool is rightly refused, or
/// too large to judge; otherwise the plan, the definition's result and the reference's result.
pub fn pool(case: &PoolCase, bench: &Bench) -> Result<Option<(Plan, Pooled, Output)>, String> {
    let plan = planned(case)?;
    let verdict = definition::pool(case);
    let (plan, defined) = match (plan, verdict) {
        (Ok(plan), Verdict::Accepted(defined)) => (plan, defined),
        (Err(_), Verdict::Refused) => {
            bench.count("refused");
            return Ok(None);
        }
        (plan, Verdict::Unjudged) => {
            bench.count("too large to judge");
            // Selecting must neither panic nor exhaust the memory, whatever the sizes are.
            if let Ok(plan) = plan {
                families(&plan, &Limits::WEBGPU);
            }
            return Ok(None);
        }
        // The bound on the indices of empty windows is not tight for dilations as large as an index.
        (Err(PlanError::EmptyIndexOverflow { .. }), Verdict::Accepted(_)) if case.is_wide() => {
            bench.count("too large to judge");
            return Ok(None);
        }
        (Ok(plan), Verdict::Refused) => return Err(format!("it has to be refused, but is planned: {plan:?}")),
        (Err(error), Verdict::Accepted(_)) => return Err(format!("it has to be planned, but: {error}")),
    };
    let (outputs, layout) = (defined.outputs(), case.conventions.index_layout.unwrap_or_default());
    let expected = shape(case.layout(), case.batch, case.channels, &outputs);
    if plan.output_shape() != expected {
        return Err(format!("the output shape is {:?}, defined is {expected:?}", plan.output_shape()));
    }
    if case.indices.is_some() && plan.outputs()[1].shape != shape(layout, case.batch, case.channels, &outputs) {
        return Err(format!("the indices' shape is {:?}", plan.outputs()[1].shape));
    }
    if plan.has_empty_windows() != defined.has_empty_windows() {
        return Err(format!("has_empty_windows is {}", plan.has_empty_windows()));
    }
    bench.count("valid");
    if defined.y.is_empty() {
        bench.count("with an empty output");
    } else if defined.has_empty_windows() {
        bench.count("with windows wholly in padding");
    }
    let (mut first, own) = (None, on(&plan, &case.x, &[]));
    for (path, way) in bench.paths(&plan)? {
        let output = compute_pool(&own, &way).map_err(|error| format!("{path}: {error}"))?;
        same("y", &path, &defined.y, &output.y)?;
        if let Some(indices) = &output.indices {
            same("indices", &path, &defined.indices, indices)?;
        }
        first.get_or_insert(output);
    }
    let output = first.ok_or("the reference is a path of every plan")?;
    Ok(Some((plan, defined, output)))
}

/// The plan of a pool, after checking that planning twice gives the same answer and that an error of the pool does not
/// depend on the index type.
fn planned(case: &PoolCase) -> Result<Result<Plan, PlanError>, String> {
    let (pool, shape) = (case.written().value, case.shape());
    let plan = pool.plan(&shape, case.dtype, case.indices);
    // Texts, because a plan with a NaN in it is not equal to itself.
    if format!("{plan:?}") != format!("{:?}", pool.plan(&shape, case.dtype, case.indices)) {
        return Err("planning twice gives two answers".to_owned());
    }
    let without = pool.plan(&shape, case.dtype, None);
    for index_type in [IndexType::I32, IndexType::I64] {
        let with = pool.plan(&shape, case.dtype, Some(index_type));
        match (&without, &with) {
            (Ok(_), Ok(_)) => {}
            (Ok(_), Err(PlanError::IndexTypeTooNarrow { .. } | PlanError::EmptyIndexOverflow { .. })) => {}
            (Err(without), Err(with)) if without == with => {}
            _ => return Err(format!("without indices: {without:?}; with {index_type:?}: {with:?}")),
        }
    }
    // The inverse of what cannot be planned cannot be planned for the same reason.
    if let Err(error) = pool.plan(&shape, DType::F32, Some(IndexType::I64)) {
        let inverse = MaxUnpool::inverse_of(&*pool, &shape).plan(&shape, case.dtype, IndexType::I64);
        if inverse.as_ref() != Err(&error) {
            return Err(format!("the pool is refused with {error:?}, its inverse gives {inverse:?}"));
        }
    }
    Ok(plan)
}

/// Plans and computes an unpool on every path, compares with its definition, and returns the reference's Y.
pub fn unpool(case: &UnpoolCase, bench: &Bench) -> Result<Option<Vec<u64>>, String> {
    let unpool = case.operator();
    let plan = unpool.plan(&case.shape(), case.dtype, case.index_type);
    if format!("{plan:?}") != format!("{:?}", unpool.plan(&case.shape(), case.dtype, case.index_type)) {
        return Err("planning twice gives two answers".to_owned());
    }
    let (plan, scatter) = match (plan, case.judge()) {
        (Ok(plan), Verdict::Accepted(scatter)) => (plan, scatter),
        (Err(_), Verdict::Refused) => {
            bench.count("refused");
            return Ok(None);
        }
        (plan, Verdict::Unjudged) => {
            bench.count("too large to judge");
            if let Ok(plan) = plan {
                families(&plan, &Limits::WEBGPU);
            }
            return Ok(None);
        }
        (Ok(plan), Verdict::Refused) => return Err(format!("it has to be refused, but is planned: {plan:?}")),
        (Err(PlanError::Combination { second: "outside_window", .. }), Verdict::Accepted(scatter))
            if scatter.outside_window != OutsideWindow::Scatter && case.is_far() =>
        {
            bench.count("too large to judge");
            return Ok(None);
        }
        (Err(error), Verdict::Accepted(_)) => return Err(format!("it has to be planned, but: {error}")),
    };
    let (batch, channels) = scatter.outer();
    let expected = shape(scatter.layout, batch, channels, &scatter.outputs);
    if plan.output_shape() != expected {
        return Err(format!("the output shape is {:?}, defined is {expected:?}", plan.output_shape()));
    }
    if plan.index_space().unwrap().index_count() as i64 != scatter.unit() {
        return Err(format!(
            "the unit is {}, defined is {}",
            plan.index_space().unwrap().index_count(),
            scatter.unit()
        ));
    }
    bench.count("valid");
    if let Target::Inverse(_) = case.target
        && scatter.skip_minus_one
    {
        bench.count("with windows wholly in padding");
    }
    scattered(case, &plan, &scatter, bench)
}

fn scattered(case: &UnpoolCase, plan: &Plan, scatter: &Scatter, bench: &Bench) -> Result<Option<Vec<u64>>, String> {
    let defined = scatter.scatter(case.dtype, &case.x, &case.indices);
    let (mut first, own) = (None, on(plan, &case.x, &case.indices));
    for (path, way) in bench.paths(plan)? {
        let y = way.outcome(&own).map(|outputs| bits(case.dtype, &outputs[0]));
        match (&defined, y) {
            (Scattered::Values(values), Ok(y)) => {
                let differs = |(values, bits): (&Vec<u64>, &u64)| !values.contains(bits);
                if let Some(i) = values.iter().zip(&y).position(differs) {
                    return Err(format!("{path}: y[{i}] is {:#x}, defined is {:#x?}", y[i], values[i]));
                }
                first.get_or_insert(y);
            }
            (Scattered::Fault { position, value, count }, Err(error)) => {
                let (position, value, count) = (*position, *value, *count);
                let unit = scatter.unit() as u64;
                let expected = ExecuteError::IndexOutOfRange { position, value, index_count: unit, count };
                if error != expected {
                    return Err(format!("{path}: the error is {error:?}, defined is {expected:?}"));
                }
            }
            (Scattered::Outside { position, count }, Err(error)) => {
                let expected = ExecuteError::IndexOutsideWindow { position: *position, count: *count };
                if error != expected {
                    return Err(format!("{path}: the error is {error:?}, defined is {expected:?}"));
                }
            }
            (Scattered::Values(_), Err(error)) => return Err(format!("{path}: {error}")),
            (Scattered::Outside { position, .. }, Ok(_)) => {
                return Err(format!("{path}: indices[{position}] lies outside its window, and nothing is said"));
            }
            (Scattered::Fault { position, value, .. }, Ok(_)) => {
                return Err(format!("{path}: indices[{position}] is {value}, and nothing is said"));
            }
        }
    }
    if first.is_none() {
        bench.count("with indices at fault");
    }
    Ok(first)
}
