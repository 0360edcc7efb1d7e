// A pool of small windows whose lines of outputs share no line of X. A thread tile is four or eight neighbouring
// outputs along the last axis, computed from the lines of their windows, one line after another. Row maxima are
// computed first, then the maximum of the rows, so that among equal elements the first wins.
//
//   line 0   [row maxima] --.                 KERNEL_1 = 2, STRIDE_1 = 2
//   line 1   [row maxima] --'-- output line 0
//   line 2   [row maxima] --.
//   line 3   [row maxima] --'-- output line 1, of another invocation
//
// Fewest bytes: X once, Y once, Indices once. Each element of X is loaded once, except the halo columns. Where windows
// have several depths, a line stands for the lines of all depths.
// Algorithm: row windows.
// provides: main
// requires: pool, invocation, WORKGROUP, thread_tile_of, Lines, store_row, windows_of_line, origin_of
@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let number = invocation(group, pool.grid_width, local);
  if (number >= pool.blocks) {
    return;
  }
  let tile = thread_tile_of(pool.block_first + number);
  let seen = windows_of_line(tile.line, tile.column, tile.channel);
  let origin = origin_of(seen.outer, seen.plane, tile.channel);
  store_row(tile, Lines(tile.line, seen.first_line), seen.best, origin);
}
