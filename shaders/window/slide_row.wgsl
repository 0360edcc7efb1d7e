// The positions of windows that slide along the innermost axis, and loads of four elements of a line.
// provides: row_run, row_quad
// requires: pool, quotient, Run, Cell, RUN, LEFT, row_elements, row_columns, lift_in_order
fn row_run(number: u32) -> Run {
  let axis = pool.axes[2];
  var run: Run;
  let block = number + pool.block_first;
  run.outer = quotient(block, pool.slide.runs);
  run.begin = (block - run.outer * pool.slide.runs.divisor) * RUN;
  run.count = axis.output;
  run.output_step = 1u;
  run.origin = run.outer * axis.input;
  run.lanes = 4u;
  run.output = run.outer * pool.slide.out_line;
  return run;
}

// Loads an aligned vector of four elements. In an invocation's first vector, the first window begins at lane LEFT.
fn row_quad(run: Run, number: u32) -> Cell {
  let axis = pool.axes[2];
  let column = i32(run.begin + number * 4u) - axis.pad_begin - i32(LEFT);
  let columns = row_columns(column, axis.input);
  let elements = row_elements(run.origin, column, axis.input);
  let order = number * 4u;
  return Cell(
    lift_in_order(elements.a, run.origin + columns.x, order),
    lift_in_order(elements.b, run.origin + columns.y, order + 1u),
    lift_in_order(elements.c, run.origin + columns.z, order + 2u),
    lift_in_order(elements.d, run.origin + columns.w, order + 3u),
  );
}
