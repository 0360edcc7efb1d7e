// The last pass of sliding maxima, done as if no NaN ever won: where one was met, outputs whose window begins with a NaN are
// written once more. They are found by looking at the first element of every window.
// provides: conclude
// requires: CHUNKS, FIRST_DILATION, FIRST_STRIDE, LANES, Walk, elements_inside, first_inside, first_wins, load, met_nan, pool, write_first
fn conclude(walk: Walk) {
  if (!met_nan()) {
    return;
  }
  let elements = elements_inside();
  // Taps of the axis as the plan has it.
  let axis = pool.axes[3u + pool.slide.inner_axes];
  let start = i32(walk.class_number * axis.stride) - axis.pad_begin;
  let low = (u32(max(-start, 0)) + FIRST_DILATION - 1u) / FIRST_DILATION;
  let outside = (walk.outer * axis.input + u32(start)) * elements;
  let end = min(walk.count, walk.begin + pool.slide.segments * CHUNKS);
  for (var lane = 0u; lane < LANES; lane++) {
    let origin = outside + first_inside(walk.cell + lane);
    for (var begin = walk.begin; begin < end; begin += 32u) {
      // First all are looked at, then those are written that a NaN begins.
      var begun = 0u;
      for (var i = 0u; i < min(32u, end - begin); i++) {
        let position = origin + max((begin + i) * FIRST_STRIDE, low) * FIRST_DILATION * elements;
        begun |= select(0u, 1u << i, first_wins(load(position - pool.x_first)));
      }
      while (begun != 0u) {
        let output = begin + firstTrailingBit(begun);
        begun = begun & (begun - 1u);
        write_first(walk, lane, output, origin + max(output * FIRST_STRIDE, low) * FIRST_DILATION * elements);
      }
    }
  }
}
