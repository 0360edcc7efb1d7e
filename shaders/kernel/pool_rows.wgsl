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
// requires: pool, invocation, WORKGROUP, Acc, Row, Quad, row_windows, join_rows, fold, position_of, Origin, origin_at, store_quad, KERNEL_0, KERNEL_1, STRIDE_0, STRIDE_1, STRIDE_2, DILATION_0, DILATION_1, CHANNELS_INSIDE, QUADS, LINES_BETWEEN, OUTPUTS_BETWEEN, LINES_EVEN
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

// The maxima of the lines before, the last one first.
struct Kept {
  back_1: Row,
  back_2: Row,
  back_3: Row,
  back_4: Row,
  back_5: Row,
  back_6: Row,
}

// Takes in a line; as many are kept as outputs below need.
fn kept_with(kept: Kept, row: Row) -> Kept {
  var next = kept;
  if (KERNEL_1 > 6u) {
    next.back_6 = kept.back_5;
  }
  if (KERNEL_1 > 5u) {
    next.back_5 = kept.back_4;
  }
  if (KERNEL_1 > 4u) {
    next.back_4 = kept.back_3;
  }
  if (KERNEL_1 > 3u) {
    next.back_3 = kept.back_2;
  }
  if (KERNEL_1 > 2u) {
    next.back_2 = kept.back_1;
  }
  next.back_1 = row;
  return next;
}

// The maxima of whole windows, the last line of which is new.
fn best_of(kept: Kept, row: Row) -> Row {
  var best = kept.back_1;
  if (KERNEL_1 > 2u) {
    best = join_rows(kept.back_2, kept.back_1);
  }
  if (KERNEL_1 == 4u) {
    best = join_rows(kept.back_3, best);
  }
  if (KERNEL_1 == 5u) {
    best = join_rows(join_rows(kept.back_4, kept.back_3), best);
  }
  if (KERNEL_1 == 6u) {
    best = join_rows(join_rows(kept.back_5, join_rows(kept.back_4, kept.back_3)), best);
  }
  if (KERNEL_1 == 7u) {
    best = join_rows(join_rows(join_rows(kept.back_6, kept.back_5), join_rows(kept.back_4, kept.back_3)), best);
  }
  return join_rows(best, row);
}

// What is written: the line of outputs, and the line of X that has their windows' first elements.
struct Lines {
  out_line: u32,
  first_line: u32,
  out_column: u32,
  channel: u32,
}

fn store_row(line: Lines, best: Row, column: i32, origin: Origin) {
  let out_column = line.out_column;
  let output = (line.out_line * pool.axes[2].output + out_column) * pool.inner + line.channel;
  store_quad(output, out_column, best.low, best.first_low, line.first_line, column, origin);
  if (QUADS > 1u) {
    let further = column + 4 * i32(STRIDE_2);
    store_quad(output + 4u * pool.inner, out_column + 4u, best.high, best.first_high, line.first_line, further, origin);
  }
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let number = invocation(group, pool.grid_width, local);
  if (number >= pool.blocks) {
    return;
  }
  var rest = pool.block_first + number;
  var channel = 0u;
  if (CHANNELS_INSIDE != 0u) {
    channel = rest % pool.inner;
    rest = rest / pool.inner;
  }
  let across = (pool.axes[2].output + 4u * QUADS - 1u) / (4u * QUADS);
  let out_column = rest % across * (4u * QUADS);
  rest = rest / across;

  var place: Place;
  place.column = i32(out_column * STRIDE_2) - pool.axes[2].pad_begin;
  if (LINES_EVEN != 0u) {
    // Lines of X and of Y count on from plane to plane, and none is shared.
    let pitch = pool.axes[2].input * pool.inner;
    place.plane = channel;
    let first_line = rest * STRIDE_1 * pitch + channel;
    var best = located(row_windows(first_line - pool.x_first, place.column), first_line);
    for (var line = 1u; line < KERNEL_1; line++) {
      let next_line = first_line + line * DILATION_1 * pitch;
      best = join_rows(best, located(row_windows(next_line - pool.x_first, place.column), next_line));
    }
    let plane = rest / pool.axes[1].output * pool.axes[1].input * pitch + channel;
    store_row(Lines(rest, first_line, out_column, channel), best, place.column, origin_at(plane));
    return;
  }
  let walks = (pool.axes[1].output + pool.walk * OUTPUTS_BETWEEN - 1u) / (pool.walk * OUTPUTS_BETWEEN) * OUTPUTS_BETWEEN;
  let walk = rest % walks;
  rest = rest / walks;
  let out_depth = rest % pool.axes[0].output;
  let outer = rest / pool.axes[0].output;
  let out_top = walk / OUTPUTS_BETWEEN * OUTPUTS_BETWEEN * pool.walk + walk % OUTPUTS_BETWEEN;
  let out_line = rest * pool.axes[1].output + out_top;
  place.depth = i32(out_depth * STRIDE_0) - pool.axes[0].pad_begin;
  place.plane = outer * pool.axes[0].input * pool.axes[1].input * pool.axes[2].input * pool.inner + channel;
  let top = i32(out_top * STRIDE_1) - pool.axes[1].pad_begin;
  let origin = origin_at(place.plane);

  if (KERNEL_1 <= LINES_BETWEEN) {
    // No line is shared.
    var best = line_windows(place, top);
    for (var line = 1u; line < KERNEL_1; line++) {
      best = join_rows(best, line_windows(place, top + i32(line * DILATION_1)));
    }
    store_row(Lines(out_line, line_at(place, place.depth, top), out_column, channel), best, place.column, origin);
    return;
  }
  // Outputs of this walk that lie in the plane.
  let below = (pool.axes[1].output - out_top + OUTPUTS_BETWEEN - 1u) / OUTPUTS_BETWEEN;
  let count = min(pool.walk, below);
  var kept: Kept;
  // The lines that the first output shares with those below.
  for (var line = 0u; line + LINES_BETWEEN < KERNEL_1; line++) {
    kept = kept_with(kept, line_windows(place, top + i32(line * DILATION_1)));
  }
  for (var step = 0u; step < count; step++) {
    let first = step * LINES_BETWEEN;
    for (var line = KERNEL_1 - min(LINES_BETWEEN, KERNEL_1); line < KERNEL_1 - 1u; line++) {
      kept = kept_with(kept, line_windows(place, top + i32((first + line) * DILATION_1)));
    }
    let row = line_windows(place, top + i32((first + KERNEL_1 - 1u) * DILATION_1));
    let best = best_of(kept, row);
    kept = kept_with(kept, row);
    let first_line = line_at(place, place.depth, top + i32(first * DILATION_1));
    let lines = Lines(out_line + step * OUTPUTS_BETWEEN, first_line, out_column, channel);
    store_row(lines, best, place.column, origin);
  }
}
