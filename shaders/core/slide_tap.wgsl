// Chunks of one tap.
// provides: chunk, with_last_tap
// requires: Cell, Chunk, Run, tap_of
fn chunk(run: Run, number: u32) -> Chunk {
  let tap = tap_of(run, number, 0u);
  return Chunk(tap, tap, tap);
}

fn with_last_tap(run: Run, best: Cell, slot: u32) -> Cell {
  return best;
}
