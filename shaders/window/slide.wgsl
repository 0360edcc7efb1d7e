// The positions of windows that slide along one axis.
//
// An axis with dilation d is d interleaved axes, each made of every d-th element. The windows of every `classes`-th
// output lie on the same interleaved axis and form a class. Within a class taps are neighbours, and the windows of
// neighbouring outputs begin CHUNK taps apart:
//
//   d = 2, stride 1, two classes:     x0 x1 x2 x3 x4 x5 x6 x7
//   class 0, outputs 0, 2, 4, ..      t0    t1    t2    t3
//   class 1, outputs 1, 3, 5, ..         t0    t1    t2    t3
//
// In scratch memory, the elements inside an axis lie in rows of `pitch` elements, of which `extent` are used, so that
// rows are whole vectors:
//
//   extent 5, pitch 8     x x x x x . . .  x x x x x . . .
//
// An invocation walks along one class of one line; a line is the axis at one outer and one inner coordinate. Taps in
// the padding are moved onto the nearest tap inside. No window is empty, so that tap belongs to the same window, and
// reading an element twice changes neither the maximum nor the first element.
// provides: Walk, walk_of, tap_at, last_tap_at
// requires: pool, quotient, DILATED, LANES, PARTIAL
struct Walk {
  // The position of the class's tap 0; it may be negative and wraps.
  origin: u32,
  // The stride of taps, in elements.
  step: u32,
  // The first and the last tap inside the input.
  low: u32,
  high: u32,
  // The position of the class's output 0, and the stride of the class's outputs.
  output: u32,
  output_step: u32,
  // The first output of this invocation, and the number of outputs of the class.
  begin: u32,
  count: u32,
  // The line, and the class.
  outer: u32,
  class_number: u32,
  // The inner coordinate of the first lane in the elements that are read and in those that are written, and the number
  // of valid lanes.
  cell: u32,
  out_cell: u32,
  lanes: u32,
}

// The walk of an invocation that computes `outputs` neighbouring outputs of a class.
fn walk_of(number: u32, outputs: u32) -> Walk {
  let axis = pool.axes[2];
  var walk: Walk;
  // The lanes of a cell are neighbouring lines.
  let over = quotient(number, pool.slide.cells);
  walk.cell = (number - over * pool.slide.cells.divisor) * LANES;
  var block = over;
  if (DILATED == 1u) {
    block = quotient(over, pool.slide.classes);
    walk.class_number = over - block * pool.slide.classes.divisor;
  }
  block += pool.block_first;
  walk.outer = quotient(block, pool.slide.runs);
  walk.begin = (block - walk.outer * pool.slide.runs.divisor) * outputs;
  let start = i32(walk.class_number * axis.stride) - axis.pad_begin;
  let end = i32(axis.input) - 1 - start;
  walk.low = u32(max(-start, 0));
  walk.high = u32(max(end, 0));
  walk.step = pool.inner;
  walk.output_step = pool.slide.out_inner;
  walk.count = axis.output;
  if (DILATED == 1u) {
    walk.low = (walk.low + axis.dilation - 1u) / axis.dilation;
    walk.high = walk.high / axis.dilation;
    walk.step = axis.dilation * pool.inner;
    walk.output_step = pool.slide.classes.divisor * pool.slide.out_inner;
    walk.count = quotient(axis.output - walk.class_number + pool.slide.classes.divisor - 1u, pool.slide.classes);
  }
  walk.origin = (walk.outer * axis.input + u32(start)) * pool.inner + walk.cell;
  walk.lanes = LANES;
  walk.out_cell = walk.cell;
  if (PARTIAL == 1u) {
    // Rows of Y are not padded to the pitch.
    let row = quotient(walk.cell, pool.slide.pitch);
    let column = walk.cell - row * pool.slide.pitch.divisor;
    walk.lanes = min(LANES, max(pool.slide.extent, column) - column);
    walk.out_cell -= row * (pool.slide.pitch.divisor - pool.slide.extent);
  }
  walk.output = walk.outer * pool.slide.out_line + walk.class_number * pool.slide.out_inner + walk.out_cell;
  return walk;
}

// The position of a tap of the class.
fn tap_at(walk: Walk, tap: u32) -> u32 {
  return walk.origin + clamp(tap, walk.low, max(walk.low, walk.high)) * walk.step;
}

// The position of the additional last tap of the window that begins at `tap`.
fn last_tap_at(walk: Walk, tap: u32) -> u32 {
  let axis = pool.axes[2];
  let place = min(walk.class_number * axis.stride + tap * axis.dilation + pool.slide.last_tap, axis.input - 1u);
  return (walk.outer * axis.input + place) * pool.inner + walk.cell;
}
