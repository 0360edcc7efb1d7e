// First step of an unpool: resets the owner table and the report.
// Fewest bytes: four for each output element.
// provides: main, owner_quads
// requires: unpool, runs, invocation, WORKGROUP, report, REPORT_WORDS
// Four owners per vector; the buffer is a whole number of vectors.
@group(0) @binding(7) var<storage, read_write> owner_quads: array<vec4<u32>>;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let number = invocation(group, unpool.grid_width, local);
  if (number < REPORT_WORDS && unpool.begins == 1u) {
    atomicStore(&report[number], 0u);
  }
  if (runs()) {
    for (var quad = number; quad < (unpool.outputs + 3u) / 4u; quad += unpool.invocations) {
      owner_quads[quad] = vec4<u32>();
    }
  }
}
