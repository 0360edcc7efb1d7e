// Chunks of one tap.
// provides: chunk, with_last_tap
// requires: Cell, Chunk, Walk, tap_of
fn chunk(walk: Walk, number: u32) -> Chunk {
  let tap = tap_of(walk, number, 0u);
  return Chunk(tap, tap, tap);
}

fn with_last_tap(walk: Walk, best: Cell, slot: u32) -> Cell {
  return best;
}
