// Writing four neighbouring outputs of a thread tile, from a point of Y and a channel on, as far as they lie in the
// row. `line` is the first point of the line with the windows' first elements; `column` is the first column of the
// first window.
// provides: store_quad
// requires: Elements, Quad, Origin, outcome, pool, first_position, element_at

//// store_elements: Writing outputs one by one, for elements of a word or more and rows of any length.
// requires: Acc, Raw, y, put_index_in
fn write_output(point: u32, channel: u32, best: Acc, first: Raw, first_at: u32, origin: Origin) {
  let output = element_at(point, channel);
  // For outputs before this dispatch's first one, `number` wraps beyond its outputs.
  let number = output - pool.output_first;
  if (number >= pool.outputs) {
    return;
  }
  let result = outcome(best, first, first_at);
  y[number] = result.raw;
  put_index_in(point, output, result, origin);
}

fn store_quad(point: u32, channel: u32, out_column: u32, best: Quad, first: Elements, line: u32, column: i32, origin: Origin) {
  let width = pool.axes[2].output;
  if (out_column < width) {
    write_output(point, channel, best.a, first.a, first_position(line, column, 0u), origin);
  }
  if (out_column + 1u < width) {
    write_output(point + 1u, channel, best.b, first.b, first_position(line, column, 1u), origin);
  }
  if (out_column + 2u < width) {
    write_output(point + 2u, channel, best.c, first.c, first_position(line, column, 2u), origin);
  }
  if (out_column + 3u < width) {
    write_output(point + 3u, channel, best.d, first.d, first_position(line, column, 3u), origin);
  }
}

//// store_quads: Writing four neighbouring outputs at once, where rows of Y are multiples of four, or where a quad is
// four channels.
// requires: put_four, put_four_indices
fn store_quad(point: u32, channel: u32, out_column: u32, best: Quad, first: Elements, line: u32, column: i32, origin: Origin) {
  let output = element_at(point, channel);
  // For outputs before this dispatch's first one, `number` wraps beyond its outputs.
  let number = output - pool.output_first;
  if (number >= pool.outputs || out_column >= pool.axes[2].output) {
    return;
  }
  let a = outcome(best.a, first.a, first_position(line, column, 0u));
  let b = outcome(best.b, first.b, first_position(line, column, 1u));
  let c = outcome(best.c, first.c, first_position(line, column, 2u));
  let d = outcome(best.d, first.d, first_position(line, column, 3u));
  put_four(number, Elements(a.raw, b.raw, c.raw, d.raw));
  put_four_indices(point, output, a, b, c, d, origin);
}
