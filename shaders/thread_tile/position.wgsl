// Points of X. A point is one column of one line; points are numbered across lines and planes. Where channels are
// innermost, a point has one element of each channel.
// provides: position_of, element_at, first_position
// requires: pool, clamp_tap, CHANNELS_INSIDE, STRIDE_2, DILATION_2
// The position of an element, from the position of its line's first element in the same channel, and its column.
fn position_of(line: u32, column: u32) -> u32 {
  var position = line + column;
  if (CHANNELS_INSIDE != 0u) {
    position = line + column * pool.inner;
  }
  return position;
}

// The position of a point's element in a channel.
fn element_at(point: u32, channel: u32) -> u32 {
  var position = point;
  if (CHANNELS_INSIDE != 0u) {
    position = point * pool.inner + channel;
  }
  return position;
}

// The point at which the window of the output in lane `lane` of a quad begins. `line` is the first point of the
// window's line of X; `column` is the column at which the window of lane 0 begins.
fn first_position(line: u32, column: i32, lane: u32) -> u32 {
  var first = column;
  if (CHANNELS_INSIDE != 4u) {
    first += i32(lane * STRIDE_2);
  }
  return line + clamp_tap(first, pool.axes[2].input, DILATION_2);
}
