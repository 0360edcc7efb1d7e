// A word of Y whose outputs a team computes.
// provides: find_all, whole_word
// requires: Word, ZERO_WORD, find, with_output

//// team_output: A word of Y that holds one output of a team; for 64-bit elements it is a pair of words.
fn find_all(word: u32, local: u32) {
  find(word, 0u, local);
}

fn whole_word(word: u32, local: u32) -> Word {
  return with_output(ZERO_WORD, word, local, 0u);
}

//// team_outputs: A word of Y that holds several outputs of a team, computed one after another. The outputs are
// computed in a loop because the code of a window is long, and each unrolled copy would cost compile time.
// requires: pool, OUTPUTS
fn find_all(word: u32, local: u32) {
  for (var lane = 0u; lane < OUTPUTS; lane++) {
    find(word, lane, local);
  }
}

fn whole_word(word: u32, local: u32) -> Word {
  var packed = ZERO_WORD;
  let count = min(OUTPUTS, pool.outputs - word * OUTPUTS);
  for (var lane = 0u; lane < count; lane++) {
    packed = with_output(packed, word, local, lane);
  }
  return packed;
}
