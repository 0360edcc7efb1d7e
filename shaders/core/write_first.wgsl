// The result of a window is its first element after all.
// provides: write_first
// requires: Raw, Walk, result_of, store_place, store_values, values_at
fn write_first(walk: Walk, lane: u32, output: u32, position: u32, raw: Raw) {
  let number = walk.output + output * walk.output_step;
  let first = result_of(raw);
  var values = values_at(number);
  values.a = select(values.a, first, lane == 0u);
  values.b = select(values.b, first, lane == 1u);
  values.c = select(values.c, first, lane == 2u);
  values.d = select(values.d, first, lane == 3u);
  store_values(number, values);
  store_place(number + lane, position, true);
}
