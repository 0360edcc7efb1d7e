// A column of a line as a position in X.
// provides: position_of, lane_position, first_position
// requires: pool, fold, CHANNELS_INSIDE, STRIDE_2, DILATION_2
fn position_of(line: u32, column: u32) -> u32 {
  var position = line + column;
  if (CHANNELS_INSIDE != 0u) {
    position = line + column * pool.inner;
  }
  return position;
}

// As `position_of` of what an output of a quad has seen: where a quad is four channels, they are neighbours.
fn lane_position(line: u32, column: u32, lane: u32) -> u32 {
  var position = position_of(line, column);
  if (CHANNELS_INSIDE == 4u) {
    position += lane;
  }
  return position;
}

// Where the window of an output of a quad has its first element, given the first output's first column.
fn first_position(line: u32, column: i32, lane: u32) -> u32 {
  var first = column;
  if (CHANNELS_INSIDE != 4u) {
    first += i32(lane * STRIDE_2);
  }
  return lane_position(line, fold(first, pool.axes[2].input, DILATION_2), lane);
}
