// The positions of windows that slide along the innermost axis, and loads of four elements of a line.
// provides: row_walk, row_quad
// requires: pool, quotient, Walk, Cell, RUN, LEFT, row_elements, row_columns, lift_in_order
fn row_walk(number: u32) -> Walk {
  let axis = pool.axes[2];
  var walk: Walk;
  let block = number + pool.block_first;
  walk.outer = quotient(block, pool.slide.runs);
  walk.begin = (block - walk.outer * pool.slide.runs.divisor) * RUN;
  walk.count = axis.output;
  walk.output_step = 1u;
  walk.origin = walk.outer * axis.input;
  walk.lanes = 4u;
  walk.output = walk.outer * pool.slide.out_line;
  return walk;
}

// Loads an aligned vector of four elements. In an invocation's first vector, the first window begins at lane LEFT.
fn row_quad(walk: Walk, number: u32) -> Cell {
  let axis = pool.axes[2];
  let column = i32(walk.begin + number * 4u) - axis.pad_begin - i32(LEFT);
  let columns = row_columns(column, axis.input);
  let elements = row_elements(walk.origin, column, axis.input);
  let order = number * 4u;
  return Cell(
    lift_in_order(elements.a, walk.origin + columns.x, order),
    lift_in_order(elements.b, walk.origin + columns.y, order + 1u),
    lift_in_order(elements.c, walk.origin + columns.z, order + 2u),
    lift_in_order(elements.d, walk.origin + columns.w, order + 3u),
  );
}
