// Results go to Y, an element to a word or a pair of words.
// provides: store_value
// requires: Raw, y, activate, pool
fn store_value(number: u32, raw: Raw) {
  y[number - pool.slide.out_first] = activate(raw);
}
