// The taps of a window that a dispatch reads.
// provides: within
// requires: Window

//// whole: Windows are read whole.
fn within(window: Window, a: u32) -> Window {
  return window;
}

//// part when pool_accumulate: Where windows are reduced in parts: clips a window to the taps of this dispatch.
// requires: pool
fn within(window: Window, a: u32) -> Window {
  let begin = min(pool.tap_from[a], window.count);
  let end = min(pool.tap_to[a], window.count);
  return Window(window.first + begin * window.step, end - begin, window.step);
}
