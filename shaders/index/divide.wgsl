// Division of 64-bit numbers, bit by bit: indices past 2^32 are rare, so the simplest correct method is used.
// provides: Quotient, divide
// requires: nothing
struct Quotient {
  quotient: vec2<u32>,
  remainder: u32,
}

fn divide(number: vec2<u32>, divisor: u32) -> Quotient {
  // A number of one word is divided by the built-in operator.
  let short = number.y == 0u;
  var quotient = select(vec2<u32>(), vec2<u32>(number.x / divisor, 0u), short);
  var remainder = select(0u, number.x % divisor, short);
  var rest = number;
  for (var bit = select(0u, 64u, short); bit < 64u; bit++) {
    // The shifted remainder can need a 33rd bit; the wrapping subtraction still gives the right result.
    let carry = remainder >> 31u;
    remainder = (remainder << 1u) | (rest.y >> 31u);
    rest = vec2<u32>(rest.x << 1u, (rest.y << 1u) | (rest.x >> 31u));
    quotient = vec2<u32>(quotient.x << 1u, (quotient.y << 1u) | (quotient.x >> 31u));
    if (carry == 1u || remainder >= divisor) {
      remainder -= divisor;
      quotient.x |= 1u;
    }
  }
  return Quotient(quotient, remainder);
}
