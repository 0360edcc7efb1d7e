// The last pass of sliding maxima computes as if no NaN ever won. This part then overwrites the outputs of windows that
// begin with a NaN. It finds these windows in the notes of the pass along the innermost axis: it reads the notes of
// each window's first row.
// provides: conclude
// requires: FIRST_DILATION, FIRST_STRIDE, NOTED, RUN, Run, element_of_x, first_inside, flags_in, pool, write_first
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
    write_first(run, lane, output, position, element_of_x(position));
  }
}
