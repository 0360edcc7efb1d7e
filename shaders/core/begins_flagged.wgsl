// Records whether any window of an invocation begins with a NaN.
// provides: note_begin, tell_begins, has_met
// requires: Cell, LANES, Run, holds_nan
var<private> met: bool = false;

fn note_begin(slot: u32, first: Cell) {
  met = met | holds_nan(first.a);
  if (LANES > 1u) {
    met = met | holds_nan(first.b);
  }
  if (LANES > 2u) {
    met = met | holds_nan(first.c) | holds_nan(first.d);
  }
}

fn tell_begins(run: Run, begin: u32) {
}

fn has_met() -> bool {
  return met;
}
