// At the end of an invocation, no further work is left.
// provides: conclude
// requires: Run
fn conclude(run: Run) {
}
