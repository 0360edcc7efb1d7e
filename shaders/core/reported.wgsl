// The last step of an unpool looks up the value of the first bad index. The claim step has recorded its position.
// provides: report_first
// requires: unpool, status, read_index
fn report_first() {
  if (atomicLoad(&status[STATUS_COUNT]) == 0u) {
    return;
  }
  let offender = ~atomicLoad(&status[STATUS_FIRST]) - unpool.index_first;
  if (offender < unpool.index_count) {
    let value = read_index(offender);
    atomicStore(&status[STATUS_LOW], value.x);
    atomicStore(&status[STATUS_HIGH], value.y);
  }
}
