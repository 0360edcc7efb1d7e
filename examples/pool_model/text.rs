//! The nodes for a reader.

use std::fmt::{self, Write};

use examples::plan;

use crate::listing::Listing;
use crate::run::{Comparison, Run};

pub fn write(report: &mut String, listings: &[Listing<'_>]) -> fmt::Result {
    match listings.len() {
        0 => writeln!(report, "no pooling node")?,
        1 => writeln!(report, "1 pooling node")?,
        many => writeln!(report, "{many} pooling nodes")?,
    }
    for listing in listings {
        let mut part = String::new();
        describe(&mut part, listing)?;
        writeln!(report)?;
        report.push_str(&part);
    }
    let runs: Vec<_> = listings.iter().filter_map(|listing| listing.run.as_ref()).collect();
    if !runs.is_empty() {
        let ran = runs.iter().filter(|run| run.is_ok()).count();
        let compared = || runs.iter().filter_map(|run| run.as_ref().ok()).flat_map(|run| &run.compared);
        let agree = compared().filter(|(_, comparison)| matches!(comparison, Comparison::Agrees(_))).count();
        writeln!(
            report,
            "\n{ran} of {} nodes ran; {agree} of {} outputs of the model agree",
            runs.len(),
            compared().count()
        )?;
    }
    Ok(())
}

fn describe(part: &mut String, listing: &Listing<'_>) -> fmt::Result {
    let node = listing.node;
    write!(part, "node {:<8}{}", listing.number, node.op_type())?;
    for (before, text) in [(" ", node.name()), (" in ", node.scope())] {
        if !text.is_empty() {
            write!(part, "{before}{text}")?;
        }
    }
    writeln!(part)?;
    if !node.domain().is_empty() {
        writeln!(part, "domain       {}", node.domain())?;
    }
    if let Some((opset, rules)) = listing.opset.zip(listing.rules()) {
        writeln!(part, "opset        {opset}, so the rules of {rules}")?;
    }
    let attributes: Vec<_> = listing.attributes.iter().map(|(name, value)| format!("{name} {value}")).collect();
    if !attributes.is_empty() {
        writeln!(part, "attributes   {}", attributes.join(", "))?;
    }
    match &listing.plan {
        Ok(plan) => plan::describe(part, plan)?,
        Err(why) => writeln!(part, "no plan      {why}")?,
    }
    for (place, kernel) in [("CPU", &listing.cpu), ("GPU", &listing.gpu)] {
        if let Some(kernel) = kernel {
            writeln!(part, "{place}          {kernel}")?;
        }
    }
    for trap in &listing.traps {
        writeln!(part, "trap         {trap}")?;
    }
    match &listing.run {
        None => Ok(()),
        Some(Err(why)) => writeln!(part, "not run      {why}"),
        Some(Ok(run)) => ran(part, run),
    }
}

fn ran(part: &mut String, run: &Run) -> fmt::Result {
    if run.compared.is_empty() {
        return writeln!(part, "ran          none of its outputs is one of the model");
    }
    for (name, comparison) in &run.compared {
        match comparison {
            Comparison::Agrees(how) => writeln!(part, "ran          {name} agrees, {how}")?,
            Comparison::Differs(how) => writeln!(part, "ran          {name} DIFFERS: {how}")?,
            Comparison::NotRecorded(why) => writeln!(part, "ran          {name} is not recorded: {why}")?,
        }
    }
    Ok(())
}
