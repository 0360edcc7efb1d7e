// The end of an invocation without further work.
// provides: conclude
// requires: Walk
fn conclude(walk: Walk) {
}
