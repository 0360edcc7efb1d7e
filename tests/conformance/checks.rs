//! What is checked of a case on each path.

use std::sync::OnceLock;

use support::call::{Call, Outcome};
#[cfg(any(feature = "cpu", feature = "gpu"))]
use support::net::Net;
use support::vectors::case::{Case, Expectation};
use support::vectors::recipe::{Operator, Recipe, RecipeError};
use wgpu_pooling::{IndexType, Plan, PlanError};

/// A case and its plans.
pub struct Subject {
    pub case: Case,
    runs: OnceLock<Result<Vec<Run>, String>>,
}

/// One computation of a case: with or without indices, with one policy for equal indices.
struct Run {
    label: String,
    plan: Result<Plan, PlanError>,
    expected: OnceLock<Outcome>,
}

impl Subject {
    pub fn new(case: Case) -> Self {
        Subject { case, runs: OnceLock::new() }
    }

    /// The reference gives what is expected, and Y does not depend on whether indices are asked for.
    pub fn check_reference(&self) -> Result<(), String> {
        let mut first: Option<Vec<u8>> = None;
        self.each(|run, call| {
            let outcome = run.expected(call);
            self.case.check(call, outcome)?;
            match outcome {
                Ok(outputs) if first.get_or_insert_with(|| outputs[0].clone()) != &outputs[0] => {
                    Err("y is not the first run's".to_owned())
                }
                _ => Ok(()),
            }
        })
    }

    /// Every path gives to the bit what the reference gives: on the CPU at every level of vector instructions that this
    /// processor has, on a GPU in the specialised builds too where the case is listed.
    #[cfg(any(feature = "cpu", feature = "gpu"))]
    pub fn check(&self, kind: &'static str) -> Result<(), String> {
        self.each(|run, call| {
            let net = Net::new(u32::from(self.case.specialised)).every_level().only(kind);
            net.each(call, |outcome| support::call::same(run.expected(call), outcome))?;
            let is_empty = call.plan.outputs()[0].element_count() == 0;
            if kind == "GPU" && self.case.specialised && !is_empty && net.specialised_left() > 0 {
                return Err("the case is listed as one for specialised kernels, but none applies".to_owned());
            }
            Ok(())
        })
    }

    /// Calls a check with each run that has a plan. Of the others the error is checked.
    fn each(&self, mut check: impl FnMut(&Run, &Call) -> Result<(), String>) -> Result<(), String> {
        let mut complaints = Vec::new();
        for run in self.runs()? {
            let result = match &run.plan {
                Ok(plan) => check(run, &self.case.call(plan.clone())),
                Err(error) => self.case.check_error(error),
            };
            complaints.extend(result.err().map(|error| format!("{}: {error}", run.label)));
        }
        self.conclude(complaints)
    }

    fn conclude(&self, complaints: Vec<String>) -> Result<(), String> {
        if complaints.is_empty() { Ok(()) } else { Err(format!("{}\n  {}", self.case.name, complaints.join("\n  "))) }
    }

    fn runs(&self) -> Result<&[Run], String> {
        match self.runs.get_or_init(|| runs(&self.case)) {
            Ok(runs) => Ok(runs),
            Err(error) => Err(format!("{}: {error}", self.case.name)),
        }
    }
}

impl Run {
    fn expected(&self, call: &Call) -> &Outcome {
        self.expected.get_or_init(|| call.expected())
    }
}

/// The computations that a case asks for. `Err` means that the case is not understood.
fn runs(case: &Case) -> Result<Vec<Run>, String> {
    if case.indices.is_some() != (case.recipe.operator == "MaxUnpool") {
        return Err(format!("{} with the wrong inputs", case.recipe.operator));
    }
    let index_types = match (&case.indices, &case.expectation) {
        (Some(indices), _) => vec![Some(indices.index_type()?)],
        // Values do not depend on whether indices were asked for, so where indices are expected both forms are run.
        (None, Expectation::Output { indices: Some(expected), .. }) => vec![Some(expected.index_type()?), None],
        (None, Expectation::Output { indices: None, .. }) => vec![None],
        (None, Expectation::MustReject | Expectation::MayReject) => vec![Some(IndexType::I64), None],
    };
    let mut runs = Vec::new();
    for recipe in case.recipe.variants() {
        for &index_type in &index_types {
            let plan = plan(case, &recipe, index_type)?;
            runs.push(Run { label: label(&recipe, index_type), plan, expected: OnceLock::new() });
        }
    }
    Ok(runs)
}

/// Building an operator and planning may both be refused; `Err` means that the case is not understood.
fn plan(case: &Case, recipe: &Recipe, index_type: Option<IndexType>) -> Result<Result<Plan, PlanError>, String> {
    let (shape, dtype) = (case.x.shape(), case.x.dtype());
    match recipe.build() {
        Ok(Operator::Pool(pool)) => Ok(pool.plan(shape, dtype, index_type)),
        Ok(Operator::Unpool(unpool)) => match index_type {
            Some(index_type) => Ok(unpool.plan(shape, dtype, index_type)),
            None => Err("an unpool without indices among its inputs".to_owned()),
        },
        Err(RecipeError::NotUnderstood(text)) => Err(text),
        Err(RecipeError::Refused(error)) => Ok(Err(error)),
    }
}

fn label(recipe: &Recipe, index_type: Option<IndexType>) -> String {
    let policy = recipe.options.iter().find(|(name, _)| name == "duplicates");
    match (index_type, policy) {
        (None, _) => "values only".to_owned(),
        (Some(index_type), None) => format!("{} indices", index_type.name()),
        (Some(index_type), Some((_, policy))) => format!("{} indices, duplicates {policy}", index_type.name()),
    }
}
