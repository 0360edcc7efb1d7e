// Keys of 64-bit elements: pairs of words in the order of the values. The second word is the high one.
// provides: Key, SMALLEST_KEY, LARGEST_KEY, greater, from_pair, to_pair
// requires: nothing
alias Key = vec2<u32>;
const SMALLEST_KEY: Key = vec2<u32>(0u, 0u);
const LARGEST_KEY: Key = vec2<u32>(0xffffffffu, 0xffffffffu);

fn greater(a: Key, b: Key) -> bool {
  return (a.y > b.y) | ((a.y == b.y) & (a.x > b.x));
}

// An element from its bits in a uniform.
fn from_pair(bits: vec2<u32>) -> vec2<u32> {
  return bits;
}

fn to_pair(raw: vec2<u32>) -> vec2<u32> {
  return raw;
}
