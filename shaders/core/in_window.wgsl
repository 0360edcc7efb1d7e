// Whether an element lies in the window of a source, along an axis.
// provides: in_window
// requires: Axis, window_of
fn in_window(axis: Axis, source: u32, position: u32) -> bool {
  let window = window_of(axis, source);
  let distance = position - window.first;
  return position >= window.first && distance % window.step == 0u && distance / window.step < window.count;
}
