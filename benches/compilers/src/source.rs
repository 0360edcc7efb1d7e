//! WGSL that naga has parsed and validated.

use naga::Module;
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};

/// A text that naga has parsed and validated.
pub struct Source {
    pub module: Module,
    pub info: ModuleInfo,
}

impl Source {
    pub fn parse(wgsl: &str) -> Result<Source, String> {
        let module = naga::front::wgsl::parse_str(wgsl).map_err(|error| error.emit_to_string(wgsl))?;
        // The crate's devices have no optional features.
        let info = Validator::new(ValidationFlags::all(), Capabilities::empty())
            .validate(&module)
            .map_err(|error| error.emit_to_string(wgsl))?;
        Ok(Source { module, info })
    }
}
