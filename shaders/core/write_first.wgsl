// Replaces the result of a window by its first element, a NaN.
// provides: write_first
// requires: Raw, Run, result_of, store_place, store_value
fn write_first(run: Run, lane: u32, output: u32, position: u32, first: Raw) {
  let number = run.output + output * run.output_step;
  store_value(number, lane, result_of(first));
  store_place(number + lane, position, true);
}
