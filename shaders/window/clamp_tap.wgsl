// Moves taps in the padding onto taps of the same window inside the input. Reading an element twice changes neither the
// maximum nor the first element. The window must not be empty. The clamped taps still visit the window's elements in
// order.
// provides: clamp_tap
// requires: nothing
fn clamp_tap(position: i32, extent: u32, step: u32) -> u32 {
  let last = i32(extent) - 1;
  var clamped = position;
  if (step != 1u) {
    let before = u32(select(0, -position, position < 0));
    let behind = u32(select(0, position - last, position > last));
    let forth = i32((before + step - 1u) / step * step);
    let back = i32((behind + step - 1u) / step * step);
    clamped = position + forth - back;
  }
  // With a step of one, clamping selects the nearest element. With larger steps it only bounds the taps of outputs that
  // do not exist, in blocks at the end of a row.
  return u32(clamp(clamped, 0, last));
}
