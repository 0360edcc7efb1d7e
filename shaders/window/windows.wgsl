// Where windows lie: the taps of one window along one axis, clipped to the input.
// provides: Window, Axis, tables, window_of
// requires: nothing
struct Axis {
  input: u32,
  output: u32,
  kernel: u32,
  stride: u32,
  dilation: u32,
  pad_begin: i32,
  // TABLE: first tap and count stand in `tables`, from `table` on, a pair for each output.
  kind: u32,
  table: u32,
}

struct Window {
  // The first tap that is not negative. It lies beyond the input if the window has none inside.
  first: u32,
  count: u32,
  step: u32,
}

const TABLE: u32 = 1u;

@group(0) @binding(6) var<storage, read> tables: array<u32>;

fn window_of(axis: Axis, output: u32) -> Window {
  if (axis.kind == TABLE) {
    let entry = axis.table + output * 2u;
    return Window(tables[entry], tables[entry + 1u], axis.dilation);
  }
  let start = i32(output * axis.stride) - axis.pad_begin;
  // Taps in the begin padding are skipped whole, so that the others stay where the dilation puts them.
  var skipped = 0u;
  if (start < 0) {
    skipped = (u32(-start) + axis.dilation - 1u) / axis.dilation;
  }
  let first = u32(start + i32(skipped * axis.dilation));
  var count = 0u;
  if (first < axis.input && skipped < axis.kernel) {
    let room = (axis.input - first + axis.dilation - 1u) / axis.dilation;
    count = min(axis.kernel - skipped, room);
  }
  return Window(first, count, axis.dilation);
}
