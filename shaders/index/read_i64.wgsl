// Reading 64-bit indices.
// provides: read_index, indices
// requires: nothing
@group(0) @binding(3) var<storage, read> indices: array<vec2<u32>>;

fn read_index(position: u32) -> vec2<u32> {
  return indices[position];
}
