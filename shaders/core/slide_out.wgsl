// Where the last pass of sliding maxima writes its results.
// provides: result_of, put_stored, stored_at
// requires: Raw, Stored

//// slide_y when LAST && LANE_BYTES == BYTES: To Y.
// requires: activate
@group(0) @binding(2) var<storage, read_write> y: array<Stored>;

fn result_of(raw: Raw) -> Raw {
  return activate(raw);
}

fn put_stored(at: u32, stored: Stored) {
  y[at] = stored;
}

fn stored_at(at: u32) -> Stored {
  return y[at];
}

//// slide_apart when LAST && LANE_BYTES > BYTES: Where elements are smaller than a word, to scratch memory, one per
// word. A later dispatch packs them into words of Y (kernel/pool_pack.wgsl).
// provides: kept_out
@group(0) @binding(13) var<storage, read_write> kept_out: array<Stored>;

// The activation is applied when the results are packed.
fn result_of(raw: Raw) -> Raw {
  return raw;
}

fn put_stored(at: u32, stored: Stored) {
  kept_out[at] = stored;
}

fn stored_at(at: u32) -> Stored {
  return kept_out[at];
}
