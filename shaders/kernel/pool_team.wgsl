// Windows that a team of neighbouring invocations shares: a tree reduction in one dispatch. Each invocation computes
// the maximum of its share; then one invocation per word of Y reduces the team's maxima and writes the word.
//
//   window             |0 1 2 3|0 1 2 3|0 1 2 3|0 . . .|      four words each, by invocation of a team of four
//   workgroup memory   [0] [1] [2] [3]                        the maximum of each, for every output of a word of Y
//   Y                  [word]                                 invocation n of the workgroup writes the word of team n
//
// Fewest bytes: X once, Y once, Indices once.
// provides: main, find, with_output
// requires: pool, invocation, WORKGROUP, OUTPUTS, ZERO, Word, insert, y, Key, Acc, Candidate, team_window, share, element, combine_anywhere, may_win, first_wins, finalize, from_pair, write_index, activate, TEAM, find_all, whole_word
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
    var raw = candidate.best.raw;
    if (!candidate.found) {
      raw = from_pair(pool.empty_value);
      if (candidate.seen) {
        raw = from_pair(pool.lowest_value);
      }
    }
    all = insert(packed, lane, activate(raw));
  }
  return all;
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let first_word = invocation(group, pool.grid_width, 0u) / TEAM;
  let own = first_word + local / TEAM;
  find_all(own, local);
  workgroupBarrier();
  let word = first_word + local;
  if (local >= WORKGROUP / TEAM || word >= (pool.outputs + OUTPUTS - 1u) / OUTPUTS) {
    return;
  }
  // One invocation writes the whole word; lanes after the last element are zero.
  y[word] = whole_word(word, local);
}
