// The numbers of taps, by which the places of maxima are told: the number of a line's tap 0, that of its other taps,
// and back to the point of X.
// provides: line_number, point_of
// requires: Place, pool

//// numbers_in_plane when OUTPUTS_ALONG == 4 && !IN_KEYS: A tap's column in the window, plus 16 for each line of the
// plane before it.
// requires: lane_column, clamp_tap, DILATION_2
fn line_number(place: Place, in_plane: u32, depth: u32, line: u32) -> u32 {
  return in_plane * 16u;
}

fn point_of(place: Place, number: u32, lane: u32) -> u32 {
  let column = place.column + lane_column(lane) + i32((number & 15u) * DILATION_2);
  let width = pool.axes[2].input;
  return place.plane + (number >> 4u) * width + clamp_tap(column, width, DILATION_2);
}

//// numbers_in_tile when OUTPUTS_ALONG == 4 && IN_KEYS: A tap's column in the window, plus 16 for each line of the tile
// and 256 for each depth before it. Numbers are small.
// requires: lane_column, line_at, clamp_tap, KERNEL_0, DILATION_2
fn line_number(place: Place, in_plane: u32, depth: u32, line: u32) -> u32 {
  return (depth * 16u + line) * 16u;
}

fn point_of(place: Place, number: u32, lane: u32) -> u32 {
  let column = place.column + lane_column(lane) + i32((number & 15u) * DILATION_2);
  let width = pool.axes[2].input;
  var line = line_at(place, 0u, number >> 4u);
  if (KERNEL_0 > 1u) {
    line = line_at(place, number >> 8u, (number >> 4u) & 15u);
  }
  return place.plane + line * width + clamp_tap(column, width, DILATION_2);
}

//// numbers_are_points when OUTPUTS_ALONG == 1: The point of the tap.
fn line_number(place: Place, in_plane: u32, depth: u32, line: u32) -> u32 {
  return place.plane + in_plane * pool.axes[2].input;
}

fn point_of(place: Place, number: u32, lane: u32) -> u32 {
  return number;
}
