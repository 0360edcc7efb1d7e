// The maxima of a thread tile. Each line of X is read once, and its windows are reduced along it; then lines that
// follow each other are joined. The number of a tap is that of its line, plus its column in the window.
//
//   line 0   [windows along it] --.             KERNEL_1 = 3, LINES_BETWEEN = 1, LINES = 2, ROWS = 4
//   line 1   [windows along it] --+-- l0
//   line 2   [windows along it] --+-- l1
//   line 3   [windows along it] --'
//
// Two neighbours are joined before what follows them: windows two apart share that maximum, and compilers compute it
// once.
// provides: Tile, tile_of
// requires: Best, one, joined, taps_of, Place, line_at, line_position, line_number, KERNEL_0, KERNEL_1, KERNEL_2, LINES, LINES_BETWEEN, ROWS
struct Tile {
  l0: Best,
  l1: Best,
  l2: Best,
  l3: Best,
  l4: Best,
  l5: Best,
  l6: Best,
  l7: Best,
}

// So many rows can be named from the last line of outputs on; those beyond a window are not joined.
const ROOM: u32 = ROWS + 6u;

fn row_of(place: Place, depth: u32, line: u32) -> Best {
  let in_plane = line_at(place, depth, line);
  let taps = taps_of(line_position(place, in_plane), place.columns);
  let number = line_number(place, in_plane, depth, line);
  var best = one(taps.t0, number + taps.n0);
  if (KERNEL_2 > 1u) {
    best = joined(best, one(taps.t1, number + taps.n1));
  }
  if (KERNEL_2 == 3u) {
    best = joined(best, one(taps.t2, number + taps.n2));
  }
  if (KERNEL_2 > 3u) {
    best = joined(best, joined(one(taps.t2, number + taps.n2), one(taps.t3, number + taps.n3)));
  }
  if (KERNEL_2 == 5u) {
    best = joined(best, one(taps.t4, number + taps.n4));
  }
  if (KERNEL_2 > 5u) {
    best = joined(best, joined(one(taps.t4, number + taps.n4), one(taps.t5, number + taps.n5)));
  }
  if (KERNEL_2 == 7u) {
    best = joined(best, one(taps.t6, number + taps.n6));
  }
  if (KERNEL_2 > 7u) {
    best = joined(best, joined(one(taps.t6, number + taps.n6), one(taps.t7, number + taps.n7)));
  }
  if (KERNEL_2 == 9u) {
    best = joined(best, one(taps.t8, number + taps.n8));
  }
  return best;
}

fn joined_lines(a: Best, b: Best, c: Best, d: Best, e: Best, f: Best, g: Best) -> Best {
  var best = a;
  if (KERNEL_1 > 1u) {
    best = joined(best, b);
  }
  if (KERNEL_1 == 3u) {
    best = joined(best, c);
  }
  if (KERNEL_1 > 3u) {
    best = joined(best, joined(c, d));
  }
  if (KERNEL_1 == 5u) {
    best = joined(best, e);
  }
  if (KERNEL_1 > 5u) {
    best = joined(best, joined(e, f));
  }
  if (KERNEL_1 == 7u) {
    best = joined(best, g);
  }
  return best;
}

fn tile_at(place: Place, depth: u32) -> Tile {
  var r: array<Best, ROOM>;
  r[0u] = row_of(place, depth, 0u);
  if (ROWS > 1u) {
    r[1u] = row_of(place, depth, 1u);
  }
  if (ROWS > 2u) {
    r[2u] = row_of(place, depth, 2u);
  }
  if (ROWS > 3u) {
    r[3u] = row_of(place, depth, 3u);
  }
  if (ROWS > 4u) {
    r[4u] = row_of(place, depth, 4u);
  }
  if (ROWS > 5u) {
    r[5u] = row_of(place, depth, 5u);
  }
  if (ROWS > 6u) {
    r[6u] = row_of(place, depth, 6u);
  }
  if (ROWS > 7u) {
    r[7u] = row_of(place, depth, 7u);
  }
  if (ROWS > 8u) {
    r[8u] = row_of(place, depth, 8u);
  }
  if (ROWS > 9u) {
    r[9u] = row_of(place, depth, 9u);
  }
  if (ROWS > 10u) {
    r[10u] = row_of(place, depth, 10u);
  }
  if (ROWS > 11u) {
    r[11u] = row_of(place, depth, 11u);
  }
  if (ROWS > 12u) {
    r[12u] = row_of(place, depth, 12u);
  }
  var tile: Tile;
  tile.l0 = joined_lines(r[0u], r[1u], r[2u], r[3u], r[4u], r[5u], r[6u]);
  if (LINES > 1u) {
    const ROW = LINES_BETWEEN;
    tile.l1 = joined_lines(r[ROW], r[ROW + 1u], r[ROW + 2u], r[ROW + 3u], r[ROW + 4u], r[ROW + 5u], r[ROW + 6u]);
  }
  if (LINES > 2u) {
    const ROW = 2u * LINES_BETWEEN;
    tile.l2 = joined_lines(r[ROW], r[ROW + 1u], r[ROW + 2u], r[ROW + 3u], r[ROW + 4u], r[ROW + 5u], r[ROW + 6u]);
  }
  if (LINES > 3u) {
    const ROW = 3u * LINES_BETWEEN;
    tile.l3 = joined_lines(r[ROW], r[ROW + 1u], r[ROW + 2u], r[ROW + 3u], r[ROW + 4u], r[ROW + 5u], r[ROW + 6u]);
  }
  if (LINES > 4u) {
    const ROW = 4u * LINES_BETWEEN;
    tile.l4 = joined_lines(r[ROW], r[ROW + 1u], r[ROW + 2u], r[ROW + 3u], r[ROW + 4u], r[ROW + 5u], r[ROW + 6u]);
  }
  if (LINES > 5u) {
    const ROW = 5u * LINES_BETWEEN;
    tile.l5 = joined_lines(r[ROW], r[ROW + 1u], r[ROW + 2u], r[ROW + 3u], r[ROW + 4u], r[ROW + 5u], r[ROW + 6u]);
  }
  if (LINES > 6u) {
    const ROW = 6u * LINES_BETWEEN;
    tile.l6 = joined_lines(r[ROW], r[ROW + 1u], r[ROW + 2u], r[ROW + 3u], r[ROW + 4u], r[ROW + 5u], r[ROW + 6u]);
  }
  if (LINES > 7u) {
    const ROW = 7u * LINES_BETWEEN;
    tile.l7 = joined_lines(r[ROW], r[ROW + 1u], r[ROW + 2u], r[ROW + 3u], r[ROW + 4u], r[ROW + 5u], r[ROW + 6u]);
  }
  return tile;
}

fn joined_tiles(p: Tile, q: Tile) -> Tile {
  var tile: Tile;
  tile.l0 = joined(p.l0, q.l0);
  if (LINES > 1u) {
    tile.l1 = joined(p.l1, q.l1);
  }
  if (LINES > 2u) {
    tile.l2 = joined(p.l2, q.l2);
  }
  if (LINES > 3u) {
    tile.l3 = joined(p.l3, q.l3);
  }
  if (LINES > 4u) {
    tile.l4 = joined(p.l4, q.l4);
  }
  if (LINES > 5u) {
    tile.l5 = joined(p.l5, q.l5);
  }
  if (LINES > 6u) {
    tile.l6 = joined(p.l6, q.l6);
  }
  if (LINES > 7u) {
    tile.l7 = joined(p.l7, q.l7);
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
        tile = joined_tiles(tile, next);
      }
    }
  }
  return tile;
}
