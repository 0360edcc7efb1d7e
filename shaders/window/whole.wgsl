// Windows are read whole.
// provides: within
// requires: Window
fn within(window: Window, a: u32) -> Window {
  return window;
}
