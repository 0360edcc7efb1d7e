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
// An invocation computes a run: neighbouring outputs of one class of one line, which is the axis at one outer and one
// inner coordinate. Taps in the padding are moved onto the nearest tap inside. No window is empty, so that tap belongs
// to the same window, and reading an element twice changes neither the maximum nor the first element.
// provides: Run, run_of, tap_at, last_tap_at
// requires: pool, quotient, DILATED, LANES, PARTIAL
struct Run {
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

// The run of an invocation, of `outputs` outputs.
fn run_of(number: u32, outputs: u32) -> Run {
  let axis = pool.axes[2];
  var run: Run;
  // The lanes of a cell are neighbouring lines.
  let over = quotient(number, pool.slide.cells);
  run.cell = (number - over * pool.slide.cells.divisor) * LANES;
  var block = over;
  if (DILATED == 1u) {
    block = quotient(over, pool.slide.classes);
    run.class_number = over - block * pool.slide.classes.divisor;
  }
  block += pool.block_first;
  run.outer = quotient(block, pool.slide.runs);
  run.begin = (block - run.outer * pool.slide.runs.divisor) * outputs;
  let start = i32(run.class_number * axis.stride) - axis.pad_begin;
  let end = i32(axis.input) - 1 - start;
  run.low = u32(max(-start, 0));
  run.high = u32(max(end, 0));
  run.step = pool.inner;
  run.output_step = pool.slide.out_inner;
  run.count = axis.output;
  if (DILATED == 1u) {
    run.low = (run.low + axis.dilation - 1u) / axis.dilation;
    run.high = run.high / axis.dilation;
    run.step = axis.dilation * pool.inner;
    run.output_step = pool.slide.classes.divisor * pool.slide.out_inner;
    run.count = quotient(axis.output - run.class_number + pool.slide.classes.divisor - 1u, pool.slide.classes);
  }
  run.origin = (run.outer * axis.input + u32(start)) * pool.inner + run.cell;
  run.lanes = LANES;
  run.out_cell = run.cell;
  if (PARTIAL == 1u) {
    // Rows of Y are not padded to the pitch.
    let row = quotient(run.cell, pool.slide.pitch);
    let column = run.cell - row * pool.slide.pitch.divisor;
    run.lanes = min(LANES, max(pool.slide.extent, column) - column);
    run.out_cell -= row * (pool.slide.pitch.divisor - pool.slide.extent);
  }
  run.output = run.outer * pool.slide.out_line + run.class_number * pool.slide.out_inner + run.out_cell;
  return run;
}

// The position of a tap of the class.
fn tap_at(run: Run, tap: u32) -> u32 {
  return run.origin + clamp(tap, run.low, max(run.low, run.high)) * run.step;
}

// The position of the additional last tap of the window that begins at `tap`.
fn last_tap_at(run: Run, tap: u32) -> u32 {
  let axis = pool.axes[2];
  let place = min(run.class_number * axis.stride + tap * axis.dilation + pool.slide.last_tap, axis.input - 1u);
  return (run.outer * axis.input + place) * pool.inner + run.cell;
}
