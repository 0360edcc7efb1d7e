// Points of X. A point is one column of one line; points are numbered across lines and planes. Where channels are
// innermost, a point has one element of each channel.
// provides: position_of, element_at
// requires: pool, CHANNELS_INSIDE
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
