// Last step of an index conversion: looks up the value of the first bad index.
// Fewest bytes: none to speak of.
// provides: main
// requires: convert, status, read_index
@compute @workgroup_size(1)
fn main() {
  if (atomicLoad(&status[STATUS_COUNT]) != 0u) {
    let offender = ~atomicLoad(&status[STATUS_FIRST]) - convert.from_first;
    if (offender < convert.from_count) {
      let value = read_index(offender);
      atomicStore(&status[STATUS_LOW], value.x);
      atomicStore(&status[STATUS_HIGH], value.y);
    }
  }
}
