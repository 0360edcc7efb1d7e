// Writes results whose elements are smaller than a word to scratch memory, one per word, one at a time. A later
// dispatch packs them into words of Y (kernel/pool_pack.wgsl).
// provides: kept_out, result_of, put_one
// requires: Raw
@group(0) @binding(13) var<storage, read_write> kept_out: array<Raw>;

// The activation is applied when the results are packed.
fn result_of(raw: Raw) -> Raw {
  return raw;
}

fn put_one(at: u32, value: Raw) {
  kept_out[at] = value;
}
