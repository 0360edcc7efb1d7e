// The positions of an invocation's stride cells. The cell of a source is the box of one stride on each axis, from the
// first element of the source's window on. Where windows do not overlap, only the cell's own source can write into it.
// provides: StrideCell, stride_cell
// requires: gather, flat, quotient, INNER, ACROSS, LINES, PLAIN, POSITIONS, SAME_PLACE, STRIDE_0, STRIDE_1, STRIDE_2
struct StrideCell {
  // The first cell of the invocation, counted along the three axes.
  at: vec3<u32>,
  // The positions of the cell's source in X and in the index tensor, the position of the cell's first element in Y, and
  // the index of that element.
  x_position: u32,
  index_position: u32,
  y_position: u32,
  own: u32,
  // The channel of the first lane, where lanes are channels.
  inner: u32,
  // The planes (NCHW) or batch items (NHWC) before the cell, and all rows of Y before the cell's first row.
  outer: u32,
  y_row: u32,
}

fn stride_cell(number: u32) -> StrideCell {
  var rest = number;
  var inner = 0u;
  if (INNER == 1u) {
    let over = quotient(rest, gather.split[0]);
    inner = (rest - over * gather.split[0].divisor) * 4u;
    rest = over;
  }
  var at = vec3<u32>();
  let line = quotient(rest, gather.split[1]);
  at.z = (rest - line * gather.split[1].divisor) * ACROSS;
  var outer = 0u;
  if (PLAIN == 1u) {
    // Lines are numbered across planes, in X as in Y.
    at.y = line;
  } else {
    let over_1 = quotient(line, gather.split[2]);
    at.y = (line - over_1 * gather.split[2].divisor) * LINES;
    outer = quotient(over_1, gather.split[3]);
    at.x = over_1 - outer * gather.split[3].divisor;
  }
  let from_line = (outer * gather.covering[0].input + at.x) * gather.covering[1].input + at.y;
  var x_position = from_line * gather.covering[2].input + at.z;
  let first = at * vec3<u32>(STRIDE_0, STRIDE_1, STRIDE_2);
  let to_line = (outer * gather.covering[0].output + first.x) * gather.covering[1].output + first.y;
  var y_position = to_line * gather.covering[2].output + first.z;
  if (INNER == 1u) {
    x_position = x_position * gather.inner + inner;
    y_position = y_position * gather.inner + inner;
  }
  var own = y_position;
  var index_position = x_position;
  if (POSITIONS == 0u || SAME_PLACE == 0u) {
    let n = quotient(outer, gather.split[4]);
    let c = outer - n * gather.split[4].divisor + inner;
    if (POSITIONS == 0u) {
      own = flat(gather.value, n, c, first);
    }
    if (SAME_PLACE == 0u) {
      index_position = flat(gather.stored, n, c, at);
    }
  }
  return StrideCell(at, x_position, index_position, y_position, own, inner, outer, to_line);
}
