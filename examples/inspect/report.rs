//! A schedule in words.

use std::fmt::{self, Write};

use wgpu_pooling::{Family, Limits, Schedule};

/// The schedule as a whole.
pub fn schedule(report: &mut String, schedule: &Schedule, limits: &Limits, families: &[Family]) -> fmt::Result {
    let Limits { max_buffer_bytes, max_binding_bytes, max_workgroups_per_dimension, max_storage_buffers, software } =
        limits;
    let adapter = if *software { "a software adapter" } else { "a GPU" };
    writeln!(report, "kernel       {}", schedule.kernel())?;
    writeln!(report, "families     {}", names(families))?;
    writeln!(report, "bytes moved  {} at least: inputs once, outputs once", schedule.bytes_moved())?;
    writeln!(report, "scratch      {} bytes", schedule.scratch_bytes())?;
    writeln!(
        report,
        "limits       buffers of {max_buffer_bytes} bytes, bindings of {max_binding_bytes} bytes, \
         {max_workgroups_per_dimension} workgroups a dimension, {max_storage_buffers} storage buffers, of {adapter}"
    )
}

/// The names of families.
pub fn names(families: &[Family]) -> String {
    families.iter().map(|family| family.name()).collect::<Vec<_>>().join(", ")
}
