// A gathering unpool whose windows overlap, or begin in the padding: an element is covered by the windows of several
// sources: its cell's own source and neighbours of that source. The last of these sources whose index names the element
// gives the element its value. Each invocation takes four neighbouring cells (four columns, or four channels where
// channels are innermost) of some lines, from the top down, so that it reads each line of sources once for the lines of
// cells above and below.
//
//      sources          before  own  after            cells of one line: STRIDE_1 rows, STRIDE_2 columns
//      line above          o     o     o
//      own line            o     o     o        ->     each element reads those of the nine whose windows can
//      line below          o     o     o               cover it: at most four for kernel 3 and stride 2
//
// Constants decide which of the nine sources' windows cover an element, so the compiler removes the code for the other
// sources.
// Fewest bytes: X once, its indices once, Y once. The halo of the cells of every invocation is read in addition.
// provides: main
// requires: gather, StrideCell, stride_cell, invocation, WORKGROUP, tell_outside, all_but_first, Elements, lane_of, LANE_IDS, Four, One, values_at, load, store_lanes, names, name, in_row, activate, from_pair, INNER, LINES, SAME_PLACE, EXACT_LINES, EXACT_COLUMNS, CLIPPED, KERNEL_0, KERNEL_1, KERNEL_2, STRIDE_0, STRIDE_1, STRIDE_2, PAD_1, PAD_2, pick
// The sources of a line that four cells need: their own, those one column before, and those one column after.
struct Line {
  before: Four,
  own: Four,
  after: Four,
  // Lanes of the cells' own sources whose index is -1, and lanes that have a source.
  minus_one: vec4<bool>,
  there: vec4<bool>,
  // The position of the first own source's index, and the distance to the next one.
  index_position: u32,
  index_step: u32,
}

// Four results for each column of a cell.
alias Places = array<Elements, STRIDE_2>;

// Whether, along an axis, the window of the source `ahead` cells further covers the element `place` of a cell.
fn holds(ahead: i32, place: u32, kernel: u32, stride: u32, pad: u32) -> bool {
  let tap = i32(place + pad) - ahead * i32(stride);
  return tap >= 0 && tap < i32(kernel);
}

// Whether, along an axis, the window of the source `ahead` cells further covers any element of a cell.
fn reaches(ahead: i32, kernel: u32, stride: u32, pad: u32) -> bool {
  let last = i32(stride - 1u + pad) - ahead * i32(stride);
  let first = i32(pad) - ahead * i32(stride);
  return last >= 0 && first < i32(kernel);
}

// Loads four sources: neighbouring columns of one channel, or neighbouring channels of one column.
fn load_four(cell: StrideCell, line: i32, column: i32) -> Line {
  let input = vec3<u32>(gather.covering[0].input, gather.covering[1].input, gather.covering[2].input);
  let lines_there = cell.at.x < input.x && line >= 0 && line < i32(input.y);
  // Outside X the nearest line is read, and `there` is false.
  let at_line = u32(clamp(line, 0, i32(input.y) - 1));
  let at_column = u32(clamp(column, 0, i32(input.z) - 1));
  let last = gather.sources - 1u;
  var position = ((cell.outer * input.x + min(cell.at.x, input.x - 1u)) * input.y + at_line) * input.z + at_column;
  var step = 1u;
  var there = vec4<bool>(lines_there && column >= 0);
  if (INNER == 1u) {
    position = position * gather.inner + cell.inner;
    there = there & vec4<bool>(column < i32(input.z)) & (vec4<u32>(cell.inner) + LANE_IDS < vec4<u32>(gather.inner));
  } else {
    there = there & (vec4<u32>(u32(column)) + LANE_IDS < vec4<u32>(input.z));
  }
  var index_position = position;
  if (SAME_PLACE == 0u) {
    step = select(gather.stored.axis_2, gather.stored.c, INNER == 1u);
    index_position = cell.index_position + (at_line - cell.at.y) * gather.stored.axis_1 + (at_column - cell.at.z) * gather.stored.axis_2;
  }
  let read = names(min(index_position, last), step, last);
  let four = Four(values_at(position), pick(vec4<u32>(0xffffffffu), read.place, there));
  return Line(four, four, four, read.minus_one, there, index_position, step);
}

// Loads the sources of a line that four cells of this line or of a neighbouring line need.
fn load_line(cell: StrideCell, line: i32) -> Line {
  let column = i32(cell.at.z);
  var found = load_four(cell, line, column);
  let own = found.own;
  if (INNER == 1u) {
    if (reaches(-1, KERNEL_2, STRIDE_2, PAD_2)) {
      found.before = load_four(cell, line, column - 1).own;
    }
    if (reaches(1, KERNEL_2, STRIDE_2, PAD_2)) {
      found.after = load_four(cell, line, column + 1).own;
    }
  } else {
    if (reaches(-1, KERNEL_2, STRIDE_2, PAD_2)) {
      let left = load_one(cell, line, column - 1);
      let values = Elements(left.value, own.values.a, own.values.b, own.values.c);
      found.before = Four(values, vec4<u32>(left.named, own.named.xyz));
    }
    if (reaches(1, KERNEL_2, STRIDE_2, PAD_2)) {
      let right = load_one(cell, line, column + 4);
      let values = Elements(own.values.b, own.values.c, own.values.d, right.value);
      found.after = Four(values, vec4<u32>(own.named.yzw, right.named));
    }
  }
  return found;
}

// Loads one source.
fn load_one(cell: StrideCell, line: i32, column: i32) -> One {
  let input = vec3<u32>(gather.covering[0].input, gather.covering[1].input, gather.covering[2].input);
  let there = cell.at.x < input.x && line >= 0 && line < i32(input.y) && column >= 0 && column < i32(input.z);
  let at_line = u32(clamp(line, 0, i32(input.y) - 1));
  let at_column = u32(clamp(column, 0, i32(input.z) - 1));
  let position = ((cell.outer * input.x + min(cell.at.x, input.x - 1u)) * input.y + at_line) * input.z + at_column;
  var index_position = position;
  if (SAME_PLACE == 0u) {
    index_position = cell.index_position + (at_line - cell.at.y) * gather.stored.axis_1 + (at_column - cell.at.z) * gather.stored.axis_2;
  }
  return One(activate(load(position)), select(0xffffffffu, name(index_position), there));
}

// The results of four lanes for an element, updated by the sources of one line.
fn with_line(before: Elements, line: Line, column: u32, place: vec4<u32>) -> Elements {
  var found = before;
  if (holds(-1, column, KERNEL_2, STRIDE_2, PAD_2)) {
    found = taken(found, line.before, place);
  }
  if (holds(0, column, KERNEL_2, STRIDE_2, PAD_2)) {
    found = taken(found, line.own, place);
  }
  if (holds(1, column, KERNEL_2, STRIDE_2, PAD_2)) {
    found = taken(found, line.after, place);
  }
  return found;
}

fn taken(quad: Elements, four: Four, place: vec4<u32>) -> Elements {
  let named = four.named == place;
  return Elements(
    select(quad.a, four.values.a, named.x),
    select(quad.b, four.values.b, named.y),
    select(quad.c, four.values.c, named.z),
    select(quad.d, four.values.d, named.w));
}

// The results of four lanes for an element, from three lines of sources.
fn result(above: Line, own: Line, below: Line, row: u32, column: u32, place: vec4<u32>) -> Elements {
  let nothing = activate(from_pair(vec2<u32>(0u, 0u)));
  var found = Elements(nothing, nothing, nothing, nothing);
  if (holds(-1, row, KERNEL_1, STRIDE_1, PAD_1)) {
    found = with_line(found, above, column, place);
  }
  if (holds(0, row, KERNEL_1, STRIDE_1, PAD_1)) {
    found = with_line(found, own, column, place);
  }
  if (holds(1, row, KERNEL_1, STRIDE_1, PAD_1)) {
    found = with_line(found, below, column, place);
  }
  return found;
}

// Writes one row of the cells. `place` is the index of the row's first element in each lane.
fn store_row(cell: StrideCell, above: Line, own: Line, below: Line, row: u32, place: vec4<u32>, y_position: u32) {
  let step = gather.value.axis_2;
  let columns = i32(gather.covering[2].output) - i32(cell.at.z * STRIDE_2);
  var places: Places;
  for (var column = 0u; column < STRIDE_2; column++) { // unrolled
    places[column] = result(above, own, below, row, column, place + vec4<u32>(column * step));
  }
  let left = i32(gather.inner) - i32(cell.inner);
  for (var column = 0u; column < STRIDE_2; column++) { // unrolled
    if (INNER == 0u) {
      // Four elements of the row of cells, of which each is a column of a lane.
      const FIRST = 4u * column;
      let quad = Elements(
        lane_of(places[FIRST % STRIDE_2], FIRST / STRIDE_2),
        lane_of(places[(FIRST + 1u) % STRIDE_2], (FIRST + 1u) / STRIDE_2),
        lane_of(places[(FIRST + 2u) % STRIDE_2], (FIRST + 2u) / STRIDE_2),
        lane_of(places[(FIRST + 3u) % STRIDE_2], (FIRST + 3u) / STRIDE_2),
      );
      store_lanes(y_position + FIRST, quad, columns - i32(FIRST));
    } else if (EXACT_COLUMNS == 1u || columns > i32(column)) {
      store_lanes(y_position + column * gather.inner, places[column], left);
    }
  }
}

// Tells of the indices of a line of cells that lie outside their sources' windows. `place` is the index of each cell's
// first element.
fn tell(cell: StrideCell, own: Line, line: u32, place: vec4<u32>) {
  let output = vec3<u32>(gather.covering[0].output, gather.covering[1].output, gather.covering[2].output);
  var low = vec4<u32>();
  var high = vec4<u32>(KERNEL_2);
  if (CLIPPED == 1u) {
    let lanes = select(LANE_IDS * STRIDE_2, vec4<u32>(), INNER == 1u);
    let begin = vec4<i32>(lanes) + vec4<i32>(i32(cell.at.z * STRIDE_2) - i32(PAD_2));
    low = vec4<u32>(clamp(-begin, vec4<i32>(), vec4<i32>(i32(KERNEL_2))));
    high = vec4<u32>(clamp(vec4<i32>(i32(output.z)) - begin, vec4<i32>(low), vec4<i32>(i32(KERNEL_2))));
  }
  let window = place - vec4<u32>(PAD_1 * gather.value.axis_1 + PAD_2 * gather.value.axis_2);
  var own_window = vec4<bool>();
  for (var tap_0 = 0u; tap_0 < KERNEL_0; tap_0++) {
    for (var tap_1 = 0u; tap_1 < KERNEL_1; tap_1++) {
      let row = i32(line * STRIDE_1 + tap_1) - i32(PAD_1);
      if (cell.at.x * STRIDE_0 + tap_0 < output.x && row >= 0 && row < i32(output.y)) {
        let begin = window + vec4<u32>(tap_0 * gather.value.axis_0 + tap_1 * gather.value.axis_1);
        own_window = own_window | in_row(own.own.named - begin, low, high);
      }
    }
  }
  let skipped = own.minus_one & vec4<bool>(gather.skip_minus_one == 1u);
  let outside = all_but_first(own.there & !own_window & !skipped, own.index_position, own.index_step);
  tell_outside(outside, own.index_position, own.index_step);
}

// Writes a line of cells.
fn store_cells(cell: StrideCell, above: Line, own: Line, below: Line, line: u32, place: vec4<u32>) {
  let output = vec3<u32>(gather.covering[0].output, gather.covering[1].output, gather.covering[2].output);
  let first_row = line * STRIDE_1;
  let pitch = output.z * select(1u, gather.inner, INNER == 1u);
  let y_position = cell.y_position + (line - cell.at.y) * STRIDE_1 * pitch;
  for (var place_0 = 0u; place_0 < STRIDE_0; place_0++) {
    if (cell.at.x * STRIDE_0 + place_0 < output.x) {
      let to = place + vec4<u32>(place_0 * gather.value.axis_0);
      let y_row = y_position + place_0 * output.y * pitch;
      for (var row = 0u; row < STRIDE_1; row++) { // unrolled
        if (EXACT_LINES == 1u || first_row + row < output.y) {
          store_row(cell, above, own, below, row, to + vec4<u32>(row * gather.value.axis_1), y_row + row * pitch);
        }
      }
    }
  }
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let number = invocation(group, gather.grid_width, local);
  if (number >= gather.blocks) {
    return;
  }
  let cell = stride_cell(number);
  let lane_step = select(STRIDE_2 * gather.value.axis_2, gather.value.c, INNER == 1u);
  let first = vec4<u32>(cell.own) + LANE_IDS * lane_step;
  let top = i32(cell.at.y);
  var own = load_line(cell, top);
  var above = own;
  if (reaches(-1, KERNEL_1, STRIDE_1, PAD_1)) {
    above = load_line(cell, top - 1);
  }
  for (var down = 0u; down < LINES; down++) {
    let line = cell.at.y + down;
    // A line of cells exists if it has rows in Y, or sources, or both.
    if (line * STRIDE_1 < gather.covering[1].output || line < gather.covering[1].input) {
      let place = first + vec4<u32>(down * STRIDE_1 * gather.value.axis_1);
      // The next line is loaded only if its windows reach up into this line of cells, or if it is written too.
      var below = own;
      if (reaches(1, KERNEL_1, STRIDE_1, PAD_1) || down + 1u < LINES) {
        below = load_line(cell, i32(line) + 1);
      }
      tell(cell, own, line, place);
      store_cells(cell, above, own, below, line, place);
      above = own;
      own = below;
    }
  }
}
