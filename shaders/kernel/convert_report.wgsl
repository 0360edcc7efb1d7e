// Last step of an index conversion: looks up the value of the first bad index.
// Fewest bytes: none to speak of.
// provides: main
// requires: convert, report, read_index
@compute @workgroup_size(1)
fn main() {
  if (atomicLoad(&report[REPORT_COUNT]) != 0u) {
    let offender = ~atomicLoad(&report[REPORT_FIRST]) - convert.from_first;
    if (offender < convert.from_count) {
      let value = read_index(offender);
      atomicStore(&report[REPORT_LOW], value.x);
      atomicStore(&report[REPORT_HIGH], value.y);
    }
  }
}
