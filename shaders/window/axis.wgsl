// An axis in a uniform.
// provides: Axis
// requires: nothing
struct Axis {
  input: u32,
  output: u32,
  kernel: u32,
  stride: u32,
  dilation: u32,
  pad_begin: i32,
  // TABLE: `tables` holds the first tap and the count of each output, a pair per output from `table` on. HOLDERS: the
  // inverse map, from an element to its covering windows; `table` is the extent of the elements.
  kind: u32,
  table: u32,
}
