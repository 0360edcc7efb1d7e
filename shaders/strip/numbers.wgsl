// when pool_strip: The taps of a strip by their numbers: the column, counted from the strip's first window on, and 64
// for each line before. Taps outside are replaced by those at the ends, as clamp_tap does.
// provides: Columns, columns_of, lane_channel, point_of, element_of
// requires: Place, line_at, clamp_tap, element_at, one_at, Raw, pool
alias Columns = i32;

fn columns_of(column: i32, channel: u32) -> Columns {
  return column;
}

fn lane_channel(lane: u32) -> u32 {
  return 0u;
}

fn point_of(place: Place, number: u32, lane: u32) -> u32 {
  let width = pool.axes[2].input;
  let column = clamp_tap(place.column + i32(number & 63u), width, 1u);
  return place.plane + line_at(place, 0u, number >> 6u) * width + column;
}

fn element_of(place: Place, number: u32) -> Raw {
  return one_at(element_at(point_of(place, number, 0u), place.channel) - pool.x_first);
}
