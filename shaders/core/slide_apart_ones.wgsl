// Writes results of elements smaller than a word to scratch memory, one per word, one at a time. `pool_pack` packs
// them.
// provides: kept_out, result_of, put_one
// requires: Raw
@group(0) @binding(13) var<storage, read_write> kept_out: array<Raw>;

// `pool_pack` applies the activation.
fn result_of(raw: Raw) -> Raw {
  return raw;
}

fn put_one(at: u32, value: Raw) {
  kept_out[at] = value;
}
