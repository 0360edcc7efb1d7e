// Taps in the padding, folded onto taps of the same window that lie inside: looking at an element twice changes no maximum and
// no first one. The window must have an element; tap after tap then still goes through its elements in their order.
// provides: fold
// requires: nothing
fn fold(position: i32, extent: u32, step: u32) -> u32 {
  let last = i32(extent) - 1;
  var folded = position;
  if (step != 1u) {
    let before = u32(select(0, -position, position < 0));
    let behind = u32(select(0, position - last, position > last));
    let forth = i32((before + step - 1u) / step * step);
    let back = i32((behind + step - 1u) / step * step);
    folded = position + forth - back;
  }
  // With a step of one this is the nearest element; with others, blocks at the end of a row may have taps of outputs that do
  // not exist.
  return u32(clamp(folded, 0, last));
}
