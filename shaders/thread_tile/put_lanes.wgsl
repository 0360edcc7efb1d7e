// Writing lanes as outputs.

//// put_one_lane: One output.
// provides: put_lanes
// requires: Numbers, activate, y
fn put_lanes(number: u32, raws: Numbers) {
  y[number] = activate(raws);
}

//// put_four_lanes: Four outputs.
// provides: put_lanes
// requires: Numbers, Elements, activate, put_four
fn put_lanes(number: u32, raws: Numbers) {
  put_four(number, Elements(activate(raws.x), activate(raws.y), activate(raws.z), activate(raws.w)));
}

//// word_of_outputs: The word that an invocation writes.
// provides: word
// requires: Word
var<private> word: Word;

//// put_in_word: One output of a word.
// provides: put_lanes
// requires: Numbers, activate, word, insert, OUTPUTS
fn put_lanes(number: u32, raws: Numbers) {
  word = insert(word, number % OUTPUTS, activate(raws));
}
