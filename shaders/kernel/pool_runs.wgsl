// A pool of small windows of elements smaller than a word, whose rows are not whole words. A word has one writer, so an
// invocation computes a run of four or eight consecutive outputs in the order of Y, across the ends of lines. In each
// line that the run touches, it computes four or eight neighbouring windows, and keeps the lanes that lie in that line.
//
//   lines of Y     0 0 0 0 0 0 0 0 0 0|1 1 1 1 1 1 1 1 1 1|2        ten outputs each, of 8 bits
//   words          [     ] [     ] [     ] [     ] [     ] [
//   invocations    [             ] [             ] [                the second one computes windows of lines 0 and 1
//
// Fewest bytes: X once, Y once, Indices once. Each line is loaded in words, once per line of outputs whose windows
// contain it.
// Algorithm: row windows, in runs of the order of Y.
// provides: main
// requires: pool, invocation, WORKGROUP, Acc, Raw, Elements, high_of, first_high_of, windows_of_line, outcome, origin_at, put_index, first_position, packed, y, ZERO, OUTPUTS, STRIDE_2, QUADS
const RUN: u32 = 4u * QUADS;

// The lanes of a run that lie in a line.
struct Lanes {
  // The run's first output, and the range of the run's lanes that lie in this line.
  output: u32,
  begin: u32,
  end: u32,
  // The first column of the first lane's window.
  column: i32,
}

// Writes the index of a lane that lies in this line and returns its element for Y; returns `before` for a lane in
// another line.
fn take(lanes: Lanes, lane: u32, best: Acc, first: Raw, seen_line: u32, plane: u32, before: Raw) -> Raw {
  let result = outcome(best, first, first_position(seen_line, lanes.column, lane));
  let here = lane >= lanes.begin && lane < lanes.end;
  if (here) {
    put_index(lanes.output + lane, result, origin_at(plane));
  }
  return select(before, result.raw, here);
}

// Writes four elements as one or two words.
fn put_words(word: u32, words: u32, four: Elements) {
  let two = packed(four);
  if (word < words) {
    y[word] = two.low;
  }
  if (OUTPUTS == 2u && word + 1u < words) {
    y[word + 1u] = two.high;
  }
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let number = invocation(group, pool.grid_width, local);
  if (number >= pool.blocks) {
    return;
  }
  let width = pool.axes[2].output;
  let run_end = min(RUN, pool.outputs - number * RUN);
  var lanes: Lanes;
  lanes.output = pool.output_first + number * RUN;
  var line = lanes.output / width;
  // The column in Y of the run's first lane; negative in the lines after the run's first line.
  var out_column = i32(lanes.output - line * width);
  var low = Elements(ZERO, ZERO, ZERO, ZERO);
  var high = low;
  while (lanes.begin < run_end) {
    lanes.end = min(run_end, u32(i32(width) - out_column));
    lanes.column = out_column * i32(STRIDE_2) - pool.axes[2].pad_begin;
    let seen = windows_of_line(line, lanes.column, 0u);
    let best = seen.best;
    low.a = take(lanes, 0u, best.low.a, best.first_low.a, seen.first_line, seen.plane, low.a);
    low.b = take(lanes, 1u, best.low.b, best.first_low.b, seen.first_line, seen.plane, low.b);
    low.c = take(lanes, 2u, best.low.c, best.first_low.c, seen.first_line, seen.plane, low.c);
    low.d = take(lanes, 3u, best.low.d, best.first_low.d, seen.first_line, seen.plane, low.d);
    if (QUADS > 1u) {
      let best_high = high_of(best);
      let first_high = first_high_of(best);
      high.a = take(lanes, 4u, best_high.a, first_high.a, seen.first_line, seen.plane, high.a);
      high.b = take(lanes, 5u, best_high.b, first_high.b, seen.first_line, seen.plane, high.b);
      high.c = take(lanes, 6u, best_high.c, first_high.c, seen.first_line, seen.plane, high.c);
      high.d = take(lanes, 7u, best_high.d, first_high.d, seen.first_line, seen.plane, high.d);
    }
    lanes.begin = lanes.end;
    out_column -= i32(width);
    line++;
  }
  let word = number * (RUN / OUTPUTS);
  let words = (pool.outputs + OUTPUTS - 1u) / OUTPUTS;
  put_words(word, words, low);
  if (QUADS > 1u) {
    put_words(word + 4u / OUTPUTS, words, high);
  }
}
