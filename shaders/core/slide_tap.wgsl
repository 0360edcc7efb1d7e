// Chunks of one tap, of which windows are made up.
// provides: Chunk, chunk, with_last_tap
// requires: Cell, Walk, tap_of
struct Chunk {
  // Its tap, which is the first of it, and all.
  all: Cell,
  part: Cell,
  first: Cell,
}

fn chunk(walk: Walk, number: u32) -> Chunk {
  let tap = tap_of(walk, number, 0u);
  return Chunk(tap, tap, tap);
}

fn with_last_tap(walk: Walk, best: Cell, slot: u32) -> Cell {
  return best;
}
