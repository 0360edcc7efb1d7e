//! What is checked of a case on each path.

use std::sync::OnceLock;

#[cfg(feature = "cpu")]
use support::cpu::ways;
#[cfg(feature = "gpu")]
use support::device::gpu;
use support::vectors::case::{Case, Expectation};
use support::vectors::compare::{NanRule, compare};
use support::vectors::recipe::{Operator, Recipe, RecipeError};
use support::vectors::tensors::RawTensor;
#[cfg(feature = "cpu")]
use wgpu_pooling::SimdLevel;
use wgpu_pooling::{IndexType, Plan};

#[cfg(feature = "gpu")]
use crate::device;
#[cfg(feature = "gpu")]
use crate::encoded::Encoded;
use crate::paths::{Failure, Outcome, Output, Reference, compute, guarded};

/// A case and the reference's results, which both paths need and which are computed once.
pub struct Subject {
    pub case: Case,
    runs: OnceLock<Result<Vec<Run>, String>>,
}

/// One computation of a case: with or without indices, with one policy for equal indices.
struct Run {
    label: String,
    plan: Result<Plan, Failure>,
    reference: OnceLock<Outcome>,
}

impl Subject {
    pub fn new(case: Case) -> Self {
        Subject { case, runs: OnceLock::new() }
    }

    /// The reference gives what is expected, and Y does not depend on whether indices are asked for.
    pub fn check_reference(&self) -> Result<(), String> {
        let x = self.case.x.tensor();
        let mut complaints = Vec::new();
        let mut first: Option<&RawTensor> = None;
        for run in self.runs()? {
            let outcome = run.reference(&self.case, &x);
            let mut result = self.check_expected(outcome);
            if let (Ok(()), Ok(output)) = (&result, outcome) {
                let y = &output.y;
                result = compare("y, beside the first run's", first.get_or_insert(y), y, NanRule::Exact);
            }
            complaints.extend(result.err().map(|error| format!("reference, {}: {error}", run.label)));
        }
        self.conclude(complaints)
    }

    /// Every kernel of the CPU backend that applies gives what is expected, and to the bit what the reference gives, at
    /// every level of vector instructions that this processor has.
    #[cfg(feature = "cpu")]
    pub fn check_cpu(&self) -> Result<(), String> {
        let x = self.case.x.tensor();
        let mut complaints = Vec::new();
        for run in self.runs()? {
            let mut check = |kernel: &str, outcome: &Outcome| {
                let result = self.check_expected(outcome).and(agree(run.reference(&self.case, &x), outcome));
                complaints.extend(result.err().map(|error| format!("cpu, {kernel}, {}: {error}", run.label)));
            };
            let Ok(plan) = &run.plan else {
                check("plan", run.reference(&self.case, &x));
                continue;
            };
            match guarded(|| ways(plan, SimdLevel::available())) {
                Ok(ways) => ways.iter().for_each(|(kernel, prepared)| {
                    check(kernel, &compute(prepared, plan, &x, self.case.indices.as_ref()));
                }),
                Err(failure) => check("prepare", &Err(failure)),
            }
        }
        self.conclude(complaints)
    }

    /// Every kernel that applies gives what is expected, and to the bit what the reference gives.
    #[cfg(feature = "gpu")]
    pub fn check_gpu(&self) -> Result<(), String> {
        let gpu = gpu();
        let x = self.case.x.tensor();
        let mut complaints = Vec::new();
        for run in self.runs()? {
            let mut check = |kernel: &dyn std::fmt::Display, result: Result<(), String>| {
                complaints.extend(result.err().map(|error| format!("gpu, {kernel}, {}: {error}", run.label)));
            };
            let plan = match &run.plan {
                Ok(plan) => plan,
                Err(failure) => {
                    check(&"plan", self.check_failure(failure));
                    continue;
                }
            };
            let kernels = match device::kernels(gpu, plan, self.case.specialised) {
                Ok(kernels) => kernels,
                Err(error) => {
                    check(&"select", Err(error));
                    continue;
                }
            };
            for kernel in kernels {
                let outcome = kernel.prepare().and_then(|ready| compute(&ready, plan, &x, self.case.indices.as_ref()));
                check(&kernel, self.check_expected(&outcome).and(agree(run.reference(&self.case, &x), &outcome)));
            }
            let outcome =
                Encoded::prepare(gpu, plan).and_then(|encoded| compute(&encoded, plan, &x, self.case.indices.as_ref()));
            check(&"encoded", agree(run.reference(&self.case, &x), &outcome));
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

    fn check_expected(&self, outcome: &Outcome) -> Result<(), String> {
        let Output { y, indices } = match outcome {
            Ok(output) => output,
            Err(failure) => return self.check_failure(failure),
        };
        match &self.case.expectation {
            Expectation::MustReject => Err("a result where an error is required".to_owned()),
            Expectation::MayReject => Ok(()),
            Expectation::Output { y: expected, indices: expected_indices } => {
                expected.check("y", y, self.case.nan)?;
                match (expected_indices, indices) {
                    (Some(expected), Some(indices)) => expected.check("indices", indices, self.case.nan),
                    _ => Ok(()),
                }
            }
        }
    }

    fn check_failure(&self, failure: &Failure) -> Result<(), String> {
        match (failure, &self.case.expectation) {
            (Failure::Panicked(text), _) => Err(format!("the library panicked: {text}")),
            (Failure::Refused(_), Expectation::MustReject | Expectation::MayReject) => Ok(()),
            (Failure::Refused(error), Expectation::Output { .. }) => Err(format!("an error: {error}")),
        }
    }
}

impl Run {
    fn reference(&self, case: &Case, x: &RawTensor) -> &Outcome {
        self.reference.get_or_init(|| match &self.plan {
            Ok(plan) => compute(&Reference, plan, x, case.indices.as_ref()),
            Err(Failure::Refused(error)) => Err(Failure::Refused(error.clone())),
            Err(Failure::Panicked(text)) => Err(Failure::Panicked(text.clone())),
        })
    }
}

/// Two paths of the crate agree in every bit, NaN payloads included, and in their errors.
#[cfg(any(feature = "cpu", feature = "gpu"))]
pub fn agree(reference: &Outcome, outcome: &Outcome) -> Result<(), String> {
    match (reference, outcome) {
        (Ok(expected), Ok(output)) => {
            compare("y, beside the reference's", &expected.y, &output.y, NanRule::Exact)?;
            match (&expected.indices, &output.indices) {
                (Some(expected), Some(indices)) => {
                    compare("indices, beside the reference's", expected, indices, NanRule::Exact)
                }
                (None, None) => Ok(()),
                _ => Err("indices on one path alone".to_owned()),
            }
        }
        (Err(Failure::Refused(expected)), Err(Failure::Refused(error))) if expected == error => Ok(()),
        (Ok(_), Err(failure)) => Err(format!("the reference gives a result, this path {failure:?}")),
        (Err(failure), Ok(_)) => Err(format!("a result where the reference gives {failure:?}")),
        (Err(expected), Err(failure)) => Err(format!("the reference gives {expected:?}, this path {failure:?}")),
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
            runs.push(Run { label: label(&recipe, index_type), plan, reference: OnceLock::new() });
        }
    }
    Ok(runs)
}

/// Building an operator and planning may both be refused, or panic; `Err` means that the case is not understood.
fn plan(case: &Case, recipe: &Recipe, index_type: Option<IndexType>) -> Result<Result<Plan, Failure>, String> {
    let (shape, dtype) = (case.x.shape(), case.x.dtype());
    let planned = guarded(|| {
        Ok(match recipe.build() {
            Ok(Operator::Pool(pool)) => Ok(pool.plan(shape, dtype, index_type)?),
            Ok(Operator::Unpool(unpool)) => match index_type {
                Some(index_type) => Ok(unpool.plan(shape, dtype, index_type)?),
                None => Err("an unpool without indices among its inputs".to_owned()),
            },
            Err(RecipeError::NotUnderstood(text)) => Err(text),
            Err(RecipeError::Refused(error)) => return Err(error.into()),
        })
    });
    match planned {
        Ok(plan) => plan.map(Ok),
        Err(failure) => Ok(Err(failure)),
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
