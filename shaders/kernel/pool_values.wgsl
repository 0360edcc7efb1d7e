// The last pass of a pool: writes Y, and Indices through `write_index`.
// Fewest bytes: X once, Y once, Indices once.
// provides: main
// requires: pool, invocation, WORKGROUP, OUTPUTS, ZERO_WORD, insert, y, winner, value_of, write_index, activate
@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let word = invocation(group, pool.grid_width, local);
  if (word >= (pool.outputs + OUTPUTS - 1u) / OUTPUTS) {
    return;
  }
  // One invocation writes the whole word; lanes after the last element are zero.
  var packed = ZERO_WORD;
  for (var lane = 0u; lane < OUTPUTS; lane++) {
    let number = word * OUTPUTS + lane;
    if (number < pool.outputs) {
      let output = pool.output_first + number;
      let candidate = winner(output);
      packed = insert(packed, lane, activate(value_of(candidate)));
      write_index(output, candidate);
    }
  }
  y[word] = packed;
}
