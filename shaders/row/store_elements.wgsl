// Writing outputs one by one: elements of a word or more, wherever rows end.
// provides: store_quad
// requires: Acc, Elements, Quad, Raw, Origin, outcome, y, pool, put_index, first_position
fn write_output(output: u32, best: Acc, first: Raw, first_at: u32, origin: Origin) {
  // Outputs before this dispatch's wrap around to more than it has.
  let number = output - pool.output_first;
  if (number >= pool.outputs) {
    return;
  }
  let result = outcome(best, first, first_at);
  y[number] = result.raw;
  put_index(output, result, origin);
}

// Writes those of four neighbouring outputs that lie in the row. `line` is the position of the line that has the windows' first
// elements, `column` the first column of the first window.
fn store_quad(output: u32, out_column: u32, best: Quad, first: Elements, line: u32, column: i32, origin: Origin) {
  let width = pool.axes[2].output;
  if (out_column < width) {
    write_output(output, best.a, first.a, first_position(line, column, 0u), origin);
  }
  if (out_column + 1u < width) {
    write_output(output + pool.inner, best.b, first.b, first_position(line, column, 1u), origin);
  }
  if (out_column + 2u < width) {
    write_output(output + 2u * pool.inner, best.c, first.c, first_position(line, column, 2u), origin);
  }
  if (out_column + 3u < width) {
    write_output(output + 3u * pool.inner, best.d, first.d, first_position(line, column, 3u), origin);
  }
}
