// First step of an unpool whose sources write their outputs themselves: writes the activation of zero to every output
// word. Elements are 32 bits wide.
// Fewest bytes: Y once.
// provides: main
// requires: unpool, invocation, WORKGROUP, y, from_pair, activate
@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let first = invocation(group, unpool.grid_width, local);
  let nothing = activate(from_pair(vec2<u32>(0u, 0u)));
  for (var output = first; output < unpool.outputs; output += unpool.invocations) {
    y[output] = nothing;
  }
}
