// The variant of core/slide_first.wgsl for pools with a single pass, along the innermost axis.
// provides: conclude
// requires: RUN, Run, first_wins, met_nan, pool, element_of_x, write_first
fn conclude(run: Run) {
  if (!met_nan()) {
    return;
  }
  let axis = pool.axes[2];
  let end = min(run.count, run.begin + RUN);
  for (var output = run.begin; output < end; output++) {
    let position = run.origin + u32(clamp(i32(output) - axis.pad_begin, 0, i32(axis.input) - 1));
    let first = element_of_x(position);
    if (first_wins(first)) {
      let lane = output % 4u;
      write_first(run, lane, output - lane, position, first);
    }
  }
}
