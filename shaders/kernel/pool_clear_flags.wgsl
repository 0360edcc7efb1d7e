// Clears the flags that say whether windows begin with a NaN.
// provides: main
// requires: pool, invocation, WORKGROUP, flags
@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let number = invocation(group, pool.grid_width, local);
  if (number < pool.outputs) {
    atomicStore(&flags[number], 0u);
  }
}
