// Windows that a team of neighbouring invocations shares: a tree reduction in one dispatch. Each invocation computes
// the maximum of its share; then one invocation per word of Y reduces the team's maxima and writes the word.
//
//   window             |0 1 2 3|0 1 2 3|0 1 2 3|0 . . .|      four words each, by invocation of a team of four
//   workgroup memory   [0] [1] [2] [3]                        the maximum of each, for every output of a word of Y
//   Y                  [word]                                 invocation n of the workgroup writes the word of team n
//
// Fewest bytes: X once, Y once, Indices once.
// provides: main
// requires: pool, invocation, WORKGROUP, OUTPUTS, ZERO, Word, insert, y, Key, Acc, Candidate, team_window, share, element, combine_anywhere, may_win, first_wins, finalize, value_of, write_index, activate, TEAM, ZERO_WORD
var<workgroup> keys: array<Key, WORKGROUP * OUTPUTS>;
var<workgroup> places: array<u32, WORKGROUP * OUTPUTS>;

// Writes the maximum of this invocation's share of an output's window to workgroup memory.
fn find(word: u32, lane: u32, local: u32) {
  // Invocations beyond the last output repeat the last one, so that all invocations reach the barrier.
  let number = min(word * OUTPUTS + lane, pool.outputs - 1u);
  let best = share(team_window(pool.output_first + number), local % TEAM);
  keys[local * OUTPUTS + lane] = best.key;
  places[local * OUTPUTS + lane] = best.at;
}

// Reduces a team's maxima of an output.
fn winner(output: u32, team: u32, lane: u32) -> Candidate {
  let window = team_window(output);
  var slot = team * TEAM * OUTPUTS + lane;
  var best = Acc(keys[slot], ZERO, places[slot]);
  for (var member = 1u; member < TEAM; member++) {
    slot += OUTPUTS;
    best = combine_anywhere(best, Acc(keys[slot], ZERO, places[slot]));
  }
  var candidate = Candidate(best, false, window.first, window.seen);
  if (window.seen) {
    let first = element(window.first);
    candidate.best.raw = element(best.at);
    candidate.best = finalize(candidate.best, first, window.first);
    candidate.found = may_win(best.key) | first_wins(first);
  }
  return candidate;
}

// Inserts one more output into a word of Y.
fn with_output(packed: Word, word: u32, team: u32, lane: u32) -> Word {
  let number = word * OUTPUTS + lane;
  var all = packed;
  if (number < pool.outputs) {
    let output = pool.output_first + number;
    let candidate = winner(output, team, lane);
    write_index(output, candidate);
    all = insert(packed, lane, activate(value_of(candidate)));
  }
  return all;
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let first_word = invocation(group, pool.grid_width, 0u) / TEAM;
  let own = first_word + local / TEAM;
  // The outputs of a word are computed in loops because the code of a window is long, and each unrolled copy would cost
  // compile time.
  for (var lane = 0u; lane < OUTPUTS; lane++) {
    find(own, lane, local);
  }
  workgroupBarrier();
  let word = first_word + local;
  if (local >= WORKGROUP / TEAM || word >= (pool.outputs + OUTPUTS - 1u) / OUTPUTS) {
    return;
  }
  // One invocation writes the whole word; lanes after the last element are zero.
  var packed = ZERO_WORD;
  var count = 1u;
  if (OUTPUTS > 1u) {
    count = min(OUTPUTS, pool.outputs - word * OUTPUTS);
  }
  for (var lane = 0u; lane < count; lane++) {
    packed = with_output(packed, word, local, lane);
  }
  y[word] = packed;
}
