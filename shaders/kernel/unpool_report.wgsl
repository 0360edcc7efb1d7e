// Last step of an unpool on a device with four storage buffers: writes the report.
// Fewest bytes: none to speak of.
// provides: main
// requires: unpool, write_report
@compute @workgroup_size(1)
fn main() {
  write_report(unpool.index_first, unpool.index_count, unpool.begins == 1u, unpool.ends == 1u);
}
