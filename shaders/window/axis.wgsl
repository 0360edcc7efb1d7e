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
  // How windows are given. Zero: by the attributes above. TABLE: `tables` holds the first tap and the number of taps of
  // each output's window, a pair per output from `table` on. COVERING: the inverse map, from an element to the windows
  // that cover it; `table` is the number of elements along the axis.
  kind: u32,
  table: u32,
}
