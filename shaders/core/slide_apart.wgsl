// Results of elements smaller than a word are kept in a word each, for `pool_pack` to put them together.
// provides: store_value, kept_out
// requires: Raw, pool
@group(0) @binding(13) var<storage, read_write> kept_out: array<Raw>;

fn store_value(number: u32, raw: Raw) {
  kept_out[number - pool.slide.out_first] = raw;
}
