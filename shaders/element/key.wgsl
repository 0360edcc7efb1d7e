// Keys of elements: integers in the order of the values.
// provides: Key, SMALLEST_KEY, LARGEST_KEY, greater, from_pair, to_pair

//// key32 when BYTES <= 4: Keys of elements of up to 32 bits.
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

//// key64 when BYTES == 8: Keys of 64-bit elements: pairs of words. The second word is the high one.
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
