// Looks up the value of the first bad index.
// provides: report_first

//// reported: The last step of an unpool looks up the value of the first bad index. The claim step has recorded its
// position.
// requires: unpool, report, read_index
fn report_first() {
  if (atomicLoad(&report[REPORT_COUNT]) == 0u) {
    return;
  }
  let offender = ~atomicLoad(&report[REPORT_FIRST]) - unpool.index_first;
  if (offender < unpool.index_count) {
    let value = read_index(offender);
    atomicStore(&report[REPORT_LOW], value.x);
    atomicStore(&report[REPORT_HIGH], value.y);
  }
}

//// reported_apart: For devices with four storage buffers: a separate kernel looks up the value of the first bad index,
// so that this kernel binds neither the indices nor the report.
fn report_first() {}
