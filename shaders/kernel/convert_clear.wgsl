// First step of an index conversion: resets the report.
// Fewest bytes: none to speak of.
// provides: main
// requires: report, REPORT_WORDS, WORKGROUP
@compute @workgroup_size(WORKGROUP)
fn main(@builtin(local_invocation_index) local: u32) {
  if (local < REPORT_WORDS) {
    atomicStore(&report[local], 0u);
  }
}
