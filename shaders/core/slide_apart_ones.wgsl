// Results of elements smaller than a word are kept in a word each, for `pool_pack` to put them together, one by one.
// provides: kept_out, result_of, put_one
// requires: Raw
@group(0) @binding(13) var<storage, read_write> kept_out: array<Raw>;

// Activations come with the words.
fn result_of(raw: Raw) -> Raw {
  return raw;
}

fn put_one(at: u32, value: Raw) {
  kept_out[at] = value;
}
