// Clears the scratch memory of an unpool, before a run in memory that an earlier run has not left cleared.
// Fewest bytes: four for each output element.
// provides: main, quads
// requires: unpool, invocation, WORKGROUP
@group(0) @binding(7) var<storage, read_write> quads: array<vec4<u32>>;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let number = invocation(group, unpool.grid_width, local);
  for (var quad = number; quad < unpool.outputs; quad += unpool.invocations) {
    quads[quad] = vec4<u32>();
  }
}
