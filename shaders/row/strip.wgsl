// The neighbouring outputs of an invocation: their position, and the writing of a line of them.
// provides: Strip, strip_of, Lines, store_row
// requires: pool, Row, high_of, first_high_of, Origin, store_quad, STRIDE_2, CHANNELS_INSIDE, QUADS, ACROSS
struct Strip {
  // The strip's line of outputs, numbered across all planes; for an invocation that walks down lines, the number of its
  // walk.
  line: u32,
  // The first column of Y, and the column of X at which its window begins.
  out_column: u32,
  column: i32,
  // The first channel, where channels are innermost.
  channel: u32,
}

fn strip_of(block: u32) -> Strip {
  var strip: Strip;
  var rest = block;
  if (CHANNELS_INSIDE != 0u) {
    let channels = pool.inner / max(CHANNELS_INSIDE, 1u);
    let others = rest / channels;
    strip.channel = (rest - others * channels) * CHANNELS_INSIDE;
    rest = others;
  }
  let across = (pool.axes[2].output + ACROSS - 1u) / ACROSS;
  strip.line = rest / across;
  strip.out_column = (rest - strip.line * across) * ACROSS;
  strip.column = i32(strip.out_column * STRIDE_2) - pool.axes[2].pad_begin;
  return strip;
}

// The number of the line of outputs that is written, and the first point of the line of X with the windows' first
// elements.
struct Lines {
  out_line: u32,
  first_line: u32,
}

fn store_row(strip: Strip, lines: Lines, best: Row, origin: Origin) {
  let out_column = strip.out_column;
  let column = strip.column;
  let point = lines.out_line * pool.axes[2].output + out_column;
  store_quad(point, strip.channel, out_column, best.low, best.first_low, lines.first_line, column, origin);
  if (QUADS > 1u) {
    let next = ACROSS / QUADS;
    let further = column + i32(next * STRIDE_2);
    let line = lines.first_line;
    store_quad(point + next, strip.channel, out_column + next, high_of(best), first_high_of(best), line, further, origin);
  }
}
