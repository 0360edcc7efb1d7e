// The report of an unpool, from what its claims have gathered in scratch memory.
// provides: write_report

//// reported when READS > 0: Written by one invocation, once for each range of indices that is bound: `begins` and
// `ends` say whether it is the first range and the last one.
// requires: owners, report, read_index
fn write_report(index_first: u32, index_count: u32, begins: bool, ends: bool) {
  let bad = atomicLoad(&owners.bad);
  let first_bad = atomicLoad(&owners.first_bad);
  if (begins) {
    for (var word = 0u; word < REPORT_WORDS; word++) {
      atomicStore(&report[word], 0u);
    }
    atomicStore(&report[REPORT_COUNT], bad);
    atomicStore(&report[REPORT_FIRST], first_bad);
  }
  let offender = ~first_bad - index_first;
  if (bad > 0u && offender < index_count) {
    let value = read_index(offender);
    atomicStore(&report[REPORT_LOW], value.x);
    atomicStore(&report[REPORT_HIGH], value.y);
  }
  if (ends) {
    atomicStore(&owners.bad, 0u);
    atomicStore(&owners.first_bad, 0u);
  }
}

//// reported_apart when READS == 0: For devices with four storage buffers: a separate kernel writes the report, so that
// this kernel binds neither the indices nor the report.
fn write_report(index_first: u32, index_count: u32, begins: bool, ends: bool) {}
