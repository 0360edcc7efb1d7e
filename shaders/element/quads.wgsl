// X as an array of vectors of four words, for kernels that read runs of neighbouring elements. The size of X is a
// multiple of sixteen bytes.
// provides: load_quad, load_word
// requires: nothing
@group(0) @binding(1) var<storage, read> x: array<vec4<u32>>;

// Four words; callers do not use the words after the word `last`.
fn load_quad(quad: u32, last: u32) -> vec4<u32> {
  return x[quad];
}

fn load_word(number: u32) -> u32 {
  return x[number / 4u][number % 4u];
}
