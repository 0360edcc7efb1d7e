// A pass of a pool other than the last one. It writes the candidates that the next pass reads.
// Fewest bytes: its input once, eight for each candidate.
// provides: main, candidates_out
// requires: pool, invocation, WORKGROUP, scan, VALID
@group(0) @binding(5) var<storage, read_write> candidates_out: array<vec2<u32>>;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let number = invocation(group, pool.grid_width, local);
  if (number >= pool.outputs) {
    return;
  }
  let candidate = scan(pool.output_first + number);
  candidates_out[number] = vec2<u32>(
    select(0u, candidate.best.at | VALID, candidate.found),
    select(0u, candidate.first | VALID, candidate.seen),
  );
}
