// A pool of small windows. An invocation computes a thread tile, four or eight neighbouring outputs wide, line by line
// from the top down. For each line of X it computes the row maxima of its windows once, and keeps those of the last
// lines in registers for the outputs below. Row maxima come first, then column maxima, so that among equal elements the
// first wins.
//
//   line 0   [row maxima] --.                 KERNEL_1 = 3, STRIDE_1 = 1
//   line 1   [row maxima] --+-- output line 0
//   line 2   [row maxima] --+-- output line 1        read once, used by three lines of outputs
//   line 3   [row maxima] --'-- ...
//
// Fewest bytes: X once, Y once, Indices once. Each element of X is loaded once, except the halo columns and the halo
// lines. For `n` lines of `m` outputs, m = 4 * QUADS, an invocation loads n * STRIDE_1 + KERNEL_1 - STRIDE_1 lines.
// Each has m * STRIDE_2 + KERNEL_2 - STRIDE_2 elements. Where windows have several depths, a line stands for the lines
// of all depths, which are read again for the next depth.
// Algorithm: row windows, kept in registers.
// provides: main
// requires: pool, invocation, WORKGROUP, first_lines, best_of, Place, line_at, with_next_lines, thread_tile_of, Lines, store_row, origin_of, STRIDE_0, STRIDE_1, DILATION_1, LINES_BETWEEN, OUTPUTS_BETWEEN
@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let number = invocation(group, pool.grid_width, local);
  if (number >= pool.blocks) {
    return;
  }
  let tile = thread_tile_of(pool.block_first + number);
  let tile_rows =
    (pool.axes[1].output + pool.tile_lines * OUTPUTS_BETWEEN - 1u) / (pool.tile_lines * OUTPUTS_BETWEEN) * OUTPUTS_BETWEEN;
  let planes = tile.line / tile_rows;
  let tile_row = tile.line - planes * tile_rows;
  let outer = planes / pool.axes[0].output;
  let out_depth = planes - outer * pool.axes[0].output;
  let out_top = tile_row / OUTPUTS_BETWEEN * OUTPUTS_BETWEEN * pool.tile_lines + tile_row % OUTPUTS_BETWEEN;
  let out_line = planes * pool.axes[1].output + out_top;
  var place: Place;
  place.column = tile.column;
  place.depth = i32(out_depth * STRIDE_0) - pool.axes[0].pad_begin;
  place.plane = outer * pool.axes[0].input * pool.axes[1].input * pool.axes[2].input;
  place.channel = tile.channel;
  let top = i32(out_top * STRIDE_1) - pool.axes[1].pad_begin;
  let origin = origin_of(outer, place.plane, tile.channel);

  // Lines of this thread tile that lie in the plane.
  let below = (pool.axes[1].output - out_top + OUTPUTS_BETWEEN - 1u) / OUTPUTS_BETWEEN;
  let count = min(pool.tile_lines, below);
  var kept = first_lines(place, top);
  for (var step = 0u; step < count; step++) {
    let first = step * LINES_BETWEEN;
    kept = with_next_lines(kept, place, top, first);
    let first_line = line_at(place, place.depth, top + i32(first * DILATION_1));
    store_row(tile, Lines(out_line + step * OUTPUTS_BETWEEN, first_line), best_of(kept), origin);
  }
}
