// Which windows begin with a NaN, as the first pass of sliding maxima records it for the last one.
// provides: note_start, store_nan_starts
// requires: Cell, Run

//// starts_untracked: A pass that does not record windows that begin with a NaN.
fn note_start(slot: u32, first: Cell) {
}

fn store_nan_starts(run: Run, begin: u32) {
}

//// starts_per_group when FLAGS && FIRST: Records whether any window of an invocation begins with a NaN.
// provides: has_met
// requires: LANES, holds_nan
var<private> met: bool = false;

fn note_start(slot: u32, first: Cell) {
  met = met | holds_nan(first.a);
  if (LANES > 1u) {
    met = met | holds_nan(first.b);
  }
  if (LANES > 2u) {
    met = met | holds_nan(first.c) | holds_nan(first.d);
  }
}

fn store_nan_starts(run: Run, begin: u32) {
}

fn has_met() -> bool {
  return met;
}

//// starts_per_window when NOTES && FIRST: Records for the last pass which windows of a pass along the innermost axis
// begin with a NaN: one word per invocation, one bit per window.
//
//   row 0    o  o  N  o | o  o  o  o
//   row 1    o  o  o  o | o  N  o  N        N: the window begins with a NaN
//   words    4            0
//            0            10                RUN = 4
//
// requires: holds_nan, pool, RUN
@group(0) @binding(16) var<storage, read_write> notes: array<u32>;

var<private> begun: u32;

fn bit(begins: bool, number: u32) -> u32 {
  return select(0u, 1u << number, begins);
}

fn note_start(slot: u32, first: Cell) {
  begun |= bit(holds_nan(first.a), slot) | bit(holds_nan(first.b), slot + 1u);
  begun |= bit(holds_nan(first.c), slot + 2u) | bit(holds_nan(first.d), slot + 3u);
}

fn store_nan_starts(run: Run, begin: u32) {
  notes[run.outer * pool.slide.runs.divisor + begin / RUN - pool.slide.flag] = begun;
}
