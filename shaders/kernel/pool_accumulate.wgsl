// One step of a pool whose windows are reduced in parts: folds this dispatch's taps into the per-output accumulators.
// Fewest bytes: its span of X once; for each output, 24 read and 24 written.
// provides: main
// requires: pool, invocation, WORKGROUP, Accumulated, accumulated, keep, element, scan, consider
@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let number = invocation(group, pool.grid_width, local);
  if (number >= pool.outputs) {
    return;
  }
  let output = pool.output_first + number;
  var known = Accumulated();
  if (pool.fresh == 0u) {
    known = accumulated(output);
  }
  let part = scan(output);
  if (part.seen && (!known.candidate.seen || part.first < known.candidate.first)) {
    known.candidate.first = part.first;
    known.candidate.seen = true;
    known.first_raw = element(part.first);
  }
  if (part.found) {
    var candidate = known.candidate;
    consider(&candidate, part.best);
    known.candidate = candidate;
  }
  keep(output, known);
}
