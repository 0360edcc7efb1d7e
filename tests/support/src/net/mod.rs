//! All paths by which a call is computed, and one loop that runs them: the reference; every kernel of the CPU backend
//! that applies; on a GPU every family that applies, encoded, in a chain, by a host of schedules, streamed and in
//! tiles; every family, build and size in an interpreter of kernels.

#[cfg(feature = "gpu")]
mod device;
#[cfg(feature = "interpreter")]
mod interpreted;
mod streamed;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fmt;

#[cfg(feature = "cpu")]
use wgpu_pooling::{Backend, Cpu, CpuKernel, ExecuteError, SimdLevel, TensorMut};
use wgpu_pooling::{Choice, Family, Limits, Plan, PlanError, Reference, families, select};

use crate::call::{Call, Outcome, same};
#[cfg(feature = "cpu")]
use crate::cpu::{Host, Turns, applying};
#[cfg(feature = "gpu")]
use crate::harness::skips_gpu;
#[cfg(feature = "gpu")]
pub use device::{encoded_words, hosted};
pub use streamed::streamed;

/// Limits that most cases exceed somewhere: bindings of 6 KiB, four storage buffers and one workgroup a dimension.
#[cfg(any(feature = "gpu", feature = "interpreter"))]
const TIGHT: Limits = Limits {
    max_buffer_bytes: 1 << 20,
    max_binding_bytes: 6 << 10,
    max_workgroups_per_dimension: 1,
    max_storage_buffers: 4,
    software: false,
};

/// A way to compute a call.
pub struct Path<'a> {
    /// What is counted: the kernel and what runs it.
    pub kind: String,
    /// More of it, for whoever reads of a failure.
    pub name: String,
    run: Box<dyn Fn(&Call) -> Outcome + 'a>,
}

impl<'a> Path<'a> {
    fn new(kind: impl Into<String>, detail: impl fmt::Display, run: impl Fn(&Call) -> Outcome + 'a) -> Path<'a> {
        let kind = kind.into();
        let name = format!("{kind}{detail}");
        Path { kind, name, run: Box::new(run) }
    }
}

/// The paths that calls take, and how many took each.
#[derive(Default)]
pub struct Net {
    /// The ways in which the kernels of the CPU backend have computed calls.
    #[cfg(feature = "cpu")]
    pub turns: Turns,
    /// Whether each call takes every level of vectors. Otherwise calls take them in turn.
    #[cfg_attr(not(feature = "cpu"), expect(dead_code, reason = "only the CPU backend has levels"))]
    every_level: bool,
    counts: RefCell<BTreeMap<String, u32>>,
    /// Whether calls run in the interpreter.
    #[cfg_attr(
        not(any(feature = "interpreter", feature = "gpu")),
        expect(dead_code, reason = "there is no interpreter")
    )]
    interpreted: bool,
    /// The only kind of paths that calls take, beside the reference.
    only: Option<&'static str>,
    /// How many further calls run in specialised kernels of a GPU too.
    specialised: Cell<u32>,
    /// How many calls there were.
    calls: Cell<u32>,
}

impl Net {
    /// Every call runs in the generic kernels of a GPU. The first `specialised` calls to which specialised kernels
    /// apply run in those too: they are compiled for each call alone, which takes longer than the rest of a test.
    pub fn new(specialised: u32) -> Net {
        Net { specialised: Cell::new(specialised), ..Net::default() }
    }

    /// Begins at a turn: which of the paths that calls take in turn are next.
    pub fn at(turn: u32) -> Net {
        Net {
            #[cfg(feature = "cpu")]
            turns: Turns::at(turn as usize),
            calls: Cell::new(turn),
            ..Net::default()
        }
    }

    /// On the CPU each call takes every level of vectors.
    pub fn every_level(self) -> Net {
        Net { every_level: true, ..self }
    }

    /// Calls run in the interpreter too, where it is: in every family and build, with sizes as large tensors have them.
    pub fn interpreted(self) -> Net {
        Net { interpreted: true, ..self }
    }

    /// Calls take no paths but those of the CPU backend, or of a GPU.
    pub fn only(self, kind: &'static str) -> Net {
        Net { only: Some(kind), ..self }
    }

    fn takes(&self, kind: &str) -> bool {
        self.only.is_none_or(|only| only == kind)
    }

    /// How many further calls will run in specialised kernels.
    pub fn specialised_left(&self) -> u32 {
        self.specialised.get()
    }

    pub fn count(&self, what: &str) {
        self.add(what, 1);
    }

    fn add(&self, what: &str, number: u32) {
        *self.counts.borrow_mut().entry(what.to_owned()).or_default() += number;
    }

    pub fn counted(&self, what: &str) -> u32 {
        self.counts.borrow().get(what).copied().unwrap_or(0)
    }

    /// Whether each path gives the reference's bits, or its error.
    pub fn agree(&self, call: &Call) -> Result<(), String> {
        let expected = call.expected();
        self.each(call, |outcome| same(&expected, outcome))
    }

    /// Whether what each path gives is what it should be. The first path is the reference.
    pub fn each(&self, call: &Call, mut judge: impl FnMut(&Outcome) -> Result<(), String>) -> Result<(), String> {
        self.calls.set(self.calls.get().wrapping_add(1));
        for path in self.paths(call)? {
            let outcome = (path.run)(call);
            self.count(&path.kind);
            judge(&outcome).map_err(|error| format!("{}: {error}", path.name))?;
        }
        Ok(())
    }

    /// Whether this call is one of so many in turn.
    fn is_turn(&self, of: u32) -> bool {
        self.calls.get().is_multiple_of(of)
    }

    fn paths<'a>(&'a self, call: &'a Call) -> Result<Vec<Path<'a>>, String> {
        let mut paths = vec![Path::new("reference", "", Call::expected)];
        #[cfg(feature = "cpu")]
        if self.takes("CPU") {
            self.on_cpu(call, &mut paths).map_err(|error| format!("the CPU backend: {error}"))?;
        }
        if self.is_turn(4) {
            paths.extend(streamed::path(call, "reference", &Reference));
        }
        if !self.takes("GPU") {
            return Ok(paths);
        }
        let plan = &call.plan;
        #[cfg(feature = "interpreter")]
        if self.interpreted {
            self.in_interpreter(plan, &mut paths);
        }
        #[cfg(feature = "gpu")]
        if !skips_gpu() {
            self.on_device(call, plan, &mut paths)?;
            return Ok(paths);
        }
        self.is_planned(plan, &Limits::WEBGPU)?;
        Ok(paths)
    }

    /// The families that apply. A plan that no family computes is an error, unless it exceeds what a GPU can do and
    /// `select` says so.
    fn is_planned(&self, plan: &Plan, limits: &Limits) -> Result<Vec<Family>, String> {
        let found = families(plan, limits);
        if found.is_empty() {
            match select(plan, limits, &Choice::default()) {
                Err(PlanError::NotOnGpu { .. } | PlanError::ExceedsLimit { .. }) => self.count("not on a GPU"),
                other => return Err(format!("no family applies, but the selection is {other:?}")),
            }
        }
        Ok(found)
    }

    /// Every kernel that applies, each at the level and on the threads that are next; and the reference where its
    /// thread takes subnormals for zeros.
    #[cfg(feature = "cpu")]
    fn on_cpu<'a>(&'a self, call: &'a Call, paths: &mut Vec<Path<'a>>) -> Result<(), ExecuteError> {
        let operator = call.plan.operator();
        for &kernel in CpuKernel::ALL {
            let way = self.turns.way(operator, kernel);
            let levels = if self.every_level { SimdLevel::available() } else { std::slice::from_ref(&way.level) };
            let levels: Vec<SimdLevel> = levels.to_vec();
            for level in levels {
                let cpu = Cpu::new().with_simd(level)?.with_kernel(kernel);
                if !applies(&cpu, kernel, &call.plan)? {
                    continue;
                }
                let detail = format!(", {}, {}", level.name(), way.host);
                let run = move |call: &Call| way.host.call(|| call.on(&cpu));
                paths.push(Path::new(format!("CPU {}", kernel.name()), detail, run));
                self.turns.count(operator, kernel);
            }
        }
        // As users call it, without a kernel that is asked for.
        let host = self.turns.way(operator, CpuKernel::General).host;
        paths.push(Path::new("CPU", format!(", {host}"), |call: &Call| host.call(|| call.on(&Cpu::new()))));
        self.count(&format!("CPU {} chosen", Cpu::new().prepare(call.plan.clone())?.kernel().name()));
        if let Plan::Unpool(_) = &call.plan {
            paths.push(Path::new("CPU fresh", format!(", {host}"), |call: &Call| host.call(|| into_fresh(call))));
        }
        if let Some(host) = Host::flushing().filter(|_| self.is_turn(3)) {
            paths.push(Path::new("reference, flushing", "", |call: &Call| host.call(|| call.expected())));
        }
        if self.is_turn(2) {
            paths.extend(streamed::path(call, "CPU", &Cpu::new()));
        }
        Ok(())
    }
}

/// What the CPU backend gives in outputs whose contents are nobody's, so that after an error they may hold anything.
#[cfg(feature = "cpu")]
fn into_fresh(call: &Call) -> Outcome {
    let (result, written) = call.run(|inputs, outputs| {
        let fresh = outputs.iter_mut().map(|y| {
            let (dtype, shape) = (y.dtype(), y.shape());
            Ok(TensorMut::new(dtype, shape, y.bytes_mut()?)?.fresh())
        });
        let fresh = &mut fresh.collect::<Result<Vec<_>, ExecuteError>>()?;
        Cpu::new().run_blocking(&call.plan, inputs, fresh)
    });
    result.map(|()| written)
}

/// Whether a kernel applies, to each pool of a composition. The general kernel alone applies to differences.
#[cfg(feature = "cpu")]
fn applies(cpu: &Cpu, kernel: CpuKernel, plan: &Plan) -> Result<bool, ExecuteError> {
    match plan {
        Plan::Difference(_) => Ok(kernel == CpuKernel::General),
        Plan::Composition(composition) => {
            for step in composition.steps.iter().filter(|step| step.plan.pool().is_some()) {
                if !applies(cpu, kernel, &step.plan)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        plan => Ok(applying(cpu, kernel, plan)?.is_some()),
    }
}

impl fmt::Display for Net {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = self.counts.borrow();
        let parts: Vec<String> = counts.iter().map(|(what, count)| format!("{count} {what}")).collect();
        formatter.write_str(&parts.join(", "))
    }
}
