// What becomes of an index outside its own window: `outside` tells which of four sources have such an index, `position`
// is the position of the first source's index, and `step` the distance from one to the next.
// provides: tell_outside

//// outside_flagged: It is as good as any other: the general path has to run.
// requires: report, REPORT_OUT_OF_WINDOW
fn tell_outside(outside: vec4<bool>, position: u32, step: u32) {
  if (any(outside)) {
    atomicStore(&report[REPORT_OUT_OF_WINDOW], 1u);
  }
}

//// outside_reported: It is an error: it is counted, and the first one is noted. Nothing clears the report before, so
// it keeps the faults of all runs until somebody reads and clears it.
// requires: report, REPORT_COUNT, REPORT_FIRST
fn tell_outside(outside: vec4<bool>, position: u32, step: u32) {
  if (any(outside)) {
    let ones = vec4<u32>(outside);
    atomicAdd(&report[REPORT_COUNT], ones.x + ones.y + ones.z + ones.w);
    var first = 3u;
    first = select(first, 2u, outside.z);
    first = select(first, 1u, outside.y);
    first = select(first, 0u, outside.x);
    // Complemented, so that the maximum is the first position.
    atomicMax(&report[REPORT_FIRST], ~(position + first * step));
  }
}

//// outside_skipped: It is skipped.
fn tell_outside(outside: vec4<bool>, position: u32, step: u32) {
}
