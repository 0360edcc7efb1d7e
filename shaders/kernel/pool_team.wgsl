// Windows that a team of neighbouring invocations shares: a tree reduction in one dispatch. Each invocation computes
// the maximum of its share of the windows of a word of Y. Then invocation n reduces the maxima of the workgroup's
// window n and writes its index, and invocation n writes the word of team n.
//
//   window             |0 1 2 3|0 1 2 3|0 1 2 3|0 . . .|      four words each, by invocation of a team of four
//   workgroup memory   [0] [1] [2] [3]                        the maximum of each, for every output of a word of Y
//   values             [0] [0] [0] [0] [1]                    by team
//   Y                  [     0       ] [     1       ]
//
// Fewest bytes: X once, Y once, Indices once.
// provides: main
// requires: pool, invocation, WORKGROUP, OUTPUTS, Raw, insert, y, Candidate, team_window, share, put_in_team, join_eights, best_of_team, element, may_win, first_wins, finalize, value_of, write_index, activate, TEAM, ZERO, ZERO_WORD
const TEAMS: u32 = WORKGROUP / TEAM;

var<workgroup> values: array<Raw, TEAMS * OUTPUTS>;

// The winner of a window, of which the team found the best element.
fn winner(output: u32, found: Acc) -> Candidate {
  let window = team_window(output);
  var candidate = Candidate(found, false, window.first, window.seen);
  if (window.seen) {
    let first = element(window.first);
    candidate.best.raw = element(found.at);
    candidate.best = finalize(candidate.best, first, window.first);
    candidate.found = may_win(found.key) | first_wins(first);
  }
  return candidate;
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let first_word = invocation(group, pool.grid_width, 0u) / TEAM;
  let first = first_word * OUTPUTS;
  // The outputs of a word are computed in loops because the code of a window is long, and each unrolled copy would cost
  // compile time.
  for (var lane = 0u; lane < OUTPUTS; lane++) {
    // Invocations beyond the last output repeat the last one, so that all invocations reach the barrier.
    let number = min(first + local / TEAM * OUTPUTS + lane, pool.outputs - 1u);
    put_in_team(local * OUTPUTS + lane, share(team_window(pool.output_first + number), local % TEAM));
  }
  join_eights(local);
  for (var i = local; i < TEAMS * OUTPUTS; i += WORKGROUP) {
    values[i] = ZERO;
    if (first + i < pool.outputs) {
      let output = pool.output_first + first + i;
      let candidate = winner(output, best_of_team(i / OUTPUTS, i % OUTPUTS));
      write_index(output, candidate);
      values[i] = activate(value_of(candidate));
    }
  }
  workgroupBarrier();
  // One invocation writes a whole word; lanes after the last element are zero.
  let word = first_word + local;
  if (local < TEAMS && word * OUTPUTS < pool.outputs) {
    var packed = ZERO_WORD;
    for (var lane = 0u; lane < OUTPUTS; lane++) {
      packed = insert(packed, lane, values[local * OUTPUTS + lane]);
    }
    y[word] = packed;
  }
}
