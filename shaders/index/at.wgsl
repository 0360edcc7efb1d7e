// The index of an element: the affine map of the index convention, applied to the digits of a position.
// provides: index_at
// requires: pool, add, multiply, digits_of, index_digits
// The index of an element of X by its position. Without digits it is the position plus the first element's index.
fn index_at(position: u32) -> vec2<u32> {
  var rest = position;
  var index = pool.index_base;
  if (index_digits() == 0u) {
    index = add(index, vec2<u32>(position, 0u));
  }
  for (var i = 0u; i < index_digits(); i++) {
    let digit = pool.index[i];
    let digits = digits_of(rest, digit.radix);
    index = add(index, multiply(digit.stride, digits.digit));
    rest = digits.rest;
  }
  return index;
}
