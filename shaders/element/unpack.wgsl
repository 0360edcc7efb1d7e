// The QUAD elements of four words. `accumulate_some` accumulates those, in order, that are among the `count` elements
// from element `first` on; the first of the four words is element `at`.
// provides: load, QUAD, last_word, accumulate_some
// requires: Raw, load_word, Acc

//// unpack when BY_QUADS && BYTES < 8: One or several elements per word.
// requires: OUTPUTS, extract, accumulate_some_of_word
const QUAD: u32 = 4u * OUTPUTS;

fn load(position: u32) -> Raw {
  return extract(load_word(position / OUTPUTS), position % OUTPUTS);
}

// The word of the last element before the place `end`.
fn last_word(end: u32) -> u32 {
  return (end - 1u) / OUTPUTS;
}

fn accumulate_some(best: Acc, quad: vec4<u32>, at: u32, first: u32, count: u32) -> Acc {
  var all = accumulate_some_of_word(best, quad.x, at, first, count);
  all = accumulate_some_of_word(all, quad.y, at + OUTPUTS, first, count);
  all = accumulate_some_of_word(all, quad.z, at + 2u * OUTPUTS, first, count);
  return accumulate_some_of_word(all, quad.w, at + 3u * OUTPUTS, first, count);
}

//// unpack64 when BY_QUADS && BYTES == 8: Two 64-bit elements in four words.
// requires: combine, lift, only
const QUAD: u32 = 2u;

fn load(position: u32) -> Raw {
  return vec2<u32>(load_word(position * 2u), load_word(position * 2u + 1u));
}

// The second word of the last element before the place `end`.
fn last_word(end: u32) -> u32 {
  return end * 2u - 1u;
}

fn accumulate_some(best: Acc, quad: vec4<u32>, at: u32, first: u32, count: u32) -> Acc {
  let all = combine(best, only(lift(quad.xy, at), at - first < count));
  return combine(all, only(lift(quad.zw, at + 1u), at + 1u - first < count));
}
