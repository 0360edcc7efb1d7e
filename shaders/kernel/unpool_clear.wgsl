// First step of an unpool: nobody owns anything, and nothing is wrong yet.
// Fewest bytes: four for each output element.
// provides: main
// requires: unpool, invocation, WORKGROUP, owners, status, STATUS_WORDS
@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let number = invocation(group, unpool.grid_width, local);
  if (number < STATUS_WORDS && unpool.begins == 1u) {
    atomicStore(&status[number], 0u);
  }
  if (number < unpool.outputs) {
    atomicStore(&owners[number], 0u);
  }
}
