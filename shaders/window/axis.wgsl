// How an axis stands in a uniform.
// provides: Axis
// requires: nothing
struct Axis {
  input: u32,
  output: u32,
  kernel: u32,
  stride: u32,
  dilation: u32,
  pad_begin: i32,
  // TABLE: first tap and count stand in `tables`, from `table` on, a pair for each output.
  // HOLDERS: the other way round, from an element to the windows that can hold it; `table` is the extent of the elements.
  kind: u32,
  table: u32,
}
