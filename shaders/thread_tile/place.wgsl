// The thread tile of an invocation: LINES lines of OUTPUTS_ALONG outputs, or of CHANNELS_INSIDE channels of one
// output, OUTPUTS_BETWEEN lines of Y apart. The windows of neighbouring lines begin LINES_BETWEEN lines of the tile
// apart. Where they share lines of X, all lines of the tile are DILATION_1 lines of X apart; otherwise each window has
// KERNEL_1 lines of the tile to itself, and what lies between two windows is not read.
//
//   KERNEL_1 = 3, STRIDE_1 = 2, LINES_BETWEEN = 2       KERNEL_1 = 2, STRIDE_1 = 3, LINES_BETWEEN = 2
//   lines of X     0 1 2 3 4                            lines of X     0 1 2 3 4
//   of the tile    0 1 2 3 4                            of the tile    0 1 . 2 3
//   windows        [   ]                                windows        [ ]
//                      [   ]                                                 [ ]
// provides: Place, place_of, line_at, line_position, output_of
// requires: pool, quotient, Columns, columns_of, clamp_tap, element_at, CHANNELS_INSIDE, OUTPUTS_ALONG, STRIDE_0, STRIDE_1, STRIDE_2, DILATION_0, DILATION_1, LINES, LINES_BETWEEN, OUTPUTS_BETWEEN
struct Place {
  // The plane, counted with all its depths, and the first point of it in X.
  outer: u32,
  plane: u32,
  // The first output's line in its plane of Y, its column, and its point of Y.
  out_top: u32,
  out_column: u32,
  point: u32,
  // Where the first output's window begins.
  depth: i32,
  top: i32,
  column: i32,
  channel: u32,
  columns: Columns,
}

fn place_of(block: u32) -> Place {
  var place: Place;
  var rest = block;
  if (CHANNELS_INSIDE != 0u) {
    let others = quotient(rest, pool.split[0]);
    place.channel = (rest - others * pool.split[0].divisor) * CHANNELS_INSIDE;
    rest = others;
  }
  let row = quotient(rest, pool.split[1]);
  let planes = quotient(row, pool.split[2]);
  let number = row - planes * pool.split[2].divisor;
  place.outer = quotient(planes, pool.split[3]);
  place.out_top = number / OUTPUTS_BETWEEN * OUTPUTS_BETWEEN * LINES + number % OUTPUTS_BETWEEN;
  place.out_column = (rest - row * pool.split[1].divisor) * OUTPUTS_ALONG;
  place.point = (planes * pool.axes[1].output + place.out_top) * pool.axes[2].output + place.out_column;
  place.plane = place.outer * pool.axes[0].input * pool.axes[1].input * pool.axes[2].input;
  place.depth = i32((planes - place.outer * pool.axes[0].output) * STRIDE_0) - pool.axes[0].pad_begin;
  place.top = i32(place.out_top * STRIDE_1) - pool.axes[1].pad_begin;
  place.column = i32(place.out_column * STRIDE_2) - pool.axes[2].pad_begin;
  place.columns = columns_of(place.column, place.channel);
  return place;
}

// Lines of X from the first line of the tile to another one.
fn lines_below(line: u32) -> u32 {
  var below = line * DILATION_1;
  if (LINES_BETWEEN * DILATION_1 != OUTPUTS_BETWEEN * STRIDE_1) {
    let window = line / LINES_BETWEEN;
    below = window * OUTPUTS_BETWEEN * STRIDE_1 + (line - window * LINES_BETWEEN) * DILATION_1;
  }
  return below;
}

// The number of a line of X in the plane, from a line of the tile, which may lie in the padding, at one depth of the
// windows.
fn line_at(place: Place, depth: u32, line: u32) -> u32 {
  let in_depth = clamp_tap(place.depth + i32(depth * DILATION_0), pool.axes[0].input, DILATION_0);
  let in_line = clamp_tap(place.top + i32(lines_below(line)), pool.axes[1].input, DILATION_1);
  return in_depth * pool.axes[1].input + in_line;
}

// The position in X of the first element of a line of the plane, without the channel.
fn line_position(place: Place, line: u32) -> u32 {
  return element_at(place.plane + line * pool.axes[2].input, 0u) - pool.x_first;
}

// The number of the first output of a line of the tile in this dispatch; beyond its outputs where there is no such
// line.
fn output_of(place: Place, line: u32) -> u32 {
  let between = line * OUTPUTS_BETWEEN;
  let output = element_at(place.point + between * pool.axes[2].output, place.channel) - pool.output_first;
  return select(pool.outputs, output, place.out_top + between < pool.axes[1].output);
}
