// A pass that does not record windows that begin with a NaN.
// provides: note_begin, tell_begins
// requires: Cell, Walk
fn note_begin(slot: u32, first: Cell) {
}

fn tell_begins(walk: Walk, begin: u32) {
}
