//! The dispatches of a schedule, and the text of their kernels.

use std::error::Error;
use std::fmt::Write;

use wgpu_pooling::{Dispatch, Schedule, wgsl};

/// A kernel's text, and what is read from it.
pub struct Kernel {
    name: String,
    text: String,
    /// The storage bindings: number, name and whether they are only read.
    bindings: Vec<String>,
}

/// The kernel of each dispatch, in their order.
pub fn of(schedule: &Schedule) -> Result<Vec<Kernel>, Box<dyn Error>> {
    schedule.dispatches().iter().map(kernel).collect()
}

fn kernel(dispatch: &Dispatch) -> Result<Kernel, Box<dyn Error>> {
    let name = dispatch.key().name().to_owned();
    let text = wgsl(dispatch.key());
    let module =
        naga::front::wgsl::parse_str(&text).map_err(|error| format!("{name}: {}", error.emit_to_string(&text)))?;
    let variable = |number: u32| {
        let bound = module.global_variables.iter().find(|(_, variable)| {
            variable.binding.is_some_and(|binding| binding.group == 0 && binding.binding == number)
        });
        bound.and_then(|(_, variable)| variable.name.as_deref()).unwrap_or("nothing")
    };
    let bindings = dispatch.key().bindings().iter().map(|binding| {
        let access = if binding.read_only { "read" } else { "written" };
        format!("{} {} {access}", binding.number, variable(binding.number))
    });
    Ok(Kernel { bindings: bindings.collect(), name, text })
}

/// The dispatches, one in a line.
pub fn table(schedule: &Schedule, kernels: &[Kernel]) -> String {
    if kernels.is_empty() {
        return "dispatches   none: the output has no elements\n".to_owned();
    }
    let head = ["", "kernel", "workgroups", "invocations", "iterations", "bindings"].map(str::to_owned);
    let rows = (1..).zip(schedule.dispatches().iter().zip(kernels)).map(|(number, (dispatch, kernel))| {
        [
            number.to_string(),
            kernel.name.clone(),
            times(dispatch.grid()),
            times(dispatch.workgroup_size()),
            dispatch.iterations().to_string(),
            kernel.bindings.join(", "),
        ]
    });
    let rows: Vec<[String; 6]> = std::iter::once(head).chain(rows).collect();
    let mut widths = [0; 6];
    for (width, column) in widths.iter_mut().zip(0..) {
        *width = rows.iter().map(|row: &[String; 6]| row[column].len()).max().unwrap_or(0);
    }
    let mut table = "\n".to_owned();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(widths) {
            // Writing to a String cannot fail.
            let _ = write!(line, "{cell:width$}  ");
        }
        table.push_str(line.trim_end());
        table.push('\n');
    }
    table
}

fn times(extents: [u32; 3]) -> String {
    extents.map(|extent| extent.to_string()).join(" x ")
}

/// The text of the kernels, each once, or that of one dispatch. A comment above each text names the dispatches that run
/// it.
pub fn text(kernels: &[Kernel], only: Option<usize>) -> Result<String, Box<dyn Error>> {
    let wanted = match only {
        None => 1..=kernels.len(),
        Some(number) if (1..=kernels.len()).contains(&number) => number..=number,
        Some(number) => {
            return Err(format!("--wgsl={number}, but the number of dispatches is {}", kernels.len()).into());
        }
    };
    let mut text = String::new();
    for number in wanted {
        let kernel = &kernels[number - 1];
        let same: Vec<usize> = (1..=kernels.len()).filter(|other| kernels[other - 1].text == kernel.text).collect();
        if only.is_none() && same[0] < number {
            continue;
        }
        let numbers = same.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
        write!(text, "\n// dispatch {numbers}: {}\n\n{}", kernel.name, kernel.text)?;
    }
    Ok(text)
}
