// What an invocation of sliding maxima does at its end.
// provides: conclude
// requires: Run

//// slide_first when FLAGS && LAST && pool_sliding: The last pass of sliding maxima computes as if no NaN ever won.
// Where the first pass met a window that begins with a NaN, this part reads the first element of every window, and
// overwrites the outputs of windows that begin with a NaN.
// requires: INNER_AXES, RUN, FIRST_DILATION, FIRST_STRIDE, elements_inside, first_inside, element, first_wins, met_nan, pool, write_first
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
      begun |= select(0u, 1u << (output - run.begin), first_wins(element(position)));
    }
    while (begun != 0u) {
      let output = run.begin + firstTrailingBit(begun);
      begun = begun & (begun - 1u);
      let position = origin + max(output * FIRST_STRIDE, low) * FIRST_DILATION * elements;
      write_first(run, lane, output, position, element(position));
    }
  }
}

//// slide_first_row when FLAGS && LAST && pool_sliding_row: As `slide_first`, for pools with a single pass, along the
// innermost axis.
// requires: RUN, first_wins, met_nan, pool, element, write_first
fn conclude(run: Run) {
  if (!met_nan()) {
    return;
  }
  let axis = pool.axes[2];
  let end = min(run.count, run.begin + RUN);
  for (var output = run.begin; output < end; output++) {
    let position = run.origin + u32(clamp(i32(output) - axis.pad_begin, 0, i32(axis.input) - 1));
    let first = element(position);
    if (first_wins(first)) {
      let lane = output % 4u;
      write_first(run, lane, output - lane, position, first);
    }
  }
}

//// slide_noted when known(NOTED): The last pass of sliding maxima computes as if no NaN ever won. This part then
// overwrites the outputs of windows that begin with a NaN. It finds these windows in the notes of the pass along the
// innermost axis: it reads the notes of each window's first row.
// requires: FIRST_DILATION, FIRST_STRIDE, NOTED, RUN, element, first_inside, flags_in, pool, write_first
// The first row of X of a window.
fn first_row(run: Run, output: u32) -> u32 {
  let axis = pool.axes[3u + 1u];
  let start = i32(run.class_number * axis.stride) - axis.pad_begin;
  let low = (u32(max(-start, 0)) + FIRST_DILATION - 1u) / FIRST_DILATION;
  return run.outer * axis.input + u32(start) + max(output * FIRST_STRIDE, low) * FIRST_DILATION;
}

fn conclude(run: Run) {
  // One bit per lane of an output. Each of the two words holds the bits of eight outputs.
  var low = 0u;
  var high = 0u;
  for (var slot = 0u; slot < RUN; slot++) {
    let output = run.begin + slot;
    let word = flags_in[first_row(run, output) * pool.slide.notes + run.cell / NOTED - pool.slide.flag];
    var bits = (word >> (run.cell % NOTED)) & ((1u << run.lanes) - 1u);
    bits = select(0u, bits << ((slot & 7u) * 4u), output < run.count);
    low |= select(0u, bits, slot < 8u);
    high |= select(0u, bits, slot >= 8u);
  }
  while ((low | high) != 0u) {
    let number = select(32u + firstTrailingBit(high), firstTrailingBit(low), low != 0u);
    high = select(high, high & (high - 1u), low == 0u);
    low = low & (low - 1u);
    let output = run.begin + number / 4u;
    let lane = number % 4u;
    let position = first_row(run, output) * pool.axes[3].input + first_inside(run.out_cell + lane);
    write_first(run, lane, output, position, element(position));
  }
}

//// slide_flag when FLAGS && FIRST && !LAST: The first of several passes: an invocation sets the group's flag if one of
// its windows begins with a NaN.
// requires: has_met, flags, pool
fn conclude(run: Run) {
  if (has_met()) {
    atomicStore(&flags[pool.slide.flag], 1u);
  }
}

//// slide_end: At the end of an invocation, no further work is left.
fn conclude(run: Run) {
}
