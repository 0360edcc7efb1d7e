// A pool of small windows. An invocation has four or eight neighbouring outputs along the last axis and walks down some lines of
// them. Of each line of X it computes the maxima of its windows' rows once, and keeps those of the last lines for the outputs
// that follow: row maxima first, then column maxima, so that the first of equals stays the first.
//
//   line 0   [row maxima] --.                 KERNEL_1 = 3, STRIDE_1 = 1
//   line 1   [row maxima] --+-- output line 0
//   line 2   [row maxima] --+-- output line 1        read once, used by three lines of outputs
//   line 3   [row maxima] --'-- ...
//
// Fewest bytes: X once, Y once, Indices once. Each element of X is loaded once but for the columns beside the outputs and the
// lines above them: (4 * QUADS * STRIDE_2 + KERNEL_2 - STRIDE_2) * (lines * STRIDE_1 + KERNEL_1 - STRIDE_1) for an invocation's
// 4 * QUADS * lines outputs. Where windows are deep, each line is that of all depths together, read again for the next depth.
// Algorithm: row windows, kept in registers.
// provides: main
// requires: pool, invocation, WORKGROUP, Acc, Row, Quad, row_windows, join_rows, fold, position_of, origin_at, store_quad, KERNEL_0, KERNEL_1, STRIDE_0, STRIDE_1, STRIDE_2, DILATION_0, DILATION_1, CHANNELS_INSIDE, QUADS, LINES_BETWEEN, OUTPUTS_BETWEEN
// Where an invocation's outputs and their windows lie.
struct Place {
  // The first column of the first output's window.
  column: i32,
  // The first element of the plane, and of the channel in it.
  plane: u32,
  depth: i32,
}

// The line of X that a tap of an output's window has, as the position of its first element.
fn line_at(place: Place, depth: i32, line: i32) -> u32 {
  let in_depth = fold(depth, pool.axes[0].input, DILATION_0);
  let in_line = fold(line, pool.axes[1].input, DILATION_1);
  return place.plane + (in_depth * pool.axes[1].input + in_line) * pool.axes[2].input * pool.inner;
}

fn located_quad(quad: Quad, line: u32) -> Quad {
  return Quad(
    Acc(quad.a.key, quad.a.raw, position_of(line, quad.a.at)),
    Acc(quad.b.key, quad.b.raw, position_of(line, quad.b.at)),
    Acc(quad.c.key, quad.c.raw, position_of(line, quad.c.at)),
    Acc(quad.d.key, quad.d.raw, position_of(line, quad.d.at)),
  );
}

// The maxima of a line, their places as positions in X.
fn located(row: Row, line: u32) -> Row {
  var placed = row;
  placed.low = located_quad(row.low, line);
  if (QUADS > 1u) {
    placed.high = located_quad(row.high, line);
  }
  return placed;
}

// The maxima of a line at all depths of the windows.
fn line_windows(place: Place, line: i32) -> Row {
  let first = line_at(place, place.depth, line);
  var row = located(row_windows(first - pool.x_first, place.column), first);
  for (var tap = 1u; tap < KERNEL_0; tap++) {
    let deeper = line_at(place, place.depth + i32(tap * DILATION_0), line);
    row = join_rows(row, located(row_windows(deeper - pool.x_first, place.column), deeper));
  }
  return row;
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let number = invocation(group, pool.grid_width, local);
  if (number >= pool.blocks) {
    return;
  }
  let across = (pool.axes[2].output + 4u * QUADS - 1u) / (4u * QUADS);
  let walks = (pool.axes[1].output + pool.walk * OUTPUTS_BETWEEN - 1u) / (pool.walk * OUTPUTS_BETWEEN) * OUTPUTS_BETWEEN;
  var rest = pool.block_first + number;
  var channel = 0u;
  if (CHANNELS_INSIDE != 0u) {
    channel = rest % pool.inner;
    rest = rest / pool.inner;
  }
  let out_column = rest % across * 4u * QUADS;
  rest = rest / across;
  let walk = rest % walks;
  rest = rest / walks;
  let out_depth = rest % pool.axes[0].output;
  let outer = rest / pool.axes[0].output;
  let out_line = walk / OUTPUTS_BETWEEN * OUTPUTS_BETWEEN * pool.walk + walk % OUTPUTS_BETWEEN;

  var place: Place;
  place.column = i32(out_column * STRIDE_2) - pool.axes[2].pad_begin;
  place.depth = i32(out_depth * STRIDE_0) - pool.axes[0].pad_begin;
  place.plane = outer * pool.axes[0].input * pool.axes[1].input * pool.axes[2].input * pool.inner + channel;
  let top = i32(out_line * STRIDE_1) - pool.axes[1].pad_begin;
  let origin = origin_at(place.plane);

  // The maxima of the lines before, the last one first.
  var kept_1: Row;
  var kept_2: Row;
  var kept_3: Row;
  var kept_4: Row;
  var kept_5: Row;
  var kept_6: Row;
  var best: Row;
  for (var line = 0u; line < (pool.walk - 1u) * LINES_BETWEEN + KERNEL_1; line++) {
    // Where windows lie apart, so do their lines.
    if (LINES_BETWEEN > KERNEL_1 && line % LINES_BETWEEN >= KERNEL_1) {
      continue;
    }
    let row = line_windows(place, top + i32(line * DILATION_1));
    if (LINES_BETWEEN >= KERNEL_1) {
      // No line is shared: the best so far is all that is kept.
      if (line % LINES_BETWEEN == 0u) {
        best = row;
      } else {
        best = join_rows(best, row);
      }
    } else {
      if (KERNEL_1 == 1u) {
        best = row;
      }
      if (KERNEL_1 == 2u) {
        best = join_rows(kept_1, row);
      }
      if (KERNEL_1 == 3u) {
        best = join_rows(join_rows(kept_2, kept_1), row);
      }
      if (KERNEL_1 == 4u) {
        best = join_rows(join_rows(join_rows(kept_3, kept_2), kept_1), row);
      }
      if (KERNEL_1 == 5u) {
        best = join_rows(join_rows(join_rows(join_rows(kept_4, kept_3), kept_2), kept_1), row);
      }
      if (KERNEL_1 == 6u) {
        best = join_rows(join_rows(join_rows(join_rows(join_rows(kept_5, kept_4), kept_3), kept_2), kept_1), row);
      }
      if (KERNEL_1 == 7u) {
        best = join_rows(join_rows(join_rows(join_rows(join_rows(join_rows(kept_6, kept_5), kept_4), kept_3), kept_2), kept_1), row);
      }
      if (KERNEL_1 > 6u) {
        kept_6 = kept_5;
      }
      if (KERNEL_1 > 5u) {
        kept_5 = kept_4;
      }
      if (KERNEL_1 > 4u) {
        kept_4 = kept_3;
      }
      if (KERNEL_1 > 3u) {
        kept_3 = kept_2;
      }
      if (KERNEL_1 > 2u) {
        kept_2 = kept_1;
      }
      kept_1 = row;
    }
    if (line + 1u < KERNEL_1 || (line + 1u - KERNEL_1) % LINES_BETWEEN != 0u) {
      continue;
    }
    let of_walk = out_line + (line + 1u - KERNEL_1) / LINES_BETWEEN * OUTPUTS_BETWEEN;
    if (of_walk >= pool.axes[1].output) {
      break;
    }
    // The line with the first elements of these windows.
    let first_line = line_at(place, place.depth, top + i32((line + 1u - KERNEL_1) * DILATION_1));
    let outputs = ((outer * pool.axes[0].output + out_depth) * pool.axes[1].output + of_walk) * pool.axes[2].output;
    let output = (outputs + out_column) * pool.inner + channel;
    store_quad(output, out_column, best.low, best.first_low, first_line, place.column, origin);
    if (QUADS > 1u) {
      let further = out_column + 4u;
      let column = place.column + 4 * i32(STRIDE_2);
      store_quad(output + 4u * pool.inner, further, best.high, best.first_high, first_line, column, origin);
    }
  }
}
