// Four words of X at once, for kernels that read runs of neighbouring elements.
// provides: load_quad, load_word

//// quads when WHOLE_QUADS: X as an array of vectors of four words, for kernels that read runs of neighbouring
// elements. The size of X is a multiple of sixteen bytes.
@group(0) @binding(1) var<storage, read> x: array<vec4<u32>>;

// Four words; callers do not use the words after the word `last`.
fn load_quad(quad: u32, last: u32) -> vec4<u32> {
  return x[quad];
}

fn load_word(number: u32) -> u32 {
  return x[number / 4u][number % 4u];
}

//// quads_apart: X as an array of words that are read four at a time, where the size of X is not a multiple of sixteen
// bytes: an array of vectors would not cover the end of X.
@group(0) @binding(1) var<storage, read> x: array<u32>;

// Four words; callers do not use the words after the word `last`, which may lie beyond the end of X.
fn load_quad(quad: u32, last: u32) -> vec4<u32> {
  let first = quad * 4u;
  return vec4<u32>(x[first], x[min(first + 1u, last)], x[min(first + 2u, last)], x[min(first + 3u, last)]);
}

fn load_word(number: u32) -> u32 {
  return x[number];
}
