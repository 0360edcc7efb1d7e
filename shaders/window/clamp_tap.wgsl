// Moves taps in the padding onto taps of the same window inside the input. Reading an element twice changes neither the
// maximum nor the first element. The window must not be empty. The clamped taps still visit the window's elements in
// order.
// provides: clamp_tap
// requires: nothing
fn clamp_tap(position: i32, extent: u32, step: u32) -> u32 {
  let last = i32(extent) - 1;
  var clamped = u32(clamp(position, 0, last));
  if (step != 1u) {
    // A multiple of the step that is larger than what a window reaches beyond an end.
    let enough = (1u << 30u) / step * step;
    let low = (u32(position) + enough) % step;
    let high = u32(last) - (u32(last - position) + enough) % step;
    // The minimum bounds the taps of outputs that do not exist, in blocks at the end of a row.
    clamped = min(select(select(u32(position), low, position < 0), high, position > last), u32(last));
  }
  return clamped;
}
