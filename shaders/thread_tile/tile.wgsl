// The thread tile of an invocation: its position, and the writing of a line of its outputs.
// provides: ThreadTile, thread_tile_of, Lines, store_row
// requires: pool, Row, high_of, first_high_of, Origin, store_quad, STRIDE_2, CHANNELS_INSIDE, QUADS, ACROSS
struct ThreadTile {
  // The tile's line of outputs, numbered across all planes; for tiles of several lines, the number of the row of tiles.
  line: u32,
  // The first column of Y, and the column of X at which its window begins.
  out_column: u32,
  column: i32,
  // The first channel, where channels are innermost.
  channel: u32,
}

fn thread_tile_of(block: u32) -> ThreadTile {
  var tile: ThreadTile;
  var rest = block;
  if (CHANNELS_INSIDE != 0u) {
    let channels = pool.inner / max(CHANNELS_INSIDE, 1u);
    let others = rest / channels;
    tile.channel = (rest - others * channels) * CHANNELS_INSIDE;
    rest = others;
  }
  let across = (pool.axes[2].output + ACROSS - 1u) / ACROSS;
  tile.line = rest / across;
  tile.out_column = (rest - tile.line * across) * ACROSS;
  tile.column = i32(tile.out_column * STRIDE_2) - pool.axes[2].pad_begin;
  return tile;
}

// The number of the line of outputs that is written, and the first point of the line of X with the windows' first
// elements.
struct Lines {
  out_line: u32,
  first_line: u32,
}

fn store_row(tile: ThreadTile, lines: Lines, best: Row, origin: Origin) {
  let out_column = tile.out_column;
  let column = tile.column;
  let point = lines.out_line * pool.axes[2].output + out_column;
  store_quad(point, tile.channel, out_column, best.low, best.first_low, lines.first_line, column, origin);
  if (QUADS > 1u) {
    let next = ACROSS / QUADS;
    let further = column + i32(next * STRIDE_2);
    let line = lines.first_line;
    store_quad(point + next, tile.channel, out_column + next, high_of(best), first_high_of(best), line, further, origin);
  }
}
