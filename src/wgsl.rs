//! From a kernel's key to its text: a prelude of constants, then the parts that its entry point requires.
//!
//! Parts are whole, readable WGSL files under shaders/; a variant is a file that provides the same names as its
//! siblings. A part's header lists the names that it provides and requires, and the linker resolves them. Nothing is
//! substituted inside a part, but for one word: the access of X and of the indices that are read, where a schedule asks
//! for writable inputs.

use std::fmt::Write;

use crate::kernel::Kernel;
use key::KernelKey;
use parts::PARTS;

pub(crate) mod key;
pub(crate) mod link;
pub(crate) mod parts;

/// The whole text of a kernel. Each part begins with a line that names it.
///
/// ```
/// use wgpu_pooling::{select, wgsl, Choice, DType, Limits, MaxPool};
///
/// let plan = MaxPool::new([2, 2]).plan(&[1, 1, 4, 4], DType::F32, None)?;
/// let schedule = select(&plan.into(), &Limits::WEBGPU, &Choice::default())?;
/// let text = wgsl(schedule.dispatches()[0].key());
/// assert!(text.contains("// shaders/kernel/pool_values.wgsl\n") && text.contains("fn main("));
/// # Ok::<(), wgpu_pooling::PlanError>(())
/// ```
pub fn wgsl(key: &KernelKey) -> String {
    let kernel = key.kernel();
    let mut text = prelude(kernel);
    for &part in &key.linked().parts {
        if let Some((path, part)) = PARTS.get(part) {
            // Writing to a String cannot fail.
            let _ = match kernel.writable_inputs {
                false => writeln!(text, "{PART_LINE}{path}\n{part}"),
                true => writeln!(text, "{PART_LINE}{path}\n{}", link::with_writable_inputs(part)),
            };
        }
    }
    text
}

/// The beginning of the line that names a part.
const PART_LINE: &str = "// shaders/";

/// The file under shaders/ from which a line of a kernel's text comes, and the line's number in that file. Lines are
/// counted from one, as in compilers' messages. `None` for the constants before the first part.
///
/// ```
/// use wgpu_pooling::{part_of_line, select, wgsl, Choice, DType, Limits, MaxPool};
///
/// let plan = MaxPool::new([2, 2]).plan(&[1, 1, 4, 4], DType::F32, None)?;
/// let schedule = select(&plan.into(), &Limits::WEBGPU, &Choice::default())?;
/// let text = wgsl(schedule.dispatches()[0].key());
/// let main = text.lines().position(|line| line.starts_with("fn main(")).map_or(0, |line| line + 1);
/// let (path, line) = part_of_line(&text, main).unwrap_or_default();
/// assert_eq!(path, "kernel/pool_values.wgsl");
/// assert!(line > 1);
/// # Ok::<(), wgpu_pooling::PlanError>(())
/// ```
pub fn part_of_line(text: &str, line: usize) -> Option<(&str, usize)> {
    let lines: Vec<&str> = text.lines().take(line).collect();
    let names = lines.iter().enumerate().rev();
    let (at, path) = names.filter_map(|(at, line)| Some((at, line.strip_prefix(PART_LINE)?))).next()?;
    Some((path, line.saturating_sub(at).saturating_sub(1)))
}

/// The constants of a kernel, one per line.
fn prelude(kernel: &Kernel) -> String {
    kernel.consts.iter().map(|(name, value)| format!("const {name}: u32 = {value}u;\n")).collect()
}

#[cfg(test)]
mod tests;
