// Windows of neighbouring outputs: lines of X one after another.
// provides: Place, line_at, line_windows, Seen, windows_of_line
// requires: pool, fold, Acc, Quad, Row, row_windows, join_rows, element_at, KERNEL_0, KERNEL_1, STRIDE_0, STRIDE_1, DILATION_0, DILATION_1, QUADS, LINES_EVEN, ORDER_LINES, ORDER_COLUMNS
// Where windows lie.
struct Place {
  // The first column of the first output's window.
  column: i32,
  // The first point of the plane, and a channel.
  plane: u32,
  channel: u32,
  depth: i32,
}

// The line of X that a tap of an output's window has, as its first point.
fn line_at(place: Place, depth: i32, line: i32) -> u32 {
  let in_depth = fold(depth, pool.axes[0].input, DILATION_0);
  let in_line = fold(line, pool.axes[1].input, DILATION_1);
  return place.plane + (in_depth * pool.axes[1].input + in_line) * pool.axes[2].input;
}

fn located_at(best: Acc, line: u32) -> Acc {
  var located = best;
  located.at = line + best.at;
  return located;
}

fn located_quad(quad: Quad, line: u32) -> Quad {
  return Quad(located_at(quad.a, line), located_at(quad.b, line), located_at(quad.c, line), located_at(quad.d, line));
}

// The maxima of a line, their places as points of X.
fn located_windows(line: u32, place: Place, order: u32) -> Row {
  let row = row_windows(element_at(line, place.channel) - pool.x_first, place.column, order * ORDER_COLUMNS);
  var located = row;
  located.low = located_quad(row.low, line);
  if (QUADS > 1u) {
    located.high = located_quad(row.high, line);
  }
  return located;
}

// The maxima of a line at all depths of the windows. Lines are numbered in their order, those of all depths together.
fn line_windows(place: Place, line: i32, number: u32) -> Row {
  var row = located_windows(line_at(place, place.depth, line), place, number);
  if (KERNEL_0 > 1u) {
    for (var tap = 1u; tap < KERNEL_0; tap++) {
      let deeper = line_at(place, place.depth + i32(tap * DILATION_0), line);
      row = join_rows(row, located_windows(deeper, place, tap * ORDER_LINES + number));
    }
  }
  return row;
}

// What windows come to.
struct Seen {
  best: Row,
  // The first point of the line that has their first elements, and of the plane.
  first_line: u32,
  plane: u32,
  // Planes of all depths before these.
  outer: u32,
}

// The windows of a line of outputs, by its number among the lines of all planes, looked at whole.
fn windows_of_line(out_line: u32, column: i32, channel: u32) -> Seen {
  let pitch = pool.axes[2].input;
  let planes = out_line / pool.axes[1].output;
  var seen: Seen;
  seen.outer = planes / pool.axes[0].output;
  var place: Place;
  place.column = column;
  place.channel = channel;
  if (LINES_EVEN != 0u) {
    // Lines of X and of Y count on from plane to plane, and none is shared.
    seen.plane = planes * pool.axes[1].input * pitch;
    seen.first_line = out_line * STRIDE_1 * pitch;
    seen.best = located_windows(seen.first_line, place, 0u);
    for (var tap = 1u; tap < KERNEL_1; tap++) {
      seen.best = join_rows(seen.best, located_windows(seen.first_line + tap * DILATION_1 * pitch, place, tap));
    }
  } else {
    seen.plane = seen.outer * pool.axes[0].input * pool.axes[1].input * pitch;
    place.plane = seen.plane;
    place.depth = i32((planes - seen.outer * pool.axes[0].output) * STRIDE_0) - pool.axes[0].pad_begin;
    let top = i32((out_line - planes * pool.axes[1].output) * STRIDE_1) - pool.axes[1].pad_begin;
    seen.first_line = line_at(place, place.depth, top);
    seen.best = line_windows(place, top, 0u);
    for (var tap = 1u; tap < KERNEL_1; tap++) {
      seen.best = join_rows(seen.best, line_windows(place, top + i32(tap * DILATION_1), tap));
    }
  }
  return seen;
}
