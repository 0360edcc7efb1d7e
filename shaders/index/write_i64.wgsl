// 64-bit indices.
// provides: write_index, indices
// requires: Candidate, index_of, store_position
@group(0) @binding(3) var<storage, read_write> indices: array<vec2<u32>>;

fn write_index(output: u32, candidate: Candidate) {
  indices[store_position(output)] = index_of(output, candidate);
}
