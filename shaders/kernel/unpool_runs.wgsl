// A gathering unpool of elements smaller than a word whose rows are not whole words. Windows do not overlap. Each
// invocation takes a run of cells of a line and writes, in every row of these cells, the words that begin within the
// run. A word's elements after the run belong to the next sources, and those after a row's end belong to the next row.
//
//      row of Y   ..3|0 1 2 3|0 1 2 3|0 1 ..      words of four elements; rows begin anywhere in them
//      the run        [ a a b b c c d d ]         elements of four sources of two columns each
//      written           [       |       ]        the words that begin in it, the last with an element after the run
//
// Elements are packed as if the run began at a word boundary, and shifted to their true offset when they are stored.
// Fewest bytes: X once, its indices once, Y once; the sources after each run, and those at the begin of each row, are
// read again.
// provides: main
// requires: gather, flat, quotient, stride_cell, invocation, WORKGROUP, tell_outside, all_but_first, Raw, ZERO, Elements, lane_of, LANE_IDS, Four, One, values_at, load, y, names, name, in_row, activate, from_pair, OUTPUTS, ELEMENT_BITS, insert, QUADS, POSITIONS, SAME_PLACE, CLIPPED, KERNEL_0, KERNEL_1, KERNEL_2, STRIDE_0, STRIDE_1, STRIDE_2, pick
// Sources after the run whose elements can lie in its last word.
const BEHIND: u32 = (OUTPUTS - 2u) / STRIDE_2 + 1u;

// Four sources of a run, the lanes whose index is -1, and those whose index lies in its source's own window.
struct Quad {
  four: Four,
  minus_one: vec4<bool>,
  own_window: vec4<bool>,
}

// A line of sources: the positions of its first source in X and in the index tensor, and whether the line exists.
struct Line {
  x_position: u32,
  index_position: u32,
  there: bool,
}

fn index_step() -> u32 {
  return select(gather.stored.axis_2, 1u, SAME_PLACE == 1u);
}

// One source, by its column.
fn load_one(line: Line, column: u32) -> One {
  let last = gather.sources - 1u;
  let value = activate(load(min(line.x_position + column, last)));
  let named = name(min(line.index_position + column * index_step(), last));
  return One(value, select(0xffffffffu, named, line.there && column < gather.covering[2].input));
}

// Loads the sources, from a column on, whose elements can lie in the last word of a run.
fn load_behind(line: Line, column: u32) -> Four {
  let a = load_one(line, column);
  var found = Four(Elements(a.value, ZERO, ZERO, ZERO), vec4<u32>(a.named, 0xffffffffu, 0xffffffffu, 0xffffffffu));
  if (BEHIND > 1u) {
    let b = load_one(line, column + 1u);
    found.values.b = b.value;
    found.named.y = b.named;
  }
  if (BEHIND > 2u) {
    let c = load_one(line, column + 2u);
    found.values.c = c.value;
    found.named.z = c.named;
  }
  return found;
}

// Four sources from a column on.
fn load_four(line: Line, column: u32) -> Quad {
  let last = gather.sources - 1u;
  let read = names(min(line.index_position + column * index_step(), last), index_step(), last);
  let values = values_at(line.x_position + column);
  let four = Four(values, pick(vec4<u32>(0xffffffffu), read.place, there(line, column)));
  return Quad(four, read.minus_one, vec4<bool>());
}

fn there(line: Line, column: u32) -> vec4<bool> {
  return (vec4<u32>(column) + LANE_IDS < vec4<u32>(gather.covering[2].input)) & vec4<bool>(line.there);
}

// An element of a row, counted from the first element of `first`. `own` is the index of that first element.
fn element(first: Four, behind: Four, number: u32, own: u32) -> Raw {
  let source = number / STRIDE_2;
  let lane = source & 3u;
  var value = lane_of(first.values, lane);
  var named = first.named[lane];
  if (source > 3u) {
    value = lane_of(behind.values, lane);
    named = behind.named[lane];
  }
  return select(activate(from_pair(vec2<u32>(0u, 0u))), value, named == own + number * gather.value.axis_2);
}

// Packs the elements from `number` on into a word.
fn word(first: Four, behind: Four, number: u32, own: u32) -> u32 {
  var packed = 0u;
  for (var lane = 0u; lane < OUTPUTS; lane++) { // unrolled
    packed = insert(packed, lane, element(first, behind, number + lane, own));
  }
  return packed;
}

// The first elements of a row of Y, packed into a word; zero after the last row.
fn head(row: u32) -> u32 {
  let position = row * gather.covering[2].output;
  var begin = 0u;
  if (position < gather.outputs) {
    let over_1 = quotient(row, gather.split[5]);
    let outer = quotient(over_1, gather.split[6]);
    let place = vec3<u32>(
      over_1 - outer * gather.covering[0].output,
      row - over_1 * gather.covering[1].output,
      0u);
    let at = place / vec3<u32>(STRIDE_0, STRIDE_1, STRIDE_2);
    let x_line = ((outer * gather.covering[0].input + at.x) * gather.covering[1].input + at.y) * gather.covering[2].input;
    var own = position;
    var index_line = x_line;
    if (POSITIONS == 0u || SAME_PLACE == 0u) {
      let n = quotient(outer, gather.split[4]);
      let c = outer - n * gather.split[4].divisor;
      if (POSITIONS == 0u) {
        own = flat(gather.value, n, c, place);
      }
      if (SAME_PLACE == 0u) {
        index_line = flat(gather.stored, n, c, at);
      }
    }
    let line = Line(x_line, index_line, at.x < gather.covering[0].input && at.y < gather.covering[1].input);
    let first = load_behind(line, 0u);
    begin = word(first, first, 0u, own);
  }
  return begin;
}

// A row of a run: the position and the index of its first element, the number of elements before its first whole word,
// the number of elements left in the row of Y, and the first elements of the next row as a word.
struct Row {
  begin: u32,
  own: u32,
  before: u32,
  left: i32,
  next_row: u32,
}

// Stores a word of a row. `number` is the element with which the word would begin if the run began at a word boundary.
fn store_word(first: Four, behind: Four, row: Row, column: u32, number: u32) {
  let own = row.own + column * gather.value.axis_2;
  let low = word(first, behind, number, own);
  let high = word(first, behind, number + OUTPUTS, own);
  // WGSL takes shifts modulo 32, so the second word is shifted in two steps.
  let shift = row.before * ELEMENT_BITS;
  var stored = (low >> shift) | ((high << 1u) << (31u - shift));
  let at = row.before + column + number;
  let left = row.left - i32(at);
  if (left < i32(OUTPUTS)) {
    let bits = u32(max(left, 0)) * ELEMENT_BITS;
    stored = (stored & ((1u << bits) - 1u)) | (row.next_row << bits);
  }
  if (left > 0) {
    y[(row.begin + at) / OUTPUTS] = stored;
  }
}

// Stores the words that begin with elements of four sources. `column` is the column, within the run, of the first
// source's first element.
fn store_four(first: Four, behind: Four, row: Row, column: u32) {
  for (var word = 0u; word < 4u * STRIDE_2 / OUTPUTS; word++) { // unrolled
    store_word(first, behind, row, column, word * OUTPUTS);
  }
}

// The quad with those of its indices noted that lie in a row of their sources' windows. `left` is the number of
// elements left in the row of Y, from the first source's cell on.
fn with_row(quad: Quad, own: u32, left: i32) -> Quad {
  var width = vec4<u32>(KERNEL_2);
  if (CLIPPED == 1u) {
    let before = LANE_IDS * STRIDE_2;
    width = min(width, max(vec4<u32>(u32(max(left, 0))), before) - before);
  }
  let offset = quad.four.named - vec4<u32>(own) - LANE_IDS * (STRIDE_2 * gather.value.axis_2);
  return Quad(quad.four, quad.minus_one, quad.own_window | in_row(offset, vec4<u32>(), width));
}

// Tells of the indices of four sources, from a column on, that lie outside their sources' windows.
fn tell(quad: Quad, line: Line, column: u32) {
  let skipped = quad.minus_one & vec4<bool>(gather.skip_minus_one == 1u);
  let outside = there(line, column) & !quad.own_window & !skipped;
  let position = line.index_position + column * index_step();
  tell_outside(all_but_first(outside, position, index_step()), position, index_step());
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let number = invocation(group, gather.grid_width, local);
  if (number >= gather.blocks) {
    return;
  }
  let cell = stride_cell(number);
  let column = cell.at.z;
  let line = Line(
    cell.x_position - column,
    cell.index_position - column * index_step(),
    cell.at.x < gather.covering[0].input && cell.at.y < gather.covering[1].input);
  var quads: array<Quad, QUADS>;
  for (var quad = 0u; quad < QUADS; quad++) { // unrolled
    quads[quad] = load_four(line, column + 4u * quad);
  }
  let behind = load_behind(line, column + 4u * QUADS);

  let place = cell.at * vec3<u32>(STRIDE_0, STRIDE_1, STRIDE_2);
  let output = vec3<u32>(gather.covering[0].output, gather.covering[1].output, gather.covering[2].output);
  let left = i32(output.z) - i32(place.z);
  let across = 4u * STRIDE_2;
  let step = across * gather.value.axis_2;
  for (var place_0 = 0u; place_0 < STRIDE_0; place_0++) {
    for (var place_1 = 0u; place_1 < STRIDE_1; place_1++) {
      if (place.x + place_0 < output.x && place.y + place_1 < output.y) {
        let own = cell.own + place_0 * gather.value.axis_0 + place_1 * gather.value.axis_1;
        if (place_0 < KERNEL_0 && place_1 < KERNEL_1) {
          for (var quad = 0u; quad < QUADS; quad++) { // unrolled
            quads[quad] = with_row(quads[quad], own + quad * step, left - i32(quad * across));
          }
        }
        let y_row = cell.y_row + place_0 * output.y + place_1;
        let begin = y_row * output.z + place.z;
        var next_row = 0u;
        // The last word of the run can begin at the run's last element.
        if (left < i32(QUADS * across + OUTPUTS)) {
          next_row = head(y_row + 1u);
        }
        let row = Row(begin, own, (0u - begin) & (OUTPUTS - 1u), left, next_row);
        for (var quad = 0u; quad < QUADS; quad++) { // unrolled
          if (quad + 1u < QUADS) {
            store_four(quads[quad].four, quads[quad + 1u].four, row, quad * across);
          } else {
            store_four(quads[quad].four, behind, row, quad * across);
          }
        }
      }
    }
  }
  for (var quad = 0u; quad < QUADS; quad++) { // unrolled
    tell(quads[quad], line, column + 4u * quad);
  }
}
