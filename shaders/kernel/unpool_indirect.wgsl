// Third step of a gathering unpool: writes the grids of the indirect dispatches of the general path, which are the
// clear, claim and emit steps. The grids are empty unless an index lies outside its source's window.
// Fewest bytes: none to speak of.
// provides: main, grids
// requires: gather, report, REPORT_OUT_OF_WINDOW
@group(0) @binding(9) var<storage, read_write> grids: array<u32, 9>;

@compute @workgroup_size(1)
fn main() {
  let out_of_window = atomicLoad(&report[REPORT_OUT_OF_WINDOW]);
  for (var step = 0u; step < 3u; step++) {
    let grid = gather.grids[step] * out_of_window;
    grids[step * 3u] = grid.x;
    grids[step * 3u + 1u] = grid.y;
    grids[step * 3u + 2u] = grid.z;
  }
}
