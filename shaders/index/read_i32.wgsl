// Reading 32-bit indices as 64-bit values, with sign extension.
// provides: read_index, indices
// requires: nothing
@group(0) @binding(3) var<storage, read> indices: array<u32>;

fn read_index(position: u32) -> vec2<u32> {
  let low = indices[position];
  return vec2<u32>(low, select(0u, 0xffffffffu, (low >> 31u) == 1u));
}
