// At the end of an invocation, no further work is left.
// provides: conclude
// requires: Walk
fn conclude(walk: Walk) {
}
