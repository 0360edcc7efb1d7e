// Last step of an unpool: every output word is written once, from the owners of its elements, or zero.
// Fewest bytes: owners once, X once, Y once.
// provides: main
// requires: unpool, source, invocation, WORKGROUP, OUTPUTS, Word, insert, x, y, load, from_pair, owners, status, read_index, activate
@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let word = invocation(group, unpool.grid_width, local);
  if (word == 0u && atomicLoad(&status[STATUS_COUNT]) != 0u) {
    let value = read_index(~atomicLoad(&status[STATUS_FIRST]));
    atomicStore(&status[STATUS_LOW], value.x);
    atomicStore(&status[STATUS_HIGH], value.y);
  }
  if (word >= (unpool.outputs + OUTPUTS - 1u) / OUTPUTS) {
    return;
  }
  var packed = Word();
  for (var lane = 0u; lane < OUTPUTS; lane++) {
    let output = word * OUTPUTS + lane;
    if (output < unpool.outputs) {
      let owner = atomicLoad(&owners[output]);
      var raw = from_pair(vec2<u32>(0u, 0u));
      if (owner != 0u) {
        raw = load(source(owner - 1u).x_position);
      }
      packed = insert(packed, lane, activate(raw));
    }
  }
  y[word] = packed;
}
