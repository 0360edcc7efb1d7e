//! The GPU path: every kernel that applies to a plan.

use std::fmt;

use wgpu_pooling::{
    Build, Choice, ExecuteError, Family, Gpu, Plan, PlanError, Prepared, Run, TensorMut, TensorRef, families, select,
};

use crate::paths::{Failure, Path, guarded};

/// A kernel family in one of its builds.
pub struct Kernel<'a> {
    gpu: &'a Gpu,
    plan: &'a Plan,
    choice: Choice,
}

/// Every family that applies, in the generic build if it has one, and for specialised cases in every build that it has
/// for the plan. `Err` tells why none applies.
pub fn kernels<'a>(gpu: &'a Gpu, plan: &'a Plan, specialised: bool) -> Result<Vec<Kernel<'a>>, String> {
    let limits = gpu.limits();
    let families = families(plan, &limits);
    if families.is_empty() {
        return Err(match select(plan, &limits, &Choice::default()) {
            Ok(schedule) => format!("no family applies, but {} is selected", schedule.kernel()),
            Err(error) => format!("no family applies: {error}"),
        });
    }
    let choices = families.into_iter().flat_map(|family| {
        let builds = family.builds().iter().filter(|build| specialised || **build == Build::Generic);
        builds.map(move |&build| Choice { family: Some(family), build: Some(build) })
    });
    // A family that applies may do so in one of its builds alone.
    let applies = |choice: &Choice| !matches!(select(plan, &limits, choice), Err(PlanError::KernelDoesNotApply { .. }));
    let choices: Vec<Choice> = choices.filter(applies).collect();
    if specialised && choices.iter().all(|choice| choice.build != Some(Build::Specialised)) {
        return Err("the case is listed as one for specialised kernels, but none applies".to_owned());
    }
    Ok(choices.into_iter().map(|choice| Kernel { gpu, plan, choice }).collect())
}

impl fmt::Display for Kernel<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let family = self.choice.family.map_or("chosen", Family::name);
        match self.choice.build {
            Some(build) => write!(formatter, "{family} {build:?}"),
            None => formatter.write_str(family),
        }
    }
}

impl Kernel<'_> {
    /// Schedule and pipelines.
    pub fn prepare(&self) -> Result<Ready, Failure> {
        guarded(|| {
            let schedule = select(self.plan, &self.gpu.limits(), &self.choice)?;
            Ok(Ready(self.gpu.prepare_blocking(schedule)?))
        })
    }
}

/// A prepared kernel as a path. It knows its plan already.
pub struct Ready(Prepared);

impl Path for Ready {
    fn execute(&self, _: &Plan, inputs: &[TensorRef<'_>], outputs: &mut [TensorMut<'_>]) -> Result<(), ExecuteError> {
        self.0.run_blocking(inputs, outputs)
    }
}
