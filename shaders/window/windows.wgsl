// The taps of one window along one axis, clipped to the input.
// provides: Window, tables, window_of
// requires: Axis
struct Window {
  // The first tap that is not negative. It lies beyond the input if the window has no tap inside.
  first: u32,
  count: u32,
  step: u32,
}

const TABLE: u32 = 1u;
const COVERING: u32 = 2u;

@group(0) @binding(6) var<storage, read> tables: array<u32>;

// The range of windows whose span contains an element. In padded positions, window i spans i * stride to i * stride +
// (kernel - 1) * dilation.
fn covering_windows_of(axis: Axis, element: u32) -> Window {
  let position = i32(element) + axis.pad_begin;
  var window = Window(0u, 0u, 1u);
  if (element < axis.table && position >= 0) {
    let reach = (axis.kernel - 1u) * axis.dilation;
    let behind = u32(position);
    window.first = select(0u, (behind - reach + axis.stride - 1u) / axis.stride, behind > reach);
    let end = min(behind / axis.stride + 1u, axis.input);
    window.count = select(0u, end - window.first, end > window.first);
  }
  return window;
}

// The window whose first tap is at `start`, which is negative if that tap lies in the padding.
fn window_from(axis: Axis, start: i32) -> Window {
  // Taps in the begin padding are skipped by whole steps, so that the remaining taps keep their positions.
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

fn window_of(axis: Axis, output: u32) -> Window {
  var window: Window;
  if (axis.kind == COVERING) {
    window = covering_windows_of(axis, output);
  } else if (axis.kind == TABLE) {
    let entry = axis.table + output * 2u;
    window = Window(tables[entry], tables[entry + 1u], axis.dilation);
  } else {
    window = window_from(axis, i32(output * axis.stride) - axis.pad_begin);
  }
  return window;
}
