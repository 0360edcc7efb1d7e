// Last step of an unpool on a device with four storage buffers: looks up the value of the first bad index.
// Fewest bytes: none to speak of.
// provides: main
// requires: report_first
@compute @workgroup_size(1)
fn main() {
  report_first();
}
