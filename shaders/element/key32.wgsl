// Keys of elements of up to 32 bits: integers in the order of the values.
// provides: Key, SMALLEST_KEY, LARGEST_KEY, greater, from_pair, to_pair
// requires: nothing
alias Key = u32;
const SMALLEST_KEY: Key = 0u;
const LARGEST_KEY: Key = 0xffffffffu;

fn greater(a: Key, b: Key) -> bool {
  return a > b;
}

// An element from its bits in a uniform.
fn from_pair(bits: vec2<u32>) -> u32 {
  return bits.x;
}

fn to_pair(raw: u32) -> vec2<u32> {
  return vec2<u32>(raw, 0u);
}
