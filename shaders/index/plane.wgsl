// The index of a window that has taps and no winner: that of (n, c, 0, .., 0) or, under IGNORE, of an empty window.
// provides: plane_index
// requires: pool, add, multiply, digits_of, empty_digits
fn plane_index(output: u32) -> vec2<u32> {
  var rest = output;
  var index = pool.empty_base;
  for (var i = 0u; i < empty_digits(); i++) {
    let digit = pool.empty[i];
    let digits = digits_of(rest, digit.radix);
    index = add(index, multiply(digit.stride, digits.digit));
    rest = digits.rest;
  }
  return index;
}
