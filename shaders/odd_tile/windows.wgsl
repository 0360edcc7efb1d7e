// Windows of neighbouring outputs: the positions of their lines of X, and the row maxima of a line.
// provides: Place, line_at, located_windows, Seen, LineMaxima, join_maxima
// requires: pool, clamp_tap, Acc, Quad, Row, high_of, with_quads, row_windows, join_rows, element_at, DILATION_0, DILATION_1, QUADS, ORDER_COLUMNS
// The position of windows.
struct Place {
  // The first column of the first output's window.
  column: i32,
  // The first point of the plane, and a channel.
  plane: u32,
  channel: u32,
  depth: i32,
}

// The first point of a line of X. The depth and the line may lie in the padding.
fn line_at(place: Place, depth: i32, line: i32) -> u32 {
  let in_depth = clamp_tap(depth, pool.axes[0].input, DILATION_0);
  let in_line = clamp_tap(line, pool.axes[1].input, DILATION_1);
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

// The row maxima of a line, with their positions as points of X.
fn located_windows(line: u32, place: Place, order: u32) -> Row {
  let row = row_windows(element_at(line, place.channel) - pool.x_first, place.column, order * ORDER_COLUMNS);
  let low = located_quad(row.low, line);
  var high = low;
  if (QUADS > 1u) {
    high = located_quad(high_of(row), line);
  }
  return with_quads(row, low, high);
}

// The row maxima of a line that a thread tile keeps in registers.
alias LineMaxima = Row;

fn join_maxima(p: LineMaxima, q: LineMaxima) -> LineMaxima {
  return join_rows(p, q);
}

// The maxima of whole windows.
struct Seen {
  best: Row,
  // The first point of the line with the windows' first elements, and the first point of the plane.
  first_line: u32,
  plane: u32,
  // The number of the plane, where a plane is counted with all its depths.
  outer: u32,
}
