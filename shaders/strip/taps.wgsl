// Loads the elements of a line that the row windows of a strip span. The first of them is the one with number BEFORE.
// provides: load_taps
// requires: taps, Place, line_at, line_position, pool, TAPS
//// taps_by_ones when !FOURS: One element at a time. Elements outside the line are replaced by its end, which changes
// neither the maximum of a window nor its first element. Every OUTPUTS-th tap has the same place in its word.
// requires: x, extract, lane_from, OUTPUTS, lanes_at, position_of, clamp_tap
fn load_taps(place: Place, line: u32) {
  let begin = line_position(place, line_at(place, 0u, line)) + place.channel;
  let width = pool.axes[2].input;
  if (place.column >= 0 && u32(place.column) + TAPS <= width) {
    for (var i = 0u; i < OUTPUTS; i++) { // unrolled
      let position = position_of(begin, u32(place.column) + i);
      let word = position / OUTPUTS;
      let lane = position % OUTPUTS;
      for (var j = 0u; j < (TAPS - i + OUTPUTS - 1u) / OUTPUTS; j++) { // unrolled
        taps[j * OUTPUTS + i] = lane_from(extract(x[word + position_of(0u, j)], lane));
      }
    }
  } else {
    for (var tap = 0u; tap < TAPS; tap++) { // unrolled
      taps[tap] = lanes_at(position_of(begin, clamp_tap(place.column + i32(tap), width, 1u)));
    }
  }
}

//// taps_by_fours when FOURS: Four elements at a time, of lines that are whole vectors. Vectors outside the line are
// replaced by those at its ends if all windows that reach beyond an end hold the last vector before it (HELD); or else
// by lowest elements.
// requires: quad_at, lane_from, lowest_lane, BEFORE, HELD
fn load_taps(place: Place, line: u32) {
  let begin = line_position(place, line_at(place, 0u, line)) >> 2u;
  let quads = i32(pool.axes[2].input >> 2u);
  let first = (place.column - i32(BEFORE)) >> 2u;
  for (var quad = 0u; quad < TAPS / 4u; quad++) { // unrolled
    let inside = clamp(first + i32(quad), 0, quads - 1);
    let four = quad_at(begin + u32(inside));
    taps[4u * quad] = lane_from(four.a);
    taps[4u * quad + 1u] = lane_from(four.b);
    taps[4u * quad + 2u] = lane_from(four.c);
    taps[4u * quad + 3u] = lane_from(four.d);
    if (HELD == 0u) {
      let outside = inside != first + i32(quad);
      taps[4u * quad] = select(taps[4u * quad], lowest_lane(), outside);
      taps[4u * quad + 1u] = select(taps[4u * quad + 1u], lowest_lane(), outside);
      taps[4u * quad + 2u] = select(taps[4u * quad + 2u], lowest_lane(), outside);
      taps[4u * quad + 3u] = select(taps[4u * quad + 3u], lowest_lane(), outside);
    }
  }
}
