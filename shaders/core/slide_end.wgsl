// An invocation that has nothing to add.
// provides: conclude
// requires: Walk
fn conclude(walk: Walk) {
}
