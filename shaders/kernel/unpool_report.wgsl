// Last step of an unpool on a device with four storage buffers: the first bad index's value.
// Fewest bytes: none to speak of.
// provides: main
// requires: report_first
@compute @workgroup_size(1)
fn main() {
  report_first();
}
