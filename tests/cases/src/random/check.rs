//! One case against its definition on every path.

use std::fmt;

use support::call::{Call, Outcome};
use support::draw::compositions::CompositionCase;
use support::draw::elements::bits_of;
use support::draw::pools::{PoolCase, shape};
use support::draw::unpools::{Target, UnpoolCase};
use support::net::Net;
use wgpu_pooling::{DType, ExecuteError, IndexType, Limits, MaxUnpool, OutsideWindow, Plan, PlanError, families};

use super::compositions;
use super::definition::{self, Pooled, Scatter, Scattered, Verdict};
use super::unpool::judge;

/// What the library computes for a pool: the bits of Y, and indices if they were asked for.
pub struct Output {
    pub y: Vec<u64>,
    pub indices: Option<Vec<i64>>,
}

/// Tensors of every second case begin at an odd address.
fn at_an_address(call: Call) -> Call {
    let bytes = call.inputs[0].iter().map(|&byte| usize::from(byte));
    Call { offset: bytes.sum::<usize>() % 2, ..call }
}

/// What a path gave for a pool.
fn output(plan: &Plan, outcome: &Outcome) -> Result<Output, String> {
    let outputs = outcome.as_ref().map_err(ToString::to_string)?;
    let mut outputs = plan.outputs().iter().zip(outputs).map(|(spec, bytes)| bits_of(spec.dtype, bytes));
    let signed =
        |index: u64| if plan.index_type() == Some(IndexType::I32) { index as i32 as i64 } else { index as i64 };
    let y = outputs.next().ok_or("a pool has a Y")?;
    Ok(Output { y, indices: outputs.next().map(|indices| indices.into_iter().map(signed).collect()) })
}

fn same<V: PartialEq + fmt::LowerHex>(what: &str, expected: &[V], actual: &[V]) -> Result<(), String> {
    if expected.len() != actual.len() {
        return Err(format!("{what} has {} elements, not {}", actual.len(), expected.len()));
    }
    match expected.iter().zip(actual).position(|(expected, actual)| expected != actual) {
        None => Ok(()),
        Some(i) => Err(format!("{what}[{i}] is {:#x}, defined is {:#x}", actual[i], expected[i])),
    }
}

/// Plans and computes a pool on every path and compares with its definition. `None` if the pool is rightly refused, or
/// too large to judge; otherwise the plan, the definition's result and the reference's result.
pub fn pool(case: &PoolCase, net: &Net) -> Result<Option<(Plan, Pooled, Output)>, String> {
    let plan = planned(case)?;
    let verdict = definition::pool(case);
    let (plan, defined) = match (plan, verdict) {
        (Ok(plan), Verdict::Accepted(defined)) => (plan, defined),
        (Err(_), Verdict::Refused) => {
            net.count("refused");
            return Ok(None);
        }
        (plan, Verdict::Unjudged) => {
            net.count("too large to judge");
            // Selecting must neither panic nor exhaust the memory, whatever the sizes are.
            if let Ok(plan) = plan {
                families(&plan, &Limits::WEBGPU);
            }
            return Ok(None);
        }
        // The bound on the indices of empty windows is not tight for dilations as large as an index.
        (Err(PlanError::EmptyIndexOverflow { .. }), Verdict::Accepted(_)) if case.is_wide() => {
            net.count("too large to judge");
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
    net.count("valid");
    if defined.y.is_empty() {
        net.count("with an empty output");
    } else if defined.has_empty_windows() {
        net.count("with windows wholly in padding");
    }
    let mut first = None;
    net.each(&at_an_address(Call::pool(plan.clone(), &case.x)), |outcome| {
        let output = output(&plan, outcome)?;
        same("y", &defined.y, &output.y)?;
        if let Some(indices) = &output.indices {
            same("indices", &defined.indices, indices)?;
        }
        first.get_or_insert(output);
        Ok(())
    })?;
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
pub fn unpool(case: &UnpoolCase, net: &Net) -> Result<Option<Vec<u64>>, String> {
    let plan = case.plan();
    if format!("{plan:?}") != format!("{:?}", case.plan()) {
        return Err("planning twice gives two answers".to_owned());
    }
    let (plan, scatter) = match (plan, judge(case)) {
        (Ok(plan), Verdict::Accepted(scatter)) => (plan, scatter),
        (Err(_), Verdict::Refused) => {
            net.count("refused");
            return Ok(None);
        }
        (plan, Verdict::Unjudged) => {
            net.count("too large to judge");
            if let Ok(plan) = plan {
                families(&plan, &Limits::WEBGPU);
            }
            return Ok(None);
        }
        (Ok(plan), Verdict::Refused) => return Err(format!("it has to be refused, but is planned: {plan:?}")),
        (Err(PlanError::Combination { second: "outside_window", .. }), Verdict::Accepted(scatter))
            if scatter.outside_window != OutsideWindow::Scatter && case.is_far() =>
        {
            net.count("too large to judge");
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
    net.count("valid");
    if let Target::Inverse(_) = case.target
        && scatter.skip_minus_one
    {
        net.count("with windows wholly in padding");
    }
    scattered(case, &plan, &scatter, net)
}

fn scattered(case: &UnpoolCase, plan: &Plan, scatter: &Scatter, net: &Net) -> Result<Option<Vec<u64>>, String> {
    let call = at_an_address(Call::unpool(plan.clone(), &case.x, &case.indices));
    if !call.is_whole() {
        net.count("too large to judge");
        return Ok(None);
    }
    let defined = scatter.scatter(case.dtype, &case.x, &case.indices);
    let mut first = None;
    net.each(&call, |outcome| {
        let fault = match &defined {
            Scattered::Values(values) => {
                let y = bits_of(case.dtype, &outcome.as_ref().map_err(ToString::to_string)?[0]);
                let differs = |(values, bits): (&Vec<u64>, &u64)| !values.contains(bits);
                return match values.iter().zip(&y).position(differs) {
                    Some(i) => Err(format!("y[{i}] is {:#x}, defined is {:#x?}", y[i], values[i])),
                    None => {
                        first.get_or_insert(y);
                        Ok(())
                    }
                };
            }
            &Scattered::Fault { position, value, count } => {
                ExecuteError::IndexOutOfRange { position, value, index_count: scatter.unit() as u64, count }
            }
            &Scattered::Outside { position, count } => ExecuteError::IndexOutsideWindow { position, count },
        };
        match outcome {
            Err(error) if *error == fault => Ok(()),
            Err(error) => Err(format!("the error is {error:?}, defined is {fault:?}")),
            Ok(_) => Err(format!("nothing is said of {fault:?}")),
        }
    })?;
    if first.is_none() {
        net.count("with indices at fault");
    }
    Ok(first)
}

/// Computes a composition on every path and compares it with its definition.
pub fn composition(case: &CompositionCase, net: &Net) -> Result<(), String> {
    let plan = case.plan().map_err(|error| error.to_string())?;
    net.count("valid");
    let defined = compositions::definition(case);
    net.each(&at_an_address(Call::pool(plan, &case.x)), |outcome| {
        same("y", &defined, &bits_of(case.dtype, &outcome.as_ref().map_err(ToString::to_string)?[0]))
    })
}
