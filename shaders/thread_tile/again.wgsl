// The second turn of a thread tile whose maxima are doubtful.
// provides: computed_again
// requires: Place, Tile

//// sure: There is none.
fn computed_again(place: Place, tile: Tile) -> bool {
  return false;
}

//// doubtful_tile: The maxima are computed by keys, and written. It is a loop, for it is rare and should be small.
// requires: doubtful, Placed, placed, later, taps_of, line_at, line_position, line_number, store_placed, KERNEL_0, KERNEL_1, KERNEL_2, LINES, LINES_BETWEEN
fn placed_row(place: Place, depth: u32, line: u32) -> Placed {
  let in_plane = line_at(place, depth, line);
  let taps = taps_of(line_position(place, in_plane), place.columns);
  let number = line_number(place, in_plane, depth, line);
  var best = placed(taps.t0, number + taps.n0);
  if (KERNEL_2 > 1u) {
    best = later(best, placed(taps.t1, number + taps.n1));
  }
  if (KERNEL_2 > 2u) {
    best = later(best, placed(taps.t2, number + taps.n2));
  }
  if (KERNEL_2 > 3u) {
    best = later(best, placed(taps.t3, number + taps.n3));
  }
  if (KERNEL_2 > 4u) {
    best = later(best, placed(taps.t4, number + taps.n4));
  }
  if (KERNEL_2 > 5u) {
    best = later(best, placed(taps.t5, number + taps.n5));
  }
  if (KERNEL_2 > 6u) {
    best = later(best, placed(taps.t6, number + taps.n6));
  }
  if (KERNEL_2 > 7u) {
    best = later(best, placed(taps.t7, number + taps.n7));
  }
  if (KERNEL_2 > 8u) {
    best = later(best, placed(taps.t8, number + taps.n8));
  }
  return best;
}

fn computed_again(place: Place, tile: Tile) -> bool {
  let doubts = doubtful(tile);
  if (doubts) {
    for (var line = 0u; line < LINES; line++) {
      var best: Placed;
      for (var row = 0u; row < KERNEL_0 * KERNEL_1; row++) {
        let depth = row / KERNEL_1;
        let next = placed_row(place, depth, line * LINES_BETWEEN + row - depth * KERNEL_1);
        if (row == 0u) {
          best = next;
        } else {
          best = later(best, next);
        }
      }
      store_placed(place, line, best);
    }
  }
  return doubts;
}
