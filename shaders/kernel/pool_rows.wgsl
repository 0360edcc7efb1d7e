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
// requires: pool, invocation, WORKGROUP, Row, join_rows, Place, line_at, line_windows, windows_of_line, Origin, origin_of, store_quad, KERNEL_1, STRIDE_0, STRIDE_1, STRIDE_2, DILATION_1, CHANNELS_INSIDE, QUADS, ACROSS, LINES_BETWEEN, OUTPUTS_BETWEEN
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
  let point = line.out_line * pool.axes[2].output + out_column;
  store_quad(point, line.channel, out_column, best.low, best.first_low, line.first_line, column, origin);
  if (QUADS > 1u) {
    let next = ACROSS / QUADS;
    let further = column + i32(next * STRIDE_2);
    store_quad(point + next, line.channel, out_column + next, best.high, best.first_high, line.first_line, further, origin);
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
    let channels = pool.inner / max(CHANNELS_INSIDE, 1u);
    let others = rest / channels;
    channel = (rest - others * channels) * CHANNELS_INSIDE;
    rest = others;
  }
  let across = (pool.axes[2].output + ACROSS - 1u) / ACROSS;
  let line = rest / across;
  let out_column = (rest - line * across) * ACROSS;
  rest = line;
  let column = i32(out_column * STRIDE_2) - pool.axes[2].pad_begin;
  if (KERNEL_1 <= LINES_BETWEEN) {
    // No line is shared.
    let seen = windows_of_line(rest, column, channel);
    store_row(Lines(rest, seen.first_line, out_column, channel), seen.best, column, origin_of(seen.outer, seen.plane, channel));
    return;
  }
  let walks = (pool.axes[1].output + pool.walk * OUTPUTS_BETWEEN - 1u) / (pool.walk * OUTPUTS_BETWEEN) * OUTPUTS_BETWEEN;
  let planes = rest / walks;
  let walk = rest - planes * walks;
  let outer = planes / pool.axes[0].output;
  let out_depth = planes - outer * pool.axes[0].output;
  let out_top = walk / OUTPUTS_BETWEEN * OUTPUTS_BETWEEN * pool.walk + walk % OUTPUTS_BETWEEN;
  let out_line = planes * pool.axes[1].output + out_top;
  var place: Place;
  place.column = column;
  place.depth = i32(out_depth * STRIDE_0) - pool.axes[0].pad_begin;
  place.plane = outer * pool.axes[0].input * pool.axes[1].input * pool.axes[2].input;
  place.channel = channel;
  let top = i32(out_top * STRIDE_1) - pool.axes[1].pad_begin;
  let origin = origin_of(outer, place.plane, channel);

  // Outputs of this walk that lie in the plane.
  let below = (pool.axes[1].output - out_top + OUTPUTS_BETWEEN - 1u) / OUTPUTS_BETWEEN;
  let count = min(pool.walk, below);
  var kept: Kept;
  // The lines that the first output shares with those below.
  for (var line = 0u; line + LINES_BETWEEN < KERNEL_1; line++) {
    kept = kept_with(kept, line_windows(place, top + i32(line * DILATION_1), line));
  }
  for (var step = 0u; step < count; step++) {
    let first = step * LINES_BETWEEN;
    if (LINES_BETWEEN > 1u) {
      for (var line = KERNEL_1 - min(LINES_BETWEEN, KERNEL_1); line < KERNEL_1 - 1u; line++) {
        kept = kept_with(kept, line_windows(place, top + i32((first + line) * DILATION_1), first + line));
      }
    }
    let row = line_windows(place, top + i32((first + KERNEL_1 - 1u) * DILATION_1), first + KERNEL_1 - 1u);
    let best = best_of(kept, row);
    kept = kept_with(kept, row);
    let first_line = line_at(place, place.depth, top + i32(first * DILATION_1));
    let lines = Lines(out_line + step * OUTPUTS_BETWEEN, first_line, out_column, channel);
    store_row(lines, best, place.column, origin);
  }
}
