// The maxima of a thread tile. Each line of X is read once, and its windows are reduced along it; then lines that
// follow each other are joined. The number of a tap is that of its line, plus its column in the window.
//
//   line 0   [windows along it] --.             KERNEL_1 = 3, LINES_BETWEEN = 1, LINES = 2, ROWS = 4
//   line 1   [windows along it] --+-- tile[0]
//   line 2   [windows along it] --+-- tile[1]
//   line 3   [windows along it] --'
//
// Two neighbours are joined before what follows them: windows two apart share that maximum, and compilers compute it
// once.
// provides: Tile, tile_of
// requires: Best, one, joined, taps_of, Place, line_at, line_position, line_number, KERNEL_0, KERNEL_1, KERNEL_2, LINES, LINES_BETWEEN, ROWS
alias Tile = array<Best, LINES>;

fn row_of(place: Place, depth: u32, line: u32) -> Best {
  let in_plane = line_at(place, depth, line);
  let row = taps_of(line_position(place, in_plane), place.columns);
  let number = line_number(place, in_plane, depth, line);
  var best = one(row.taps[0], number + row.numbers[0]);
  if (KERNEL_2 > 1u) {
    best = joined(best, one(row.taps[1], number + row.numbers[1]));
  }
  for (var pair = 1u; pair < (KERNEL_2 + 1u) / 2u; pair++) { // unrolled
    const TAP = 2u * pair;
    var next = one(row.taps[TAP], number + row.numbers[TAP]);
    if (2u * pair + 1u < KERNEL_2) {
      next = joined(next, one(row.taps[TAP + 1u], number + row.numbers[TAP + 1u]));
    }
    best = joined(best, next);
  }
  return best;
}

fn tile_at(place: Place, depth: u32) -> Tile {
  var rows: array<Best, ROWS>;
  for (var row = 0u; row < ROWS; row++) { // unrolled
    rows[row] = row_of(place, depth, row);
  }
  var tile: Tile;
  for (var line = 0u; line < LINES; line++) { // unrolled
    const FIRST = line * LINES_BETWEEN;
    var best = rows[FIRST];
    if (KERNEL_1 > 1u) {
      best = joined(best, rows[FIRST + 1u]);
    }
    for (var pair = 1u; pair < (KERNEL_1 + 1u) / 2u; pair++) { // unrolled
      const ROW = FIRST + 2u * pair;
      var next = rows[ROW];
      if (2u * pair + 1u < KERNEL_1) {
        next = joined(next, rows[ROW + 1u]);
      }
      best = joined(best, next);
    }
    tile[line] = best;
  }
  return tile;
}

fn tile_of(place: Place) -> Tile {
  var tile: Tile;
  if (KERNEL_0 == 1u) {
    tile = tile_at(place, 0u);
  } else {
    for (var depth = 0u; depth < KERNEL_0; depth++) {
      let next = tile_at(place, depth);
      if (depth == 0u) {
        tile = next;
      } else {
        for (var line = 0u; line < LINES; line++) { // unrolled
          tile[line] = joined(tile[line], next[line]);
        }
      }
    }
  }
  return tile;
}
