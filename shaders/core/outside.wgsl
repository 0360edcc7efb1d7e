// What becomes of an index outside its own window: `outside` tells which of four sources have such an index, `position`
// is the position of the first source's index, and `step` the distance from one to the next.
// provides: tell_outside

//// outside_claimed when scatter: It is as good as any other: its source claims the element that it names, and the step
// that follows settles which source wins.
// requires: gather, owners, ANY_OUTSIDE, named_position, rank_of_index, name
fn tell_outside(outside: vec4<bool>, position: u32, step: u32) {
  let ones = vec4<u32>(outside) << vec4<u32>(0u, 1u, 2u, 3u);
  var left = ones.x | ones.y | ones.z | ones.w;
  // A loop, since software adapters step over a loop that no invocation enters, and not over an `if`.
  while (left != 0u) {
    claim(position + firstTrailingBit(left) * step);
    left &= left - 1u;
  }
}

fn claim(position: u32) {
  if (atomicLoad(&owners.any_outside) == 0u) {
    atomicStore(&owners.any_outside, ANY_OUTSIDE);
  }
  let index = name(position);
  if (index < gather.index_limit) {
    atomicMax(&owners.each[named_position(index, position)], rank_of_index(position) + 1u);
  } else if (gather.report == 1u) {
    atomicAdd(&owners.bad, 1u);
    atomicMax(&owners.first_bad, ~position);
  }
}

//// outside_reported when error: It is an error: it is counted, and the first one is noted. Nothing clears the report
// before, so it keeps the faults of all runs until somebody reads and clears it.
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

//// outside_skipped when skip: It is skipped.
fn tell_outside(outside: vec4<bool>, position: u32, step: u32) {
}
