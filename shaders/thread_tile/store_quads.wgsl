// Writing four neighbouring outputs at once, where rows of Y are multiples of four, or where a quad is four channels.
// provides: store_quad
// requires: Elements, Quad, put_four, Origin, outcome, pool, put_four_indices, first_position, element_at
// Writes four neighbouring outputs from a point of Y and a channel on, if they lie in the row. `line` is the first
// point of the line with the windows' first elements; `column` is the first column of the first window.
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
