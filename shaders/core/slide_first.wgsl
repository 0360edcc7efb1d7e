// The last pass of sliding maxima, done as if no NaN ever won: where one was met, outputs whose window begins with a NaN are
// written once more. They are found by looking at the first element of every window.
// provides: conclude
// requires: INNER_AXES, RUN, FIRST_DILATION, FIRST_STRIDE, Walk, elements_inside, first_inside, element_of_x, first_wins, met_nan, pool, write_first
fn conclude(walk: Walk) {
  if (!met_nan()) {
    return;
  }
  let elements = elements_inside();
  // Taps of the axis as the plan has it.
  let axis = pool.axes[3u + INNER_AXES];
  let start = i32(walk.class_number * axis.stride) - axis.pad_begin;
  let low = (u32(max(-start, 0)) + FIRST_DILATION - 1u) / FIRST_DILATION;
  let outside = (walk.outer * axis.input + u32(start)) * elements;
  let end = min(walk.count, walk.begin + RUN);
  for (var lane = 0u; lane < walk.lanes; lane++) {
    let origin = outside + first_inside(walk.out_cell + lane);
    // First all are looked at, then those are written that a NaN begins.
    var begun = 0u;
    for (var output = walk.begin; output < end; output++) {
      let position = origin + max(output * FIRST_STRIDE, low) * FIRST_DILATION * elements;
      begun |= select(0u, 1u << (output - walk.begin), first_wins(element_of_x(position)));
    }
    while (begun != 0u) {
      let output = walk.begin + firstTrailingBit(begun);
      begun = begun & (begun - 1u);
      let position = origin + max(output * FIRST_STRIDE, low) * FIRST_DILATION * elements;
      write_first(walk, lane, output, position, element_of_x(position));
    }
  }
}
