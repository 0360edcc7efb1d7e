// Last step of an unpool: every output word is written once, from the owners of its elements, or zero.
// Fewest bytes: owners once, X once, Y once.
// provides: main
// requires: unpool, source, invocation, WORKGROUP, OUTPUTS, ZERO_WORD, insert, extract, x, y, load, from_pair, owners, report_first, activate
@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let word = invocation(group, unpool.grid_width, local);
  if (word == 0u) {
    report_first();
  }
  if (word >= (unpool.outputs + OUTPUTS - 1u) / OUTPUTS) {
    return;
  }
  // Sources that do not fit a binding come in several dispatches; later ones leave what is not theirs.
  var before = ZERO_WORD;
  if (unpool.fresh == 0u) {
    before = y[word];
  }
  var packed = ZERO_WORD;
  for (var lane = 0u; lane < OUTPUTS; lane++) {
    let output = word * OUTPUTS + lane;
    if (output < unpool.outputs) {
      let owner = atomicLoad(&owners[output]);
      var raw = extract(before, lane);
      if (owner != 0u && owner - 1u - unpool.source_first < unpool.sources) {
        raw = activate(load(source(owner - 1u).x_position - unpool.x_first));
      } else if (unpool.fresh == 1u) {
        raw = activate(from_pair(vec2<u32>(0u, 0u)));
      }
      packed = insert(packed, lane, raw);
    }
  }
  y[word] = packed;
}
