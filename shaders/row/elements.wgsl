// Elements of a line of X, loaded one by one. An element outside the line is replaced by the next one of the same window
// inside it, which changes no maximum and no first element.
// provides: lanes_at, behind
// requires: Acc, Quad, Raws, Row, lift, load, fold, pool, position_of, STRIDE_2, DILATION_2, QUADS
fn fetch(line: u32, column: i32) -> Acc {
  let inside = fold(column, pool.axes[2].input, DILATION_2);
  return lift(load(position_of(line, inside)), inside);
}

// Four elements as far apart as neighbouring windows.
fn fetch_quad(line: u32, column: i32) -> Quad {
  let step = i32(STRIDE_2);
  return Quad(fetch(line, column), fetch(line, column + step), fetch(line, column + 2 * step), fetch(line, column + 3 * step));
}

// The elements of a tap for all outputs, the first of which has it in this column.
fn lanes_at(line: u32, column: i32) -> Row {
  let low = fetch_quad(line, column);
  var high = low;
  if (QUADS > 1u) {
    high = fetch_quad(line, column + 4 * i32(STRIDE_2));
  }
  return Row(low, high, Raws(low.a.raw, low.b.raw, low.c.raw, low.d.raw), Raws(high.a.raw, high.b.raw, high.c.raw, high.d.raw));
}

// The elements behind the lanes, from one on.
fn behind(line: u32, column: i32, from_next: i32) -> Quad {
  return fetch_quad(line, column + (i32(QUADS) * 4 + from_next) * i32(STRIDE_2));
}
