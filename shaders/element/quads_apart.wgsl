// X as an array of words that are read by fours, where the bytes of X are no multiple of sixteen: an array of vectors would end
// before X does.
// provides: load_quad, load_word
// requires: nothing
@group(0) @binding(1) var<storage, read> x: array<u32>;

// Four words, of which those after the word `last` are not looked at: they may lie after the end of X.
fn load_quad(quad: u32, last: u32) -> vec4<u32> {
  let first = quad * 4u;
  return vec4<u32>(x[first], x[min(first + 1u, last)], x[min(first + 2u, last)], x[min(first + 3u, last)]);
}

fn load_word(number: u32) -> u32 {
  return x[number];
}
