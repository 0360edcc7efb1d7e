// The thread tile of an invocation in rows that are not whole words: its position, the windows of a line of X, and the
// writing of a line of outputs.
// provides: LineMaxima, join_maxima, Planes, planes_of, origin_of_planes, Place, Target, ThreadTile, thread_tile_of, line_of_planes, line_windows, Later, store_line, taken_head, put
// requires: pool, quotient, Acc, Raw, Elements, Windows, join_windows, Line, join_lines, line_of_windows, head_of_windows, outcome, Origin, origin_at, put_index, clamp_tap, Two, packed, y, ZERO, OUTPUTS, ELEMENT_BITS, KERNEL_0, STRIDE_0, STRIDE_1, STRIDE_2, DILATION_0, DILATION_1, ORDER_LINES, ORDER_COLUMNS, QUADS, OWNED, OUTPUTS_SEEN, SHARED_LINES, BEHIND
// The row maxima of a line of X, and the row maxima of the next line's head.
struct LineMaxima {
  line: Line,
  head: Windows,
}

// The planes of X that the windows of a plane of Y cover. Planes are numbered across the whole tensor.
struct Planes {
  // The plane at depth zero, and the depth at which the windows begin, which may lie in the padding.
  first: u32,
  depth: i32,
}

// The position of an invocation's windows.
struct Place {
  planes: Planes,
  column: i32,
  // The planes of the next line of outputs, and the distance, in lines of X, from the windows of this line of outputs
  // to the windows of the next.
  head_planes: Planes,
  head_down: i32,
  at_end: bool,
}

// If at least this many columns of Y are left in the line, from a tile's first column on, all of the tile's outputs
// lie in the line and no tap of its windows lies beyond the end of the line of X.
const INSIDE: u32 = OUTPUTS_SEEN + select(OUTPUTS - 1u, 0u, SHARED_LINES != 0u) + BEHIND;

// Planes per group. The invocations at the ends of all lines of a group are numbered consecutively (`thread_tile_of`).
const PLANES: u32 = 16u;

// The outputs of a line that an invocation writes.
struct Target {
  // The output in the line's first column, the first column that is computed, and the first column that is written.
  line: u32,
  column: u32,
  begin: u32,
  // The positions of the lines of X with the first elements of the line's windows and of the head's windows, and the
  // index origins of their planes.
  first_line: u32,
  head_line: u32,
  origin: Origin,
  head_origin: Origin,
  at_end: bool,
  // Whether `store_line` does not write the last word, which also holds the first outputs of the next line. The caller
  // then writes it later.
  later: bool,
}

// A word that is written later.
struct Later {
  place: u32,
  // The word without the next line's outputs, and the number of its bits that belong to this line. The number is zero
  // if this invocation has no such word.
  word: u32,
  bits: u32,
}

fn join_maxima(p: LineMaxima, q: LineMaxima) -> LineMaxima {
  return LineMaxima(join_lines(p.line, q.line), join_windows(p.head, q.head));
}

// The planes of X for a plane of Y. Where windows have a single depth, X has as many planes as Y.
fn planes_of(plane: u32) -> Planes {
  var planes = Planes(plane, 0);
  if (KERNEL_0 > 1u) {
    let outer = plane / pool.axes[0].output;
    let out_depth = plane - outer * pool.axes[0].output;
    planes = Planes(outer * pool.axes[0].input, i32(out_depth * STRIDE_0) - pool.axes[0].pad_begin);
  }
  return planes;
}

fn origin_of_planes(planes: Planes) -> Origin {
  return origin_at(planes.first * pool.axes[1].input * pool.axes[2].input);
}

// The position of the first element of a line of X, at depth number `tap` of the windows. The depth and the line may
// lie in the padding.
fn line_of_planes(planes: Planes, tap: u32, line: i32) -> u32 {
  var plane = planes.first;
  if (KERNEL_0 > 1u) {
    plane += clamp_tap(planes.depth + i32(tap * DILATION_0), pool.axes[0].input, DILATION_0);
  }
  return (plane * pool.axes[1].input + clamp_tap(line, pool.axes[1].input, DILATION_1)) * pool.axes[2].input;
}

// The row maxima of a line of X at one depth of the windows. In a tile at the end of its line of outputs, also the row
// maxima of the head of the next line of outputs.
fn windows_at_depth(place: Place, tap: u32, line: i32, number: u32) -> LineMaxima {
  let order = (tap * ORDER_LINES + number) * ORDER_COLUMNS;
  var seen: LineMaxima;
  let here = line_of_planes(place.planes, tap, line) - pool.x_first;
  seen.line = line_of_windows(here, place.column, order, place.at_end);
  if (place.at_end) {
    seen.head = head_of_windows(line_of_planes(place.head_planes, tap, line + place.head_down) - pool.x_first, order);
  }
  return seen;
}

// The row maxima of a line of X at all depths of the windows. The order number of a line is its number plus ORDER_LINES
// for each depth before it. The first depths are written out.
fn line_windows(place: Place, line: i32, number: u32) -> LineMaxima {
  var seen = windows_at_depth(place, 0u, line, number);
  if (KERNEL_0 > 1u) {
    seen = join_maxima(seen, windows_at_depth(place, 1u, line, number));
  }
  if (KERNEL_0 > 2u) {
    seen = join_maxima(seen, windows_at_depth(place, 2u, line, number));
  }
  if (KERNEL_0 > 3u) {
    for (var tap = 3u; tap < KERNEL_0; tap++) {
      seen = join_maxima(seen, windows_at_depth(place, tap, line, number));
    }
  }
  return seen;
}

// Returns the element of an output, and writes its index if this invocation owns the output.
fn take(goal: Target, lane: u32, best: Acc, first: Raw) -> Raw {
  let column = goal.column + lane;
  let in_x = clamp_tap(i32(column * STRIDE_2) - pool.axes[2].pad_begin, pool.axes[2].input, 1u);
  let result = outcome(best, first, goal.first_line + in_x);
  let own = column - goal.begin < OWNED && column < pool.axes[2].output;
  let output = goal.line + column;
  if (own && output - pool.output_first < pool.outputs) {
    put_index(output, result, goal.origin);
  }
  return result.raw;
}

// `take` for the first outputs of the next line, of which the last word of this line holds `count`.
fn take_head(goal: Target, count: u32, lane: u32, best: Acc, first: Raw) -> Raw {
  let in_x = clamp_tap(i32(lane * STRIDE_2) - pool.axes[2].pad_begin, pool.axes[2].input, 1u);
  let result = outcome(best, first, goal.head_line + in_x);
  let output = goal.line + pool.axes[2].output + lane;
  let own = lane < count && output - pool.output_first < pool.outputs;
  if (own) {
    put_index(output, result, goal.head_origin);
  }
  return select(ZERO, result.raw, own);
}

fn taken(goal: Target, lane: u32, windows: Windows) -> Two {
  let a = take(goal, lane, windows.best.a, windows.first.a);
  let b = take(goal, lane + 1u, windows.best.b, windows.first.b);
  let c = take(goal, lane + 2u, windows.best.c, windows.first.c);
  var d = ZERO;
  if (lane + 3u < OUTPUTS_SEEN) {
    d = take(goal, lane + 3u, windows.best.d, windows.first.d);
  }
  return packed(Elements(a, b, c, d));
}

// The outputs of the next line in the last word of this line.
fn taken_head(goal: Target, head: Windows) -> u32 {
  let width = pool.axes[2].output;
  // The number of elements of that word that belong to the next line, if this invocation owns the word.
  let behind = (goal.begin - width) % OUTPUTS;
  let own = width - 1u - goal.begin < OWNED;
  let count = select(0u, behind, own);
  let a = take_head(goal, count, 0u, head.best.a, head.first.a);
  var b = ZERO;
  var c = ZERO;
  if (OUTPUTS == 4u) {
    b = take_head(goal, count, 1u, head.best.b, head.first.b);
    c = take_head(goal, count, 2u, head.best.c, head.first.c);
  }
  return packed(Elements(a, b, c, ZERO)).low;
}

fn put(place: u32, word: u32) {
  // For words before this dispatch's first word, `place` wraps to a number beyond its words.
  if (place < (pool.outputs + OUTPUTS - 1u) / OUTPUTS) {
    y[place] = word;
  }
}

// The words of a line that an invocation writes.
struct Words {
  // The number of the first word in Y, the bits before it in the computed outputs, and the number of words.
  place: u32,
  bits: u32,
  count: u32,
  // The number of the word inside which the line ends, or OWNED if the line ends at a word boundary; the number of that
  // word's bits that belong to the line; and the first outputs of the next line, shifted behind these bits.
  last: u32,
  last_bits: u32,
  head: u32,
}

fn words_of(goal: Target, head: u32) -> Words {
  // The columns up to the end of the line, or zero.
  let columns = max(pool.axes[2].output, goal.begin) - goal.begin;
  var words: Words;
  // Negative, as a wrapped number, for words before this dispatch's first word: a tile may begin before the dispatch.
  words.place = u32(i32(goal.line + goal.begin - pool.output_first) >> (OUTPUTS / 2u));
  words.bits = (goal.begin - goal.column) * ELEMENT_BITS;
  words.last = columns / OUTPUTS;
  words.last_bits = columns % OUTPUTS * ELEMENT_BITS;
  words.count = (columns + OUTPUTS - 1u) / OUTPUTS;
  words.head = head << words.last_bits;
  if (words.last_bits == 0u) {
    words.last = OWNED;
  }
  return words;
}

// Writes word `number` of the line, shifted out of two computed words.
fn put_word(words: Words, goal: Target, later: ptr<function, Later>, number: u32, low: u32, high: u32) {
  var word = low;
  if (SHARED_LINES != 0u) {
    word = (low >> words.bits) | ((high << 1u) << (31u - words.bits));
  }
  let ends = number == words.last;
  word = select(word, (word & ((1u << words.last_bits) - 1u)) | words.head, ends);
  var mine = number < words.count;
  if (SHARED_LINES != 0u) {
    if (ends) {
      (*later).word = word;
    }
    mine = mine && !(goal.later && ends);
  }
  if (mine) {
    put(words.place + number, word);
  }
}

// Writes the words that begin in four outputs of quad `quad`; `next` is the computed word after them.
fn put_two(words: Words, goal: Target, later: ptr<function, Later>, quad: u32, four: Two, next: u32) {
  if (OUTPUTS == 4u) {
    put_word(words, goal, later, quad, four.low, next);
  } else {
    put_word(words, goal, later, 2u * quad, four.low, four.high);
    if (OWNED > 4u * quad + 2u) {
      put_word(words, goal, later, 2u * quad + 1u, four.high, next);
    }
  }
}

fn store_line(goal: Target, best: LineMaxima) -> Later {
  var written: array<Two, QUADS>;
  for (var quad = 0u; quad < QUADS; quad++) { // unrolled
    written[quad] = taken(goal, 4u * quad, best.line[quad]);
  }
  var head = 0u;
  if (goal.at_end && !goal.later) {
    head = taken_head(goal, best.head);
  }
  let words = words_of(goal, head);
  var later: Later;
  later.place = words.place + words.last;
  later.bits = select(0u, words.last_bits, words.last < OWNED / OUTPUTS);
  for (var quad = 0u; quad < (OWNED + 3u) / 4u; quad++) { // unrolled
    const NEXT = min(quad + 1u, QUADS - 1u);
    put_two(words, goal, &later, quad, written[quad], written[NEXT].low);
  }
  return later;
}

// The position of an invocation's thread tile. Some invocations have no outputs.
struct ThreadTile {
  place: Place,
  goal: Target,
  // The plane of Y, the first column of Y, the tile's first line in its plane, and the line of X at which its
  // windows begin.
  plane: u32,
  column: u32,
  out_top: u32,
  top: i32,
  exists: bool,
}

fn thread_tile_of(number: u32) -> ThreadTile {
  let width = pool.axes[2].output;
  let height = pool.axes[1].output;
  let tile_rows = pool.split[2].divisor;
  // Within a group of planes, the tiles at the ends of lines are numbered after all other tiles, so that neighbouring
  // invocations take the same branches.
  let across = (width + OWNED - 1u) / OWNED;
  let whole = (max(width + OWNED, INSIDE) - INSIDE) / OWNED;
  let group_number = quotient(number, pool.split[3]);
  let planes_before = group_number * PLANES;
  let depths = pool.axes[0].output;
  let number_here = number - group_number * pool.split[3].divisor;
  let planes_here = min(PLANES, pool.blocks * depths - min(pool.blocks * depths, planes_before));
  let inner = planes_here * tile_rows * whole;
  let at_end = number_here >= inner;
  var rest = number_here;
  var line_number = quotient(rest, pool.split[0]);
  var tile = rest - line_number * whole;
  if (at_end) {
    rest = number_here - inner;
    line_number = quotient(rest, pool.split[1]);
    tile = rest - line_number * (across - whole) + whole;
  }
  tile = tile * OWNED;
  let plane_here = quotient(line_number, pool.split[2]);
  let tile_row = line_number - plane_here * tile_rows;
  let out_top = tile_row * pool.tile_lines;

  var goal: Target;
  var place: Place;
  let plane = pool.block_first * depths + planes_before + plane_here;
  place.planes = planes_of(plane);
  goal.line = (plane * height + out_top) * width;
  goal.column = tile;
  if (SHARED_LINES == 0u) {
    // Where lines are not shared, a tile begins at the first word boundary of its line.
    goal.column = tile + (0u - goal.line) % OUTPUTS;
  }
  place.column = i32(goal.column * STRIDE_2) - pool.axes[2].pad_begin;
  place.at_end = at_end;
  place.head_planes = place.planes;
  place.head_down = i32(STRIDE_1);
  goal.at_end = at_end;
  goal.origin = origin_of_planes(place.planes);
  goal.head_origin = goal.origin;
  if (SHARED_LINES == 0u && out_top + 1u == height) {
    // The next line of outputs is the first one of the next plane.
    place.head_planes = planes_of(plane + 1u);
    place.head_down = -i32(out_top * STRIDE_1);
    goal.head_origin = origin_of_planes(place.head_planes);
  }
  let top = i32(out_top * STRIDE_1) - pool.axes[1].pad_begin;
  return ThreadTile(place, goal, plane, tile, out_top, top, number_here < planes_here * tile_rows * across);
}
