// The taps that sliding windows share, in chunks.
// provides: chunk, with_last_tap
// requires: Cell, Chunk, Run, tap_of

//// slide_tap when READ == 1 && REST == 0 && LAST_TAP == 0: One tap each.
fn chunk(run: Run, number: u32) -> Chunk {
  let tap = tap_of(run, number, 0u);
  return Chunk(tap, tap, tap);
}

fn with_last_tap(run: Run, best: Cell, slot: u32) -> Cell {
  return best;
}

//// slide_taps: Chunks of several taps. A window may also have the first REST taps of one further chunk, and an
// additional last tap.
// requires: join, last_tap_at, fetch, CHUNKS, CHUNK, READ, REST, LAST_TAP
fn chunk(run: Run, number: u32) -> Chunk {
  let first = tap_of(run, number, 0u);
  var all = first;
  for (var i = 1u; i < REST; i++) {
    all = join(all, tap_of(run, number, i));
  }
  let part = all;
  for (var i = max(REST, 1u); i < READ; i++) {
    all = join(all, tap_of(run, number, i));
  }
  return Chunk(all, part, first);
}

// The maximum of a window including its additional last tap, if the pass has one.
fn with_last_tap(run: Run, best: Cell, slot: u32) -> Cell {
  var all = best;
  if (LAST_TAP == 1u) {
    let last = last_tap_at(run, (run.begin + slot) * CHUNK);
    all = join(best, fetch(last, (slot + CHUNKS) * READ + READ));
  }
  return all;
}
