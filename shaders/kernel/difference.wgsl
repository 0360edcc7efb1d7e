// The difference of two tensors, element by element. An invocation computes one word of Y:
//
//   x  | a b c d |    z  | e f g h |    ->    y  | a-e b-f c-g d-h |
//
// Fewest bytes: X and Z once, Y once.
// provides: main
// requires: invocation, WORKGROUP, Word, ZERO_WORD, OUTPUTS, insert, extract, x, y, minus
struct Difference {
  // Elements of this dispatch.
  outputs: u32,
  grid_width: u32,
  reserved_0: u32,
  reserved_1: u32,
}

@group(0) @binding(0) var<uniform> difference: Difference;
@group(0) @binding(3) var<storage, read> z: array<Word>;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let word = invocation(group, difference.grid_width, local);
  if (word >= (difference.outputs + OUTPUTS - 1u) / OUTPUTS) {
    return;
  }
  // The rest of the last word is zero.
  var packed = ZERO_WORD;
  for (var lane = 0u; lane < OUTPUTS; lane++) {
    if (word * OUTPUTS + lane < difference.outputs) {
      packed = insert(packed, lane, minus(extract(x[word], lane), extract(z[word], lane)));
    }
  }
  y[word] = packed;
}
