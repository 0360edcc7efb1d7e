// A word of Y that holds several outputs of a team, computed one after another. The outputs are computed in a loop
// because the code of a window is long, and each unrolled copy would cost compile time.
// provides: find_all, whole_word
// requires: pool, Word, ZERO_WORD, OUTPUTS, find, with_output
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
