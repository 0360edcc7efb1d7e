// The slow path of a thread tile: it computes the maxima again, by keys, where those by floats may be wrong.
// provides: computed_again
// requires: Place, Tile

//// sure: There is none.
fn computed_again(place: Place, tile: Tile) -> bool {
  return false;
}

//// doubtful_tile when !PLACED && FLOAT: Recomputes the maxima by keys and writes them. A loop keeps this code small,
// as it rarely runs.
// requires: Best, result_of, ordered, Lanes, Numbers, Placed, placed, later, taps_of, line_at, line_position, line_number, store_placed, KERNEL_0, KERNEL_1, KERNEL_2, LINES, LINES_BETWEEN, NAN_POLICY, SEED_LOWEST, IGNORE, INFINITE, BELOW, pool, from_pair, lane_from
// Per-lane extremes that show if a tile is doubtful: if its maxima by floats may be wrong.
struct Doubt {
  most: Lanes,
  zeros: Lanes,
  signed: Numbers,
  lowest: Lanes,
}

fn doubt_of(best: Best) -> Doubt {
  return Doubt(best.most, best.most | best.least, best.signed, ordered(result_of(best)));
}

fn with_doubt(doubt: Doubt, best: Best) -> Doubt {
  let other = doubt_of(best);
  return Doubt(
    max(doubt.most, other.most),
    min(doubt.zeros, other.zeros),
    max(doubt.signed, other.signed),
    min(doubt.lowest, other.lowest),
  );
}

fn doubtful(tile: Tile) -> bool {
  var doubt = doubt_of(tile[0]);
  for (var line = 1u; line < LINES; line++) { // unrolled
    doubt = with_doubt(doubt, tile[line]);
  }
  let largest = i32(INFINITE << BELOW);
  var doubts = (doubt.most > Lanes(largest)) | (doubt.zeros == Lanes(i32(0x80000000u)));
  if (NAN_POLICY == SEED_LOWEST) {
    let lowest = ordered(Lanes(lane_from(from_pair(pool.lowest_value))));
    doubts = doubts | (doubt.lowest <= lowest);
  } else if (NAN_POLICY != IGNORE) {
    doubts = doubts | (doubt.signed > Numbers(u32(largest) | 0x80000000u));
  }
  return any(doubts);
}

fn placed_row(place: Place, depth: u32, line: u32) -> Placed {
  let in_plane = line_at(place, depth, line);
  let row = taps_of(line_position(place, in_plane), place.columns);
  let number = line_number(place, in_plane, depth, line);
  var best = placed(row.taps[0], number + row.numbers[0]);
  for (var tap = 1u; tap < KERNEL_2; tap++) { // unrolled
    best = later(best, placed(row.taps[tap], number + row.numbers[tap]));
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
