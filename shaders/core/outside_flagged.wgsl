// Unpools where an index outside its own window is as good as any other: the general path has to run.
// provides: tell_outside
// requires: report, REPORT_OUT_OF_WINDOW
// Tells which of four sources have indices outside their windows. `position` is the first source's position in the index
// tensor, `step` the distance from one to the next.
fn tell_outside(outside: vec4<bool>, position: u32, step: u32) {
  if (any(outside)) {
    atomicStore(&report[REPORT_OUT_OF_WINDOW], 1u);
  }
}
