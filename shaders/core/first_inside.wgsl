// The offset of a window's first element within the inner axes, those inside the axis that windows slide along. It is
// computed from the output's number within the inner axes.
// provides: first_inside, elements_inside
// requires: pool, quotient, clamp_tap, CHANNELS_INSIDE, INNER_AXES, INNER_DILATED
// The number of elements of X inside the axis that windows slide along.
fn elements_inside() -> u32 {
  var elements = pool.channels_inner;
  for (var i = 0u; i < INNER_AXES; i++) {
    elements = elements * pool.axes[3u + i].input;
  }
  return elements;
}

// The coordinate of a window's first element inside X, along one of the inner axes.
fn first_along(number: u32, output: u32) -> u32 {
  let axis = pool.axes[3u + number];
  let start = i32(output * axis.stride) - axis.pad_begin;
  var first = u32(clamp(start, 0, i32(axis.input) - 1));
  if (INNER_DILATED == 1u) {
    first = clamp_tap(start, axis.input, axis.dilation);
  }
  return first;
}

fn first_inside(cell: u32) -> u32 {
  var rest = cell;
  var origin = 0u;
  if (CHANNELS_INSIDE == 1u) {
    rest = quotient(cell, pool.slide.channels);
    origin = cell - rest * pool.channels_inner;
  }
  var elements = pool.channels_inner;
  for (var i = 0u; i < INNER_AXES; i++) {
    // The last digit needs no division.
    var over = 0u;
    if (i + 1u < INNER_AXES) {
      over = quotient(rest, pool.slide.row);
    }
    if (i > 0u && i + 1u < INNER_AXES) {
      over = rest / pool.axes[3u + i].output;
    }
    origin += first_along(i, rest - over * pool.axes[3u + i].output) * elements;
    elements = elements * pool.axes[3u + i].input;
    rest = over;
  }
  return origin;
}
