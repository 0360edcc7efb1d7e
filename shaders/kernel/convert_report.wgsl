// Last step of an index conversion: the first bad index's value.
// Fewest bytes: none to speak of.
// provides: main
// requires: status, read_index
@compute @workgroup_size(1)
fn main() {
  if (atomicLoad(&status[STATUS_COUNT]) != 0u) {
    let value = read_index(~atomicLoad(&status[STATUS_FIRST]));
    atomicStore(&status[STATUS_LOW], value.x);
    atomicStore(&status[STATUS_HIGH], value.y);
  }
}
