// Writing indices.
// provides: store_index, indices_out

//// store_i32 when WRITES == 4: 32-bit indices. Plans are refused where they could overflow, so the low word is the
// index.
@group(0) @binding(10) var<storage, read_write> indices_out: array<u32>;

fn store_index(position: u32, index: vec2<u32>) {
  indices_out[position] = index.x;
}

//// store_i64 when WRITES == 8: 64-bit indices.
@group(0) @binding(10) var<storage, read_write> indices_out: array<vec2<u32>>;

fn store_index(position: u32, index: vec2<u32>) {
  indices_out[position] = index;
}
