// A pass that does not record windows that begin with a NaN.
// provides: note_begin, tell_begins
// requires: Cell, Run
fn note_begin(slot: u32, first: Cell) {
}

fn tell_begins(run: Run, begin: u32) {
}
