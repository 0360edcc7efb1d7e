// Maxima that give way to the first element of their window if that is a NaN.
// provides: First, first_of, settle
// requires: Acc, Walk, finalize, fold, load, pool
struct First {
  // The position in X of tap 0 of a class, as the plan has the axis; it may be negative and wraps.
  origin: u32,
  // Elements of X between two taps, and the first tap that lies inside.
  step: u32,
  low: u32,
}

fn first_of(walk: Walk) -> First {
  var rest = walk.cell;
  var elements = pool.channels_inner;
  var origin = rest % elements;
  rest = rest / elements;
  for (var i = 0u; i < pool.slide.inner_axes; i++) {
    let axis = pool.axes[3u + i];
    let over = rest / axis.output;
    let start = i32((rest - over * axis.output) * axis.stride) - axis.pad_begin;
    origin += fold(start, axis.input, axis.dilation) * elements;
    elements = elements * axis.input;
    rest = over;
  }
  let axis = pool.axes[3u + pool.slide.inner_axes];
  let start = i32(walk.class_number * axis.stride) - axis.pad_begin;
  let low = (u32(max(-start, 0)) + axis.dilation - 1u) / axis.dilation;
  origin += (walk.outer * axis.input + u32(start)) * elements;
  return First(origin, axis.dilation * elements, low);
}

fn settle(first: First, output: u32, best: Acc) -> Acc {
  let position = first.origin + max(output * pool.slide.first_stride, first.low) * first.step;
  return finalize(best, load(position - pool.x_first), position);
}
