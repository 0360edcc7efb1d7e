// The position of an output's index in the index tensor, whose layout may differ from that of Y. Without digits it is
// the output's number.
// provides: store_position
// requires: pool, digits_of, store_digits
fn store_position(output: u32) -> u32 {
  var rest = output;
  var position = select(0u, output, store_digits() == 0u);
  for (var i = 0u; i < store_digits(); i++) {
    let digit = pool.store[i];
    let digits = digits_of(rest, digit.radix);
    position += digits.digit * digit.stride.x;
    rest = digits.rest;
  }
  return position;
}
