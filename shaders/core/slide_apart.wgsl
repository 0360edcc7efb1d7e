// Writes results whose elements are smaller than a word to scratch memory, one per word, in vectors of lanes. A later
// dispatch packs them into words of Y (kernel/pool_pack.wgsl).
// provides: kept_out, result_of, put_vector, vector_at
// requires: Raw, Vector
@group(0) @binding(13) var<storage, read_write> kept_out: array<Vector>;

// The activation is applied when the results are packed.
fn result_of(raw: Raw) -> Raw {
  return raw;
}

fn put_vector(at: u32, vector: Vector) {
  kept_out[at] = vector;
}

fn vector_at(at: u32) -> Vector {
  return kept_out[at];
}
