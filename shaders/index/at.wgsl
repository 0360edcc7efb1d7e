// The index of an element: the affine map of the index convention, applied to the digits of a position.
// provides: index_at
// requires: pool, add, multiply, digits_of
// The index of an element of X by its position.
fn index_at(position: u32) -> vec2<u32> {
  var rest = position;
  var index = pool.index_base;
  for (var i = 0u; i < pool.index_digits; i++) {
    let digit = pool.index[i];
    let digits = digits_of(rest, digit.radix);
    index = add(index, multiply(digit.stride, digits.digit));
    rest = digits.rest;
  }
  return index;
}
