// Whether a step of the general path has anything to do.
// provides: runs

//// runs_always: The general path is all of the unpool.
fn runs() -> bool {
  return true;
}

//// runs_if_told: It follows a gathering unpool, which has told of an index outside its source's window.
// requires: report, REPORT_OUT_OF_WINDOW
fn runs() -> bool {
  return atomicLoad(&report[REPORT_OUT_OF_WINDOW]) != 0u;
}
