// A word of Y that holds one output of a team; for 64-bit elements it is a pair of words.
// provides: find_all, whole_word
// requires: Word, ZERO_WORD, find, with_output
fn find_all(word: u32, local: u32) {
  find(word, 0u, local);
}

fn whole_word(word: u32, local: u32) -> Word {
  return with_output(ZERO_WORD, word, local, 0u);
}
