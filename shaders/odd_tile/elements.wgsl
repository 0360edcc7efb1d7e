// Elements of a line of X, loaded one by one. An element outside the line is replaced by the nearest tap of the same
// window inside the line. This changes neither the maximum nor the window's first element.
// provides: lanes_at, line_elements, alternating_elements
// requires: Acc, Quad, Row, row_from, elements_in, lift_in_order, load, clamp_tap, pool, position_of, LineElements, AlternatingElements, SLIDES, KERNEL_2, STRIDE_2, DILATION_2, QUADS
fn fetch(line: u32, column: i32, order: u32) -> Acc {
  let inside = clamp_tap(column, pool.axes[2].input, DILATION_2);
  return lift_in_order(load(position_of(line, inside)), inside, order);
}

// Four elements, a window stride apart.
fn fetch_quad(line: u32, column: i32, order: u32) -> Quad {
  let step = i32(STRIDE_2);
  return Quad(
    fetch(line, column, order),
    fetch(line, column + step, order + STRIDE_2),
    fetch(line, column + 2 * step, order + 2u * STRIDE_2),
    fetch(line, column + 3 * step, order + 3u * STRIDE_2),
  );
}

// The elements of one tap for all outputs. `column` is the column of X where the first output has this tap.
fn lanes_at(line: u32, column: i32, order: u32) -> Row {
  let low = fetch_quad(line, column, order);
  var high = low;
  if (QUADS > 1u) {
    high = fetch_quad(line, column + 4 * i32(STRIDE_2), order + 4u * STRIDE_2);
  }
  return row_from(low, high, elements_in(low), elements_in(high));
}

fn line_elements(line: u32, column: i32, order: u32) -> LineElements {
  let lanes = lanes_at(line, column, order);
  var next = lanes.low;
  var next_4 = lanes.low;
  let behind = 4u * QUADS * STRIDE_2;
  if (SLIDES > 0u) {
    next = fetch_quad(line, column + i32(behind), order + behind);
  }
  if (SLIDES > 4u) {
    next_4 = fetch_quad(line, column + i32(behind + 4u * STRIDE_2), order + behind + 4u * STRIDE_2);
  }
  return LineElements(lanes, next, next_4);
}

fn alternating_elements(line: u32, column: i32, order: u32) -> AlternatingElements {
  let even = lanes_at(line, column, order);
  var odd = even;
  var next_even = even.low;
  var next_odd = even.low;
  let behind = 8u * QUADS;
  if (KERNEL_2 > 1u) {
    odd = lanes_at(line, column + 1, order + 1u);
  }
  if (KERNEL_2 > 2u) {
    next_even = fetch_quad(line, column + i32(behind), order + behind);
  }
  if (KERNEL_2 > 3u) {
    next_odd = fetch_quad(line, column + i32(behind + 1u), order + behind + 1u);
  }
  return AlternatingElements(even, odd, next_even, next_odd);
}
