// Writing 64-bit indices.
// provides: store_index, indices_out
// requires: nothing
@group(0) @binding(10) var<storage, read_write> indices_out: array<vec2<u32>>;

fn store_index(position: u32, index: vec2<u32>) {
  indices_out[position] = index;
}
