// A gathering unpool of any windows: for every output element, reads the indices of the sources whose windows cover it.
// The last source whose index names the element, which lies in the source's own window, gives the value. Every output
// word is written once.
// Fewest bytes: X once, its indices once, Y once.
// provides: main
// requires: gather, flat, window_of, in_window, invocation, WORKGROUP, OUTPUTS, ZERO_WORD, insert, y, load, from_pair, read_index, activate, Raw
fn gathered(output: u32) -> Raw {
  let inner = output % gather.inner;
  var rest = output / gather.inner;
  var at = vec3<u32>();
  at.z = rest % gather.covering[2].output;
  rest = rest / gather.covering[2].output;
  at.y = rest % gather.covering[1].output;
  rest = rest / gather.covering[1].output;
  at.x = rest % gather.covering[0].output;
  let outer = rest / gather.covering[0].output;
  let n = outer / gather.outer_channels;
  let c = outer % gather.outer_channels + inner;
  let own = vec2<u32>(flat(gather.value, n, c, at), 0u);
  let sources_0 = window_of(gather.covering[0], at.x);
  let sources_1 = window_of(gather.covering[1], at.y);
  let sources_2 = window_of(gather.covering[2], at.z);
  var found = from_pair(vec2<u32>(0u, 0u));
  for (var i = 0u; i < sources_0.count; i++) {
    for (var j = 0u; j < sources_1.count; j++) {
      for (var k = 0u; k < sources_2.count; k++) {
        let source = vec3<u32>(sources_0.first + i, sources_1.first + j, sources_2.first + k);
        var names = all(read_index(flat(gather.stored, n, c, source)) == own);
        // Where windows are dilated, a source may cover the element without a tap on it.
        names = names && in_window(gather.windows[0], source.x, at.x) && in_window(gather.windows[1], source.y, at.y) && in_window(gather.windows[2], source.z, at.z);
        if (names) {
          let row = (outer * gather.covering[0].input + source.x) * gather.covering[1].input + source.y;
          found = load((row * gather.covering[2].input + source.z) * gather.inner + inner);
        }
      }
    }
  }
  return found;
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let word = invocation(group, gather.grid_width, local);
  if (word >= (gather.outputs + OUTPUTS - 1u) / OUTPUTS) {
    return;
  }
  var packed = ZERO_WORD;
  for (var lane = 0u; lane < OUTPUTS; lane++) {
    let output = word * OUTPUTS + lane;
    if (output < gather.outputs) {
      packed = insert(packed, lane, activate(gathered(output)));
    }
  }
  y[word] = packed;
}
