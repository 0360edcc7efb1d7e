// A word of Y that is several outputs of a team, one after another: a loop, because a window's way is long and each copy of it costs
// a compiler's time.
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
