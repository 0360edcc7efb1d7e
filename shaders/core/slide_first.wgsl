// The last pass of sliding maxima computes as if no NaN ever won. Where the first pass met a window that begins with a
// NaN, this part reads the first element of every window, and overwrites the outputs of windows that begin with a NaN.
// provides: conclude
// requires: INNER_AXES, RUN, FIRST_DILATION, FIRST_STRIDE, Run, elements_inside, first_inside, element_of_x, first_wins, met_nan, pool, write_first
fn conclude(run: Run) {
  if (!met_nan()) {
    return;
  }
  let elements = elements_inside();
  // The axis as the plan gives it, not as the pass does: the windows' first taps are read from X.
  let axis = pool.axes[3u + INNER_AXES];
  let start = i32(run.class_number * axis.stride) - axis.pad_begin;
  let low = (u32(max(-start, 0)) + FIRST_DILATION - 1u) / FIRST_DILATION;
  let outside = (run.outer * axis.input + u32(start)) * elements;
  let end = min(run.count, run.begin + RUN);
  for (var lane = 0u; lane < run.lanes; lane++) {
    let origin = outside + first_inside(run.out_cell + lane);
    // All first elements of a lane are read before any output of the lane is written.
    var begun = 0u;
    for (var output = run.begin; output < end; output++) {
      let position = origin + max(output * FIRST_STRIDE, low) * FIRST_DILATION * elements;
      begun |= select(0u, 1u << (output - run.begin), first_wins(element_of_x(position)));
    }
    while (begun != 0u) {
      let output = run.begin + firstTrailingBit(begun);
      begun = begun & (begun - 1u);
      let position = origin + max(output * FIRST_STRIDE, low) * FIRST_DILATION * elements;
      write_first(run, lane, output, position, element_of_x(position));
    }
  }
}
