// Writing 32-bit indices. Plans are refused where 32-bit indices could overflow, so the low word is the index.
// provides: store_index, indices_out
// requires: nothing
@group(0) @binding(10) var<storage, read_write> indices_out: array<u32>;

fn store_index(position: u32, index: vec2<u32>) {
  indices_out[position] = index.x;
}
