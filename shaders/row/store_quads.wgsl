// Writing four outputs of a word each at once, where rows of Y come out even with them.
// provides: y, store_quad
// requires: Quad, Raws, Origin, outcome, pool, fold, put_four_indices, position_of, STRIDE_2, DILATION_2
@group(0) @binding(2) var<storage, read_write> y: array<vec4<u32>>;

// Writes four neighbouring outputs if they lie in the row. `line` is the position of the line that has the windows' first
// elements, `column` the first column of the first window.
fn store_quad(output: u32, out_column: u32, best: Quad, first: Raws, line: u32, column: i32, origin: Origin) {
  // Outputs before this dispatch's wrap around to more than it has.
  let number = output - pool.output_first;
  if (number >= pool.outputs || out_column >= pool.axes[2].output) {
    return;
  }
  let extent = pool.axes[2].input;
  let step = i32(STRIDE_2);
  let a = outcome(best.a, first.a, position_of(line, fold(column, extent, DILATION_2)));
  let b = outcome(best.b, first.b, position_of(line, fold(column + step, extent, DILATION_2)));
  let c = outcome(best.c, first.c, position_of(line, fold(column + 2 * step, extent, DILATION_2)));
  let d = outcome(best.d, first.d, position_of(line, fold(column + 3 * step, extent, DILATION_2)));
  y[number >> 2u] = vec4<u32>(a.raw, b.raw, c.raw, d.raw);
  put_four_indices(output, a, b, c, d, origin);
}
