// Where windows are reduced in parts: clips a window to the taps of this dispatch.
// provides: within
// requires: pool, Window
fn within(window: Window, a: u32) -> Window {
  let begin = min(pool.tap_from[a], window.count);
  let end = min(pool.tap_to[a], window.count);
  return Window(window.first + begin * window.step, end - begin, window.step);
}
