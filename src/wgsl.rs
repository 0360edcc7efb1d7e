//! From a kernel's key to its text: a prelude of constants, then the parts that its entry point requires.
//!
//! Parts are whole, readable WGSL under shaders/; variants of a part, which provide the same names, stand in one file.
//! A part's header lists the names that it provides and requires, and when it is meant, and the linker resolves them.
//! Nothing is substituted inside a part, but for one word: the access of X and of the indices that are read, where a
//! schedule asks for writable inputs. Blocks that the constants rule out are left out.

use std::fmt::Write;

use crate::kernel::Kernel;
use key::KernelKey;
use parts::{PARTS, Part};

mod decide;
pub(crate) mod key;
pub(crate) mod link;
pub(crate) mod parts;

/// The whole text of a kernel. Each part follows a line that names its file.
///
/// ```
/// use wgpu_pooling::{select, wgsl, Choice, DType, Limits, MaxPool};
///
/// let plan = MaxPool::new([2, 2]).plan(&[1, 1, 4, 4], DType::F32, None)?;
/// let schedule = select(&plan, &Limits::WEBGPU, &Choice::default())?;
/// let text = wgsl(schedule.dispatches()[0].key());
/// assert!(text.contains("// shaders/kernel/pool_values.wgsl\n") && text.contains("fn main("));
/// # Ok::<(), wgpu_pooling::PlanError>(())
/// ```
pub fn wgsl(key: &KernelKey) -> String {
    let kernel = key.kernel();
    let mut text = prelude(kernel);
    for &part in &key.linked().parts {
        if let Some(Part { file, text: part, .. }) = PARTS.get(part) {
            // Writing to a String cannot fail.
            let _ = match kernel.writable_inputs {
                false => writeln!(text, "// shaders/{file}\n{part}"),
                true => writeln!(text, "// shaders/{file}\n{}", link::with_writable_inputs(part)),
            };
        }
    }
    decide::decided(&text)
}

/// The constants of a kernel, one per line.
fn prelude(kernel: &Kernel) -> String {
    kernel.consts.iter().map(|(name, value)| format!("const {name}: u32 = {value}u;\n")).collect()
}

#[cfg(test)]
mod tests;
