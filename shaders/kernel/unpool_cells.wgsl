// A gathering unpool whose windows do not overlap: each invocation takes four or eight sources and compares their
// indices with those of the elements of their stride cells. It writes the cells whole: the value at the element that
// the index names, the activation of zero at all other elements. It tells of indices outside their sources' windows.
//
//      sources of a line             their cells, here of 2 x 2
//      a    b    c    d      ->      a0 a1 b0 b1 | c0 c1 d0 d1       two stores of four elements,
//                                    a2 a3 b2 b3 | c2 c3 d2 d3       and two for the line below
//
// Where channels are innermost, the four sources are neighbouring channels of one column, and each element of a cell is
// stored for the four channels at once.
// Fewest bytes: X once, its indices once, Y once.
// provides: main
// requires: gather, StrideCell, stride_cell, invocation, WORKGROUP, tell_outside, all_but_first, Elements, lane_of, LANE_IDS, values_at, store_lanes, names, in_row, activate, from_pair, QUADS, INNER, CELLS_FILLED, LANES_FILLED, EXACT_LINES, EXACT_COLUMNS, CLIPPED, SAME_PLACE, KERNEL_0, KERNEL_1, KERNEL_2, STRIDE_0, STRIDE_1, STRIDE_2, Raw, pick
// The values of four sources, the value of an element that no index names, and the sources' indices, each minus the
// index of its cell's first element.
struct Sources {
  values: Elements,
  nothing: Raw,
  named: vec4<u32>,
}

// An element of a row of cells, counted from the row's first element.
fn element(sources: Sources, number: u32, row: u32) -> Raw {
  let source = number / STRIDE_2;
  let place = row + (number - source * STRIDE_2) * gather.value.axis_2;
  return select(sources.nothing, lane_of(sources.values, source), sources.named[source] == place);
}

fn store(sources: Sources, number: u32, row: u32, y_position: u32, left: i32) {
  let quad = Elements(
    element(sources, number, row),
    element(sources, number + 1u, row),
    element(sources, number + 2u, row),
    element(sources, number + 3u, row));
  store_lanes(y_position + number, quad, left - i32(number));
}

// Writes a row of the cells of four neighbouring sources.
fn store_beside(sources: Sources, row: u32, y_position: u32, left: i32) {
  if (STRIDE_2 > 4u) {
    for (var number = 0u; number < 4u * STRIDE_2; number += 4u) {
      store(sources, number, row, y_position, left);
    }
  } else {
    for (var quad = 0u; quad < STRIDE_2; quad++) { // unrolled
      store(sources, 4u * quad, row, y_position, left);
    }
  }
}

// Writes a row of the cells of four channels.
fn store_channels(sources: Sources, row: u32, y_position: u32, columns: u32, left: i32) {
  for (var place = 0u; place < STRIDE_2; place++) {
    let holds = sources.named == vec4<u32>(row + place * gather.value.axis_2);
    let quad = Elements(
      select(sources.nothing, sources.values.a, holds.x),
      select(sources.nothing, sources.values.b, holds.y),
      select(sources.nothing, sources.values.c, holds.z),
      select(sources.nothing, sources.values.d, holds.w));
    if (EXACT_COLUMNS == 1u || place < columns) {
      store_lanes(y_position + place * gather.inner, quad, left);
    }
  }
}

// Writes the cells of four sources, and tells of indices outside their sources' windows.
fn four(cell: StrideCell, quad: u32) {
  let input = vec3<u32>(gather.covering[0].input, gather.covering[1].input, gather.covering[2].input);
  let output = vec3<u32>(gather.covering[0].output, gather.covering[1].output, gather.covering[2].output);
  let first = cell.at * vec3<u32>(STRIDE_0, STRIDE_1, STRIDE_2) + vec3<u32>(0u, 0u, quad * 4u * STRIDE_2);
  let columns = u32(max(i32(output.z) - i32(first.z), 0));
  let last = gather.sources - 1u;
  var lane_step = STRIDE_2 * gather.value.axis_2;
  var index_step = 1u;
  var there = vec4<bool>(true);
  if (INNER == 1u) {
    lane_step = gather.value.c;
  }
  if (SAME_PLACE == 0u) {
    index_step = select(gather.stored.axis_2, gather.stored.c, INNER == 1u);
  }
  if (LANES_FILLED == 0u) {
    let lane = vec4<u32>(select(cell.at.z + quad * 4u, cell.inner, INNER == 1u)) + LANE_IDS;
    there = lane < vec4<u32>(select(input.z, gather.inner, INNER == 1u));
  }
  if (CELLS_FILLED == 0u) {
    there = there & vec4<bool>(all(cell.at < input));
  }
  let read = names(min(cell.index_position + quad * 4u * index_step, last), index_step, last);
  let own = vec4<u32>(cell.own + quad * 4u * STRIDE_2 * gather.value.axis_2) + LANE_IDS * lane_step;
  let values = values_at(cell.x_position + quad * 4u);
  // A lane without a source gets an index that names no element.
  let named = pick(vec4<u32>(0xffffffffu), read.place, there) - own;
  let sources = Sources(values, activate(from_pair(vec2<u32>(0u, 0u))), named);
  let y_position = cell.y_position + quad * 4u * STRIDE_2;

  // Columns of each window that lie inside Y.
  var width = vec4<u32>(KERNEL_2);
  if (CLIPPED == 1u) {
    let before = LANE_IDS * select(STRIDE_2, 0u, INNER == 1u);
    width = min(width, max(vec4<u32>(columns), before) - before);
  }
  var own_window = vec4<bool>();
  for (var place_0 = 0u; place_0 < STRIDE_0; place_0++) {
    for (var place_1 = 0u; place_1 < STRIDE_1; place_1++) {
      if (EXACT_LINES == 1u || (first.x + place_0 < output.x && first.y + place_1 < output.y)) {
        let row = place_0 * gather.value.axis_0 + place_1 * gather.value.axis_1;
        if (place_0 < KERNEL_0 && place_1 < KERNEL_1) {
          own_window = own_window | in_row(named - vec4<u32>(row), vec4<u32>(), width);
        }
        let line = place_0 * output.y + place_1;
        if (INNER == 1u) {
          let to = y_position + line * output.z * gather.inner;
          store_channels(sources, row, to, columns, i32(gather.inner) - i32(cell.inner));
        } else {
          store_beside(sources, row, y_position + line * output.z, i32(columns));
        }
      }
    }
  }
  let skipped = read.minus_one & vec4<bool>(gather.skip_minus_one == 1u);
  let position = cell.index_position + quad * 4u * index_step;
  tell_outside(all_but_first(there & !own_window & !skipped, position, index_step), position, index_step);
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let number = invocation(group, gather.grid_width, local);
  if (number >= gather.blocks) {
    return;
  }
  let cell = stride_cell(number);
  four(cell, 0u);
  if (QUADS > 1u) {
    four(cell, 1u);
  }
}
