// Reading indices as 64-bit values.
// provides: read_index, indices

//// read_i32 when READS == 4: 32-bit indices, with sign extension.
@group(0) @binding(3) var<storage, read> indices: array<u32>;

fn read_index(position: u32) -> vec2<u32> {
  let low = indices[position];
  return vec2<u32>(low, select(0u, 0xffffffffu, (low >> 31u) == 1u));
}

//// read_i64 when READS == 8: 64-bit indices.
@group(0) @binding(3) var<storage, read> indices: array<vec2<u32>>;

fn read_index(position: u32) -> vec2<u32> {
  return indices[position];
}
