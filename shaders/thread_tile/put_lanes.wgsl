// Writing lanes as outputs.

//// put_one_lane when pool_thread_tile && ABREAST == 1: One output.
// provides: put_lanes
// requires: Numbers, activate, y
fn put_lanes(number: u32, raws: Numbers) {
  y[number] = activate(raws);
}

//// put_four_lanes when pool_thread_tile && ABREAST == 4: Four outputs.
// provides: put_lanes
// requires: Numbers, Elements, activate, put_four
fn put_lanes(number: u32, raws: Numbers) {
  put_four(number, Elements(activate(raws.x), activate(raws.y), activate(raws.z), activate(raws.w)));
}

//// word_of_outputs: The word that an invocation writes.
// provides: word
// requires: Word
var<private> word: Word;

//// put_in_word when pool_words: One output of a word.
// provides: put_lanes
// requires: Numbers, activate, word, insert, OUTPUTS
fn put_lanes(number: u32, raws: Numbers) {
  word = insert(word, number % OUTPUTS, activate(raws));
}
