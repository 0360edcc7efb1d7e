// Records for the last pass which windows of a pass along the innermost axis begin with a NaN: one word per invocation,
// one bit per window.
//
//   row 0    o  o  N  o | o  o  o  o
//   row 1    o  o  o  o | o  N  o  N        N: the window begins with a NaN
//   words    4            0
//            0            10                RUN = 4
//
// provides: note_begin, tell_begins
// requires: Cell, Run, holds_nan, pool, RUN
@group(0) @binding(16) var<storage, read_write> notes: array<u32>;

var<private> begun: u32;

fn bit(begins: bool, number: u32) -> u32 {
  return select(0u, 1u << number, begins);
}

fn note_begin(slot: u32, first: Cell) {
  begun |= bit(holds_nan(first.a), slot) | bit(holds_nan(first.b), slot + 1u);
  begun |= bit(holds_nan(first.c), slot + 2u) | bit(holds_nan(first.d), slot + 3u);
}

fn tell_begins(run: Run, begin: u32) {
  notes[run.outer * pool.slide.runs.divisor + begin / RUN - pool.slide.flag] = begun;
}
