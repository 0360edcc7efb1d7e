// Last step of an unpool: writes every output word once. An element with an owner gets its owner's value, any other
// element zero. Elements have no owners after it.
// Fewest bytes: owners once, X once, Y once; four for each owner.
// provides: main
// requires: unpool, source, number_of, PER_TURN, invocation, WORKGROUP, OUTPUTS, FRESH, Raw, Word, ZERO, ZERO_WORD, insert, extract, y, load, from_pair, owners, write_report, activate
// One element of a word, shifted to its lane; zero beyond the last output. Where the sources take several dispatches,
// the later dispatches keep elements whose owner is not among their sources.
fn element(output: u32, lane: u32, word: Word, nothing: Raw) -> Word {
  var other = nothing;
  if (FRESH == 0u) {
    other = extract(word, lane);
  }
  let taken = min(output + lane, unpool.outputs - 1u);
  let owner = atomicLoad(&owners.each[taken]) - 1u;
  if (unpool.ends == 1u && owner != 0xffffffffu) {
    atomicStore(&owners.each[taken], 0u);
  }
  // Without an owner, the number wraps beyond all sources; the first source is then read instead, and its value is not
  // used.
  let owned = owner - unpool.source_first < unpool.sources;
  let raw = activate(load(source(select(unpool.source_first, owner, owned)).x_position - unpool.x_first));
  return insert(ZERO_WORD, lane, select(ZERO, select(other, raw, owned), output + lane < unpool.outputs));
}

fn emit(word: u32, nothing: Raw) {
  let output = word * OUTPUTS;
  if (output < unpool.outputs) {
    var before = ZERO_WORD;
    if (FRESH == 0u) {
      before = y[word];
    }
    var packed = ZERO_WORD;
    for (var lane = 0u; lane < OUTPUTS; lane++) { // unrolled
      packed |= element(output, lane, before, nothing);
    }
    y[word] = packed;
  }
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let first = invocation(group, unpool.grid_width, local);
  if (first == 0u) {
    write_report(unpool.index_first, unpool.index_count, unpool.begins == 1u, unpool.ends == 1u);
  }
  let nothing = activate(from_pair(vec2<u32>(0u, 0u)));
  for (var base = first; base < (unpool.outputs + OUTPUTS - 1u) / OUTPUTS; base += PER_TURN * unpool.invocations) {
    for (var item = 0u; item < PER_TURN; item++) { // unrolled
      emit(number_of(base, item), nothing);
    }
  }
}
