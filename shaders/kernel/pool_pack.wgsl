// Packs elements into words of Y. Scratch memory holds one element per word.
// Fewest bytes: four for each element in scratch memory, Y once.
// provides: main
// requires: pool, invocation, WORKGROUP, OUTPUTS, ZERO_WORD, insert, y, kept, activate
@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let word = invocation(group, pool.grid_width, local);
  if (word >= (pool.outputs + OUTPUTS - 1u) / OUTPUTS) {
    return;
  }
  // The rest of the last word is zero.
  var packed = ZERO_WORD;
  for (var lane = 0u; lane < OUTPUTS; lane++) {
    let number = word * OUTPUTS + lane;
    if (number < pool.outputs) {
      packed = insert(packed, lane, activate(kept[pool.output_first + number - pool.in_first]));
    }
  }
  y[word] = packed;
}
