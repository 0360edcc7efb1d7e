// Points of X: columns, numbered across lines and planes. Where channels are innermost, a point has an element of each
// channel.
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

// The point at which the window of an output of a quad begins, given the first point of its line and the first output's column.
fn first_position(line: u32, column: i32, lane: u32) -> u32 {
  var first = column;
  if (CHANNELS_INSIDE != 4u) {
    first += i32(lane * STRIDE_2);
  }
  return line + clamp_tap(first, pool.axes[2].input, DILATION_2);
}
