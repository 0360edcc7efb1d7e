// A number split by a radix: the digit, and the rest.
// provides: Digits, digits_of
// requires: Divisor, quotient
struct Digits {
  digit: u32,
  rest: u32,
}

fn digits_of(number: u32, radix: Divisor) -> Digits {
  let rest = quotient(number, radix);
  return Digits(number - rest * radix.divisor, rest);
}
