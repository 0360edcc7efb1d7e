// Replaces the result of a window by its first element, a NaN.
// provides: write_first
// requires: Raw, Walk, result_of, store_place, store_value
fn write_first(walk: Walk, lane: u32, output: u32, position: u32, first: Raw) {
  let number = walk.output + output * walk.output_step;
  store_value(number, lane, result_of(first));
  store_place(number + lane, position, true);
}
