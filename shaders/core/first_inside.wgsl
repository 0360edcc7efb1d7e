// Where the first element of a window lies within the axes inside of the one that windows slide along, from the place inside it.
// provides: first_inside, elements_inside
// requires: fold, pool
// Elements of X inside of the axis.
fn elements_inside() -> u32 {
  var elements = pool.channels_inner;
  for (var i = 0u; i < pool.slide.inner_axes; i++) {
    elements = elements * pool.axes[3u + i].input;
  }
  return elements;
}

fn first_inside(cell: u32) -> u32 {
  var elements = pool.channels_inner;
  var rest = cell / elements;
  var origin = cell - rest * elements;
  for (var i = 0u; i < pool.slide.inner_axes; i++) {
    let axis = pool.axes[3u + i];
    let over = rest / axis.output;
    let start = i32((rest - over * axis.output) * axis.stride) - axis.pad_begin;
    origin += fold(start, axis.input, axis.dilation) * elements;
    elements = elements * axis.input;
    rest = over;
  }
  return origin;
}
